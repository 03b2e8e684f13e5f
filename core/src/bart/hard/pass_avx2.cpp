#include "baytree/bart/hard/pass.hpp"

#if defined(BAYTREE_WIDE)
namespace baytree::bart {
namespace {

constexpr std::size_t lanes = 16;

/// Eight 32-bit numbers from as many bytes, all bits set where the byte is not 0.
BAYTREE_AVX2 inline __m256 widened(__m128i bytes) { return _mm256_castsi256_ps(_mm256_cvtepi8_epi32(bytes)); }

/// Sixteen rows at a time, as two vectors of lanes 0–7 and 8–15; what is left over goes through one more step on
/// copies. Numbers that do not belong to a sum are added as 0, which changes no bit of it.
template <int Leaves, bool Weighted, Change How>
BAYTREE_AVX2 void few_leaves(const Pass& pass, std::size_t begin, std::size_t end, PassSums& out) {
  const __m256 low_change = How != Change::none ? _mm256_loadu_ps(pass.change) : _mm256_setzero_ps();
  const __m256 high_change = How != Change::none ? _mm256_loadu_ps(pass.change + 8) : _mm256_setzero_ps();
  const __m128i cut = _mm_set1_epi8(static_cast<char>(pass.rule.cut)),
                left_code = _mm_set1_epi8(static_cast<char>(pass.rule.left_code));
  const __m128i first = _mm_set1_epi8(static_cast<char>(pass.first)),
                second = _mm_set1_epi8(static_cast<char>(pass.second));
  const __m128i all = _mm_set1_epi8(-1);
  __m256 sum[Leaves][2], weight[Leaves][2], right[2], right_weight[2][2];
  for (int half = 0; half < 2; ++half) {
    right[half] = right_weight[0][half] = right_weight[1][half] = _mm256_setzero_ps();
    for (int k = 0; k < Leaves; ++k) sum[k][half] = weight[k][half] = _mm256_setzero_ps();
  }
  std::uint64_t rows[2] = {};
  // `there` marks the rows that there are; the others are copies of zeros.
  const auto step = [&](float* residual, const float* row_weight, const std::uint8_t* changed, __m128i leaf,
                        __m128i code, __m128i there) BAYTREE_AVX2 {
    __m128i of_first = _mm_setzero_si128(), of_second = _mm_setzero_si128();
    if (pass.rule.code) {
      const __m128i not_above = _mm_cmpeq_epi8(_mm_max_epu8(code, cut), cut);
      const __m128i goes_right = _mm_andnot_si128(_mm_or_si128(not_above, _mm_cmpeq_epi8(code, left_code)), there);
      of_first = _mm_and_si128(goes_right, _mm_cmpeq_epi8(leaf, first));
      of_second = _mm_andnot_si128(of_first, _mm_and_si128(goes_right, _mm_cmpeq_epi8(leaf, second)));
      rows[0] += static_cast<std::uint64_t>(__builtin_popcount(static_cast<unsigned>(_mm_movemask_epi8(of_first))));
      rows[1] += static_cast<std::uint64_t>(__builtin_popcount(static_cast<unsigned>(_mm_movemask_epi8(of_second))));
    }
    __m128i in_leaf[Leaves];
    for (int k = 0; k < Leaves; ++k)
      in_leaf[k] = _mm_and_si128(there, _mm_cmpeq_epi8(leaf, _mm_set1_epi8(static_cast<char>(k))));
    __m128i of_right = _mm_or_si128(of_first, of_second);
    for (int half = 0; half < 2; ++half) {
      __m256 value = _mm256_loadu_ps(residual + 8 * half);
      if constexpr (How != Change::none) {
        const __m256i ids = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(changed + 8 * half)));
        const __m256 low = _mm256_permutevar8x32_ps(low_change, ids), high = _mm256_permutevar8x32_ps(high_change, ids);
        const __m256 by =
            _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_cmpgt_epi32(ids, _mm256_set1_epi32(7))));
        value = How == Change::add ? _mm256_add_ps(value, by) : _mm256_mul_ps(value, by);
        _mm256_storeu_ps(residual + 8 * half, value);
      }
      if constexpr (Weighted) {
        const __m256 w = _mm256_loadu_ps(row_weight + 8 * half);
        value = _mm256_mul_ps(value, w);
        for (int k = 0; k < Leaves; ++k)
          weight[k][half] = _mm256_add_ps(weight[k][half], _mm256_and_ps(widened(in_leaf[k]), w));
        right_weight[0][half] = _mm256_add_ps(right_weight[0][half], _mm256_and_ps(widened(of_first), w));
        right_weight[1][half] = _mm256_add_ps(right_weight[1][half], _mm256_and_ps(widened(of_second), w));
        of_first = _mm_srli_si128(of_first, 8);
        of_second = _mm_srli_si128(of_second, 8);
      }
      for (int k = 0; k < Leaves; ++k) {
        sum[k][half] = _mm256_add_ps(sum[k][half], _mm256_and_ps(widened(in_leaf[k]), value));
        in_leaf[k] = _mm_srli_si128(in_leaf[k], 8);
      }
      right[half] = _mm256_add_ps(right[half], _mm256_and_ps(widened(of_right), value));
      of_right = _mm_srli_si128(of_right, 8);
    }
  };
  const auto load = [](const std::uint8_t* bytes)
                        BAYTREE_AVX2 { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)); };
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes)
    step(pass.residual + i, Weighted ? pass.weight + i : nullptr, How != Change::none ? pass.changed + i : nullptr,
         load(pass.leaf + i), pass.rule.code ? load(pass.rule.code + i) : all, all);
  if (i < end) {
    float residual[lanes] = {}, row_weight[lanes] = {};
    std::uint8_t changed[lanes] = {}, leaf[lanes] = {}, code[lanes] = {}, there[lanes] = {};
    const std::size_t rest = end - i;
    for (std::size_t row = 0; row < rest; ++row) {
      residual[row] = pass.residual[i + row];
      if constexpr (Weighted) row_weight[row] = pass.weight[i + row];
      if constexpr (How != Change::none) changed[row] = pass.changed[i + row];
      leaf[row] = pass.leaf[i + row];
      if (pass.rule.code) code[row] = pass.rule.code[i + row];
      there[row] = 0xff;
    }
    step(residual, row_weight, changed, load(leaf), load(code), load(there));
    if constexpr (How != Change::none)
      for (std::size_t row = 0; row < rest; ++row) pass.residual[i + row] = residual[row];
  }
  float of_lanes[lanes];
  const auto total = [&](const __m256* sums) BAYTREE_AVX2 {
    _mm256_storeu_ps(of_lanes, sums[0]);
    _mm256_storeu_ps(of_lanes + 8, sums[1]);
    return sum_of_lanes(of_lanes);
  };
  for (std::size_t k = 0; k < pass.leaves; ++k) {
    out.sum[k] = total(sum[k]);
    if constexpr (Weighted) out.weight[k] = total(weight[k]);
  }
  out.right_sum = total(right);
  for (std::size_t side = 0; side < 2; ++side) {
    out.right_rows[side] = rows[side];
    out.right_weight[side] = Weighted ? total(right_weight[side]) : static_cast<double>(rows[side]);
  }
}

template <int Leaves>
BlockPass for_leaves(const Pass& pass) {
  switch (pass.how()) {
    case Change::none:
      return pass.weight ? few_leaves<Leaves, true, Change::none> : few_leaves<Leaves, false, Change::none>;
    case Change::add:
      return pass.weight ? few_leaves<Leaves, true, Change::add> : few_leaves<Leaves, false, Change::add>;
    default:
      return few_leaves<Leaves, false, Change::multiply>;
  }
}

}  // namespace

BlockPass passes::avx2(const Pass& pass) {
  if (pass.changed && pass.changed_leaves > 16) return nullptr;
  switch (pass.leaves) {
    case 1:
      return for_leaves<1>(pass);
    case 2:
      return for_leaves<2>(pass);
    case 3:
      return for_leaves<3>(pass);
    case 4:
      return for_leaves<4>(pass);
    default:
      return pass.leaves <= 6 ? for_leaves<6>(pass) : pass.leaves <= 8 ? for_leaves<8>(pass) : nullptr;
  }
}

}  // namespace baytree::bart
#else
namespace baytree::bart {
BlockPass passes::avx2(const Pass&) { return nullptr; }
}  // namespace baytree::bart
#endif
