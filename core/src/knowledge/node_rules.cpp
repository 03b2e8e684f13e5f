#include "baytree/knowledge/node_rules.hpp"

#include <utility>

#include "baytree/base/error.hpp"

namespace baytree {

NodeRules::NodeRules(const Design& design, Row min_leaf, Restrictions restrictions)
    : design_(design), min_leaf_(min_leaf), restrictions_(std::move(restrictions)) {
  if (min_leaf < 1) throw InputError("min_leaf must be 1 or more");
}

Rule NodeRules::nth_rule(std::uint32_t feature, const ColumnRules& rules, const NodeRows& rows, std::uint64_t boxes,
                         std::uint64_t n) {
  if (boxes != 0) return restrictions_.nth_rule(rules, feature, boxes, n);
  return baytree::nth_rule(design_.columns[feature], feature, rules, rows, min_leaf_, n, buffers_);
}

}  // namespace baytree
