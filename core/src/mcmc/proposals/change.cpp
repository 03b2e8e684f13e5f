#include "baytree/mcmc/proposals/change.hpp"

namespace baytree {

LogRatio change_rule(ProposalContext& context) {
  const Nodes& nodes = context.tree.nodes;
  const std::size_t splits = nodes.size() / 2;  // a binary tree has one leaf more than splits
  if (splits == 0) return std::nullopt;
  std::size_t at = 0;
  for (std::size_t n = context.stream.below(splits);; ++at)
    if (!nodes[at].is_leaf() && n-- == 0) break;
  const std::span<Node> old = subtree(context.tree, at);
  const Rule kept = old[0].rule;
  old[0].rule = context.grower.draw_rule(context.tree, at, context.stream);
  const bool possible = context.grower.plant(context.tree, at, old, context.replacement);
  old[0].rule = kept;
  if (!possible) return std::nullopt;
  return log_prior_change(context, 1);
}

}  // namespace baytree
