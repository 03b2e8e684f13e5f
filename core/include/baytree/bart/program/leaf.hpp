#pragma once

#include "baytree/bart/ensemble/leaf.hpp"
#include "baytree/bart/ensemble/tree_sum.hpp"
#include "baytree/trees/node_rows.hpp"

namespace baytree::bart {

/// The leaves of a tree of a sum as `Derivation` asks for them: over rows of what the tree is fitted to. That changes
/// under them: whoever keeps log marginals must forget them then.
class TargetLeaf {
 public:
  TargetLeaf(Row rows, const Leaf& leaf) : rows_(rows), leaf_(leaf) {}

  const Leaf& leaf() const { return leaf_; }
  void set_leaf(const Leaf& leaf) { leaf_ = leaf; }
  void aim_at(const Target& target) { target_ = target; }

  struct Buffer {};
  Row rows() const { return rows_; }
  double log_marginal(const NodeRows& rows, Buffer&) const {
    return leaf_.marginal(sums_of(rows), target_.precision).log();
  }

  void require_values() const {}
  /// A draw of the leaf's value given these rows; no rows give a draw from the prior.
  double draw_value(const NodeRows& rows, Stream& stream) const {
    return leaf_.draw(sums_of(rows), target_.precision, stream);
  }

 private:
  LeafSums sums_of(const NodeRows& rows) const {
    LeafSums sums;
    if (target_.weight.empty()) {
      sums.weight = static_cast<double>(rows.size());
      rows.for_each([&](Row row) { sums.sum += static_cast<double>(target_.residual[row]); });
      return sums;
    }
    rows.for_each([&](Row row) {
      const auto weight = static_cast<double>(target_.weight[row]);
      sums.sum += weight * static_cast<double>(target_.residual[row]);
      sums.weight += weight;
    });
    return sums;
  }

  Row rows_;
  Leaf leaf_;
  Target target_;
};

}  // namespace baytree::bart
