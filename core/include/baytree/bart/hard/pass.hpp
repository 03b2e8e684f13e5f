#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "baytree/base/simd.hpp"

namespace baytree::bart {

/// Leaf numbers are bytes.
inline constexpr std::size_t most_leaves = 255;
/// Sums run in float over so many rows and in double across such blocks, so that their order is fixed.
inline constexpr std::size_t block_rows = 4096;

/// A rule as bytes: right go the rows whose code is above the cut, but for one code that goes left all the same.
struct ByteRule {
  const std::uint8_t* code = nullptr;
  std::uint8_t cut = 0, left_code = 0;

  bool goes_right(std::size_t row) const { return code[row] > cut && code[row] != left_code; }
};

/// What a pass does to the residuals.
enum class Change : std::uint8_t { none, add, multiply };

/// One pass over the rows does the work of two trees: it adds the change of the tree before to the residuals, or
/// multiplies them by it, and, while they are in registers, sums them over this tree's leaves and over the right side
/// of a proposed rule.
struct Pass {
  float* residual = nullptr;
  const float* weight = nullptr;  // of each row; none where all weigh 1
  bool multiplies = false;        // which is for rows without weights

  const std::uint8_t* changed = nullptr;  // the leaf of each row in the tree before; none where nothing changes
  const float* change = nullptr;          // what to add or multiply by, by leaf; 256 of them
  std::size_t changed_leaves = 0;

  const std::uint8_t* leaf = nullptr;  // the leaf of each row in this tree
  std::size_t leaves = 0;

  ByteRule rule;                       // without codes where nothing is divided
  std::uint8_t first = 0, second = 0;  // the leaves whose rows are divided; one is given twice

  Change how() const { return !changed ? Change::none : multiplies ? Change::multiply : Change::add; }
};

/// What a pass gives, weighted where rows have weights. Only the entries of leaves that there are get written.
struct PassSums {
  std::array<double, 256> sum,
      weight;        // of the residuals and of the weights, by leaf; without weights the latter are not written
  double right_sum;  // of the residuals on the right side
  std::array<double, 2> right_weight;  // on the right side, of the rows of either leaf
  std::array<std::uint64_t, 2> right_rows;
};

/// The rows begin … end of one block. Each sum has 16 lanes, of which lane l adds the rows i with i mod 16 = l in
/// order, and which are added in pairs at the end; all paths do just that, so they give the same bits.
using BlockPass = void (*)(const Pass& pass, std::size_t begin, std::size_t end, PassSums& out);

/// The way to do this pass on this machine.
BlockPass block_pass(const Pass& pass, Simd simd);

namespace passes {
BlockPass plain(const Pass& pass);
BlockPass avx2(const Pass& pass);    // none where the pass has too many leaves for it
BlockPass avx512(const Pass& pass);  // as well
}  // namespace passes

/// The sum of 16 lanes, in the order that all paths share.
inline double sum_of_lanes(const float* lanes) {
  double half[8];
  for (int i = 0; i < 8; ++i) half[i] = static_cast<double>(lanes[i]) + static_cast<double>(lanes[i + 8]);
  for (int width = 4; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) half[i] += half[i + width];
  return half[0];
}

}  // namespace baytree::bart
