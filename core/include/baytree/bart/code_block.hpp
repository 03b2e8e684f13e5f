#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "baytree/bart/sum_trees.hpp"

namespace baytree {

/// Rows are taken in blocks of so many, small enough that a block's codes, leaves and sums stay in the cache while all draws pass over them.
inline constexpr std::size_t block_rows = 256;
/// Kernels work on multiples of so many rows; what lies behind the last row is computed and not looked at.
inline constexpr std::size_t row_multiple = 64;
static_assert(block_rows % row_multiple == 0);

/// One number for each row of a block.
template <class T>
struct alignas(64) Lane : std::array<T, block_rows> {};

/// The codes of a block of rows, column after column. A missing value, or a level never seen, has the missing code.
class CodeBlock {
 public:
  explicit CodeBlock(const SumTrees& trees) : columns_(trees.columns()), asked_(trees.asked()) {
    for (const AskedColumn& column : asked_) {
      place_.push_back(static_cast<std::uint32_t>(column.wide ? wide_.size() : narrow_.size()));
      column.wide ? static_cast<void>(wide_.emplace_back()) : static_cast<void>(narrow_.emplace_back());
    }
  }

  /// Takes rows, at most block_rows; `codes` points at the codes of all columns of the first of them, behind which lie those of the next.
  void take(const std::uint32_t* codes, std::size_t rows) {
    for (std::size_t column = 0; column < asked_.size(); ++column) {
      const auto copy = [&]<class Code>(Lane<Code>& lane) {
        for (std::size_t row = 0; row < rows; ++row)
          lane[row] = static_cast<Code>(std::min(codes[row * columns_ + asked_[column].feature], asked_[column].missing));
      };
      is_wide(column) ? copy(wide_[place_[column]]) : copy(narrow_[place_[column]]);
    }
  }

  bool is_wide(std::size_t column) const { return asked_[column].wide; }
  const Lane<std::uint8_t>& narrow(std::size_t column) const { return narrow_[place_[column]]; }
  const Lane<std::uint32_t>& wide(std::size_t column) const { return wide_[place_[column]]; }
  std::uint32_t missing(std::size_t column) const { return asked_[column].missing; }

 private:
  std::size_t columns_;
  std::span<const AskedColumn> asked_;
  std::vector<std::uint32_t> place_;  // of each column among those of its width
  std::vector<Lane<std::uint8_t>> narrow_;
  std::vector<Lane<std::uint32_t>> wide_;
};

}  // namespace baytree
