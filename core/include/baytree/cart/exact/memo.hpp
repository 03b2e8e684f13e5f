#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "baytree/base/compiler.hpp"
#include "baytree/cart/exact/patterns.hpp"

namespace baytree::cart::exact {

/// A set of rows that a node may have, in a context. It knows one way to it: a set of more rows, a rule and a side.
struct alignas(64) RowSet {
  Key key;
  double leaf = 0.0;  // power · log marginal likelihood as a leaf
  std::uint64_t subset = 0;
  std::uint32_t parent = 0, feature = 0, cut = 0;
  std::uint32_t context = 0;
  Row rows = 0;
  bool left = false, missing_left = false;
  bool expanded = true;                   // whether its children were met
  std::atomic<std::uint32_t> depths = 0;  // first and last, in 16 bits each
  std::uint32_t begin = 0;                // of its values, one a depth

  std::uint32_t first() const { return depths.load(std::memory_order_relaxed) >> 16; }
  std::uint32_t last() const { return depths.load(std::memory_order_relaxed) & 0xffffu; }
  std::uint32_t depth_count() const { return last() - first() + 1; }
  Rule rule() const { return {.feature = feature, .cut = cut, .subset = subset, .missing_left = missing_left}; }
  /// Takes in more depths.
  void reach(std::uint32_t from, std::uint32_t to);
};
static_assert(sizeof(RowSet) == 64);  // so that a look at one waits for memory once

/// All sets of rows that were met, found by key. Threads may look up and add at the same time, between two calls of
/// `make_room`.
class Memo {
 public:
  Memo() { grow(std::size_t{1} << 12); }
  ~Memo();
  Memo(const Memo&) = delete;

  static constexpr std::uint32_t none = ~std::uint32_t{0};

  static std::uint64_t hash(const Key& key, std::uint32_t context) {
    std::uint64_t h = key.low * 0x9e3779b97f4a7c15u ^ (key.high + context) * 0xc2b2ae3d27d4eb4fu;
    h ^= h >> 29;
    return h * 0xbf58476d1ce4e5b9u;
  }

  RowSet& operator[](std::uint32_t number) const { return blocks_[number / block].load()[number % block]; }
  void prefetch(std::uint32_t number) const { baytree::prefetch(&(*this)[number]); }
  /// Asks for what `find` will look at first, and for what it will look at then.
  void prefetch_slot(const Key& key, std::uint32_t context) const {
    baytree::prefetch(&slots_[hash(key, context) >> shift_]);
  }
  void prefetch_set(const Key& key, std::uint32_t context) const {
    const std::uint32_t number = slots_[hash(key, context) >> shift_].load(std::memory_order_acquire);
    if (number != none) baytree::prefetch(&(*this)[number]);
  }
  std::uint32_t find(const Key& key, std::uint32_t context, Row rows) const;
  /// The number of a set, and whether it is new; `make` fills in a new one. `spare` is the caller's own: a number that
  /// was taken and not used, or none.
  template <class Make>
  std::pair<std::uint32_t, bool> add(const Key& key, std::uint32_t context, Row rows, std::uint32_t& spare, Make make) {
    for (std::size_t place = hash(key, context) >> shift_;; place = (place + 1) & (slots_.size() - 1)) {
      std::uint32_t found = slots_[place].load(std::memory_order_acquire);
      if (found == none) {
        if (spare == none) spare = take_number();
        RowSet& set = (*this)[spare];
        set.key = key;
        set.context = context;
        set.rows = rows;
        make(set);
        if (slots_[place].compare_exchange_strong(found, spare, std::memory_order_acq_rel))
          return {std::exchange(spare, none), true};
      }
      if (is(found, key, context, rows)) return {found, false};
    }
  }
  /// Makes room for so many more.
  void make_room(std::size_t more);
  std::size_t taken() const { return taken_; }
  /// Those of the slots, and of the sets that they hold.
  std::size_t bytes() const { return slots_.size() * sizeof(slots_[0]) + taken_ * sizeof(RowSet); }

 private:
  static constexpr std::size_t block = std::size_t{1} << 12;

  bool is(std::uint32_t number, const Key& key, std::uint32_t context, Row rows) const {
    const RowSet& set = (*this)[number];
    return set.key == key && set.context == context && set.rows == rows;
  }
  void grow(std::size_t slots);
  std::uint32_t take_number();

  std::vector<std::atomic<std::uint32_t>> slots_;
  unsigned shift_ = 0;
  std::vector<std::atomic<RowSet*>> blocks_;  // made when the first of their sets is
  std::atomic<std::uint32_t> taken_ = 0;
};

}  // namespace baytree::cart::exact
