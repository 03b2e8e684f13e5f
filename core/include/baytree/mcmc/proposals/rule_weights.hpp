#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "baytree/mcmc/proposals/leaf_sweep.hpp"
#include "baytree/priors/grow_tree.hpp"

namespace baytree {

struct ProposalContext;

/// The rules that a node may have above two given subtrees, each with the weight
///   w(rule) = prior of the rule · P(y | leaves below it)^power,
/// the prior up to a constant. Rules that divide the rows alike are one *division*, whose weight is the sum of theirs.
///
/// Of more than `most_columns` columns that many are looked at, drawn uniformly. On the way back they are drawn given
/// that the rule's own is among them, which is as many columns over all columns as probable as it would be otherwise.
///
/// Of a categorical column all level sets of up to `most_levels` levels are looked at; where a node has more of them,
/// the column's rules have weight 0, as have those e^40 times less probable than the best: no proposal leads to them,
/// and none that would have to come back to them is made. Everything is a function of the node's rows and of what is
/// above and below the rule, so that it is the same in both directions.
///
/// Holds buffers, so each chain has its own.
class RuleWeights {
 public:
  static constexpr std::uint32_t most_columns = 32, most_levels = 7;

  explicit RuleWeights(std::unique_ptr<LeafSweep> sweep) : sweep_(std::move(sweep)) {}

  /// Weighs the rules of node `at`, with these subtrees below, given by rules and sizes; those of the column of the
  /// rule that there is, or would be on the way back, among them.
  void weigh(const ProposalContext& context, std::size_t at, std::span<const Node> left, std::span<const Node> right,
             const Rule* present);

  /// The place of the rule's division, nothing where the rule has weight 0.
  std::optional<std::size_t> find(const Rule& rule) const;
  /// A division drawn by weight, of all of them or of all but one; nothing where there is none.
  std::optional<std::size_t> draw(Stream& stream, std::optional<std::size_t> but = {}) const;
  /// One of the division's rules.
  Rule draw_rule(std::size_t division, Stream& stream) const;
  /// The log probability that `draw` and then `draw_rule` give one rule of the division, and that its column is looked
  /// at.
  double log_probability(std::size_t division, std::optional<std::size_t> but = {}) const;

  /// Room for a subtree that is to be planted.
  Nodes& pattern() { return pattern_; }

 private:
  struct Division {
    Rule rule;                // numeric: with the first of its cuts; categorical: without the levels that are free
    std::uint64_t rules = 1;  // how many
    std::uint64_t free = 0;   // categorical: levels without rows, which may be on either side
    double log_weight = 0.0;  // of one rule
    double weight = 0.0;      // of all, relative to the best rule
  };

  std::span<const std::uint32_t> choose_columns(std::size_t columns, Stream& stream, const Rule* present);
  void label(const Design& design, std::span<const Row> rows, std::span<const Node> pattern, std::uint32_t first,
             std::vector<std::uint32_t>& labels);
  void label_below(const Design& design, std::span<Row> rows, std::span<const Node> pattern, std::uint32_t first,
                   std::vector<std::uint32_t>& labels);
  double sweep_cuts(const Column& column, std::uint32_t feature, const Restrictions& restrictions, std::uint64_t boxes);
  double sweep_levels(const Column& column, std::uint32_t feature);
  double add_cuts(const Rule& first, std::uint32_t end, Row left, double log_marginal, const Restrictions& restrictions,
                  std::uint64_t boxes);
  bool divides(Row left) const { return left >= min_leaf_ && rows_ - left >= min_leaf_; }
  void normalize();
  double total(std::optional<std::size_t> but) const;

  std::unique_ptr<LeafSweep> sweep_;
  Row rows_ = 0, min_leaf_ = 0;
  double log_looked_at_ = 0.0;  // the share of columns
  std::vector<std::uint32_t> columns_;
  LeafLabels labels_;
  std::vector<Division> divisions_;
  Nodes pattern_;
  std::vector<Row> listed_, sorted_, spare_;
  std::vector<std::uint32_t> flips_;
  std::vector<double> log_marginals_;
};

}  // namespace baytree
