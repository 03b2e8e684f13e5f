#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "baytree/base/rng.hpp"
#include "baytree/knowledge/node_rules.hpp"
#include "baytree/knowledge/path.hpp"
#include "baytree/trees/forest.hpp"
#include "baytree/trees/tree_rows.hpp"

namespace baytree {

// To add a way to choose rules: its draw in `Grower::choose_rule` and its density in `assess`, and the choice points of
// both. A prior of another kind is a class with what moves and chains ask of `Grower`; see first whether a logic
// program says it (derived_tree), which needs no code here.

/// A node of depth d with an admissible rule splits with probability alpha (1+d)^−beta. With `by_column` a column that
/// has one is chosen by its weight, and then one of its admissible rules uniformly; else one of all admissible rules,
/// each with its column's weight.
struct GrowTree {
  double alpha = 0.95, beta = 1.0;
  Row min_leaf = 5;
  bool by_column = true;
  Knowledge knowledge = {};
  std::vector<std::vector<double>> cuts = {};  // the cut values of every numeric column, for boxes and soft rules
};

/// The choices a derivation makes at a node, in this order. A choice with one possible outcome is not a choice point.
enum ChoicePoint : std::uint8_t { split_point = 1, column_point = 2, rule_point = 4 };

/// Spelled out: without a target-specific flag, popcount is a function call.
inline std::size_t count_points(const Node& node) {
  return (node.points & 1u) + (node.points >> 1 & 1u) + (node.points >> 2 & 1u);
}
std::size_t count_points(std::span<const Node> nodes);

/// A subtree that may replace the one at node `at`, with its own rows.
struct Replacement {
  std::size_t at = 0;
  Nodes nodes;
  TreeRows rows;

  NodeRows rows_of(const Node& node) const { return rows.of(node); }
};

/// Puts the replacement into the tree.
void splice(PartitionedTree& tree, const Replacement& replacement);

/// Draws from the GrowTree prior and evaluates it. Holds buffers, so each chain has its own.
class Grower {
 public:
  Grower(const Design& design, GrowTree prior);

  const Design& design() const { return rules_.design(); }
  Row min_leaf() const { return prior_.min_leaf; }
  bool by_column() const { return prior_.by_column; }
  const Knowledge& knowledge() const { return prior_.knowledge; }
  const Restrictions& restrictions() const { return rules_.restrictions(); }
  /// Where node `at` stands. Good until the grower is asked for anything else.
  Situation situation(const PartitionedTree& tree, std::size_t at) {
    go_to(tree, at);
    return enter(tree.nodes[at]);
  }
  const std::vector<std::vector<double>>& cuts() const { return prior_.cuts; }
  /// Whether a tree of so many nodes has no more leaves than it may: that conditions the prior on the whole tree.
  bool fits(std::size_t nodes) const {
    return !prior_.knowledge.max_leaves || nodes / 2 < *prior_.knowledge.max_leaves;
  }  // one leaf more than splits
  double split_probability(std::uint32_t depth) { return at_depth(depth).split; }
  double log_split_probability(std::uint32_t depth) { return at_depth(depth).log_split; }
  /// Columns are chosen by these weights from now on, given by their logarithms up to a constant. Rules that trees know
  /// the probability of must be assessed anew.
  void learn_weights(std::vector<double> log_weights) { log_weights_ = std::move(log_weights); }
  /// The columns that have no rule at node `at`.
  void find_blocked(const PartitionedTree& tree, std::size_t at, std::vector<bool>& blocked);

