#pragma once

#include <span>
#include <vector>

#include "baytree/bart/soft/leaves.hpp"
#include "baytree/bart/soft/pass.hpp"
#include "baytree/bart/soft/shares.hpp"
#include "baytree/trees/tree_rows.hpp"

namespace baytree::bart {

/// A tree of a sum.
struct SoftTree : PartitionedTree {
  std::vector<float> values;  // of its leaves
  bool changed = true;        // other rules than when they were last taken
};

/// All trees of a sum at once, block of rows by block of rows.
class SoftForest {
 public:
  explicit SoftForest(const Design& design);

  /// Sums over the leaves of all trees, one tree after the other.
  const LeafSystem& sum_up(std::span<const SoftTree> trees, const SoftRows& rows);
  /// Adds the fits of all trees to the residuals, or takes them from them: see `add_fit`.
  void add(std::span<const SoftTree> trees, float times, float rounder, float* residual);

 private:
  std::size_t rows_;
  SoftShares shares_;
  std::vector<std::vector<SoftShares::Place>> places_;  // of each tree's nodes
  std::vector<const float*> columns_;
  std::vector<float> weighted_;
  LeafSystem sums_;
};

}  // namespace baytree::bart
