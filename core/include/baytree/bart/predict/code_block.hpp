#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "baytree/bart/predict/trees.hpp"
#include "baytree/base/interruption.hpp"

namespace baytree::bart {

/// Rows are taken in blocks of so many, small enough that a block's codes, leaves and sums stay in the cache while all
/// draws pass over them.
inline constexpr std::size_t lane_rows = 256;

/// One number for each row of a block.
template <class T>
struct alignas(64) Lane : std::array<T, lane_rows> {};

/// The codes of a block of rows, column after column. A missing value, or a level never seen, has the missing code.
class CodeBlock {
 public:
  explicit CodeBlock(const StoredTrees& trees) : columns_(trees.columns()), asked_(trees.asked()) {
    std::size_t narrow = 0, wide = 0;
    for (const AskedColumn& column : asked_) place_.push_back(column.wide ? wide++ : narrow++);
    narrow_.resize(narrow);
    wide_.resize(wide);
  }

  /// Takes the rows from `first` on, as many as fit; `codes` holds the codes of all columns, row after row.
  void take(std::span<const std::uint32_t> codes, std::size_t first, std::size_t rows) {
    first_ = first;
    rows_ = std::min(lane_rows, rows - first);
    for (std::size_t column = 0; column < asked_.size(); ++column) {
      const auto copy = [&]<class Code>(Lane<Code>& lane) {
        const std::uint32_t* code = codes.data() + first * columns_ + asked_[column].feature;
        for (std::size_t row = 0; row < rows_; ++row)
          lane[row] = static_cast<Code>(std::min(code[row * columns_], asked_[column].missing));
      };
      is_wide(column) ? copy(wide_[place_[column]]) : copy(narrow_[place_[column]]);
    }
  }

  std::size_t first() const { return first_; }
  std::size_t rows() const { return rows_; }
  /// The rows that kernels compute: a multiple of what the widest registers hold. What they find behind the last row
  /// means nothing.
  std::size_t padded_rows() const { return (rows_ + 63) / 64 * 64; }

  bool is_wide(std::size_t column) const { return asked_[column].wide; }
  const Lane<std::uint8_t>& narrow(std::size_t column) const { return narrow_[place_[column]]; }
  const Lane<std::uint32_t>& wide(std::size_t column) const { return wide_[place_[column]]; }

 private:
  std::size_t columns_, first_ = 0, rows_ = 0;
  std::span<const AskedColumn> asked_;
  std::vector<std::size_t> place_;  // of each column among those of its width
  std::vector<Lane<std::uint8_t>> narrow_;
  std::vector<Lane<std::uint32_t>> wide_;
};

/// Goes through all sums, block of rows by block of rows: calls adder.begin_block(block), then for each sum
/// adder.begin_sum(block), for each of its trees adder.add(block, place in the draw, stored tree, values, bandwidths or
/// null), and take(block, number of the sum).
template <class Adder, class Take>
void for_each_sum(const StoredTrees& trees, const StoredDraws& draws, std::span<const std::uint32_t> codes,
                  std::size_t rows, Adder& adder, Take take) {
  CodeBlock block(trees);
  const std::size_t in_sum = draws.trees / draws.outputs;
  for (std::size_t first = 0; first < rows; first += lane_rows) {
    block.take(codes, first, rows);
    adder.begin_block(block);
    const std::int32_t* tree = draws.tree_index.data();
    const float *values = draws.values.data(), *bandwidths = draws.soft() ? draws.bandwidths.data() : nullptr;
    for (std::size_t number = 0; number < draws.sums(); ++number) {
      heed_interruption();
      adder.begin_sum(block);
      for (std::size_t i = 0; i < in_sum; ++i, ++tree) {
        adder.add(block, number % draws.outputs * in_sum + i, *tree, values, bandwidths);
        values += trees.leaves(*tree);
        if (bandwidths != nullptr) bandwidths += trees.leaves(*tree) - 1;
      }
      take(block, number);
    }
  }
}

}  // namespace baytree::bart
