#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/admissible.hpp"
#include "baytree/forest.hpp"
#include "baytree/tree.hpp"

namespace baytree {

/// A node of depth d with an admissible rule splits with probability alpha (1+d)^−beta; the rule is uniform over the columns that have one and then over the
/// column's admissible rules (`by_column`), or uniform over all admissible rules.
struct GrowTree {
  double alpha = 0.95, beta = 1.0;
  Row min_leaf = 5;
  bool by_column = true;
};

/// The choices a derivation makes at a node, in this order. A choice with one possible outcome is not a choice point.
enum ChoicePoint : std::uint8_t { split_point = 1, column_point = 2, rule_point = 4 };

/// Spelled out: without a target-specific flag, popcount is a function call.
inline std::size_t count_points(const Node& node) { return (node.points & 1u) + (node.points >> 1 & 1u) + (node.points >> 2 & 1u); }
std::size_t count_points(std::span<const Node> nodes);

/// A subtree that may replace the one at node `at`; its rows are kept at the same places of an array of their own.
struct Replacement {
  std::size_t at = 0;
  Nodes nodes;
  std::vector<Row> rows;

  std::span<const Row> rows_of(const Node& node) const { return {rows.data() + node.begin, node.rows()}; }
};

/// Draws from the GrowTree prior and evaluates it. Holds buffers, so each chain has its own.
class Grower {
 public:
  Grower(const Design& design, GrowTree prior);

  const Design& design() const { return design_; }
  double split_probability(std::uint32_t depth);

  /// Draws again all that lies below the choice point `from` of node `at`, that choice included.
  void regrow(const PartitionedTree& tree, std::size_t at, ChoicePoint from, Stream& stream, Replacement& out);
  /// Gives node `at` a rule drawn from the prior and two leaves. The node must be splittable.
  void sprout(const PartitionedTree& tree, std::size_t at, Stream& stream, Replacement& out);
  /// A rule for this node from the prior, given that it splits. The node must be splittable.
  Rule draw_rule(std::span<const Row> rows, Stream& stream);
  /// Sends the rows of node `at` down a tree given by the rules and sizes of `pattern`. False where a child would hold fewer than min_leaf rows.
  bool plant(const PartitionedTree& tree, std::size_t at, std::span<const Node> pattern, Replacement& out);

  /// Sets what depends on the rows alone: splittable, points, and a split's log_rule.
  void assess(Node& node, std::span<const Row> rows);
  /// The node's own factor of the prior: its decision and, of a split, its rule.
  double log_prior(Node& node, std::span<const Row> rows);
  /// The factor of a leaf, log(1 − split probability) where it could have been split.
  double log_leaf_prior(std::uint32_t depth, bool splittable);

 private:
  struct Region {
    Row begin, end;
    std::uint32_t depth;
  };
  bool any_rule(std::span<const Row> rows);
  std::uint8_t split_choice(std::uint32_t depth);
  bool choose_rule(Node& node, std::span<const Row> rows, Stream& stream);
  bool choose_by_column(Node& node, std::span<const Row> rows, Stream& stream);
  bool choose_among_all(Node& node, std::span<const Row> rows, Stream& stream);
  void choose_in_column(Node& node, std::span<const Row> rows, std::uint32_t feature, Stream& stream);
  void take_rows(const PartitionedTree& tree, std::size_t at, Replacement& out);
  void begin(const PartitionedTree& tree, std::size_t at, Replacement& out);
  void divide(const Node& node, Replacement& out);
  Node next_pending();

  const Design& design_;
  GrowTree prior_;
  std::vector<double> split_probability_;  // by depth, as far as asked for
  std::vector<Region> pending_;
  std::vector<std::uint32_t> untried_;
  std::vector<ColumnRules> column_rules_;
  std::vector<Row> spare_;
  std::vector<std::uint64_t> marks_;
  AdmissibleBuffers buffers_;
};

/// Independent trees from the prior; no response is asked for.
Forest grow_trees(Grower& grower, std::uint64_t n, Stream& stream);

}  // namespace baytree
