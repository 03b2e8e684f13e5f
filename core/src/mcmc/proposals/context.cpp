#include "baytree/mcmc/proposals/context.hpp"

#include <algorithm>

namespace baytree {

double log_prior_change(ProposalContext& context, std::size_t first) {
  const auto& [at, nodes, rows] = context.replacement;
  context.grower.assess(context.tree, context.replacement);
  const std::size_t old = context.tree.nodes[at].size;
  double change = 0.0;
  for (std::size_t i = first; i < std::max(nodes.size(), old); ++i)
    change += (i < nodes.size() ? context.grower.log_prior(nodes[i]) : 0.0) -
              (i < old ? context.grower.log_prior(context.tree, at + i) : 0.0);
  return change;
}

}  // namespace baytree
