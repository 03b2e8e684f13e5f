#include "baytree/mcmc/proposals/places.hpp"

namespace baytree {

Places count_leaf_places(const Nodes& nodes, const Replacement* replacement) {
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

}  // namespace baytree
