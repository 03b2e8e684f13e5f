#include "baytree/mcmc/proposals/birth_death.hpp"

#include <cmath>

namespace baytree {
namespace {

/// What the choice of a birth or a death depends on.
struct Places {
  std::size_t births = 0;  // leaves that have an admissible rule
  std::size_t deaths = 0;  // splits of two leaves

  double log_birth() const { return std::log((deaths == 0 ? 1.0 : 0.5) / static_cast<double>(births)); }
  double log_death() const { return std::log((births == 0 ? 1.0 : 0.5) / static_cast<double>(deaths)); }
};

bool can_give_birth(const Node& node) { return node.is_leaf() && node.splittable; }
bool can_die(std::size_t size) { return size == 3; }

/// Counts the places of the tree with the replacement in, or of the tree itself: one code for the forward and the
/// reverse move.
Places count_places(const Nodes& nodes, const Replacement* replacement) {
  Places places;
  const auto count = [&](const Node& node, std::size_t size) {
    places.births += can_give_birth(node);
    places.deaths += can_die(size);
  };
  if (!replacement) {
    for (const Node& node : nodes) count(node, node.size);
    return places;
  }
  const std::size_t at = replacement->at, behind = at + nodes[at].size;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i >= at && i < behind) continue;
    const bool contains = i < at && at < i + nodes[i].size;
    count(nodes[i], contains ? nodes[i].size - nodes[at].size + replacement->nodes.size() : nodes[i].size);
  }
  for (const Node& node : replacement->nodes) count(node, node.size);
  return places;
}

/// log of the prior with the node split over the prior with it a leaf, but for the rule, which the proposal draws from
/// the prior.
double log_split_odds(Grower& grower, const Node& node, const Node& left, const Node& right) {
  return std::log(grower.split_probability(node.depth)) + grower.log_leaf_prior(left.depth, left.splittable) +
         grower.log_leaf_prior(right.depth, right.splittable) - grower.log_leaf_prior(node.depth, true);
}

template <class Matches>
std::size_t nth_node(const Nodes& nodes, std::size_t n, Matches matches) {
  for (std::size_t i = 0;; ++i)
    if (matches(nodes[i]) && n-- == 0) return i;
}

}  // namespace

LogRatio birth_or_death(MoveContext& move) {
  const Nodes& nodes = move.tree.nodes;
  const Places places = count_places(nodes, nullptr);
  if (places.births + places.deaths == 0) return std::nullopt;
  const bool birth = places.deaths == 0 || (places.births > 0 && move.stream.bernoulli(0.5));
  Replacement& candidate = move.replacement;
  if (birth) {
    const std::size_t at = nth_node(nodes, move.stream.below(places.births), can_give_birth);
    move.grower.sprout(move.tree, at, move.stream, candidate);
    const Places after = count_places(nodes, &candidate);
    return log_split_odds(move.grower, candidate.nodes[0], candidate.nodes[1], candidate.nodes[2]) + after.log_death() -
           places.log_birth();
  }
  const std::size_t at =
      nth_node(nodes, move.stream.below(places.deaths), [](const Node& node) { return can_die(node.size); });
  Node leaf{.begin = nodes[at].begin, .end = nodes[at].end, .depth = nodes[at].depth};
  move.grower.plant(move.tree, at, {&leaf, 1}, candidate);
  move.grower.assess(move.tree, candidate);
  const Places after = count_places(nodes, &candidate);
  return after.log_birth() - places.log_death() - log_split_odds(move.grower, nodes[at], nodes[at + 1], nodes[at + 2]);
}

}  // namespace baytree
