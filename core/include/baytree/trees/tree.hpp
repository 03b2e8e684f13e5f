#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "baytree/base/numeric.hpp"
#include "baytree/data/design.hpp"

namespace baytree {

/// One question about one column. Numeric: left if code ≤ cut, and missing values left if `missing_left`; with cut =
/// the last observed code it asks "is it missing?". Categorical: left if the code's bit is in `subset`; the missing
/// code is one of the levels, and level 0 is always left. A soft rule answers with a probability that changes from left
/// to right around its cut, over a stretch of its bandwidth: see `bart/soft_gate.hpp`.
struct Rule {
  std::uint32_t feature = 0;
  std::uint32_t cut = 0;
  std::uint64_t subset = 0;
  bool missing_left = false;
  float bandwidth = 0.0f;  // 0: the rule is hard

  bool operator==(const Rule&) const = default;
};

/// A node of a tree in preorder: the left child follows its parent, the right child follows the left subtree.
struct Node {
  Rule rule;               // of a split
  Row begin = 0, end = 0;  // its rows, as places in a list of all: see `TreeRows`
  std::uint32_t size = 1;  // nodes of its subtree, itself included: 1 is a leaf, 3 a split of two leaves
  std::uint32_t depth = 0;
  bool splittable = false;        // has an admissible rule
  std::uint8_t points = 0;        // its choice points, bits of `ChoicePoint`
  std::uint32_t set = 0;          // its rows where they are sets
  double log_rule = unknown;      // log probability of the rule given a split; computed when first asked for
  double log_marginal = unknown;  // of a leaf; computed when first asked for

  bool is_leaf() const { return size == 1; }
  Row rows() const { return end - begin; }
};

using Nodes = std::vector<Node>;

inline std::size_t left_child(std::size_t node) { return node + 1; }
inline std::size_t right_child(const Nodes& nodes, std::size_t node) { return node + 1 + nodes[node + 1].size; }

/// Which way missing values go at a split, levels never seen with them: by the rule or, where training saw none, to the
/// child with more rows.
inline bool missing_goes_left(const Column& column, const Rule& rule, Row left_rows, Row right_rows) {
  if (!column.has_missing) return left_rows >= right_rows;
  return column.categorical ? (rule.subset >> column.missing_code() & 1) != 0 : rule.missing_left;
}

/// Whether two subtrees have the same structure and rules.
inline bool same_tree(std::span<const Node> a, std::span<const Node> b) {
  const auto alike = [](const Node& x, const Node& y) { return x.size == y.size && (x.is_leaf() || x.rule == y.rule); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), alike);
}

/// Sets each node's size from the preorder of leaves and splits; on entry `size` is 1 for a leaf and anything else for
/// a split.
inline void set_sizes(Nodes& nodes) {
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (!nodes[i].is_leaf()) nodes[i].size = 1 + nodes[left_child(i)].size + nodes[right_child(nodes, i)].size;
}

}  // namespace baytree
