#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/data/design.hpp"

namespace baytree {

/// The leaf of each row, by the row's number, if a rule above two subtrees sends it left, and if it sends it right. The
/// leaves of the left subtree are 0 … first_right−1, those of the right one follow.
struct LeafLabels {
  std::vector<std::uint32_t> left, right;
  std::uint32_t first_right = 0, leaves = 0;
};

/// What the leaves below a rule say of the response as the rule goes through a column: the likelihood as proposals see
/// it. A chain makes one from its leaf model. It is asked a few times a column, not once a row.
class LeafSweep {
 public:
  /// Rows of a node that have one code.
  struct Bin {
    std::uint32_t code = 0;
    Row rows = 0;
  };

  virtual ~LeafSweep() = default;
  /// Takes the rows of a node; rows and labels must stay. A leaf of fewer than `min_leaf` rows is none.
  virtual void take(std::span<const Row> rows, const LeafLabels& labels, Row min_leaf) = 0;
  /// The bins of a column, those without rows left out, ascending by code.
  virtual std::span<const Bin> read(const Column& column) = 0;
  /// Begins with all rows on the right and sends one bin after the other, given by their places, to the other side:
  /// after each the log marginals of all leaves, summed, or −infinity where a leaf is none.
  virtual void flip(std::span<const std::uint32_t> bins, double* log_marginal) = 0;
};

}  // namespace baytree
