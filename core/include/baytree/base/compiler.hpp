#pragma once

// All that compilers and machines say differently. Elsewhere the core is plain C++20: what is for GCC and Clang alone,
// or for one processor, stands behind these names, each with a plain fallback that gives the same bits. BAYTREE_PLAIN,
// an option of CMake, takes the fallbacks everywhere, so that they can be tested where nobody needs them.

#if defined(__GNUC__) && !defined(BAYTREE_PLAIN)
#define BAYTREE_GNU
#if defined(__x86_64__)
/// There are kernels for wide registers.
#define BAYTREE_WIDE
#endif
#endif

#if defined(BAYTREE_GNU)
#define BAYTREE_INLINE [[gnu::always_inline]] inline
#else
#define BAYTREE_INLINE inline
#endif

namespace baytree {

/// Asks for memory that will be looked at soon.
inline void prefetch([[maybe_unused]] const void* place) {
#if defined(BAYTREE_GNU)
  __builtin_prefetch(place);
#endif
}

/// Tells the processor that this thread waits awake.
inline void pause() {
#if defined(BAYTREE_WIDE)
  __builtin_ia32_pause();
#endif
}

}  // namespace baytree
