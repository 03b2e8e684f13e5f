#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/cart/exact/sums.hpp"

namespace baytree::cart::exact {

/// What the trees of a posterior have in common, as exact numbers.
class Marginals {
 public:
  /// Goes down from the root: how probable it is that a tree has a node with these rows at this depth.
  explicit Marginals(Sums& sums);

  /// Of every rule that the root may have, its probability; the rest is that of a tree that is a leaf.
  const std::vector<std::pair<Rule, double>>& root() const { return root_; }
  /// Of every feature, the probability that the tree has a rule on it.
  std::vector<double> inclusion();
  /// Of 0, 1, 2, … leaves, the probability that the tree has so many.
  std::vector<double> leaves();
  /// Of each training row the means of what is predicted, and behind them the mean squares.
  std::vector<double> fitted();
  /// The same of rows given by codes, a row after the other.
  std::vector<double> moments(std::span<const std::uint32_t> codes);

 private:
  /// Calls work(choices, division, share of all trees with this node, its part that has the division) for the probable
  /// ones, in a fixed order.
  template <class Node, class Split>
  void walk(const RowSet& set, Choices& choices, const Node& node, const Split& split) const;
  std::size_t place(const RowSet& set, std::uint32_t depth) const { return set.begin + depth - set.first(); }
  bool is_node(const Child& child, std::uint32_t depth) const {
    return child.set != nullptr && depth < sums_.setting().limit;
  }
  double left_share(const Division& division, std::uint32_t code) const;
  void moments(std::span<const std::uint32_t> codes, std::size_t rows, double* out);

  Sums& sums_;
  std::vector<double> visit_;            // by set and depth
  std::vector<std::uint32_t> probable_;  // sets, from the few rows to the many
  std::vector<std::pair<Rule, double>> root_;
};

}  // namespace baytree::cart::exact
