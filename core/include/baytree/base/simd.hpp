#pragma once

#include <algorithm>

#include "baytree/base/compiler.hpp"

// The same source compiled for several widths, the best of which the loader chooses. For functions whose bits cannot
// depend on it: whole numbers, or sums that are exact. With these sanitizers the loader's choice comes too early.
#if defined(BAYTREE_WIDE) && defined(__linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define BAYTREE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BAYTREE_CLONES
#endif

#if defined(BAYTREE_WIDE)
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored \
    "-Wmaybe-uninitialized"  // GCC 12 warns of registers that its own header leaves undefined on purpose
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
// What a function must carry to be compiled for wide registers, whatever the rest is compiled for. Lambdas inside it do
// not inherit it.
#define BAYTREE_AVX2 __attribute__((target("avx2,popcnt")))
#define BAYTREE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt")))
#endif

namespace baytree {

/// How wide a kernel computes, narrowest first. All of them give the same bits.
enum class Simd { plain, avx2, avx512 };

/// The widest that this machine has, none wider than `widest`, by which tests ask for a narrow one.
inline Simd best_simd(Simd widest = Simd::avx512) {
  Simd best = Simd::plain;
#if defined(BAYTREE_WIDE)
  if (__builtin_cpu_supports("avx2")) best = Simd::avx2;
  if (best == Simd::avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    best = Simd::avx512;
#endif
  return std::min(best, widest);
}

}  // namespace baytree
