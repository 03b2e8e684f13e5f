#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/trees/tree.hpp"

namespace baytree {

/// Many trees, their nodes one after another in preorder. A leaf has feature −1. As a tree with m nodes has (m+1)/2
/// leaves, the first leaf of tree t among all leaves is (first node + t) / 2.
struct Forest {
  std::vector<std::int32_t> feature;
  std::vector<std::uint32_t> cut;
  std::vector<std::uint64_t> subset;
  std::vector<std::uint8_t> missing_left;
  std::vector<std::uint32_t> rows;   // training rows of each node
  std::vector<std::uint64_t> begin;  // first node of each tree

  void add(std::span<const Node> nodes);
};

/// The same arrays, owned elsewhere.
struct ForestView {
  std::span<const std::int32_t> feature;
  std::span<const std::uint32_t> cut;
  std::span<const std::uint64_t> subset;
  std::span<const std::uint8_t> missing_left;
  std::span<const std::uint32_t> rows;
  std::span<const std::uint64_t> begin;
};

/// Nodes with rules and sizes from flat arrays; throws InputError where the arrays are not one whole tree of known
/// columns.
Nodes unpack_tree(const ForestView& forest, std::size_t tree, std::span<const Column> columns);

}  // namespace baytree
