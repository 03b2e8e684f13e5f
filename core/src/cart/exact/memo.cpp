#include "baytree/cart/exact/memo.hpp"

#include <algorithm>
#include <bit>
#include <memory>

namespace baytree::cart::exact {

void RowSet::reach(std::uint32_t from, std::uint32_t to) {
  std::uint32_t now = depths.load(std::memory_order_relaxed), then;
  do {
    then = std::min(now >> 16, from) << 16 | std::max(now & 0xffffu, to);
  } while (then != now && !depths.compare_exchange_weak(now, then, std::memory_order_relaxed));
}

std::uint32_t Memo::find(const Key& key, std::uint32_t context, Row rows) const {
  for (std::size_t place = hash(key, context) >> shift_;; place = (place + 1) & (slots_.size() - 1)) {
    const std::uint32_t found = slots_[place].load(std::memory_order_acquire);
    if (found == none || is(found, key, context, rows)) return found;
  }
}

Memo::~Memo() {
  for (auto& one : blocks_) delete[] one.load();
}

std::uint32_t Memo::take_number() {
  const std::uint32_t number = taken_.fetch_add(1, std::memory_order_relaxed);
  std::atomic<RowSet*>& place = blocks_[number / block];
  RowSet* before = place.load();
  if (before == nullptr) {
    auto made = std::make_unique<RowSet[]>(block);
    if (place.compare_exchange_strong(before, made.get())) made.release();
  }
  return number;
}

void Memo::make_room(std::size_t more) {
  const std::size_t most = taken_ + more;
  if (blocks_.size() * block < most) {
    std::vector<std::atomic<RowSet*>> before(most / block * 2 + 1);
    before.swap(blocks_);
    for (std::size_t i = 0; i < before.size(); ++i) blocks_[i].store(before[i].load());
  }
  if (most * 3 > slots_.size() * 2) grow(std::bit_ceil(most * 3 / 2 + 1));
}

void Memo::grow(std::size_t slots) {
  std::vector<std::atomic<std::uint32_t>> before(slots);
  before.swap(slots_);
  for (auto& slot : slots_) slot.store(none, std::memory_order_relaxed);
  shift_ = 64u - static_cast<unsigned>(std::countr_zero(slots));
  for (const auto& slot : before) {
    const std::uint32_t number = slot.load(std::memory_order_relaxed);
    if (number == none) continue;
    const RowSet& set = (*this)[number];
    std::size_t place = hash(set.key, set.context) >> shift_;
    while (slots_[place].load(std::memory_order_relaxed) != none) place = (place + 1) & (slots - 1);
    slots_[place].store(number, std::memory_order_relaxed);
  }
}

}  // namespace baytree::cart::exact
