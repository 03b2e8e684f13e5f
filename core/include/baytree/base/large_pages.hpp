#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace baytree {

/// Memory for arrays that are streamed through again and again, in pages of 2 MiB where the system has them: a
/// processor fetches ahead within a page only, so that large ones are passed faster.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}

  T* allocate(std::size_t n) {
    constexpr std::size_t page = std::size_t{1} << 21;
    if (n > (std::size_t{1} << 62) / sizeof(T)) throw std::bad_alloc();
    const std::size_t wanted = n * sizeof(T), alignment = wanted < page ? 64 : page;
    const std::size_t bytes = (wanted + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    if (alignment == page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }

  template <class U>
  bool operator==(const LargePages<U>&) const {
    return true;
  }
};

}  // namespace baytree
