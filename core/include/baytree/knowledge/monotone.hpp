#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "baytree/base/rng.hpp"
#include "baytree/data/design.hpp"
#include "baytree/trees/tree.hpp"

namespace baytree {

/// Which values of a tree's leaves make it a monotone function. A column's sign says how the function may go as the
/// column grows: +1 never down, −1 never up, 0 any way. So the value of leaf A must not exceed that of leaf B where
/// some x in A and x' in B have x_j ≤ x'_j (≥ where the sign is −1) in all columns with a sign, and x_j = x'_j in all
/// others. A missing value equals a missing value only, and is neither more nor less than any other; it is in the
/// leaves that a prediction would send it to, also where training saw none.
///
/// The last split above two such leaves is on a column with a sign, as any other leaves them no equal value, and sends
/// A to the side of the smaller values. So it is enough to look at the pairs across those splits, and no leaves can be
/// related in a circle.
class Cone {
 public:
  /// `signs` has one of −1, 0 and +1 for every column; throws InputError where they do not fit the design.
  Cone(const Design& design, std::vector<int> signs);

  /// Takes a tree: the rules, sizes and numbers of rows of its nodes.
  void read(std::span<const Node> nodes) { read(nodes, 0, nodes); }
  /// The same with `part` in place of the subtree at `at`.
  void read(std::span<const Node> nodes, std::size_t at, std::span<const Node> part);

  /// Whether the values, one a leaf, are in order as far as leaves first … last−1 are concerned.
  bool contains(std::span<const double> values, std::size_t first, std::size_t last) const;

 private:
  /// What a leaf may hold of one column.
  struct Side {
    std::uint64_t levels;     // of a categorical column: bits, that of the missing code included
    std::uint32_t low, high;  // of a numeric column: codes; none where low > high
    bool missing;             // of a numeric column
  };
  /// A split on a column with a sign, by its leaves: the left ones are first … middle−1, the right ones middle …
  /// last−1.
  struct Split {
    std::size_t first, middle, last;
    int sign;
  };

  void narrow(Side& left, Side& right, const Rule& rule, bool missing_left) const;
  bool precedes(std::size_t leaf, std::size_t other) const;

  std::span<const Column> columns_;
  std::vector<int> signs_;
  std::vector<std::uint32_t> used_;   // the columns of the tree's rules
  std::vector<std::uint32_t> place_;  // of each column among them
  std::vector<Side> open_;            // of the nodes to come, the next one last, `used_.size()` sides each
  std::vector<Side> regions_;         // of each leaf, so many sides each
  std::vector<Split> splits_;
};

/// Whether leaf values drawn independently from one distribution happen to be monotone. That depends on their order
/// alone, so uniform ones stand for those of any leaf model.
class RandomOrder {
 public:
  /// `signs` may also be none.
  RandomOrder(const Design& design, const std::vector<int>& signs);

  bool is_monotone(std::span<const Node> nodes, Stream& stream);

 private:
  std::optional<Cone> cone_;
  std::vector<double> values_;
};

}  // namespace baytree
