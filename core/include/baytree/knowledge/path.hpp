#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "baytree/knowledge/restrictions.hpp"
#include "baytree/trees/tree.hpp"

namespace baytree {

/// Where the nodes of a tree stand, followed in preorder. What lies above a node is kept by depth, so a walk needs no
/// stack; where the restrictions do not ask for it, nothing is kept at all.
class Path {
 public:
  /// Goes down from the root to node `at`, which is to be entered next.
  void go_to(const Nodes& nodes, std::size_t at, const Restrictions& restrictions) {
    if (restrictions.follow_paths()) walk(nodes, at, restrictions);
  }

  /// The situation of the next node, which has this depth. Good until the next split.
  Situation enter(std::uint32_t depth, const Restrictions& restrictions) {
    if (!restrictions.follow_paths()) return {.depth = depth};
    Level& level = levels_[depth];
    const std::uint64_t boxes = level.next;
    level.next = level.last;
    return {depth, boxes, {above_.data(), depth}};
  }

  /// The node entered last is split by this rule.
  void split(const Situation& here, const Rule& rule, const Restrictions& restrictions) {
    if (!restrictions.follow_paths()) return;
    const std::uint64_t left = restrictions.boxes_left(here.boxes, rule);
    levels_.resize(std::max<std::size_t>(levels_.size(), here.depth + 2));
    above_.resize(levels_.size());
    levels_[here.depth + 1] = {.next = left, .last = here.boxes & ~left};
    above_[here.depth] = rule.feature;
  }

 private:
  /// The boxes of the next node at a depth, and of the last one there that has the same parent.
  struct Level {
    std::uint64_t next = 0, last = 0;
  };

  void walk(const Nodes& nodes, std::size_t at, const Restrictions& restrictions) {
    levels_.assign(1, {.next = restrictions.root_boxes(), .last = 0});
    above_.clear();
    for (std::size_t i = 0; i != at;) {
      split(enter(nodes[i].depth, restrictions), nodes[i].rule, restrictions);
      const std::size_t right = right_child(nodes, i);
      if (at >= right) enter(nodes[i].depth + 1, restrictions);  // past the left child
      i = at >= right ? right : left_child(i);
    }
  }

  std::vector<Level> levels_;
  std::vector<std::uint32_t> above_;  // the feature of the split at each depth
};

}  // namespace baytree
