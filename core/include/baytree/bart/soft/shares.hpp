#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/trees/tree.hpp"

namespace baytree::bart {

/// The shares that nodes of soft trees have of the rows in a window: of a root 1, of a child that of its parent times
/// the probability of going there. A column of shares has a place, which is taken and given back; columns are padded
/// with zeros to whole lanes.
class SoftShares {
 public:
  using Place = std::uint32_t;
  static constexpr Place root = 0;

  /// A window of at most `rows` rows.
  SoftShares(std::span<const Column> columns, std::size_t rows);

  /// Moves the window; what was there is forgotten.
  void look_at(std::size_t begin, std::size_t rows);
  /// The shares of all nodes of a tree or subtree, given the place of its top; `places` has one place a node.
  void grow(std::span<const Node> nodes, Place top, std::vector<Place>& places);
  /// Gives back what `grow` took: the places of all nodes but the top.
  void forget(std::span<const Place> places) { free_.insert(free_.end(), places.begin() + 1, places.end()); }

  const float* operator[](Place place) const { return shares_.data() + place * stride_; }

 private:
  Place take();

  std::span<const Column> columns_;
  std::size_t stride_, begin_ = 0, rows_ = 0;
  std::vector<float> shares_, gate_;
  std::vector<Place> free_;
};

}  // namespace baytree::bart
