#include "baytree/trees/tree_rows.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "baytree/trees/partition.hpp"

namespace baytree {

TreeRows::TreeRows(const Design& design) : design_(&design), sets_(design.sets.get()) {
  if (!sets_) list_.resize(design.rows);
}

void TreeRows::clear() {
  used_ = 0;
  free_.clear();
}

std::uint32_t TreeRows::new_set() {
  if (!free_.empty()) {
    const std::uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  const std::size_t wanted = (std::size_t{used_} + 1) * sets_->words();
  if (words_.size() < wanted) words_.resize(wanted);
  return used_++;
}

Node TreeRows::root() {
  clear();
  Node node{.end = design_->rows};
  if (sets_) {
    node.set = new_set();
    std::copy_n(sets_->all(), sets_->words(), set(node.set));
  } else {
    std::iota(list_.begin(), list_.end(), Row{0});
  }
  return node;
}

Node TreeRows::take(const TreeRows& tree, const Node& node) {
  clear();
  Node leaf{.begin = node.begin, .end = node.end, .depth = node.depth};
  if (sets_) {
    leaf.set = new_set();
    std::copy_n(tree.set(node.set), sets_->words(), set(leaf.set));
  } else {
    take_list(tree.of(node).list(), node.is_leaf(), list_.data() + node.begin);
  }
  return leaf;
}

/// Copies rows and sorts them, unless they are ascending already.
void TreeRows::take_list(std::span<const Row> rows, bool ascending, Row* to) {
  const std::size_t words = words_for(list_.size());
  if (ascending || rows.size() * 16 < words) {  // too few to walk through a bit for every row
    std::copy(rows.begin(), rows.end(), to);
    if (!ascending) std::sort(to, to + rows.size());
    return;
  }
  spare_words_.assign(words, 0);
  for (const Row row : rows) spare_words_[row / word_bits] |= Word{1} << row % word_bits;
  for (std::size_t word = 0; word < words; ++word)
    for (Word bits = spare_words_[word]; bits != 0; bits &= bits - 1)
      *to++ = static_cast<Row>(word * word_bits + static_cast<std::size_t>(std::countr_zero(bits)));
}

/// All rows that a rule sends left, and possibly bits beyond the last row.
const Word* TreeRows::left_rows(const Rule& rule) {
  const Column& column = design_->columns[rule.feature];
  if (!column.categorical && !rule.missing_left) return sets_->at_most(rule.feature, rule.cut);
  spare_words_.assign(sets_->words(), 0);
  const auto add = [&](const Word* rows, Word flip) {
    for (std::size_t word = 0; word < spare_words_.size(); ++word) spare_words_[word] |= rows[word] ^ flip;
  };
  if (column.categorical) {
    for (std::uint64_t levels = rule.subset; levels != 0; levels &= levels - 1)
      add(sets_->with_level(rule.feature, static_cast<std::uint32_t>(std::countr_zero(levels))), 0);
  } else {
    add(sets_->at_most(rule.feature, rule.cut), 0);
    add(sets_->at_most(rule.feature, column.observed - 1), ~Word{0});
  }
  return spare_words_.data();
}

TreeRows::Children TreeRows::divide(const Node& node) {
  Children children;
  auto& [left, right] = children;
  left.depth = right.depth = node.depth + 1;
  Row rows_left;
  if (sets_) {
    left.set = new_set();
    right.set = new_set();
    rows_left = sets_->divide(set(node.set), left_rows(node.rule), set(left.set), set(right.set));
  } else {
    Row* rows = list_.data() + node.begin;
    rows_left = with_test(design_->columns[node.rule.feature], node.rule, [&](auto test) {
      return partition_rows(std::span<const Row>(rows, node.rows()), rows, spare_, test);
    });
  }
  left.begin = node.begin;
  left.end = right.begin = node.begin + rows_left;
  right.end = node.end;
  return children;
}

void TreeRows::forget(std::span<const Node> nodes) {
  if (!sets_) return;
  for (const Node& node : nodes) free_.push_back(node.set);
}

void TreeRows::adopt(std::span<Node> nodes, const TreeRows& part) {
  if (!sets_) {
    const std::span<const Row> rows = part.of(nodes[0]).list();
    std::copy(rows.begin(), rows.end(), list_.begin() + nodes[0].begin);
    return;
  }
  for (Node& node : nodes) {
    const Word* rows = part.set(node.set);
    node.set = new_set();
    std::copy_n(rows, sets_->words(), set(node.set));
  }
}

}  // namespace baytree
