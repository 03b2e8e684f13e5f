#include "baytree/mcmc/proposals/swap.hpp"

#include <utility>

namespace baytree {

LogRatio swap_rules(MoveContext& move) {
  const Nodes& nodes = move.tree.nodes;
  const std::size_t splits = nodes.size() / 2;
  if (splits < 2) return std::nullopt;
  std::size_t child = 1;
  for (std::size_t n = move.stream.below(splits - 1);; ++child)
    if (!nodes[child].is_leaf() && n-- == 0) break;
  std::size_t parent = child - 1;
  while (nodes[parent].is_leaf() || (left_child(parent) != child && right_child(nodes, parent) != child)) --parent;
  Rule &upper = move.tree.nodes[parent].rule, &lower = move.tree.nodes[child].rule;
  std::swap(upper, lower);
  const bool possible = move.grower.plant(move.tree, parent, subtree(move.tree, parent), move.replacement);
  std::swap(upper, lower);
  if (!possible) return std::nullopt;
  return log_prior_change(move, 0);
}

}  // namespace baytree
