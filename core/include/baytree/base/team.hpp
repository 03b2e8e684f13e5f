#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace baytree {

/// Threads that share the rows of one pass after another. A pass lasts microseconds, so they wait for the next one
/// awake, for a while.
class Team {
 public:
  explicit Team(unsigned threads) : threads_(threads < 1 ? 1 : threads) {
    for (unsigned number = 1; number < threads_; ++number) others_.emplace_back([this, number] { serve(number); });
  }
  ~Team() {
    work_ = nullptr;
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  Team(const Team&) = delete;

  unsigned threads() const { return threads_; }

  /// Calls work(0) … work(items − 1), each once; returns when all are done. No call may throw.
  template <class Work>
  void share(std::size_t items, const Work& work) {
    if (threads_ == 1 || items <= 1) {
      for (std::size_t item = 0; item < items; ++item) work(item);
      return;
    }
    items_ = items;
    context_ = &work;
    work_ = [](const void* context, std::size_t item) { (*static_cast<const Work*>(context))(item); };
    done_.store(0, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    take_part(0);
    while (done_.load(std::memory_order_acquire) != threads_ - 1) pause();
  }

 private:
  void take_part(unsigned number) {
    const std::size_t begin = items_ * number / threads_, end = items_ * (number + 1) / threads_;
    for (std::size_t item = begin; item < end; ++item) work_(context_, item);
  }

  void serve(unsigned number) {
    constexpr int patience = 1 << 14;
    for (unsigned seen = 0;;) {
      for (int waited = 0; round_.load(std::memory_order_acquire) == seen; ++waited) {
        if (waited < patience)
          pause();
        else
          round_.wait(seen, std::memory_order_acquire);
      }
      seen = round_.load(std::memory_order_acquire);
      if (!work_) return;
      take_part(number);
      done_.fetch_add(1, std::memory_order_release);
    }
  }

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  unsigned threads_;
  std::size_t items_ = 0;
  const void* context_ = nullptr;
  void (*work_)(const void*, std::size_t) = nullptr;
  std::atomic<unsigned> round_ = 0, done_ = 0;
  std::vector<std::jthread> others_;
};

}  // namespace baytree
