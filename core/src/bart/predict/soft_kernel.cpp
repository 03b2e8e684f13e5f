#include "baytree/bart/predict/soft_kernel.hpp"

#include <algorithm>

#include "baytree/bart/soft/gate.hpp"

namespace baytree::bart {
namespace {

template <class Code>
BAYTREE_INLINE void gate_shares(const Gate& gate, const Code* codes, std::uint32_t missing, float missing_right,
                                std::size_t rows, float* right) {
  // Two loops: with a choice in the first, compilers would compute gates one by one.
  for (std::size_t row = 0; row < rows; ++row) right[row] = gate.right(codes[row]);
  for (std::size_t row = 0; row < rows; ++row) right[row] = codes[row] == missing ? missing_right : right[row];
}

template <class Code>
BAYTREE_INLINE void whole_shares(std::span<const CodeRange> ranges, const Code* codes, std::size_t rows, float* right) {
  std::fill_n(right, rows, 0.0f);
  for (const CodeRange range : ranges)
    for (std::size_t row = 0; row < rows; ++row) right[row] = codes[row] - range.low <= range.span ? 1.0f : right[row];
}

BAYTREE_INLINE void find_shares(const StoredTrees& trees, const StoredSplit& split, const CodeBlock& block,
                                const float* bandwidth, Lane<float>& right) {
  const std::size_t rows = block.padded_rows();
  const AskedColumn& column = trees.asked()[split.column];
  const std::span<const CodeRange> ranges = trees.ranges(split);
  const bool whole = bandwidth == nullptr || column.categorical || ranges.front().low == column.missing;
  if (whole) {
    if (column.wide) return whole_shares(ranges, block.wide(split.column).data(), rows, right.data());
    return whole_shares(ranges, block.narrow(split.column).data(), rows, right.data());
  }
  const Gate gate(ranges.front().low - 1, column.missing, *bandwidth);
  const float missing_right = ranges.front().low + ranges.front().span == column.missing ? 1.0f : 0.0f;
  if (column.wide)
    return gate_shares(gate, block.wide(split.column).data(), column.missing, missing_right, rows, right.data());
  return gate_shares(gate, block.narrow(split.column).data(), column.missing, missing_right, rows, right.data());
}

/// From the last split to the first, what lies below a split becomes its value for each row, kept where its first leaf
/// was.
BAYTREE_INLINE void add_values(const StoredTrees& trees, std::size_t tree, const CodeBlock& block, const float* values,
                               const float* bandwidths, std::span<Lane<float>> spare, Lane<float>& sum) {
  const std::size_t rows = block.padded_rows();
  const std::span<const StoredSplit> splits = trees.splits(tree);
  for (std::size_t leaf = 0; leaf <= splits.size(); ++leaf) std::fill_n(spare[leaf].data(), rows, values[leaf]);
  Lane<float> right;
  for (std::size_t i = splits.size(); i-- > 0;) {
    find_shares(trees, splits[i], block, bandwidths + i, right);
    float* below = spare[splits[i].first].data();
    const float* other = spare[splits[i].right].data();
    for (std::size_t row = 0; row < rows; ++row)
      below[row] = (1.0f - right[row]) * below[row] + right[row] * other[row];
  }
  for (std::size_t row = 0; row < rows; ++row) sum[row] += spare[0][row];
}

void find_shares_plain(const StoredTrees& trees, const StoredSplit& split, const CodeBlock& block,
                       const float* bandwidth, Lane<float>& right) {
  find_shares(trees, split, block, bandwidth, right);
}

void add_values_plain(const StoredTrees& trees, std::size_t tree, const CodeBlock& block, const float* values,
                      const float* bandwidths, std::span<Lane<float>> spare, Lane<float>& sum) {
  add_values(trees, tree, block, values, bandwidths, spare, sum);
}

#if defined(BAYTREE_WIDE)

BAYTREE_AVX2 void find_shares_avx2(const StoredTrees& trees, const StoredSplit& split, const CodeBlock& block,
                                   const float* bandwidth, Lane<float>& right) {
  find_shares(trees, split, block, bandwidth, right);
}

BAYTREE_AVX2 void add_values_avx2(const StoredTrees& trees, std::size_t tree, const CodeBlock& block,
                                  const float* values, const float* bandwidths, std::span<Lane<float>> spare,
                                  Lane<float>& sum) {
  add_values(trees, tree, block, values, bandwidths, spare, sum);
}

BAYTREE_AVX512 void find_shares_avx512(const StoredTrees& trees, const StoredSplit& split, const CodeBlock& block,
                                       const float* bandwidth, Lane<float>& right) {
  find_shares(trees, split, block, bandwidth, right);
}

BAYTREE_AVX512 void add_values_avx512(const StoredTrees& trees, std::size_t tree, const CodeBlock& block,
                                      const float* values, const float* bandwidths, std::span<Lane<float>> spare,
                                      Lane<float>& sum) {
  add_values(trees, tree, block, values, bandwidths, spare, sum);
}

#endif

}  // namespace

SoftKernel soft_kernel(Simd simd) {
#if defined(BAYTREE_WIDE)
  if (simd == Simd::avx512) return {find_shares_avx512, add_values_avx512};
  if (simd == Simd::avx2) return {find_shares_avx2, add_values_avx2};
#endif
  static_cast<void>(simd);
  return {find_shares_plain, add_values_plain};
}

}  // namespace baytree::bart
