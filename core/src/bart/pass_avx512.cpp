#include "baytree/bart/pass.hpp"

#if defined(__x86_64__)
namespace baytree {
namespace {

constexpr std::size_t lanes = 16, wide = 64;

/// A byte of ids or codes is loaded for 64 rows at once, and residuals for 16.
template <int Leaves, bool Weighted, bool Changes>
BAYTREE_AVX512 void few_leaves(const Pass& pass, std::size_t begin, std::size_t end, PassSums& out) {
  const __m512 change = Changes ? _mm512_loadu_ps(pass.change) : _mm512_setzero_ps();
  const __m512i cut = _mm512_set1_epi8(static_cast<char>(pass.rule.cut)), left_code = _mm512_set1_epi8(static_cast<char>(pass.rule.left_code));
  const __m512i first = _mm512_set1_epi8(static_cast<char>(pass.first)), second = _mm512_set1_epi8(static_cast<char>(pass.second));
  __m512 sum[Leaves], weight[Leaves], right = _mm512_setzero_ps(), right_weight[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (int k = 0; k < Leaves; ++k) sum[k] = weight[k] = _mm512_setzero_ps();
  std::uint64_t rows[2] = {};
  for (std::size_t i = begin; i < end; i += wide) {
    const std::size_t rest = end - i;
    const __mmask64 there = rest >= wide ? ~__mmask64{0} : (__mmask64{1} << rest) - 1;
    const __m512i leaf = _mm512_maskz_loadu_epi8(there, pass.leaf + i);
    __mmask64 goes_right = 0, of_first = 0, of_second = 0;
    if (pass.rule.code) {
      const __m512i code = _mm512_maskz_loadu_epi8(there, pass.rule.code + i);
      goes_right = _mm512_mask_cmpneq_epu8_mask(_mm512_cmpgt_epu8_mask(code, cut), code, left_code);
      of_first = _mm512_mask_cmpeq_epi8_mask(goes_right, leaf, first);
      of_second = _mm512_mask_cmpeq_epi8_mask(goes_right, leaf, second) & ~of_first;
      goes_right = of_first | of_second;
      rows[0] += static_cast<std::uint64_t>(__builtin_popcountll(of_first));
      rows[1] += static_cast<std::uint64_t>(__builtin_popcountll(of_second));
    }
    __mmask64 in_leaf[Leaves];
    for (int k = 0; k < Leaves; ++k) in_leaf[k] = _mm512_mask_cmpeq_epi8_mask(there, leaf, _mm512_set1_epi8(static_cast<char>(k)));
#pragma GCC unroll 4
    for (std::size_t part = 0; part < wide; part += lanes) {
      if (part >= rest) break;
      const __mmask16 here = static_cast<__mmask16>(there >> part);
      float* residual = pass.residual + i + part;
      __m512 value = _mm512_maskz_loadu_ps(here, residual);
      if constexpr (Changes) {
        const __m512i changed = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(here, pass.changed + i + part));
        value = _mm512_add_ps(value, _mm512_permutexvar_ps(changed, change));
        _mm512_mask_storeu_ps(residual, here, value);
      }
      if constexpr (Weighted) {
        const __m512 w = _mm512_maskz_loadu_ps(here, pass.weight + i + part);
        value = _mm512_mul_ps(value, w);
        for (int k = 0; k < Leaves; ++k) weight[k] = _mm512_mask_add_ps(weight[k], static_cast<__mmask16>(in_leaf[k] >> part), weight[k], w);
        right_weight[0] = _mm512_mask_add_ps(right_weight[0], static_cast<__mmask16>(of_first >> part), right_weight[0], w);
        right_weight[1] = _mm512_mask_add_ps(right_weight[1], static_cast<__mmask16>(of_second >> part), right_weight[1], w);
      }
      for (int k = 0; k < Leaves; ++k) sum[k] = _mm512_mask_add_ps(sum[k], static_cast<__mmask16>(in_leaf[k] >> part), sum[k], value);
      right = _mm512_mask_add_ps(right, static_cast<__mmask16>(goes_right >> part), right, value);
    }
  }
  float of_lanes[lanes];
  const auto total = [&](__m512 sums) BAYTREE_AVX512 {
    _mm512_storeu_ps(of_lanes, sums);
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
  if (pass.weight) return pass.changed ? few_leaves<Leaves, true, true> : few_leaves<Leaves, true, false>;
  return pass.changed ? few_leaves<Leaves, false, true> : few_leaves<Leaves, false, false>;
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
    case 8:
      return for_leaves<8>(pass);
    default:
      return pass.leaves <= 12 ? for_leaves<12>(pass) : pass.leaves <= 16 ? for_leaves<16>(pass) : nullptr;
  }
}

}  // namespace baytree
#else
namespace baytree {
BlockPass passes::avx512(const Pass&) { return nullptr; }
}  // namespace baytree
#endif
