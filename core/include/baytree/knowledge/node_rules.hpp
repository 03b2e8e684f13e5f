#pragma once

#include <cstdint>

#include "baytree/knowledge/restrictions.hpp"
#include "baytree/trees/admissible.hpp"

namespace baytree {

/// The admissible rules of nodes: those that leave at least `min_leaf` rows on both sides and that the restrictions
/// allow. A node is its rows and its situation. Holds buffers, so each chain has its own.
class NodeRules {
 public:
  NodeRules(const Design& design, Row min_leaf, Restrictions restrictions);

  const Design& design() const { return design_; }
  Row min_leaf() const { return min_leaf_; }
  const Restrictions& restrictions() const { return restrictions_; }

  /// Whether the feature has an admissible rule, and whether any has.
  bool has_rule(std::uint32_t feature, const NodeRows& rows, const Situation& situation) {
    switch (restrictions_.freedom(situation, feature)) {
      case Freedom::all:
        return baytree::has_rule(design_.columns[feature], feature, rows, min_leaf_, buffers_);
      case Freedom::some:
        return column_rules(feature, rows, situation).count > 0;
      default:
        return false;
    }
  }
  bool any_rule(const NodeRows& rows, const Situation& situation) {
    for (std::uint32_t feature = 0; feature < design_.columns.size(); ++feature)
      if (has_rule(feature, rows, situation)) return true;
    return false;
  }

  /// The feature's admissible rules, and the n-th of them, n < rules.count; `rules` is what `column_rules` gave for the
  /// same node.
  ColumnRules column_rules(std::uint32_t feature, const NodeRows& rows, const Situation& situation) {
    const Freedom freedom = restrictions_.freedom(situation, feature);
    if (freedom == Freedom::none) return {};
    ColumnRules rules = baytree::column_rules(design_.columns[feature], feature, rows, min_leaf_, buffers_);
    if (freedom == Freedom::some) rules.count = restrictions_.count_rules(rules, feature, situation.boxes);
    return rules;
  }
  Rule nth_rule(std::uint32_t feature, const ColumnRules& rules, const NodeRows& rows, std::uint64_t boxes,
                std::uint64_t n);

 private:
  const Design& design_;
  Row min_leaf_;
  Restrictions restrictions_;
  AdmissibleBuffers buffers_;
};

}  // namespace baytree
