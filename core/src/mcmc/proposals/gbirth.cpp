#include "baytree/mcmc/proposals/gbirth.hpp"

#include "baytree/mcmc/proposals/places.hpp"
#include "baytree/mcmc/proposals/rule_weights.hpp"

namespace baytree {

LogRatio birth_or_death_by_likelihood(ProposalContext& context) {
  const Nodes& nodes = context.tree.nodes;
  const Places places = count_leaf_places(nodes, nullptr);
  if (places.births + places.deaths == 0) return std::nullopt;
  const bool birth = places.draw_birth(context.stream);
  const std::size_t at =
      birth ? nth_node(nodes, context.stream.below(places.births), can_give_birth)
            : nth_node(nodes, context.stream.below(places.deaths), [](const Node& node) { return can_die(node.size); });
  const Node leaf;
  RuleWeights& weights = *context.rule_weights;
  weights.weigh(context, at, {&leaf, 1}, {&leaf, 1}, birth ? nullptr : &nodes[at].rule);
  const auto division = birth ? weights.draw(context.stream) : weights.find(nodes[at].rule);
  if (!division) return std::nullopt;
  Node split[3];
  split[0].size = 3;
  if (birth) split[0].rule = weights.draw_rule(*division, context.stream);
  const std::span<const Node> pattern = birth ? std::span<const Node>(split) : std::span<const Node>(&leaf, 1);
  if (!context.grower.plant(context.tree, at, pattern, context.replacement)) return std::nullopt;
  const double log_prior = log_prior_change(context, 0), log_rule = weights.log_probability(*division);
  const Places after = count_leaf_places(nodes, &context.replacement);
  return birth ? log_prior + after.log_death() - places.log_birth() - log_rule
               : log_prior + after.log_birth() - places.log_death() + log_rule;
}

}  // namespace baytree
