#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace baytree {

/// Calls work(0) … work(items − 1), on several threads and in any order, then between(), and all of it again for as
/// long as between() returns true. No two calls of one item overlap, nor does between() with any; so results cannot
/// depend on the threads. An exception of an item ends the round's items and is thrown on, that of the first item where
/// there are several.
template <class Work, class Between>
void in_rounds(std::size_t items, unsigned threads, Work work, Between between) {
  threads = static_cast<unsigned>(std::min<std::size_t>(threads, items));
  if (threads <= 1) {
    do {
      for (std::size_t item = 0; item < items; ++item) work(item);
    } while (between());
    return;
  }
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> errors(items + 1);  // the last is of between()
  bool more = true;
  const auto failed = [&errors] {
    return std::any_of(errors.begin(), errors.end(), [](const std::exception_ptr& error) { return error != nullptr; });
  };
  std::barrier end_of_round(threads, [&]() noexcept {
    next = 0;
    try {
      more = !failed() && between();
    } catch (...) {
      errors[items] = std::current_exception();
      more = false;
    }
  });
  const auto run = [&] {
    while (more) {
      for (std::size_t item = next++; item < items; item = next++) {
        try {
          work(item);
        } catch (...) {
          errors[item] = std::current_exception();
        }
      }
      end_of_round.arrive_and_wait();
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) {
      try {
        others.emplace_back(run);
      } catch (const std::system_error&) {  // no more threads to be had: those there are do the work
        for (; i < threads; ++i) end_of_round.arrive_and_drop();
      }
    }
    run();
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace baytree
