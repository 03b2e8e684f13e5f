#include "baytree/mcmc/proposals/gchange.hpp"

#include "baytree/mcmc/proposals/places.hpp"
#include "baytree/mcmc/proposals/rule_weights.hpp"

namespace baytree {

LogRatio change_rule_by_likelihood(ProposalContext& context) {
  const Nodes& nodes = context.tree.nodes;
  const std::size_t splits = nodes.size() / 2;
  if (splits == 0) return std::nullopt;
  const std::size_t at =
      nth_node(nodes, context.stream.below(splits), [](const Node& node) { return !node.is_leaf(); });
  const std::span<Node> old = subtree(context.tree, at);
  const Rule kept = old[0].rule;
  const std::size_t size = old[1].size;
  RuleWeights& weights = *context.rule_weights;
  weights.weigh(context, at, old.subspan(1, size), old.subspan(1 + size), &kept);
  const auto here = weights.find(kept);
  if (!here) return std::nullopt;
  const auto there = weights.draw(context.stream, here);
  if (!there) return std::nullopt;
  old[0].rule = weights.draw_rule(*there, context.stream);
  const bool possible = context.grower.plant(context.tree, at, old, context.replacement);
  old[0].rule = kept;
  if (!possible) return std::nullopt;
  return log_prior_change(context, 0) + weights.log_probability(*here, there) - weights.log_probability(*there, here);
}

}  // namespace baytree
