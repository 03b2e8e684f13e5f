#pragma once

#include <cstdint>
#include <span>

#include "baytree/bart/predict/hard_kernel.hpp"
#include "baytree/bart/predict/soft_kernel.hpp"
#include "baytree/bart/predict/trees.hpp"
#include "baytree/base/simd.hpp"

namespace baytree::bart {

/// Adds up the values of the leaves that new rows fall into, draw by draw. A sum is taken in single precision in the
/// order of the trees, row by row, so that it depends neither on the width of the registers nor on the other rows.
class Predictor {
 public:
  /// Throws InputError where the arrays are not whole trees of these columns.
  Predictor(const ForestView& forest, std::span<const Column> columns, Simd widest = Simd::avx512)
      : trees_(forest, columns),
        simd_(best_simd(widest)),
        kernel_(hard_kernel(simd_)),
        soft_kernel_(soft_kernel(simd_)) {}

  const StoredTrees& trees() const { return trees_; }
  Simd simd() const { return simd_; }

  /// Throws InputError where the draws are not sums of these trees, or `codes` is not so many rows of codes: the
  /// missing code, or any larger one, for missing values and unseen levels.
  void check(const StoredDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows) const;
  /// Writes output k of draw d at row i to out[(d · outputs + k) · rows + i]. Check the arguments first.
  void sums(const StoredDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows,
            std::span<float> out) const;
  /// Writes the mean over the draws of output k at row i to out[k · rows + i]; it never holds more than a block of
  /// rows.
  void mean(const StoredDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows,
            std::span<double> out) const;

 private:
  /// Calls take(sum, block of rows, number of the sum) for each of them.
  template <class Take>
  void add_up(const StoredDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows, Take take) const;

  StoredTrees trees_;
  Simd simd_;
  HardKernel kernel_;
  SoftKernel soft_kernel_;
};

}  // namespace baytree::bart
