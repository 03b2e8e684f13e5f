#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "baytree/bart/ensemble/tree_sum.hpp"
#include "baytree/trees/forest.hpp"

namespace baytree::bart {

/// The trees of some draws. Those with the same rules as in the draw before are stored once, their values with every
/// draw.
struct TreeDraws {
  Forest forest;
  std::vector<std::int32_t>
      tree;                      // of every tree of every draw: its place among all trees stored since the chain began
  std::vector<float> value;      // of every leaf of every tree of every draw
  std::vector<float> bandwidth;  // of every split, where rules are soft; 0 of one that is hard all the same
};

/// Appends the values of the leaves of all trees, and the bandwidths of their splits.
void append_values(std::span<const std::unique_ptr<TreeSum>> sums, std::vector<float>& to);
void append_bandwidths(std::span<const std::unique_ptr<TreeSum>> sums, std::vector<float>& to);

/// Records the trees of one or more sums.
class TreeRecord {
 public:
  TreeRecord(std::span<const std::unique_ptr<TreeSum>> sums, bool soft) : sums_(sums), soft_(soft) { begin_anew(); }

  void record();
  void begin_anew();
  TreeDraws take() { return std::exchange(draws_, {}); }

  std::uint64_t trees() const { return trees_; }
  /// Of each tree, its place among them; −1 where it is not stored as it is now.
  std::vector<std::int32_t> places() const;
  /// Of sums whose trees are those that were stored; throws InputError for places that there are not.
  void restore(std::uint64_t trees, const std::vector<std::int32_t>& places);

 private:
  std::span<const std::unique_ptr<TreeSum>> sums_;
  bool soft_;
  std::uint64_t trees_ = 0;           // stored
  std::vector<std::int32_t> places_;  // of each tree as it was last stored
  TreeDraws draws_;
};

}  // namespace baytree::bart
