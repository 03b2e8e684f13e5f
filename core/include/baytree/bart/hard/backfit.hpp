#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "baytree/bart/ensemble/column_weights.hpp"
#include "baytree/bart/ensemble/leaf.hpp"
#include "baytree/bart/ensemble/tree_sum.hpp"
#include "baytree/bart/hard/leaf_numbers.hpp"
#include "baytree/bart/hard/pass.hpp"
#include "baytree/base/large_pages.hpp"
#include "baytree/knowledge/monotone.hpp"

namespace baytree::bart {

/// A tree with the values of its leaves. Leaves are numbered from left to right; a node's `end` is its number of rows,
/// and `splittable` is known of leaves.
struct Tree {
  Nodes nodes;
  std::vector<float> values;
};

/// A sum of trees with hard rules. A visit makes proposals of a tree's structure with leaf values integrated out, then
/// draws the values. The residuals of *all* trees are kept; those without a tree are never formed, as their sum over a
/// leaf is that of the residuals plus rows · value.
///
/// The trees may be those of a variance: what is multiplied carries a history of rounding, and must be had anew for
/// every sweep.
class Backfit final : public TreeSum {
 public:
  Backfit(const Design& design, const Prior& prior, const Leaf& leaf, std::vector<ProposalShare> proposals, Simd simd);

  std::size_t size() const override { return trees_.size(); }
  const Nodes& nodes(std::size_t t) const override { return trees_[t].nodes; }
  const std::vector<float>& values(std::size_t t) const override { return trees_[t].values; }
  bool changed(std::size_t t) const override { return changed_[t] != 0; }
  bool take_changed(std::size_t t) override { return std::exchange(changed_[t], std::uint8_t{0}) != 0; }

  void set_leaf_sd(double sd) override { leaf_model_ = leaf_model_.with_sd(sd); }
  void set_log_weights(std::vector<double> log_weights) override { columns_.set(std::move(log_weights)); }
  void for_each_split(std::size_t t, const std::function<void(const Node&, const std::vector<bool>&)>& visit) override;

  const ColumnWeights& columns() const { return columns_; }
  const NodeRules& rules() const { return rules_; }

  std::size_t room() const { return most_leaves_; }  // the most leaves of a tree
  LeafNumbers numbers(std::size_t t) { return {numbers_.data() + t * rows_, rows_}; }

  /// The precision of the noise, on which the next two depend.
  void set_precision(double precision) { precision_ = precision; }
  /// The log marginal likelihood of a leaf, up to what does not depend on the tree.
  double log_marginal(const LeafSums& leaf) const { return leaf_model_.marginal(leaf, precision_).log(); }
  double draw_value(const LeafSums& leaf, Stream& stream) const { return leaf_model_.draw(leaf, precision_, stream); }

  /// Whether these values of a tree's leaves are in the order that monotone columns ask for.
  bool in_order(const Nodes& nodes, std::span<const float> values);

  /// Has rows that hold no tree hold them all, one after another.
  void hold_all(std::span<float> rows, Team& team);

  void sweep(const Target& target, Stream& stream, Team& team) override;
  void restore(std::size_t t, const Nodes& pattern, std::vector<float> values, std::span<float> residual) override;

 private:
  enum class Kind : std::uint8_t { none, birth, death, change };
  struct Proposed {
    Kind kind = Kind::none;
    std::size_t node = 0;   // of the tree
    std::uint8_t leaf = 0;  // the first leaf of that node
    Rule rule = {};         // of a birth or change
    bool near = false;      // of a change: the rule has the same column, and a cut near the old one
  };
  struct Places {
    std::size_t splittable = 0, nogs = 0;  // leaves that may be split; splits of two leaves, without grandchildren
  };
  void run(const Pass& pass, Team& team);
  Pass pass_over(std::size_t t, const Target& target);
  void settle(const Target& target, Team& team);

