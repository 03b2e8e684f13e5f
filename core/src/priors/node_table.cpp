#include "baytree/priors/node_table.hpp"

#include <algorithm>
#include <numeric>

#include "baytree/base/error.hpp"
#include "baytree/trees/partition.hpp"

namespace baytree {

using slp::NodeId;
using slp::Question;

namespace {

Vocabulary checked(Vocabulary vocabulary, const Design& design) {
  const std::size_t columns = design.columns.size();
  if (vocabulary.names.size() != columns || vocabulary.cuts.size() != columns || vocabulary.levels.size() != columns)
    throw InputError("vocabulary: it must name " + std::to_string(columns) + " columns");
  for (std::size_t j = 0; j < columns; ++j) {
    const Column& column = design.columns[j];
    auto& levels = vocabulary.levels[j];
    if (levels.size() != (column.categorical ? column.observed : 0))
      throw InputError("vocabulary: " + std::to_string(levels.size()) + " level names for column " +
                       vocabulary.names[j]);
    if (vocabulary.cuts[j].size() != (column.categorical ? 0 : std::max(column.observed, 1u) - 1))
      throw InputError("vocabulary: " + std::to_string(vocabulary.cuts[j].size()) + " cut values for column " +
                       vocabulary.names[j]);
    if (!std::is_sorted(vocabulary.cuts[j].begin(), vocabulary.cuts[j].end()))
      throw InputError("vocabulary: the cut values of column " + vocabulary.names[j] + " must ascend");
    if (!column.categorical || !column.has_missing) continue;
    std::string missing = "missing";
    while (std::find(levels.begin(), levels.end(), missing) != levels.end()) missing += '_';
    levels.push_back(missing);
  }
  return vocabulary;
}

}  // namespace

NodeTable::NodeTable(const Design& design, Vocabulary vocabulary, const Knowledge& knowledge, Row min_leaf)
    : design_(design),
      vocabulary_(checked(std::move(vocabulary), design)),
      rules_(design, min_leaf, Restrictions(knowledge, design, vocabulary_.cuts)),
      monotone_(knowledge.monotone),
      rows_(design.rows),
      used_(design.rows) {
  std::iota(rows_.begin(), rows_.end(), Row{0});
  nodes_.push_back({.size = design.rows, .boxes = rules_.restrictions().root_boxes()});
}

void NodeTable::check(NodeId node) const {
  if (node >= nodes_.size()) throw InputError("there is no node " + std::to_string(node));
}

const NodeTable::Entry& NodeTable::at(NodeId node) const {
  check(node);
  return nodes_[node];
}

NodeTable::Entry& NodeTable::at(NodeId node) {
  check(node);
  return nodes_[node];
}

const NodeTable::Entry& NodeTable::child(NodeId node) const {
  if (node == 0) throw InputError("the root has no parent");
  return at(node);
}

const Column& NodeTable::column(std::uint32_t feature) const {
  if (feature >= design_.columns.size()) throw InputError("there is no feature " + std::to_string(feature));
  return design_.columns[feature];
}

const std::string& NodeTable::feature_name(std::uint32_t feature) const {
  column(feature);
  return vocabulary_.names[feature];
}

std::uint32_t NodeTable::levels(std::uint32_t feature) const {
  column(feature);
  return static_cast<std::uint32_t>(vocabulary_.levels[feature].size());
}

const std::string& NodeTable::level_name(std::uint32_t feature, std::uint32_t level) const {
  if (level >= levels(feature)) throw InputError(vocabulary_.names[feature] + " has no level " + std::to_string(level));
  return vocabulary_.levels[feature][level];
}

std::span<const Row> NodeTable::rows(NodeId node) const {
  const Entry& entry = at(node);
  return {rows_.data() + entry.begin, entry.size};
}

std::pair<double, double> NodeTable::region(NodeId node, std::uint32_t feature) const {
  if (column(feature).categorical) throw InputError(vocabulary_.names[feature] + " is categorical: it has no region");
  const auto& cuts = vocabulary_.cuts[feature];
  double low = -infinity, high = infinity;
  for (const Entry* entry = &at(node); entry != nodes_.data(); entry = &nodes_[entry->parent]) {
    const Rule& above = entry->rule;
    if (above.feature != feature || above.cut == cuts.size()) continue;  // behind the last cut lies "is it missing?"
    if (entry->left)
      high = std::min(high, cuts[above.cut]);
    else
      low = std::max(low, cuts[above.cut]);
  }
  return {low, high};
}

Situation NodeTable::situation(NodeId node) {
  const Entry& entry = at(node);
  if (rules_.restrictions().look_above()) {
    above_.clear();
    for (NodeId below = node; below != 0; below = nodes_[below].parent) above_.push_back(nodes_[below].rule.feature);
  }
  return {entry.depth, entry.boxes, above_};
}

const ColumnRules& NodeTable::column_rules(NodeId node, std::uint32_t feature) {
  const std::pair asked(node, feature);
  if (counted_ != asked) {
    counted_rules_ = rules_.column_rules(feature, rows(node), situation(node));
    counted_ = asked;
  }
  return counted_rules_;
}

bool NodeTable::splittable(NodeId node) {
  Entry& entry = at(node);
  if (!entry.splittable) entry.splittable = rules_.any_rule(rows(node), situation(node));
  return *entry.splittable;
}

void NodeTable::usable(NodeId node, std::vector<double>& weights) {
  const Situation here = situation(node);
  weights.resize(features());
  for (std::uint32_t feature = 0; feature < features(); ++feature)
    weights[feature] = rules_.has_rule(feature, rows(node), here) ? rules_.restrictions().weight(feature) : 0.0;
}

std::uint64_t NodeTable::count_rules(NodeId node, std::uint32_t feature) {
  column(feature);
  return column_rules(node, feature).count;
}

Question NodeTable::rule(NodeId node, std::uint32_t feature, std::uint64_t n) {
  if (n >= count_rules(node, feature))
    throw InputError(vocabulary_.names[feature] + " has no admissible rule " + std::to_string(n) + " at this node");
  return question(rules_.nth_rule(feature, column_rules(node, feature), rows(node), at(node).boxes, n));
}

bool NodeTable::is_admissible(NodeId node, std::uint32_t feature, const Question& question) {
  const Situation here = situation(node);
  const auto rule = find_rule(feature, question);
  if (!rule || !rules_.restrictions().allows(here, *rule)) return false;
  const std::span<const Row> all = rows(node);
  const auto left = static_cast<std::size_t>(
      with_test(column(feature), *rule, [&](auto test) { return std::count_if(all.begin(), all.end(), test); }));
  return left >= rules_.min_leaf() && all.size() - left >= rules_.min_leaf();
}

std::pair<NodeId, NodeId> NodeTable::split(NodeId node, std::uint32_t feature, const Question& question) {
  const Situation here = situation(node);
  const auto rule = find_rule(feature, question);
  const auto refuse = [&] {
    throw InputError("the rule on " + vocabulary_.names[feature] + " is not admissible at this node");
  };
  if (!rule || !rules_.restrictions().allows(here, *rule)) refuse();
  const Row size = at(node).size;
  if (rows_.size() < used_ + size) rows_.resize(std::max(used_ + size, 2 * rows_.size()));
  const Row left = with_test(column(feature), *rule,
                             [&](auto test) { return partition_rows(rows(node), rows_.data() + used_, spare_, test); });
  if (left < rules_.min_leaf() || size - left < rules_.min_leaf()) refuse();
  const std::uint64_t boxes = rules_.restrictions().boxes_left(here.boxes, *rule);
  const NodeId first = mark();
  const Entry common{.parent = node, .rule = *rule, .depth = here.depth + 1};
  nodes_.resize(nodes_.size() + 2, common);
  Entry &low = nodes_[first], &high = nodes_[first + 1];
  low.begin = used_;
  low.size = left;
  low.boxes = boxes;
  low.left = true;
  high.begin = used_ + left;
  high.size = size - left;
  high.boxes = here.boxes & ~boxes;
  used_ += size;
  return {first, first + 1};
}

void NodeTable::rewind(NodeId mark) {
  if (mark < 1 || mark > nodes_.size()) throw InputError("there is no node " + std::to_string(mark) + " to go back to");
  nodes_.resize(mark);
  used_ = nodes_.back().begin + nodes_.back().size;
  // What one large proof took is given back.
  constexpr std::size_t little = 1 << 16;
  if (rows_.size() > 8 * used_ + little) {
    rows_.resize(2 * used_);
    rows_.shrink_to_fit();
  }
  if (nodes_.capacity() > 8 * nodes_.size() + little) nodes_.shrink_to_fit();
  counted_.reset();
}

Question NodeTable::question(const Rule& rule) const {
  const auto& cuts = vocabulary_.cuts[rule.feature];
  if (design_.columns[rule.feature].categorical) return {.kind = Question::Kind::levels, .levels = rule.subset};
  if (rule.cut == cuts.size()) return {.kind = Question::Kind::observed};
  return {.kind = rule.missing_left ? Question::Kind::cut_or_gone : Question::Kind::cut, .cut = cuts[rule.cut]};
}

/// The rule that asks this question, admissible or not.
std::optional<Rule> NodeTable::find_rule(std::uint32_t feature, const Question& question) const {
  const Column& asked = column(feature);
  Rule rule{.feature = feature};
  if (asked.n_codes() < 2 || asked.categorical != (question.kind == Question::Kind::levels)) return std::nullopt;
  if (asked.categorical) {
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - asked.n_codes());
    rule.subset = question.levels;
    const bool divides = (rule.subset & 1) != 0 && (rule.subset & ~all) == 0 && rule.subset != all;
    return divides ? std::optional(rule) : std::nullopt;
  }
  const auto& cuts = vocabulary_.cuts[feature];
  if (question.kind != Question::Kind::cut && !asked.has_missing) return std::nullopt;
  const auto place =
      question.kind == Question::Kind::observed ? cuts.end() : std::lower_bound(cuts.begin(), cuts.end(), question.cut);
  if (question.kind != Question::Kind::observed && (place == cuts.end() || *place != question.cut)) return std::nullopt;
  rule.cut = static_cast<std::uint32_t>(place - cuts.begin());
  rule.missing_left = question.kind == Question::Kind::cut_or_gone;
  return rule;
}

}  // namespace baytree
