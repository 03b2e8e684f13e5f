#include "baytree/priors/derived_tree.hpp"

#include "baytree/base/error.hpp"

namespace baytree {

using slp::Cell;
using slp::NodeId;

DerivedTree::DerivedTree(slp::Machine& machine, NodeTable& table) : machine_(machine), table_(table) {
  slp::Store& store = machine.store();
  leaf_ = store.functors.intern({store.symbols.intern("leaf"), 1});
  split_ = store.functors.intern({store.symbols.intern("split"), 4});
}

void DerivedTree::refuse(const std::string& what) const { throw InputError(machine_.code().file + ": " + what); }

const std::vector<DerivedTree::Entry>& DerivedTree::read() {
  const slp::Store& store = machine_.store();
  entries_.clear();
  parts_.assign(1, {machine_.answer(0), 0});
  const std::uint64_t rows = table_.node_size(table_.root());
  while (!parts_.empty()) {
    // Every split takes a row away at least; a term that contains itself has no end.
    if (parts_.size() > rows) refuse("the tree is deeper than the table has rows");
    Part& part = parts_.back();
    part.place = entries_.size();
    if (store.is_structure(part.term, split_)) {
      entries_.push_back({false, 0});
      const Cell left = store.argument(part.term, 2);
      parts_.push_back({left, 0});
      continue;
    }
    if (!store.is_structure(part.term, leaf_))
      refuse("the goal gives " + store.text(part.term) + " for a tree; a tree is leaf(N) or split(F, V, Left, Right)");
    const Cell handle = store.argument(part.term, 0);
    if (!handle.is(slp::Tag::node))
      refuse("the tree has a leaf without a node; write leaf(N) with the node N it stands for");
    NodeId node = handle.number();
    entries_.push_back({true, node});
    // Up through all splits whose right side ends here. Both sides must be what one rule made of one node.
    for (;;) {
      parts_.pop_back();
      if (parts_.empty()) {
        if (node != table_.root()) refuse("the tree does not begin at the root of the table");
        break;
      }
      if (node == table_.root()) refuse("the root of the table stands inside of the tree");
      Part& above = parts_.back();
      Entry& split = entries_[above.place];
      if (!above.left_done) {
        if (!table_.is_left(node)) refuse("the left side of a split holds the rows of a right side");
        split.node = node;
        above.left_done = true;
        parts_.push_back({store.argument(above.term, 3), 0});
        break;
      }
      if (node != split.node + 1) refuse("the two sides of a split do not come from one rule");
      node = table_.parent(node);
    }
  }
  return entries_;
}

const Nodes& DerivedTree::nodes() {
  Nodes& nodes = nodes_;
  nodes.clear();
  for (const Entry& entry : entries_)
    nodes.push_back(entry.is_leaf ? Node{.end = static_cast<Row>(table_.node_size(entry.node))}
                                  : Node{.rule = table_.rule(entry.node), .size = 0});
  set_sizes(nodes);
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (!nodes[i].is_leaf()) nodes[i].end = nodes[left_child(i)].end + nodes[right_child(nodes, i)].end;
  return nodes;
}

}  // namespace baytree
