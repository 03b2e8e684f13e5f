#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "baytree/base/bit_sets.hpp"
#include "baytree/data/design.hpp"

namespace baytree {

/// The rows of a small table that have this or that code, as bit sets: a node's rows are such a set, too, and what is
/// asked of them is counted 64 or 512 rows at a time. Here is all that is decided about it.
class RowSets {
 public:
  RowSets(const Design& design, Simd widest);

  /// Whether the table is small enough for sets to be faster than lists, and to take little memory.
  static bool suit(const Design& design);

  std::size_t words() const { return words_; }
  /// All rows.
  const Word* all() const { return sets_.data(); }
  // The sets of a column lie side by side, ascending.
  /// Of a numeric column: the rows with this code or a smaller one, code < n_codes − 1.
  const Word* at_most(std::uint32_t feature, std::uint32_t code) const { return set(first_[feature] + code); }
  /// Of a categorical column: the rows with this code.
  const Word* with_level(std::uint32_t feature, std::uint32_t code) const { return set(first_[feature] + code); }

  /// How many rows are in both sets.
  Row count(const Word* a, const Word* b) const { return kernels_.count(a, b, words_); }
  /// The same of n others, the first `stride` sets before the second, and so on.
  void count_each(const Word* rows, const Word* others, std::size_t n, std::size_t stride, Row* out) const {
    kernels_.count_each(rows, others, n, stride * words_, words_, out);
  }
  /// Divides a set into what is in the other and what is not; returns how many rows are in it.
  Row divide(const Word* rows, const Word* by, Word* inside, Word* outside) const {
    return kernels_.divide(rows, by, inside, outside, words_);
  }

 private:
  const Word* set(std::size_t number) const { return sets_.data() + number * words_; }

  SetKernels kernels_;
  std::size_t words_;
  std::vector<std::size_t> first_;  // set of each column
  std::vector<Word> sets_;          // that of all rows first
};

/// How the rows of nodes are kept: `suited` is as sets where the table suits them and else as lists.
enum class RowForm : std::uint8_t { suited, lists, sets };

/// Has the rows of nodes of this design kept so from now on.
void choose_rows(Design& design, RowForm form, Simd widest);

}  // namespace baytree
