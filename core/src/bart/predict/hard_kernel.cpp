#include "baytree/bart/predict/hard_kernel.hpp"

#include <cstring>

namespace baytree::bart {
namespace {

/// Moves the rows that are in leaf `first` of a split and go right to its leaf `right`, `Width` rows at a time: as wide
/// as the registers of whom it is inlined into, since compilers take wider vectors apart badly.
template <std::size_t Width>
BAYTREE_INLINE void move_right(const StoredSplit& split, std::span<const CodeRange> ranges, const std::uint8_t* codes,
                               std::size_t rows, std::uint8_t* leaf) {
  const auto step = static_cast<std::uint8_t>(split.right - split.first);
#if defined(BAYTREE_GNU)
  using Bytes [[gnu::vector_size(Width)]] = std::uint8_t;
  for (std::size_t row = 0; row < rows; row += Width) {
    Bytes code, at, right = {};
    std::memcpy(&code, codes + row, Width);
    std::memcpy(&at, leaf + row, Width);
    for (const CodeRange& range : ranges)
      right |= (Bytes)(code - static_cast<std::uint8_t>(range.low) <= static_cast<std::uint8_t>(range.span));
    at += right & (Bytes)(at == split.first) & step;
    std::memcpy(leaf + row, &at, Width);
  }
#else
  for (std::size_t row = 0; row < rows; ++row) {
    bool right = false;
    for (const CodeRange& range : ranges)
      right |= static_cast<std::uint8_t>(codes[row] - range.low) <= static_cast<std::uint8_t>(range.span);
    leaf[row] = static_cast<std::uint8_t>(leaf[row] + (right && leaf[row] == split.first ? step : 0));
  }
#endif
}

template <std::size_t Width>
BAYTREE_INLINE void find_leaves(const StoredTrees& trees, std::size_t tree, const CodeBlock& block,
                                Lane<std::uint8_t>& leaf) {
  const std::size_t rows = block.padded_rows();
  std::memset(leaf.data(), 0, rows);
  for (const StoredSplit& split : trees.splits(tree)) {
    if (!block.is_wide(split.column)) {
      move_right<Width>(split, trees.ranges(split), block.narrow(split.column).data(), rows, leaf.data());
      continue;
    }
    // Only numeric columns are wide, so there is one range. Its answers become codes 0 and 1 of a narrow column.
    const CodeRange range = trees.ranges(split).front();
    const Lane<std::uint32_t>& codes = block.wide(split.column);
    Lane<std::uint8_t> right;
    for (std::size_t row = 0; row < rows; ++row) right[row] = codes[row] - range.low <= range.span;
    const CodeRange one{1, 0};
    move_right<Width>(split, {&one, 1}, right.data(), rows, leaf.data());
  }
}

void find_leaves_plain(const StoredTrees& trees, std::size_t tree, const CodeBlock& block, Lane<std::uint8_t>& leaf) {
  find_leaves<16>(trees, tree, block, leaf);
}

void add_values_plain(std::span<const float> values, const Lane<std::uint8_t>& leaf, std::size_t rows,
                      Lane<float>& sum) {
  for (std::size_t row = 0; row < rows; ++row) sum[row] += values[leaf[row]];
}

#if defined(BAYTREE_WIDE)

BAYTREE_AVX2 void find_leaves_avx2(const StoredTrees& trees, std::size_t tree, const CodeBlock& block,
                                   Lane<std::uint8_t>& leaf) {
  find_leaves<32>(trees, tree, block, leaf);
}

BAYTREE_AVX2 void add_values_avx2(std::span<const float> values, const Lane<std::uint8_t>& leaf, std::size_t rows,
                                  Lane<float>& sum) {
  const bool few = values.size() <= 8;
  alignas(32) float padded[8] = {};
  if (few) std::memcpy(padded, values.data(), values.size_bytes());
  const __m256 table = _mm256_load_ps(padded);
  for (std::size_t row = 0; row < rows; row += 8) {
    const __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(leaf.data() + row)));
    const __m256 value = few ? _mm256_permutevar8x32_ps(table, at) : _mm256_i32gather_ps(values.data(), at, 4);
    _mm256_store_ps(sum.data() + row, _mm256_add_ps(_mm256_load_ps(sum.data() + row), value));
  }
}

BAYTREE_AVX512 void find_leaves_avx512(const StoredTrees& trees, std::size_t tree, const CodeBlock& block,
                                       Lane<std::uint8_t>& leaf) {
  find_leaves<64>(trees, tree, block, leaf);
}

BAYTREE_AVX512 void add_values_avx512(std::span<const float> values, const Lane<std::uint8_t>& leaf, std::size_t rows,
                                      Lane<float>& sum) {
  const bool few = values.size() <= 16;
  const __m512 table = few ? _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << values.size()) - 1), values.data())
                           : _mm512_setzero_ps();
  for (std::size_t row = 0; row < rows; row += 16) {
    const __m512i at = _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(leaf.data() + row)));
    const __m512 value = few ? _mm512_permutexvar_ps(at, table) : _mm512_i32gather_ps(at, values.data(), 4);
    _mm512_store_ps(sum.data() + row, _mm512_add_ps(_mm512_load_ps(sum.data() + row), value));
  }
}

#endif

}  // namespace

HardKernel hard_kernel(Simd simd) {
#if defined(BAYTREE_WIDE)
  if (simd == Simd::avx512) return {find_leaves_avx512, add_values_avx512};
  if (simd == Simd::avx2) return {find_leaves_avx2, add_values_avx2};
#endif
  static_cast<void>(simd);
  return {find_leaves_plain, add_values_plain};
}

}  // namespace baytree::bart
