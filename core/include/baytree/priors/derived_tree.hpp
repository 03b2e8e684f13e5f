#pragma once

#include <string>
#include <vector>

#include "baytree/priors/node_table.hpp"
#include "baytree/slp/engine/machine.hpp"

namespace baytree {

/// The tree that a program derived: `leaf(N)` or `split(F, V, Left, Right)`, with N a node of the table. Which rows a
/// leaf holds and which rules lead to it is what the nodes say; F and V are for people.
class DerivedTree {
 public:
  DerivedTree(slp::Machine& machine, NodeTable& table);

  /// One entry for each node of the tree, in preorder.
  struct Entry {
    bool is_leaf;
    slp::NodeId node;  // of a split: its left child
  };

  /// Reads the machine's answer; throws InputError where it is no tree, or its nodes are not one partition of the rows.
  const std::vector<Entry>& read();
  const std::vector<Entry>& entries() const { return entries_; }
  /// The tree that was read last, with rules, sizes and numbers of rows.
  const Nodes& nodes();

 private:
  struct Part {
    slp::Cell term;
    std::size_t place;       // of its entry
    bool left_done = false;  // of a split
  };

  [[noreturn]] void refuse(const std::string& what) const;

  slp::Machine& machine_;
  NodeTable& table_;
  std::uint32_t leaf_, split_;  // functors
  std::vector<Entry> entries_;
  std::vector<Part> parts_;
  Nodes nodes_;
};

}  // namespace baytree
