#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "baytree/base/compiler.hpp"

namespace baytree {

/// Threads that share the items of one piece of work after another. A pass over rows lasts microseconds, so they wait
/// for the next one awake, for a while.
class Team {
 public:
  /// Of so many threads, or of as many as are to be had.
  explicit Team(unsigned threads) {
    others_.reserve(std::max(threads, 1u) - 1);
    try {
      for (unsigned number = 1; number < threads; ++number) {
        others_.emplace_back([this, number] { serve(number); });
        ++threads_;
      }
    } catch (const std::exception&) {
    }
  }
  ~Team() {
    work_ = nullptr;
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    // Not std::jthread, which would do so by itself: Apple's library lacks it.
    for (std::thread& other : others_) other.join();
  }
  Team(const Team&) = delete;

  unsigned threads() const { return threads_; }

  /// Calls work(0) … work(items − 1), each once, a thread those that follow each other; returns when all are done. No
  /// call may throw.
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
    wait_while(done_, [this](unsigned done) { return done != threads_ - 1; });
  }

  /// The same for items of unequal length, which the threads take in turn. An exception is thrown on when all are done,
  /// that of the first item where there are several.
  template <class Work>
  void deal_out(std::size_t items, const Work& work) {
    if (threads_ == 1) {
      for (std::size_t item = 0; item < items; ++item) work(item);
      return;
    }
    std::atomic<std::size_t> next = 0;
    std::vector<std::exception_ptr> errors(items);
    share(threads_, [&](std::size_t) {
      for (std::size_t item = next++; item < items; item = next++) {
        try {
          work(item);
        } catch (...) {
          errors[item] = std::current_exception();
        }
      }
    });
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
  }

 private:
  void take_part(unsigned number) {
    const std::size_t begin = items_ * number / threads_, end = items_ * (number + 1) / threads_;
    for (std::size_t item = begin; item < end; ++item) work_(context_, item);
  }

  void serve(unsigned number) {
    for (unsigned seen = 0;;) {
      seen = wait_while(round_, [seen](unsigned round) { return round == seen; });
      if (!work_) return;
      take_part(number);
      if (done_.fetch_add(1, std::memory_order_release) + 1 == threads_ - 1) done_.notify_one();
    }
  }

  /// Awake at first, and then asleep.
  template <class Waits>
  static unsigned wait_while(const std::atomic<unsigned>& value, Waits waits) {
    constexpr int patience = 1 << 14;
    unsigned now = value.load(std::memory_order_acquire);
    for (int waited = 0; waits(now); ++waited, now = value.load(std::memory_order_acquire)) {
      if (waited < patience)
        pause();
      else
        value.wait(now, std::memory_order_acquire);
    }
    return now;
  }

  unsigned threads_ = 1;
  std::size_t items_ = 0;
  const void* context_ = nullptr;
  void (*work_)(const void*, std::size_t) = nullptr;
  std::atomic<unsigned> round_ = 0, done_ = 0;
  std::vector<std::thread> others_;
};

/// Calls work(0) … work(items − 1), on several threads and in any order, then between(), and all of it again for as
/// long as between() returns true. No two calls of one item overlap, nor does between() with any; so results cannot
/// depend on the threads. An exception ends it.
template <class Work, class Between>
void in_rounds(std::size_t items, unsigned threads, Work work, Between between) {
  Team team(static_cast<unsigned>(std::min<std::size_t>(threads, items)));
  do {
    team.deal_out(items, work);
  } while (between());
}

}  // namespace baytree
