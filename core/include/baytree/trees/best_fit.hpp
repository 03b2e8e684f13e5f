#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "baytree/trees/tree.hpp"

namespace baytree {

/// What a tree is fitted to: a weight and `width` numbers for each row.
struct Surface {
  std::span<const double> weight, values;
  std::size_t width = 1;
};

/// The trees of at most 1, 2, … leaves that fit a surface best by least squares, each leaf having the mean of its rows;
/// certified, or with the least that any tree could leave.
///
/// With S a set of rows and k a number of leaves, what the best tree leaves is
///
///     B(S, 1) = Σ w (value − mean)²,    B(S, k) = min over rules and i of B(left, i) + B(right, k − i).
///
/// Sets of rows meet again on many ways, so what is known of B(S, k) is kept by S: an interval, and the rule of the
/// upper end. Fewer rows never leave more, as a tree that divides a set divides its parts no worse. So where the cuts
/// of a column are tried in the middle of what is left of them, B of the last left side and of the last right side
/// bound all cuts between two that were tried, and most cuts need no look (the similarity bound of Brita et al. 2025,
/// Optimal classification trees for continuous feature data).
class BestFits {
 public:
  /// Looks into at most `budget` sets of rows, and into a few more for the best tree of each number of leaves.
  BestFits(const Design& design, const Surface& surface, std::uint32_t leaves, std::uint64_t budget);

  /// By leaves less one: what is left by any tree of so many leaves at least, and by the best one that was found.
  std::vector<double> low() const;
  std::vector<double> high() const;
  /// How many sets of rows were looked into.
  std::uint64_t looks() const { return looks_; }
  /// The best tree of at most so many leaves that was found.
  Nodes tree(std::uint32_t leaves);

 private:
  struct Key {
    std::uint64_t low = 0, high = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.low ^ key.high * 0x9e3779b97f4a7c15u; }
  };
  /// What is known of B(S, k), and how the tree of the upper end begins: it is a leaf where none are left.
  struct Known {
    double low = 0.0, high = infinity;
    Rule rule{};
    std::uint32_t left_leaves = 0;
  };
  using ByLeaves = std::vector<Known>;
  struct Set {
    std::vector<Row> rows;
    ByLeaves* known;
  };
  /// A rule, and what its sides leave as leaves.
  struct Division {
    Rule rule;
    double left, right;
  };
  /// Divisions each of which has more rows on its left side than the one before.
  using Chain = std::vector<Division>;
  struct Tried;
  struct Stretch;

  Set set_of(std::vector<Row> rows);
  Set side(const Set& set, const Rule& rule, bool left);
  double squares(std::span<const double> sums) const;
  std::vector<Chain> divisions(const Set& set);
  void divide_numbers(std::uint32_t feature, std::vector<Chain>& out);
  void divide_levels(std::uint32_t feature, std::vector<Chain>& out);
  void reach(const Set& set, std::uint32_t leaves);
  void look(const Set& set, std::uint32_t leaves, double limit, bool anyway = false);
  void take_best_of_two(const Set& set, const std::vector<Chain>& chains);
  void settle(const Set& set);
  Tried attempt(const Set& set, const Chain& chain, const Stretch& stretch, std::size_t place, std::uint32_t leaves,
                double limit);
  double least_left(const Chain& chain, const Stretch& stretch, std::uint32_t leaves) const;
  double least_right(const Chain& chain, const Stretch& stretch, std::uint32_t leaves) const;
  double bound(const Chain& chain, const Stretch& stretch, std::uint32_t leaves) const;
  void extend(const Set& set, std::uint32_t leaves);
  void add_nodes(const Set& set, std::uint32_t leaves, std::uint32_t depth, Nodes& out);

  const Design& design_;
  std::size_t width_;
  std::vector<double> sums_;  // of each row its weight, its weighted square and its weighted values
  std::vector<Key> keys_;     // of each row; a set's is the exclusive or
  std::unordered_map<Key, ByLeaves, Hash> known_;
  std::vector<double> by_code_;
  std::vector<std::uint32_t> codes_;
  Set root_;
  std::uint32_t leaves_;
  std::uint64_t budget_, looks_ = 0;
  double slack_ = 0.0;         // less is rounding
  bool all_looked_at_ = true;  // of the set that was divided last, every division
};

}  // namespace baytree
