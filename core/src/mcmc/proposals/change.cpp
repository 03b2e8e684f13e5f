#include "baytree/mcmc/proposals/change.hpp"

namespace baytree {

LogRatio change_rule(MoveContext& move) {
  const Nodes& nodes = move.tree.nodes;
  const std::size_t splits = nodes.size() / 2;  // a binary tree has one leaf more than splits
  if (splits == 0) return std::nullopt;
  std::size_t at = 0;
  for (std::size_t n = move.stream.below(splits);; ++at)
    if (!nodes[at].is_leaf() && n-- == 0) break;
  const std::span<Node> old = subtree(move.tree, at);
  const Rule kept = old[0].rule;
  old[0].rule = move.grower.draw_rule(move.tree, at, move.stream);
  const bool possible = move.grower.plant(move.tree, at, old, move.replacement);
  old[0].rule = kept;
  if (!possible) return std::nullopt;
  return log_prior_change(move, 1);
}

}  // namespace baytree
