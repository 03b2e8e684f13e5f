#pragma once

#include <cstddef>
#include <limits>
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
    if (n > std::numeric_limits<std::size_t>::max() / 4 / sizeof(T)) throw std::bad_alloc();
    const std::size_t alignment = alignment_of(n), bytes = (n * sizeof(T) + alignment - 1) / alignment * alignment;
    void* memory = ::operator new(bytes, std::align_val_t{alignment});
#if defined(__linux__)
    if (alignment == page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) { ::operator delete(memory, std::align_val_t{alignment_of(n)}); }

  template <class U>
  bool operator==(const LargePages<U>&) const {
    return true;
  }

 private:
  static constexpr std::size_t page = std::size_t{1} << 21;
  static std::size_t alignment_of(std::size_t n) { return n * sizeof(T) < page ? 64 : page; }
};

}  // namespace baytree
