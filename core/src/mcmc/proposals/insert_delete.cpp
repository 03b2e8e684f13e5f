#include "baytree/mcmc/proposals/insert_delete.hpp"

#include <numbers>

#include "baytree/mcmc/proposals/places.hpp"
#include "baytree/mcmc/proposals/rule_weights.hpp"

namespace baytree {
namespace {

bool can_insert(const Node& node) { return node.splittable; }

/// Counts the nodes above which a split may be inserted and the splits that have a leaf for a child, those of two
/// leaves once: in the tree with the replacement in, or in the tree itself.
Places count_places(const Nodes& nodes, const Replacement* replacement) {
  Places places;
  const auto count = [&](const Nodes& in, std::size_t i, auto is_leaf) {
    places.births += can_insert(in[i]);
    places.deaths += !in[i].is_leaf() && (is_leaf(left_child(i)) || is_leaf(right_child(in, i)));
  };
  const std::size_t at = replacement ? replacement->at : nodes.size();
  const std::size_t behind = replacement ? at + nodes[at].size : at;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (i < at || i >= behind)
      count(nodes, i,
            [&](std::size_t child) { return (child == at ? replacement->nodes[0] : nodes[child]).is_leaf(); });
  if (replacement)
    for (std::size_t i = 0; i < replacement->nodes.size(); ++i)
      count(replacement->nodes, i, [&](std::size_t child) { return replacement->nodes[child].is_leaf(); });
  return places;
}

/// Weighs the rules of node `at` with the subtree on one side and a leaf on the other.
void weigh(ProposalContext& context, std::size_t at, std::span<const Node> subtree, bool leaf_left,
           const Rule* present) {
  const Node leaf;
  const std::span<const Node> single{&leaf, 1};
  context.rule_weights->weigh(context, at, leaf_left ? single : subtree, leaf_left ? subtree : single, present);
}

/// Of the side for the new leaf: two leaves may as well be exchanged.
double log_side(std::span<const Node> subtree) { return subtree.size() == 1 ? 0.0 : -std::numbers::ln2; }

LogRatio insert(ProposalContext& context, const Places& places) {
  const Nodes& nodes = context.tree.nodes;
  const std::size_t at = nth_node(nodes, context.stream.below(places.births), can_insert);
  const std::span<Node> below = subtree(context.tree, at);
  const bool leaf_left = below.size() == 1 || context.stream.bernoulli(0.5);
  weigh(context, at, below, leaf_left, nullptr);
  const auto division = context.rule_weights->draw(context.stream);
  if (!division) return std::nullopt;
  Nodes& pattern = context.rule_weights->pattern();
  pattern.assign(1, Node{});
  pattern[0].rule = context.rule_weights->draw_rule(*division, context.stream);
  pattern[0].size = static_cast<std::uint32_t>(below.size() + 2);
  if (leaf_left) pattern.emplace_back();
  pattern.insert(pattern.end(), below.begin(), below.end());
  if (!leaf_left) pattern.emplace_back();
  if (!context.grower.plant(context.tree, at, pattern, context.replacement)) return std::nullopt;
  const double log_prior = log_prior_change(context, 0);
  return log_prior + count_places(nodes, &context.replacement).log_death() - places.log_birth() - log_side(below) -
         context.rule_weights->log_probability(*division);
}

LogRatio erase(ProposalContext& context, const Places& places) {
  const Nodes& nodes = context.tree.nodes;
  std::size_t at = 0;
  for (std::size_t n = context.stream.below(places.deaths);; ++at) {
    if (nodes[at].is_leaf() || (!nodes[left_child(at)].is_leaf() && !nodes[right_child(nodes, at)].is_leaf())) continue;
    if (n-- == 0) break;
  }
  const std::span<Node> old = subtree(context.tree, at);
  const bool leaf_left = old[1].is_leaf();
  const std::span<Node> kept = leaf_left ? old.subspan(2) : old.subspan(1, old[1].size);
  weigh(context, at, kept, leaf_left, &old[0].rule);
  const auto division = context.rule_weights->find(old[0].rule);
  if (!division || !context.grower.plant(context.tree, at, kept, context.replacement)) return std::nullopt;
  const double log_prior = log_prior_change(context, 0);
  return log_prior + count_places(nodes, &context.replacement).log_birth() - places.log_death() + log_side(kept) +
         context.rule_weights->log_probability(*division);
}

}  // namespace

LogRatio insert_or_delete(ProposalContext& context) {
  const Places places = count_places(context.tree.nodes, nullptr);
  if (places.births + places.deaths == 0) return std::nullopt;
  return places.draw_birth(context.stream) ? insert(context, places) : erase(context, places);
}

}  // namespace baytree
