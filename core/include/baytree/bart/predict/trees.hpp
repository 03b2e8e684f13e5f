#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/bart/hard/pass.hpp"
#include "baytree/trees/forest.hpp"

namespace baytree::bart {

/// Codes low … low + span.
struct CodeRange {
  std::uint32_t low, span;
};

/// A column that some tree asks about. Codes from `missing` on are missing.
struct AskedColumn {
  std::uint32_t feature, missing;
  bool categorical;
  bool wide;  // its codes do not fit into a byte
};

/// A split of a tree, by the leaves below it: `first` … `right` − 1 on the left and `right` … `end` − 1 on the right.
struct StoredSplit {
  std::uint32_t column;  // among those asked about
  std::uint32_t ranges;  // its first range of codes that go right
  std::uint8_t range_count;
  std::uint8_t first, right, end;
};

/// Draws of sums of stored trees. A draw has `trees` trees, which give `outputs` sums of equally many trees each.
struct StoredDraws {
  std::span<const std::int32_t> tree_index;  // the stored tree of each tree of each draw
  std::size_t trees = 0, outputs = 1;
  std::span<const float> values;      // draw after draw, tree after tree, leaf after leaf
  std::span<const float> bandwidths;  // the same of splits, 0 of those that are hard; empty where all are

  std::size_t draws() const { return tree_index.size() / trees; }
  std::size_t sums() const { return draws() * outputs; }
  bool soft() const { return !bandwidths.empty(); }
};

/// Stored trees, the rules of each as sets of codes that go right. The splits of a tree are in preorder, so a row's
/// leaf is found by going through them once: whoever is in leaf `first` of a split and goes right moves to its leaf
/// `right`.
class StoredTrees {
 public:
  /// Throws InputError where the arrays are not whole trees of these columns, or a tree has too many leaves.
  StoredTrees(const ForestView& forest, std::span<const Column> columns);

  std::size_t size() const { return begin_.size() - 1; }
  std::size_t columns() const { return columns_; }
  std::span<const AskedColumn> asked() const { return asked_; }
  std::size_t leaves(std::size_t tree) const { return begin_[tree + 1] - begin_[tree] + 1; }
  std::span<const StoredSplit> splits(std::size_t tree) const {
    return {splits_.data() + begin_[tree], begin_[tree + 1] - begin_[tree]};
  }
  std::span<const CodeRange> ranges(const StoredSplit& split) const {
    return {ranges_.data() + split.ranges, split.range_count};
  }
  /// The shares of a split's training rows that go right, of all splits of a tree; a half where there were no rows.
  std::span<const double> right_rows(std::size_t tree) const {
    return {right_rows_.data() + begin_[tree], begin_[tree + 1] - begin_[tree]};
  }

  /// Throws InputError where the draws are not sums of these trees.
  void check(const StoredDraws& draws) const;

 private:
  void add_tree(const Nodes& nodes, std::span<const Column> columns, std::vector<std::uint32_t>& place);

  std::size_t columns_;
  std::vector<AskedColumn> asked_;
  std::vector<StoredSplit> splits_;
  std::vector<CodeRange> ranges_;
  std::vector<double> right_rows_;
  std::vector<std::size_t> begin_{0};  // the first split of each tree, and one past the last
};

}  // namespace baytree::bart
