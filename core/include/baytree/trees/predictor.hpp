#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/trees/forest.hpp"

namespace baytree {

/// Finds the leaves of new rows in many trees.
class Predictor {
 public:
  /// Throws InputError where the arrays are not whole trees of these columns.
  Predictor(const ForestView& forest, std::span<const Column> columns);

  std::size_t trees() const { return roots_.size(); }
  std::size_t leaves() const { return leaves_; }

  /// `codes` has a row of `columns` codes for each new row, the missing code for missing values and unseen levels.
  /// Writes, for tree t and row i, the number of the leaf among all leaves of the forest to out[t · rows + i].
  void apply(std::span<const std::uint32_t> codes, std::size_t rows, std::span<std::int64_t> out) const;
  /// Adds weight[t] · values[leaf] to out, `width` values a leaf and a row, over the trees from `first` on that there
  /// are weights for; `values` begins with the first leaf of tree `first`.
  void accumulate(std::span<const std::uint32_t> codes, std::size_t rows, std::size_t first,
                  std::span<const double> weight, std::span<const double> values, std::size_t width,
                  std::span<double> out) const;

 private:
  struct Step {
    std::int32_t feature;   // −1: a leaf
    std::uint32_t right;    // nodes to the right child; of a leaf, its number within the tree
    std::uint64_t test;     // the cut, or the level set
    std::uint32_t missing;  // the missing code
    bool categorical, missing_left;
  };
  std::size_t leaf_of(std::size_t tree, const std::uint32_t* codes) const;

  std::size_t columns_;
  std::vector<Step> steps_;
  std::vector<std::size_t> roots_, first_leaf_;
  std::size_t leaves_ = 0;
};

}  // namespace baytree
