#pragma once

#include <atomic>
#include <exception>

namespace baytree {

/// A person does not want to wait for the end. What was being worked on is in no state to go on from.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

/// How a person is heard while the core works: another thread sets `requested`, or `listen`, where there is one, looks
/// up and throws.
struct Interruption {
  std::atomic<bool> requested = false;
  std::atomic<void (*)()> listen = nullptr;
};
inline Interruption interruption;

/// To be called in every loop whose length the input decides, at least some times a second, but never where an
/// exception must not pass. It costs a few nanoseconds.
inline void heed_interruption() {
  if (interruption.requested.load(std::memory_order_relaxed)) throw Interrupted();
  if (const auto listen = interruption.listen.load(std::memory_order_relaxed)) listen();
}

}  // namespace baytree
