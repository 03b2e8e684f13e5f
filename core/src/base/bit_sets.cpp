#include "baytree/base/bit_sets.hpp"

#include <bit>

namespace baytree {
namespace {

/// Spelled out where, without a target-specific flag, a population count is a function call.
BAYTREE_INLINE std::uint32_t population(Word word) {
#if defined(BAYTREE_WIDE)
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<std::uint32_t>(word * 0x0101010101010101u >> 56);
#else
  return static_cast<std::uint32_t>(std::popcount(word));
#endif
}

namespace plain {

std::uint32_t count(const Word* a, const Word* b, std::size_t words) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < words; ++i) sum += population(a[i] & b[i]);
  return sum;
}

void count_each(const Word* set, const Word* others, std::size_t n, std::size_t stride, std::size_t words,
                std::uint32_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = count(set, others + i * stride, words);
}

std::uint32_t divide(const Word* set, const Word* other, Word* inside, Word* outside, std::size_t words) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < words; ++i) {
    const Word word = set[i], in = word & other[i];
    inside[i] = in;
    outside[i] = word ^ in;
    sum += population(in);
  }
  return sum;
}

}  // namespace plain

#if defined(BAYTREE_WIDE)

// There is no population count of AVX2 registers; that of one word is fast wherever they are.
namespace avx2 {

BAYTREE_AVX2 std::uint32_t count(const Word* a, const Word* b, std::size_t words) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words; ++i) sum += static_cast<std::uint64_t>(__builtin_popcountll(a[i] & b[i]));
  return static_cast<std::uint32_t>(sum);
}

BAYTREE_AVX2 void count_each(const Word* set, const Word* others, std::size_t n, std::size_t stride, std::size_t words,
                             std::uint32_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = count(set, others + i * stride, words);
}

BAYTREE_AVX2 std::uint32_t divide(const Word* set, const Word* other, Word* inside, Word* outside, std::size_t words) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words; ++i) {
    const Word word = set[i], in = word & other[i];
    inside[i] = in;
    outside[i] = word ^ in;
    sum += static_cast<std::uint64_t>(__builtin_popcountll(in));
  }
  return static_cast<std::uint32_t>(sum);
}

}  // namespace avx2

namespace avx512 {

#define BAYTREE_POPULATION __attribute__((target("avx512f,avx512vpopcntdq")))

BAYTREE_INLINE BAYTREE_POPULATION std::uint32_t population_of_both(const Word* a, const Word* b, std::size_t words) {
  __m512i sum = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; i + 8 <= words; i += 8)
    sum = _mm512_add_epi64(sum,
                           _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))));
  const auto rest = static_cast<__mmask8>((1u << (words - i)) - 1u);
  const __m512i both = _mm512_and_si512(_mm512_maskz_loadu_epi64(rest, a + i), _mm512_maskz_loadu_epi64(rest, b + i));
  sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(both));
  return static_cast<std::uint32_t>(_mm512_reduce_add_epi64(sum));
}

BAYTREE_POPULATION std::uint32_t count(const Word* a, const Word* b, std::size_t words) {
  return population_of_both(a, b, words);
}

BAYTREE_POPULATION void count_each(const Word* set, const Word* others, std::size_t n, std::size_t stride,
                                   std::size_t words, std::uint32_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = population_of_both(set, others + i * stride, words);
}

BAYTREE_POPULATION std::uint32_t divide(const Word* set, const Word* other, Word* inside, Word* outside,
                                        std::size_t words) {
  __m512i sum = _mm512_setzero_si512();
  for (std::size_t i = 0; i < words; i += 8) {
    const auto there = static_cast<__mmask8>(words - i >= 8 ? 0xffu : (1u << (words - i)) - 1u);
    const __m512i all = _mm512_maskz_loadu_epi64(there, set + i);
    const __m512i in = _mm512_and_si512(all, _mm512_maskz_loadu_epi64(there, other + i));
    _mm512_mask_storeu_epi64(inside + i, there, in);
    _mm512_mask_storeu_epi64(outside + i, there, _mm512_xor_si512(all, in));
    sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(in));
  }
  return static_cast<std::uint32_t>(_mm512_reduce_add_epi64(sum));
}

}  // namespace avx512

#endif

}  // namespace

SetKernels set_kernels(Simd widest) {
#if defined(BAYTREE_WIDE)
  const Simd simd = best_simd(widest);
  if (simd == Simd::avx512 && __builtin_cpu_supports("avx512vpopcntdq"))
    return {avx512::count, avx512::count_each, avx512::divide};
  if (simd != Simd::plain) return {avx2::count, avx2::count_each, avx2::divide};
#endif
  static_cast<void>(widest);
  return {plain::count, plain::count_each, plain::divide};
}

}  // namespace baytree
