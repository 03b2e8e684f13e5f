#include "baytree/mcmc/proposals/move.hpp"

namespace baytree {

double log_prior_change(MoveContext& move, std::size_t first) {
  const auto& [at, nodes, rows] = move.replacement;
  move.grower.assess(move.tree, move.replacement);
  double change = 0.0;
  for (std::size_t i = first; i < nodes.size(); ++i)
    change += move.grower.log_prior(nodes[i]) - move.grower.log_prior(move.tree, at + i);
  return change;
}

}  // namespace baytree