  void visit(std::size_t t, const Target& target, Stream& stream, Team& team);
  void read_sums(const Tree& tree, bool weighted);
  Proposed propose(std::size_t t, Proposal proposal, Stream& stream);
  bool divide_rows(std::size_t t, Proposed& proposed, Pass& pass, bool read, Stream& stream, Team& team);
  LeafSums sum_left(const Pass& pass, std::size_t first, std::size_t second) const;
  void level(std::size_t t, std::size_t first, const Target& target, Team& team);
  bool decide(std::size_t t, const Proposed& proposed, Stream& stream);
  double log_likelihood_of(const Proposed& proposed) const;
  void make_candidate(std::size_t t, const Proposed& proposed);
  double log_prior_ratio(const Nodes& nodes, const Proposed& proposed) const;
  bool draw_parts(const Tree& tree, const Proposed& proposed, Stream& stream);
  void apply(std::size_t t, const Proposed& proposed, const Target& target, Team& team);
  void draw_values(Tree& tree, Stream& stream);

  Rule draw_rule(std::size_t t, const Proposed& proposed, Stream& stream);
  Rule draw_any_rule(const Nodes& nodes, std::size_t at, std::uint32_t feature, Stream& stream) const;
  std::optional<Rule> draw_near_rule(const Nodes& nodes, std::size_t at, Stream& stream);
  std::pair<std::uint32_t, std::uint32_t> cuts_within(const Nodes& nodes, std::size_t at, std::uint32_t feature) const;
  Rule draw_admissible_rule(std::size_t t, const Proposed& proposed, std::uint32_t feature, Stream& stream);
  const std::uint8_t* plain_codes(std::uint32_t feature, const Situation& here) const;
  bool is_splittable(std::size_t t, const Proposed& proposed, bool right, Row rows, const Situation& child);
  bool surely_splittable(Row rows, const Situation& situation) const;
  bool all_free(const Situation& situation) const;
  Situation situation_of(const Nodes& nodes, std::size_t at);

  static Places places_of(const Nodes& nodes);
  static double log_birth_place(const Places& places);
  static double log_death_place(const Places& places);
  double log_odds(std::uint32_t depth) const { return log_split_[depth] - log_stay_[depth]; }
  double log_stay(std::uint32_t depth, bool splittable) const { return splittable ? log_stay_[depth] : 0.0; }

  const Design& design_;
  std::size_t rows_;
  NodeRules rules_;
  std::size_t most_leaves_;
  ColumnWeights columns_;
  Leaf leaf_model_;
  Simd simd_;
  std::vector<double> log_split_, log_stay_;  // by depth
  std::vector<Row> heaviest_;                 // of each column, the most rows of one code; of no use where it is 0
  std::vector<std::uint32_t> by_heaviest_;    // the columns of use, the one that divides best first
  bool all_divide_ = false;                   // whether these are all

  std::vector<Tree> trees_;
  std::vector<std::uint8_t, LargePages<std::uint8_t>> numbers_;  // the leaf numbers of every row in every tree
  std::vector<std::uint8_t> changed_;

  // The tree before, whose change the residuals have not got yet.
  std::optional<std::size_t> before_;
  std::array<float, 256> change_{};

  // Of the tree that is being visited.
  double precision_ = 1.0;
  std::array<LeafSums, 256> leaf_{};
  std::array<float, 256> held_{};   // by leaf: what the residuals hold
  std::array<LeafSums, 2> part_{};  // the parts of a proposed rule, left and right; of a death the first
  std::array<Row, 2> part_rows_{};
  std::array<double, 2> part_value_{};  // where trees must be monotone
  Nodes candidate_;
  PassSums sums_;
  std::vector<PassSums> block_sums_;
  ByteRules byte_rules_;
  ByteRule byte_rule_;
  Path path_;
  std::vector<Row> gathered_;
  std::vector<bool> tried_;
  std::optional<Cone> cone_;
  std::vector<double> cone_values_;
};

}  // namespace baytree::bart
