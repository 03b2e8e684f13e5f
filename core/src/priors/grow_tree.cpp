#include "baytree/priors/grow_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"
#include "baytree/knowledge/monotone.hpp"

namespace baytree {
namespace {

constexpr std::uint64_t most_attempts = 100'000;

}  // namespace

std::size_t count_points(std::span<const Node> nodes) {
  std::size_t points = 0;
  for (const Node& node : nodes) points += count_points(node);
  return points;
}

void splice(PartitionedTree& tree, const Replacement& replacement) {
  Nodes& nodes = tree.nodes;
  const std::size_t at = replacement.at, old_size = nodes[at].size, new_size = replacement.nodes.size();
  for (std::size_t i = 0; i < at; ++i)
    if (at < i + nodes[i].size) nodes[i].size += static_cast<std::uint32_t>(new_size - old_size);
  tree.rows.forget({nodes.data() + at, old_size});
  const auto place = nodes.begin() + static_cast<std::ptrdiff_t>(at);
  if (new_size > old_size)
    nodes.insert(place, new_size - old_size, Node{});
  else
    nodes.erase(place, place + static_cast<std::ptrdiff_t>(old_size - new_size));
  std::copy(replacement.nodes.begin(), replacement.nodes.end(), nodes.begin() + static_cast<std::ptrdiff_t>(at));
  tree.rows.adopt({nodes.data() + at, new_size}, replacement.rows);
}

Grower::Grower(const Design& design, GrowTree prior)
    : prior_(std::move(prior)),
      rules_(design, prior_.min_leaf, Restrictions(prior_.knowledge, design, prior_.cuts)),
      columns_(design.columns.size()) {
  if (!(prior_.alpha >= 0.0 && prior_.alpha <= 1.0)) throw InputError("alpha must be between 0 and 1");
  if (!(prior_.beta >= 0.0 && prior_.beta < infinity)) throw InputError("beta must be 0 or more");
  if (knowledge().max_leaves == 0u) throw InputError("max_leaves must be 1 or more");
  std::iota(columns_.begin(), columns_.end(), 0u);
}

void Grower::look_deeper(std::uint32_t depth) {
  while (at_depth_.size() <= depth) {
    const double split = prior_.alpha * std::pow(1.0 + static_cast<double>(at_depth_.size()), -prior_.beta);
    at_depth_.push_back({split, std::log(split), std::log1p(-split)});
  }
}

std::uint8_t Grower::split_choice(std::uint32_t depth) {
  const double p = split_probability(depth);
  return p > 0.0 && p < 1.0 ? split_point : 0;
}

void Grower::choose_in_column(Node& node, const NodeRows& rows, const Situation& here, std::uint32_t feature,
                              Stream& stream) {
  const ColumnRules rules = rules_.column_rules(feature, rows, here);
  node.rule = rules_.nth_rule(feature, rules, rows, here.boxes, stream.below(rules.count));
  if (rules.count > 1) node.points |= rule_point;
}

void Grower::compare(std::span<const std::uint32_t> among) {
  if (log_weights_.empty()) return;
  largest_ = -infinity;
  for (const std::uint32_t feature : among) largest_ = std::max(largest_, log_weights_[feature]);
}

void Grower::find_blocked(const PartitionedTree& tree, std::size_t at, std::vector<bool>& blocked) {
  go_to(tree, at);
  const Situation here = enter(tree.nodes[at]);
  blocked.resize(columns_.size());
  for (const std::uint32_t feature : columns_)
    blocked[feature] = !rules_.has_rule(feature, tree.rows_of(tree.nodes[at]), here);
}

/// The place of one of these columns, drawn by their weights.
std::size_t Grower::draw_weighted_column(std::span<const std::uint32_t> among, Stream& stream) {
  compare(among);
  double total = 0.0;
  for (const std::uint32_t feature : among) total += weight(feature);
  std::size_t place = 0;
  for (double rest = stream.uniform() * total; place + 1 < among.size() && rest >= weight(among[place]); ++place)
    rest -= weight(among[place]);
  return place;
}

bool Grower::choose_by_column(Node& node, const NodeRows& rows, const Situation& here, Stream& stream) {
  // Drawing columns without replacement until one has a rule is drawing among those that do, and seldom looks at more
  // than one.
  const auto usable = [&](std::uint32_t feature) { return rules_.has_rule(feature, rows, here); };
  std::size_t place = draw_column(columns_, stream);
  std::uint32_t chosen = columns_[place];
  bool another = false;
  if (usable(chosen)) {
    for (std::uint32_t feature = 0; feature < columns_.size() && !another; ++feature)
      another = feature != chosen && usable(feature);
  } else {
    untried_ = columns_;
    bool found = false;
    while (!found) {
      untried_[place] = untried_.back();
      untried_.pop_back();
      if (untried_.empty()) return false;
      place = draw_column(untried_, stream);
      chosen = untried_[place];
      found = usable(chosen);
    }
    for (const std::uint32_t feature : untried_)
      if ((another = feature != chosen && usable(feature))) break;
  }
  if (another) node.points |= column_point;
  choose_in_column(node, rows, here, chosen, stream);
  return true;
}

bool Grower::choose_among_all(Node& node, const NodeRows& rows, const Situation& here, Stream& stream) {
  column_rules_.clear();
  double rules = 0.0, total = 0.0;
  for (const std::uint32_t feature : columns_) {
    column_rules_.push_back(rules_.column_rules(feature, rows, here));
    const auto count = static_cast<double>(column_rules_.back().count);
    rules += count;
    total += weight(feature) * count;
  }
  if (rules == 0.0) return false;
  if (rules > 1.0) node.points |= rule_point;
  double place = stream.uniform() * total;
  std::uint32_t chosen = 0;
  for (const std::uint32_t feature : columns_) {
    const double share = weight(feature) * static_cast<double>(column_rules_[feature].count);
    if (share == 0.0) continue;
    chosen = feature;
    if (place < share) break;
    place -= share;
  }
  const ColumnRules& drawn = column_rules_[chosen];
  node.rule = rules_.nth_rule(chosen, drawn, rows, here.boxes, stream.below(drawn.count));
  return true;
}

bool Grower::choose_rule(Node& node, const NodeRows& rows, const Situation& here, Stream& stream) {
  if (rows.size() / 2 < prior_.min_leaf) return false;
  return prior_.by_column ? choose_by_column(node, rows, here, stream) : choose_among_all(node, rows, here, stream);
}

Rule Grower::draw_rule(const PartitionedTree& tree, std::size_t at, Stream& stream) {
  go_to(tree, at);
  Node node;
  choose_rule(node, tree.rows_of(tree.nodes[at]), enter(tree.nodes[at]), stream);
  return node.rule;
}

/// Divides the node's rows and leaves its two children in `pending_`, the left one on top.
void Grower::divide(const Node& node, const Situation& here, Replacement& out) {
  const auto [left, right] = out.rows.divide(node);
  pending_.push_back(right);
  pending_.push_back(left);
  path_.split(here, node.rule, rules_.restrictions());
}

Node Grower::next_pending() {
  const Node node = pending_.back();
  pending_.pop_back();
  return node;
}

/// Starts a replacement of node `at`: its rows taken, nothing grown yet.
void Grower::begin(const PartitionedTree& tree, std::size_t at, Replacement& out) {
  out.at = at;
  out.nodes.clear();
  pending_.assign(1, out.rows.take(tree.rows, tree.nodes[at]));
  go_to(tree, at);
}

void Grower::regrow(const PartitionedTree& tree, std::size_t at, ChoicePoint from, Stream& stream, Replacement& out) {
  const Node& old = tree.nodes[at];
  begin(tree, at, out);
  while (!pending_.empty()) {
    Node node = next_pending();
    const Situation here = enter(node);
    const NodeRows rows = out.rows_of(node);
    const bool top = out.nodes.empty();
    bool splits = (top && from != split_point) || stream.bernoulli(split_probability(node.depth));
    if (splits) {
      if (top && from == rule_point && prior_.by_column) {
        node.points = old.points & column_point;
        choose_in_column(node, rows, here, old.rule.feature, stream);
      } else {
        splits = choose_rule(node, rows, here, stream);
      }
      node.splittable = splits;
    } else {
      node.splittable = top ? old.splittable : rules_.any_rule(rows, here);
    }
    if (node.splittable) node.points |= split_choice(node.depth);
    if (splits) {
      node.size = 0;
      divide(node, here, out);
    }
    out.nodes.push_back(node);
  }
  set_sizes(out.nodes);
}

bool Grower::grow(const PartitionedTree& tree, Stream& stream, Replacement& out, std::uint64_t attempts) {
  for (; attempts > 0; --attempts) {
    heed_interruption();
    regrow(tree, 0, split_point, stream, out);
    if (fits(out.nodes.size())) return true;
  }
  return false;
}

void Grower::grow(const PartitionedTree& tree, Stream& stream, Replacement& out) {
  if (grow(tree, stream, out, most_attempts)) return;
  throw InputError("max_leaves: none of " + std::to_string(most_attempts) +
                   " trees drawn from the prior is so small; raise it, or lower alpha");
}

void Grower::sprout(const PartitionedTree& tree, std::size_t at, Stream& stream, Replacement& out) {
  begin(tree, at, out);
  Node node = next_pending();
  const Situation here = enter(node);
  node.size = 3;
  node.splittable = true;
  node.points = split_choice(node.depth);
  choose_rule(node, out.rows_of(node), here, stream);
  divide(node, here, out);
  out.nodes.push_back(node);
  while (!pending_.empty()) {
    Node child = next_pending();
    assess(child, out.rows_of(child), enter(child));
    out.nodes.push_back(child);
  }
}

bool Grower::plant(const PartitionedTree& tree, std::size_t at, std::span<const Node> pattern, Replacement& out) {
  begin(tree, at, out);
  for (const Node& like : pattern) {
    Node node = next_pending();
    const Situation here = enter(node);
    node.rule = like.rule;
    node.size = like.size;
    if (node.rows() < prior_.min_leaf) return false;
    if (!node.is_leaf()) {
      if (!rules_.restrictions().allows(here, node.rule)) return false;
      divide(node, here, out);
    }
    out.nodes.push_back(node);
  }
  return true;
}

void Grower::assess(Node& node, const NodeRows& rows, const Situation& here) {
  node.points = 0;
  node.splittable = !node.is_leaf() || rules_.any_rule(rows, here);
  if (node.splittable) node.points |= split_choice(node.depth);
  if (node.is_leaf()) return;
  double rules = 0.0, total = 0.0;
  if (prior_.by_column) {
    untried_.clear();
    for (const std::uint32_t feature : columns_)
      if (rules_.has_rule(feature, rows, here)) untried_.push_back(feature);
    compare(untried_);
    for (const std::uint32_t feature : untried_) total += weight(feature);
    rules = static_cast<double>(rules_.column_rules(node.rule.feature, rows, here).count);
    if (untried_.size() > 1) node.points |= column_point;
    node.log_rule = log_weight(node.rule.feature) - std::log(total) - std::log(rules);
  } else {
    for (const std::uint32_t feature : columns_) {
      const auto count = static_cast<double>(rules_.column_rules(feature, rows, here).count);
      rules += count;
      total += weight(feature) * count;
    }
    node.log_rule = log_weight(node.rule.feature) - std::log(total);
  }
  if (rules > 1) node.points |= rule_point;
}

void Grower::assess(PartitionedTree& tree, std::size_t at) {
  Node& node = tree.nodes[at];
  go_to(tree, at);
  assess(node, tree.rows_of(node), enter(node));
}

void Grower::assess(const PartitionedTree& tree, Replacement& replacement) {
  go_to(tree, replacement.at);
  for (Node& node : replacement.nodes) {
    const Situation here = enter(node);
    assess(node, replacement.rows_of(node), here);
    if (!node.is_leaf()) path_.split(here, node.rule, rules_.restrictions());
  }
}

double Grower::log_prior(const Node& node) {
  return node.is_leaf() ? log_leaf_prior(node.depth, node.splittable)
                        : log_split_probability(node.depth) + node.log_rule;
}

double Grower::log_prior(PartitionedTree& tree, std::size_t at) {
  if (!tree.nodes[at].is_leaf() && std::isnan(tree.nodes[at].log_rule)) assess(tree, at);
  return log_prior(tree.nodes[at]);
}

Forest grow_trees(Grower& grower, std::uint64_t n, Stream& stream) {
  PartitionedTree root{.nodes = {}, .rows = TreeRows(grower.design())};
  root.nodes.push_back(root.rows.root());
  grower.assess(root, 0);
  Replacement grown;
  grown.rows = TreeRows(grower.design());
  RandomOrder order(grower.design(), grower.knowledge().monotone);
  Forest forest;
  for (; n > 0; --n) {
    std::uint64_t attempts = 0;
    do {
      if (++attempts > most_attempts)
        throw InputError("monotone: the prior's trees are hardly ever monotone; lower alpha, or add max_leaves");
      grower.grow(root, stream, grown);
    } while (!order.is_monotone(grown.nodes, stream));
    forest.add(grown.nodes);
  }
  return forest;
}

}  // namespace baytree
