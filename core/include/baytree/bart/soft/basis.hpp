#pragma once

#include <span>
#include <vector>

#include "baytree/bart/soft/leaves.hpp"
#include "baytree/bart/soft/pass.hpp"
#include "baytree/bart/soft/shares.hpp"

namespace baytree::bart {

/// The shares that the nodes of one soft tree have of all rows, and a subtree that may replace one of its own, which
/// costs what the subtree costs. Residuals and weights are padded.
class SoftBasis {
 public:
  explicit SoftBasis(const Design& design);

  /// Goes to a tree.
  void build(const Nodes& nodes);
  /// Sums over the tree's leaves.
  const LeafSystem& sum_up(const SoftRows& rows);
  /// Sums over the leaves that the tree would have with other nodes for the subtree at `at`. Leaves that stay keep
  /// their sums, so the rows must be those that were summed up before.
  const LeafSystem& consider(const Nodes& nodes, std::size_t at, std::span<const Node> instead, const SoftRows& rows);
  /// Makes the tree that was considered last the tree.
  void accept();

  /// Adds the tree's fit, given the values of its leaves, to the residuals, or takes it from them: see `add_fit`.
  void add(std::span<const float> values, float times, float rounder, float* residual);

 private:
  using Place = SoftShares::Place;
  static constexpr std::size_t fresh = static_cast<std::size_t>(-1);

  void sum_leaves(std::span<const Place> leaves, const SoftRows& of, LeafSystem& out);

  SoftShares shares_;
  std::size_t rows_;                    // with the padding
  std::vector<Place> places_, leaves_;  // of the tree's nodes, and of its leaves
  std::vector<Place> candidate_,
      candidate_leaves_;  // of the nodes considered, whose first keeps its place, and of the leaves there would be
  std::size_t at_ = 0, replaced_ = 0;  // where they would go, and for how many
  std::vector<std::size_t> before_;    // the number that a leaf to be summed has in the tree, or `fresh`
  LeafSystem sums_, candidate_sums_;
  std::vector<const float*> columns_;
  std::vector<float> weighted_;
};

}  // namespace baytree::bart
