#include "baytree/proposal/move.hpp"

namespace baytree {

double log_prior_change(MoveContext& move, std::size_t first) {
  double change = 0.0;
  const std::span<Node> old = subtree(move.tree, move.replacement.at);
  for (std::size_t i = first; i < old.size(); ++i) {
    Node& node = move.replacement.nodes[i];
    move.grower.assess(node, move.replacement.rows_of(node));
    change += move.grower.log_prior(node, move.replacement.rows_of(node)) - move.grower.log_prior(old[i], move.rows_of(old[i]));
  }
  return change;
}

}  // namespace baytree
