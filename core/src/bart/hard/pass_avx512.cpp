#include "baytree/bart/hard/pass.hpp"

#if defined(BAYTREE_WIDE)
namespace baytree::bart {
namespace {

constexpr std::size_t lanes = 16;

template <int Leaves>
struct Lanes {
  __m512 sum[Leaves], weight[Leaves], right, right_weight[2];
  std::uint64_t rows[2];
};

/// The next 16 rows, or the last ones. A mask that is known to be full would cost more than the sums; and comparing 16
/// bytes at a time is cheaper than comparing 64 and shifting the mask.
template <int Leaves, bool Weighted, Change How, bool Full>
BAYTREE_INLINE BAYTREE_AVX512 void add_rows(const Pass& pass, std::size_t i, std::size_t rest, __m512 change,
                                            Lanes<Leaves>& to) {
  const auto there = static_cast<__mmask16>(Full ? 0xffffu : (1u << rest) - 1u);
  const auto bytes = [&](const std::uint8_t* from) BAYTREE_AVX512 {
    return Full ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)) : _mm_maskz_loadu_epi8(there, from);
  };
  const auto numbers = [&](const float* from)
                           BAYTREE_AVX512 { return Full ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(there, from); };
  const __m128i leaf = bytes(pass.leaf + i);
  float* residual = pass.residual + i;
  __m512 value = numbers(residual);
  if constexpr (How != Change::none) {
    const __m512 by = _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(bytes(pass.changed + i)), change);
    value = How == Change::add ? _mm512_add_ps(value, by) : _mm512_mul_ps(value, by);
    if constexpr (Full)
      _mm512_storeu_ps(residual, value);
    else
      _mm512_mask_storeu_ps(residual, there, value);
  }
  __m512 weight = _mm512_setzero_ps();
  if constexpr (Weighted) {
    weight = numbers(pass.weight + i);
    value = _mm512_mul_ps(value, weight);
  }
  for (int k = 0; k < Leaves; ++k) {
    const __m128i number = _mm_set1_epi8(static_cast<char>(k));
    const __mmask16 in_leaf = Full ? _mm_cmpeq_epi8_mask(leaf, number) : _mm_mask_cmpeq_epi8_mask(there, leaf, number);
    to.sum[k] = _mm512_mask_add_ps(to.sum[k], in_leaf, to.sum[k], value);
    if constexpr (Weighted) to.weight[k] = _mm512_mask_add_ps(to.weight[k], in_leaf, to.weight[k], weight);
  }
  if (!pass.rule.code) return;
  const __m128i code = bytes(pass.rule.code + i);
  __mmask16 goes_right = _mm_cmpgt_epu8_mask(code, _mm_set1_epi8(static_cast<char>(pass.rule.cut)));
  if (pass.rule.left_code != 0)
    goes_right = _mm_mask_cmpneq_epu8_mask(goes_right, code, _mm_set1_epi8(static_cast<char>(pass.rule.left_code)));
  const __mmask16 of_first = _mm_mask_cmpeq_epi8_mask(goes_right, leaf, _mm_set1_epi8(static_cast<char>(pass.first)));
  __mmask16 of_second = 0, of_right = of_first;
  to.rows[0] += static_cast<std::uint64_t>(__builtin_popcount(of_first));
  if (pass.second != pass.first) {
    of_second = _mm_mask_cmpeq_epi8_mask(goes_right, leaf, _mm_set1_epi8(static_cast<char>(pass.second)));
    of_right = static_cast<__mmask16>(of_first | of_second);
    to.rows[1] += static_cast<std::uint64_t>(__builtin_popcount(of_second));
  }
  to.right = _mm512_mask_add_ps(to.right, of_right, to.right, value);
  if constexpr (Weighted) {
    to.right_weight[0] = _mm512_mask_add_ps(to.right_weight[0], of_first, to.right_weight[0], weight);
    to.right_weight[1] = _mm512_mask_add_ps(to.right_weight[1], of_second, to.right_weight[1], weight);
  }
}

BAYTREE_AVX512 double total(__m512 sums) {
  float of_lanes[lanes];
  _mm512_storeu_ps(of_lanes, sums);
  return sum_of_lanes(of_lanes);
}

template <int Leaves, bool Weighted, Change How>
BAYTREE_AVX512 void few_leaves(const Pass& pass, std::size_t begin, std::size_t end, PassSums& out) {
  const Pass here = pass;  // a copy that no store can change
  const __m512 change = How != Change::none ? _mm512_loadu_ps(here.change) : _mm512_setzero_ps();
  Lanes<Leaves> to;
  for (int k = 0; k < Leaves; ++k) to.sum[k] = to.weight[k] = _mm512_setzero_ps();
  to.right = to.right_weight[0] = to.right_weight[1] = _mm512_setzero_ps();
  to.rows[0] = to.rows[1] = 0;
  std::size_t i = begin;
#pragma GCC unroll 4
  for (; i + lanes <= end; i += lanes) add_rows<Leaves, Weighted, How, true>(here, i, lanes, change, to);
  if (i < end) add_rows<Leaves, Weighted, How, false>(here, i, end - i, change, to);
  for (std::size_t k = 0; k < here.leaves; ++k) {
    out.sum[k] = total(to.sum[k]);
    if constexpr (Weighted) out.weight[k] = total(to.weight[k]);
  }
  out.right_sum = total(to.right);
  for (std::size_t side = 0; side < 2; ++side) {
    out.right_rows[side] = to.rows[side];
    out.right_weight[side] = Weighted ? total(to.right_weight[side]) : static_cast<double>(to.rows[side]);
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

BlockPass passes::avx512(const Pass& pass) {
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
    case 5:
      return for_leaves<5>(pass);
    case 6:
      return for_leaves<6>(pass);
    case 7:
      return for_leaves<7>(pass);
    case 8:
      return for_leaves<8>(pass);
    case 9:
    case 10:
      return for_leaves<10>(pass);
    default:
      return pass.leaves <= 12 ? for_leaves<12>(pass) : pass.leaves <= 16 ? for_leaves<16>(pass) : nullptr;
  }
}

}  // namespace baytree::bart
#else
namespace baytree::bart {
BlockPass passes::avx512(const Pass&) { return nullptr; }
}  // namespace baytree::bart
#endif