  /// Draws a whole tree; `tree` lends its root. False where none of so many attempts fits.
  bool grow(const PartitionedTree& tree, Stream& stream, Replacement& out, std::uint64_t attempts);
  /// The same with as many attempts as anyone will wait for; throws InputError where none fits.
  void grow(const PartitionedTree& tree, Stream& stream, Replacement& out);
  /// Draws again all that lies below the choice point `from` of node `at`, that choice included.
  void regrow(const PartitionedTree& tree, std::size_t at, ChoicePoint from, Stream& stream, Replacement& out);
  /// Gives node `at` a rule drawn from the prior and two leaves. The node must be splittable.
  void sprout(const PartitionedTree& tree, std::size_t at, Stream& stream, Replacement& out);
  /// A rule for node `at` from the prior, given that it splits. The node must be splittable.
  Rule draw_rule(const PartitionedTree& tree, std::size_t at, Stream& stream);
  /// Sends the rows of node `at` down a tree given by the rules and sizes of `pattern`. False where a rule would not be
  /// admissible.
  bool plant(const PartitionedTree& tree, std::size_t at, std::span<const Node> pattern, Replacement& out);

  /// Sets what depends on the rows and on what lies above: splittable, points, and a split's log_rule. Of one node, or
  /// of all nodes of a replacement.
  void assess(PartitionedTree& tree, std::size_t at);
  void assess(const PartitionedTree& tree, Replacement& replacement);
  /// The node's own factor of the prior: its decision and, of a split, its rule. A node of the tree is assessed first
  /// where it has to be.
  double log_prior(const Node& node);
  double log_prior(PartitionedTree& tree, std::size_t at);
  /// The factor of a leaf, log(1 − split probability) where it could have been split.
  double log_leaf_prior(std::uint32_t depth, bool splittable) { return splittable ? at_depth(depth).log_leaf : 0.0; }

 private:
  /// The probability that a node of a depth splits, its logarithm, and that of its complement.
  struct AtDepth {
    double split, log_split, log_leaf;
  };
  const AtDepth& at_depth(std::uint32_t depth) {
    if (depth >= at_depth_.size()) look_deeper(depth);
    return at_depth_[depth];
  }
  void look_deeper(std::uint32_t depth);
  std::uint8_t split_choice(std::uint32_t depth);
  std::size_t draw_column(std::span<const std::uint32_t> among, Stream& stream) {
    return !log_weights_.empty() || rules_.restrictions().weighted() ? draw_weighted_column(among, stream)
                                                                     : stream.below(among.size());
  }
  std::size_t draw_weighted_column(std::span<const std::uint32_t> among, Stream& stream);
  bool choose_rule(Node& node, const NodeRows& rows, const Situation& here, Stream& stream);
  bool choose_by_column(Node& node, const NodeRows& rows, const Situation& here, Stream& stream);
  bool choose_among_all(Node& node, const NodeRows& rows, const Situation& here, Stream& stream);
  void choose_in_column(Node& node, const NodeRows& rows, const Situation& here, std::uint32_t feature, Stream& stream);
  void assess(Node& node, const NodeRows& rows, const Situation& here);
  /// Learned weights may be too small for numbers, and are taken relative to the largest among those that are compared.
  void compare(std::span<const std::uint32_t> among);
  double weight(std::uint32_t feature) const {
    return log_weights_.empty() ? rules_.restrictions().weight(feature) : std::exp(log_weights_[feature] - largest_);
  }
  double log_weight(std::uint32_t feature) const {
    return log_weights_.empty() ? std::log(rules_.restrictions().weight(feature)) : log_weights_[feature] - largest_;
  }
  void begin(const PartitionedTree& tree, std::size_t at, Replacement& out);
  void divide(const Node& node, const Situation& here, Replacement& out);
  Node next_pending();
  void go_to(const PartitionedTree& tree, std::size_t at) { path_.go_to(tree.nodes, at, rules_.restrictions()); }
  Situation enter(const Node& node) { return path_.enter(node.depth, rules_.restrictions()); }

  GrowTree prior_;
  NodeRules rules_;
  Path path_;
  std::vector<AtDepth> at_depth_;    // as far as asked for
  std::vector<double> log_weights_;  // of columns, where they are learned
  double largest_ = 0.0;             // log weight of those that are compared
  Nodes pending_;
  std::vector<std::uint32_t> columns_, untried_;
  std::vector<ColumnRules> column_rules_;
};

/// Independent trees from the prior; no response is asked for.
Forest grow_trees(Grower& grower, std::uint64_t n, Stream& stream);

}  // namespace baytree
