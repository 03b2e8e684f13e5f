#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baytree/data/vocabulary.hpp"
#include "baytree/knowledge/node_rules.hpp"
#include "baytree/slp/program/data.hpp"

namespace baytree {

/// The training table as a program sees it. A node's rows lie together in one array, ascending; the nodes of a split
/// lie one behind the other at its end, so that forgetting nodes forgets their rows. Programs may be hostile: a node or
/// feature that does not exist is an InputError.
class NodeTable final : public slp::Data {
 public:
  /// Where a categorical column has missing values, they are its last level, `missing`. Throws InputError where the
  /// parts do not fit each other.
  NodeTable(const Design& design, Vocabulary vocabulary, const Knowledge& knowledge, Row min_leaf);

  std::uint32_t features() const override { return static_cast<std::uint32_t>(design_.columns.size()); }
  const std::string& feature_name(std::uint32_t feature) const override;
  bool is_categorical(std::uint32_t feature) const override { return column(feature).categorical; }
  std::uint32_t levels(std::uint32_t feature) const override;
  const std::string& level_name(std::uint32_t feature, std::uint32_t level) const override;
  std::uint64_t min_leaf() const override { return rules_.min_leaf(); }

  slp::NodeId root() override { return 0; }
  std::uint64_t node_size(slp::NodeId node) const override { return rows(node).size(); }
  std::uint32_t depth(slp::NodeId node) const override { return at(node).depth; }
  std::pair<double, double> region(slp::NodeId node, std::uint32_t feature) const override;

  bool splittable(slp::NodeId node) override;
  void usable(slp::NodeId node, std::vector<double>& weights) override;
  std::uint64_t count_rules(slp::NodeId node, std::uint32_t feature) override;
  slp::Question rule(slp::NodeId node, std::uint32_t feature, std::uint64_t n) override;
  bool is_admissible(slp::NodeId node, std::uint32_t feature, const slp::Question& question) override;
  std::pair<slp::NodeId, slp::NodeId> split(slp::NodeId node, std::uint32_t feature,
                                            const slp::Question& question) override;

  /// The root is never forgotten.
  slp::NodeId mark() const override { return static_cast<slp::NodeId>(nodes_.size()); }
  void rewind(slp::NodeId mark) override;
  std::size_t held() const override { return nodes_.capacity() * sizeof(Entry) + rows_.capacity() * sizeof(Row); }
  std::size_t memory() const override { return nodes_.size() * sizeof(Entry) + used_ * sizeof(Row); }

  std::span<const Row> rows(slp::NodeId node) const;
  /// Of a node that is not the root: the node it was split from, that split's rule, and its side.
  slp::NodeId parent(slp::NodeId node) const { return child(node).parent; }
  const Rule& rule(slp::NodeId node) const { return child(node).rule; }
  bool is_left(slp::NodeId node) const { return child(node).left; }
  /// Whatever the chain remembers of the node as a leaf; unknown at first.
  double& log_marginal(slp::NodeId node) {
    Entry& entry = at(node);
    if (std::exchange(entry.response, response_) != response_) entry.log_marginal = unknown;
    return entry.log_marginal;
  }
  /// To be called when the leaf model has another response.
  void forget_marginals() { ++response_; }
  double& value(slp::NodeId node) { return at(node).value; }
  /// How E(y) may go with each column; see `Knowledge`.
  const Design& design() const { return design_; }
  const std::vector<int>& monotone() const { return monotone_; }

 private:
  struct Entry {
    std::size_t begin = 0;
    Row size = 0;
    slp::NodeId parent = 0;
    Rule rule;
    std::uint64_t boxes = 0;
    double log_marginal = unknown, value = unknown;
    std::uint64_t response = 0;  // to which the log marginal belongs
    std::uint32_t depth = 0;
    bool left = false;
    std::optional<bool> splittable;  // found when first asked for
  };

  void check(slp::NodeId node) const;
  const Entry& at(slp::NodeId node) const;
  Entry& at(slp::NodeId node);
  const Entry& child(slp::NodeId node) const;
  const Column& column(std::uint32_t feature) const;

  Situation situation(slp::NodeId node);
  const ColumnRules& column_rules(slp::NodeId node, std::uint32_t feature);
  slp::Question question(const Rule& rule) const;
  std::optional<Rule> find_rule(std::uint32_t feature, const slp::Question& question) const;

  const Design& design_;
  Vocabulary vocabulary_;
  NodeRules rules_;
  std::vector<int> monotone_;
  std::uint64_t response_ = 0;  // counts responses
  std::vector<Entry> nodes_;
  std::vector<Row> rows_;  // of which the first `used_` belong to nodes
  std::size_t used_ = 0;
  std::vector<std::uint32_t> above_;
  std::vector<Row> spare_;
  // A program asks for the number of rules and then for one of them.
  std::optional<std::pair<slp::NodeId, std::uint32_t>> counted_;
  ColumnRules counted_rules_;
};

}  // namespace baytree
