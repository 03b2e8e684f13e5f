#include "baytree/mcmc/proposals/swap.hpp"

#include <utility>

namespace baytree {

LogRatio swap_rules(ProposalContext& context) {
  const Nodes& nodes = context.tree.nodes;
  const std::size_t splits = nodes.size() / 2;
  if (splits < 2) return std::nullopt;
  std::size_t child = 1;
  for (std::size_t n = context.stream.below(splits - 1);; ++child)
    if (!nodes[child].is_leaf() && n-- == 0) break;
  std::size_t parent = child - 1;
  while (nodes[parent].is_leaf() || (left_child(parent) != child && right_child(nodes, parent) != child)) --parent;
  Rule &upper = context.tree.nodes[parent].rule, &lower = context.tree.nodes[child].rule;
  std::swap(upper, lower);
  const bool possible = context.grower.plant(context.tree, parent, subtree(context.tree, parent), context.replacement);
  std::swap(upper, lower);
  if (!possible) return std::nullopt;
  return log_prior_change(context, 0);
}

}  // namespace baytree
