#pragma once

#include <span>
#include <vector>

#include "baytree/bart/ensemble/tree_sum.hpp"
#include "baytree/bart/soft/basis.hpp"
#include "baytree/bart/soft/forest.hpp"
#include "baytree/bart/soft/gate_table.hpp"
#include "baytree/mcmc/proposals/context.hpp"

namespace baytree::bart {

/// A sum of trees with soft rules (Linero and Yang 2018): a leaf takes part in the fit of every row by its share of it,
/// and each rule that can be soft has a bandwidth ~ Exponential. Trees have the same prior as with hard rules, whose
/// rules are admissible by the rows that they would divide if they were hard.
///
/// A visit forms the residuals without the tree and makes Metropolis steps with leaf values integrated out, then draws
/// the values. After some sweeps the values of all trees are drawn at once.
class SoftBackfit final : public TreeSum {
 public:
  SoftBackfit(const Design& design, const Prior& prior, double leaf_sd, std::vector<ProposalShare> proposals,
              double grid);

  std::size_t size() const override { return trees_.size(); }
  const Nodes& nodes(std::size_t t) const override { return trees_[t].nodes; }
  const std::vector<float>& values(std::size_t t) const override { return trees_[t].values; }
  bool changed(std::size_t t) const override { return trees_[t].changed; }
  bool take_changed(std::size_t t) override { return std::exchange(trees_[t].changed, false); }

  void sweep(const Target& target, Stream& stream, Team& team) override;
  void restore(std::size_t t, const Nodes& pattern, std::vector<float> values, std::span<float> residual) override;

  void set_leaf_sd(double sd) override { leaf_sd_ = sd; }
  void set_log_weights(std::vector<double> log_weights) override;
  void for_each_split(std::size_t t, const std::function<void(const Node&, const std::vector<bool>&)>& visit) override;

 private:
  void clear(SoftTree& tree);
  void pad(std::span<const float> residual, std::span<const float> weight);
  void visit(SoftTree& tree, Stream& stream);
  /// Whether the tree changed.
  bool propose_tree(SoftTree& tree, Proposal proposal, Stream& stream);
  bool propose_bandwidth(SoftTree& tree, std::size_t at, Stream& stream);
  bool accepts(const Nodes& nodes, std::size_t at, std::span<const Node> instead, double log_ratio, Stream& stream);
  void draw_all_values(Stream& stream);
  bool is_soft(const Rule& rule) const { return may_be_soft(grower_.design().columns[rule.feature], rule); }
  double draw_bandwidth(Stream& stream) const;

  Grower grower_;
  double leaf_sd_, bandwidth_;
  float rounder_;
  std::vector<SoftTree> trees_;

  // Of the sweep.
  std::vector<float> residual_, weight_;
  SoftRows rows_;
  double precision_ = 1.0;
  std::vector<float> values_;
  SoftForest forest_;

  // Of the tree that is being visited.
  SoftBasis basis_;
  SoftLeaves leaves_, candidate_leaves_;
  double log_marginal_ = 0.0;
  Replacement candidate_;
  Nodes altered_;
};

}  // namespace baytree::bart
