#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/trees/node_rows.hpp"
#include "baytree/trees/tree.hpp"

namespace baytree {

/// The rows of all nodes of a tree, or of a part that may replace one of its subtrees, in the form that the design has.
///
/// Lists lie side by side in one array, those of a node's children in place of its own; a leaf's are ascending whatever
/// moves led to it, so that sums over them have the same bits. A set has a place of its own, that of a split as well.
/// So a node keeps where its rows begin and end as if there were lists, and the number of its set.
class TreeRows {
 public:
  TreeRows() = default;
  explicit TreeRows(const Design& design);

  /// Those of a split, where they are lists, lie leaf by leaf.
  NodeRows of(const Node& node) const {
    if (sets_) return {*sets_, set(node.set), node.rows()};
    return std::span(list_.data() + node.begin, node.rows());
  }

  /// A leaf with all rows; what was here is forgotten.
  Node root();
  /// A leaf with the rows of a node of another tree; what was here is forgotten.
  Node take(const TreeRows& tree, const Node& node);
  /// Two leaves with the rows of a node, divided by its rule.
  struct Children {
    Node left, right;
  };
  Children divide(const Node& node);

  /// These nodes are no more.
  void forget(std::span<const Node> nodes);
  /// These nodes, which have their rows in `part`, are here now.
  void adopt(std::span<Node> nodes, const TreeRows& part);

 private:
  Word* set(std::uint32_t number) { return words_.data() + number * sets_->words(); }
  const Word* set(std::uint32_t number) const { return words_.data() + number * sets_->words(); }
  std::uint32_t new_set();
  void clear();
  const Word* left_rows(const Rule& rule);
  void take_list(std::span<const Row> rows, bool ascending, Row* to);

  const Design* design_ = nullptr;
  const RowSets* sets_ = nullptr;  // none where there are lists
  std::vector<Row> list_, spare_;
  std::vector<Word> words_, spare_words_;
  std::uint32_t used_ = 0;           // sets, free ones included
  std::vector<std::uint32_t> free_;  // sets that no node has any more
};

/// A tree and the rows of each of its nodes.
struct PartitionedTree {
  Nodes nodes;
  TreeRows rows;

  NodeRows rows_of(const Node& node) const { return rows.of(node); }
};

}  // namespace baytree
