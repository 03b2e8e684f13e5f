#pragma once

#include <bit>
#include <span>
#include <vector>

#include "baytree/data/row_sets.hpp"

namespace baytree {

/// The rows of one node, a list or a set: a view, good until the tree it is of is changed.
class NodeRows {
 public:
  NodeRows(std::span<const Row> list) : list_(list.data()), size_(static_cast<Row>(list.size())) {}
  NodeRows(const std::vector<Row>& list) : NodeRows(std::span(list)) {}
  NodeRows(const RowSets& sets, const Word* set, Row size) : sets_(&sets), set_(set), size_(size) {}

  Row size() const { return size_; }
  bool is_set() const { return sets_ != nullptr; }
  /// Of a list.
  std::span<const Row> list() const { return {list_, size_}; }
  /// Of a set: it, and what may be asked of it.
  const Word* set() const { return set_; }
  const RowSets& sets() const { return *sets_; }
  Row count(const Word* other) const { return sets_->count(set_, other); }
  void count_each(const Word* others, std::size_t n, std::size_t stride, Row* out) const {
    sets_->count_each(set_, others, n, stride, out);
  }

  /// Calls `visit` with each row: in the order of the list, and of a set in ascending order.
  template <class Visit>
  void for_each(Visit visit) const {
    if (!is_set()) {
      for (const Row row : list()) visit(row);
      return;
    }
    for (std::size_t word = 0; word < sets_->words(); ++word)
      for (Word bits = set_[word]; bits != 0; bits &= bits - 1)
        visit(static_cast<Row>(word * word_bits + static_cast<std::size_t>(std::countr_zero(bits))));
  }

 private:
  const RowSets* sets_ = nullptr;
  union {
    const Row* list_;
    const Word* set_;
  };
  Row size_;
};

}  // namespace baytree
