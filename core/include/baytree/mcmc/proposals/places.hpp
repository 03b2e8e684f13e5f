#pragma once

#include <cmath>

#include "baytree/mcmc/proposals/context.hpp"

namespace baytree {

/// Of a proposal that adds a split or takes one away, the places of a tree where it may do either. Where both are
/// possible, each is chosen with probability ½, and then one of its places uniformly.
struct Places {
  std::size_t births = 0, deaths = 0;

  bool draw_birth(Stream& stream) const { return deaths == 0 || (births > 0 && stream.bernoulli(0.5)); }
  double log_birth() const { return std::log((deaths == 0 ? 1.0 : 0.5) / static_cast<double>(births)); }
  double log_death() const { return std::log((births == 0 ? 1.0 : 0.5) / static_cast<double>(deaths)); }
};

/// Leaves that have an admissible rule, and splits of two leaves.
inline bool can_give_birth(const Node& node) { return node.is_leaf() && node.splittable; }
inline bool can_die(std::size_t size) { return size == 3; }

/// Counts them in the tree with the replacement in, or in the tree itself: one code for the forward and the reverse
/// direction.
Places count_leaf_places(const Nodes& nodes, const Replacement* replacement);

/// The n-th node that matches.
template <class Matches>
std::size_t nth_node(const Nodes& nodes, std::size_t n, Matches matches) {
  for (std::size_t i = 0;; ++i)
    if (matches(nodes[i]) && n-- == 0) return i;
}

}  // namespace baytree
