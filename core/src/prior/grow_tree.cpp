#include "baytree/prior/grow_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "baytree/error.hpp"
#include "baytree/partition.hpp"

namespace baytree {

std::size_t count_points(std::span<const Node> nodes) {
  std::size_t points = 0;
  for (const Node& node : nodes) points += count_points(node);
  return points;
}

Grower::Grower(const Design& design, GrowTree prior) : design_(design), prior_(prior) {
  if (!(prior.alpha >= 0.0 && prior.alpha <= 1.0)) throw InputError("alpha must be between 0 and 1");
  if (!(prior.beta >= 0.0 && prior.beta < infinity)) throw InputError("beta must be 0 or more");
  if (prior.min_leaf < 1) throw InputError("min_leaf must be 1 or more");
}

double Grower::split_probability(std::uint32_t depth) {
  while (split_probability_.size() <= depth)
    split_probability_.push_back(prior_.alpha * std::pow(1.0 + static_cast<double>(split_probability_.size()), -prior_.beta));
  return split_probability_[depth];
}

std::uint8_t Grower::split_choice(std::uint32_t depth) {
  const double p = split_probability(depth);
  return p > 0.0 && p < 1.0 ? split_point : 0;
}

double Grower::log_leaf_prior(std::uint32_t depth, bool splittable) { return splittable ? std::log1p(-split_probability(depth)) : 0.0; }

bool Grower::any_rule(std::span<const Row> rows) {
  for (const Column& column : design_.columns)
    if (has_rule(column, rows, prior_.min_leaf, buffers_)) return true;
  return false;
}

void Grower::choose_in_column(Node& node, std::span<const Row> rows, std::uint32_t feature, Stream& stream) {
  const Column& column = design_.columns[feature];
  const ColumnRules rules = column_rules(column, rows, prior_.min_leaf, buffers_);
  node.rule = baytree::draw_rule(column, feature, rules, rows, prior_.min_leaf, stream, buffers_);
  if (rules.count > 1) node.points |= rule_point;
}

bool Grower::choose_by_column(Node& node, std::span<const Row> rows, Stream& stream) {
  // Drawing columns without replacement until one has a rule is uniform over those that do, and seldom looks at more than one.
  const auto p = static_cast<std::uint32_t>(design_.columns.size());
  const auto usable = [&](std::uint32_t feature) { return has_rule(design_.columns[feature], rows, prior_.min_leaf, buffers_); };
  auto chosen = static_cast<std::uint32_t>(stream.below(p));
  bool another = false;
  if (usable(chosen)) {
    for (std::uint32_t feature = 0; feature < p && !another; ++feature) another = feature != chosen && usable(feature);
  } else {
    untried_.resize(p);
    std::iota(untried_.begin(), untried_.end(), 0u);
    bool found = false;
    for (std::size_t place = chosen; !found;) {
      untried_[place] = untried_.back();
      untried_.pop_back();
      if (untried_.empty()) return false;
      place = stream.below(untried_.size());
      chosen = untried_[place];
      found = usable(chosen);
    }
    for (const std::uint32_t feature : untried_)
      if ((another = feature != chosen && usable(feature))) break;
  }
  if (another) node.points |= column_point;
  choose_in_column(node, rows, chosen, stream);
  return true;
}

bool Grower::choose_among_all(Node& node, std::span<const Row> rows, Stream& stream) {
  column_rules_.clear();
  double total = 0.0;
  for (const Column& column : design_.columns) {
    column_rules_.push_back(column_rules(column, rows, prior_.min_leaf, buffers_));
    total += static_cast<double>(column_rules_.back().count);
  }
  if (total == 0.0) return false;
  if (total > 1.0) node.points |= rule_point;
  double place = stream.uniform() * total;
  std::uint32_t chosen = 0;
  for (std::uint32_t feature = 0; feature < column_rules_.size(); ++feature) {
    const auto count = static_cast<double>(column_rules_[feature].count);
    if (count == 0.0) continue;
    chosen = feature;
    if (place < count) break;
    place -= count;
  }
  node.rule = baytree::draw_rule(design_.columns[chosen], chosen, column_rules_[chosen], rows, prior_.min_leaf, stream, buffers_);
  return true;
}

bool Grower::choose_rule(Node& node, std::span<const Row> rows, Stream& stream) {
  if (rows.size() / 2 < prior_.min_leaf) return false;
  return prior_.by_column ? choose_by_column(node, rows, stream) : choose_among_all(node, rows, stream);
}

Rule Grower::draw_rule(std::span<const Row> rows, Stream& stream) {
  Node node;
  choose_rule(node, rows, stream);
  return node.rule;
}

/// Copies the rows of node `at` to the replacement, ascending. A leaf's rows are so already; a split's lie leaf by leaf.
void Grower::take_rows(const PartitionedTree& tree, std::size_t at, Replacement& out) {
  const Node& node = tree.nodes[at];
  const std::span<const Row> rows{tree.rows.data() + node.begin, node.rows()};
  Row* to = out.rows.data() + node.begin;
  const std::size_t words = (tree.rows.size() + 63) / 64;
  if (node.is_leaf()) {
    std::copy(rows.begin(), rows.end(), to);
  } else if (rows.size() * 16 < words) {  // too few to walk through a bit for every row
    std::copy(rows.begin(), rows.end(), to);
    std::sort(to, to + rows.size());
  } else {
    marks_.assign(words, 0);
    for (const Row row : rows) marks_[row / 64] |= std::uint64_t{1} << row % 64;
    for (std::size_t word = 0; word < words; ++word)
      for (std::uint64_t bits = marks_[word]; bits != 0; bits &= bits - 1)
        *to++ = static_cast<Row>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
  }
}

/// Divides the node's rows and leaves its two children in `pending_`, the left one on top.
void Grower::divide(const Node& node, Replacement& out) {
  const std::span<const Row> rows = out.rows_of(node);
  Row* to = out.rows.data() + node.begin;
  const Row left = with_test(design_.columns[node.rule.feature], node.rule, [&](auto test) { return partition_rows(rows, to, spare_, test); });
  const Row middle = node.begin + left;
  pending_.push_back({middle, node.end, node.depth + 1});
  pending_.push_back({node.begin, middle, node.depth + 1});
}

Node Grower::next_pending() {
  const Region region = pending_.back();
  pending_.pop_back();
  return {.begin = region.begin, .end = region.end, .depth = region.depth};
}

/// Starts a replacement of node `at`: its rows taken, nothing grown yet.
void Grower::begin(const PartitionedTree& tree, std::size_t at, Replacement& out) {
  const Node& old = tree.nodes[at];
  out.at = at;
  out.nodes.clear();
  take_rows(tree, at, out);
  pending_.assign(1, {old.begin, old.end, old.depth});
}

void Grower::regrow(const PartitionedTree& tree, std::size_t at, ChoicePoint from, Stream& stream, Replacement& out) {
  const Node& old = tree.nodes[at];
  begin(tree, at, out);
  while (!pending_.empty()) {
    Node node = next_pending();
    const std::span<const Row> rows = out.rows_of(node);
    const bool top = out.nodes.empty();
    bool splits = (top && from != split_point) || stream.bernoulli(split_probability(node.depth));
    if (splits) {
      if (top && from == rule_point && prior_.by_column) {
        node.points = old.points & column_point;
        choose_in_column(node, rows, old.rule.feature, stream);
      } else {
        splits = choose_rule(node, rows, stream);
      }
      node.splittable = splits;
    } else {
      node.splittable = top ? old.splittable : any_rule(rows);
    }
    if (node.splittable) node.points |= split_choice(node.depth);
    if (splits) {
      node.size = 0;
      divide(node, out);
    }
    out.nodes.push_back(node);
  }
  set_sizes(out.nodes);
}

void Grower::sprout(const PartitionedTree& tree, std::size_t at, Stream& stream, Replacement& out) {
  begin(tree, at, out);
  Node node = next_pending();
  node.size = 3;
  node.splittable = true;
  node.points = split_choice(node.depth);
  choose_rule(node, out.rows_of(node), stream);
  divide(node, out);
  out.nodes.push_back(node);
  while (!pending_.empty()) {
    Node child = next_pending();
    assess(child, out.rows_of(child));
    out.nodes.push_back(child);
  }
}

bool Grower::plant(const PartitionedTree& tree, std::size_t at, std::span<const Node> pattern, Replacement& out) {
  begin(tree, at, out);
  for (const Node& like : pattern) {
    Node node = next_pending();
    node.rule = like.rule;
    node.size = like.size;
    if (node.rows() < prior_.min_leaf) return false;
    if (!node.is_leaf()) divide(node, out);
    out.nodes.push_back(node);
  }
  return true;
}

void Grower::assess(Node& node, std::span<const Row> rows) {
  node.points = 0;
  node.splittable = !node.is_leaf() || any_rule(rows);
  if (node.splittable) node.points |= split_choice(node.depth);
  if (node.is_leaf()) return;
  if (prior_.by_column) {
    std::size_t columns = 0;
    for (const Column& column : design_.columns) columns += has_rule(column, rows, prior_.min_leaf, buffers_);
    const auto rules = static_cast<double>(column_rules(design_.columns[node.rule.feature], rows, prior_.min_leaf, buffers_).count);
    if (columns > 1) node.points |= column_point;
    if (rules > 1) node.points |= rule_point;
    node.log_rule = -std::log(static_cast<double>(columns)) - std::log(rules);
  } else {
    double rules = 0.0;
    for (const Column& column : design_.columns) rules += static_cast<double>(column_rules(column, rows, prior_.min_leaf, buffers_).count);
    if (rules > 1) node.points |= rule_point;
    node.log_rule = -std::log(rules);
  }
}

double Grower::log_prior(Node& node, std::span<const Row> rows) {
  if (node.is_leaf()) return log_leaf_prior(node.depth, node.splittable);
  if (std::isnan(node.log_rule)) assess(node, rows);
  return std::log(split_probability(node.depth)) + node.log_rule;
}

Forest grow_trees(Grower& grower, std::uint64_t n, Stream& stream) {
  const Row rows = grower.design().rows;
  PartitionedTree root{.nodes = {Node{.end = rows}}, .rows = std::vector<Row>(rows)};
  std::iota(root.rows.begin(), root.rows.end(), Row{0});
  grower.assess(root.nodes[0], root.rows);
  Replacement grown;
  grown.rows.resize(rows);
  Forest forest;
  for (; n > 0; --n) {
    grower.regrow(root, 0, split_point, stream, grown);
    forest.add(grown.nodes);
  }
  return forest;
}

}  // namespace baytree
