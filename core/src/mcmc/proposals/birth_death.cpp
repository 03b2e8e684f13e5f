#include "baytree/mcmc/proposals/birth_death.hpp"

#include <cmath>

#include "baytree/mcmc/proposals/places.hpp"

namespace baytree {
namespace {

/// log of the prior with the node split over the prior with it a leaf, but for the rule, which the proposal draws from
/// the prior.
double log_split_odds(Grower& grower, const Node& node, const Node& left, const Node& right) {
  return grower.log_split_probability(node.depth) + grower.log_leaf_prior(left.depth, left.splittable) +
         grower.log_leaf_prior(right.depth, right.splittable) - grower.log_leaf_prior(node.depth, true);
}

}  // namespace

LogRatio birth_or_death(ProposalContext& context) {
  const Nodes& nodes = context.tree.nodes;
  const Places places = count_leaf_places(nodes, nullptr);
  if (places.births + places.deaths == 0) return std::nullopt;
  Replacement& candidate = context.replacement;
  if (places.draw_birth(context.stream)) {
    const std::size_t at = nth_node(nodes, context.stream.below(places.births), can_give_birth);
    context.grower.sprout(context.tree, at, context.stream, candidate);
    const Places after = count_leaf_places(nodes, &candidate);
    return log_split_odds(context.grower, candidate.nodes[0], candidate.nodes[1], candidate.nodes[2]) +
           after.log_death() - places.log_birth();
  }
  const std::size_t at =
      nth_node(nodes, context.stream.below(places.deaths), [](const Node& node) { return can_die(node.size); });
  Node leaf{.begin = nodes[at].begin, .end = nodes[at].end, .depth = nodes[at].depth};
  context.grower.plant(context.tree, at, {&leaf, 1}, candidate);
  context.grower.assess(context.tree, candidate);
  const Places after = count_leaf_places(nodes, &candidate);
  return after.log_birth() - places.log_death() -
         log_split_odds(context.grower, nodes[at], nodes[at + 1], nodes[at + 2]);
}

}  // namespace baytree
