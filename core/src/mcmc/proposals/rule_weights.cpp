#include "baytree/mcmc/proposals/rule_weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "baytree/base/interruption.hpp"
#include "baytree/mcmc/proposals/context.hpp"
#include "baytree/trees/partition.hpp"

namespace baytree {
namespace {

constexpr double negligible = 40.0;

}  // namespace

/// Gives the rows the numbers of the leaves that the pattern sends them to.
void RuleWeights::label(const Design& design, std::span<const Row> rows, std::span<const Node> pattern,
                        std::uint32_t first, std::vector<std::uint32_t>& labels) {
  labels.resize(design.rows);
  if (pattern[0].is_leaf()) {
    for (const Row row : rows) labels[row] = first;
    return;
  }
  sorted_.assign(rows.begin(), rows.end());
  label_below(design, sorted_, pattern, first, labels);
}

void RuleWeights::label_below(const Design& design, std::span<Row> rows, std::span<const Node> pattern,
                              std::uint32_t first, std::vector<std::uint32_t>& labels) {
  if (rows.empty()) return;
  if (pattern[0].is_leaf()) {
    for (const Row row : rows) labels[row] = first;
    return;
  }
  const Rule& rule = pattern[0].rule;
  const Row left = with_test(design.columns[rule.feature], rule,
                             [&](auto test) { return partition_rows(rows, rows.data(), spare_, test); });
  const std::uint32_t size = pattern[1].size;
  label_below(design, rows.first(left), pattern.subspan(1, size), first, labels);
  label_below(design, rows.subspan(left), pattern.subspan(1 + size), first + (size + 1) / 2, labels);
}

/// The columns to look at, drawn by the first steps of a shuffle.
std::span<const std::uint32_t> RuleWeights::choose_columns(std::size_t columns, Stream& stream, const Rule* present) {
  const std::size_t looked_at = std::min<std::size_t>(columns, most_columns);
  log_looked_at_ = std::log(static_cast<double>(looked_at) / static_cast<double>(columns));
  columns_.resize(columns);
  std::iota(columns_.begin(), columns_.end(), 0u);
  if (looked_at < columns) {
    std::size_t chosen = 0;
    if (present) std::swap(columns_[chosen++], columns_[present->feature]);
    for (; chosen < looked_at; ++chosen) std::swap(columns_[chosen], columns_[chosen + stream.below(columns - chosen)]);
  }
  return {columns_.data(), looked_at};
}

void RuleWeights::weigh(const ProposalContext& context, std::size_t at, std::span<const Node> left,
                        std::span<const Node> right, const Rule* present) {
  Grower& grower = context.grower;
  const Design& design = grower.design();
  listed_.clear();
  context.tree.rows_of(context.tree.nodes[at]).for_each([&](Row row) { listed_.push_back(row); });
  const std::span<const Row> rows = listed_;
  divisions_.clear();
  rows_ = static_cast<Row>(rows.size());
  min_leaf_ = grower.min_leaf();
  if (rows_ / 2 < min_leaf_) return;
  labels_.first_right = static_cast<std::uint32_t>((left.size() + 1) / 2);
  labels_.leaves = labels_.first_right + static_cast<std::uint32_t>((right.size() + 1) / 2);
  label(design, rows, left, 0, labels_.left);
  label(design, rows, right, labels_.first_right, labels_.right);
  sweep_->take(rows, labels_, min_leaf_);
  const Restrictions& restrictions = grower.restrictions();
  const Situation here = grower.situation(context.tree, at);
  for (const std::uint32_t feature : choose_columns(design.columns.size(), context.stream, present)) {
    heed_interruption();
    const Column& column = design.columns[feature];
    if (column.n_codes() < 2) continue;
    const Freedom freedom = restrictions.freedom(here, feature);
    if (freedom == Freedom::none) continue;
    const std::size_t first = divisions_.size();
    const double rules = column.categorical ? sweep_levels(column, feature)
                                            : sweep_cuts(column, feature, restrictions,
                                                         freedom == Freedom::some ? here.boxes : std::uint64_t{0});
    const double log_prior = std::log(restrictions.weight(feature)) - (grower.by_column() ? std::log(rules) : 0.0);
    for (std::size_t i = first; i < divisions_.size(); ++i)
      divisions_[i].log_weight = divisions_[i].log_weight * context.power + log_prior;
  }
  normalize();
}

/// Adds the cuts from that of `first` on up to `end`, which divide the rows alike; how many are admissible.
double RuleWeights::add_cuts(const Rule& first, std::uint32_t end, Row left, double log_marginal,
                             const Restrictions& restrictions, std::uint64_t boxes) {
  if (!divides(left) || first.cut >= end) return 0.0;
  const bool possible = log_marginal > -infinity;
  if (boxes == 0) {
    if (possible) divisions_.push_back({.rule = first, .rules = end - first.cut, .log_weight = log_marginal});
    return static_cast<double>(end - first.cut);
  }
  double rules = 0.0;
  Rule rule = first;
  for (; rule.cut < end; ++rule.cut) {  // one by one, where some cut a box
    if (restrictions.cuts_a_box(boxes, rule)) continue;
    rules += 1.0;
    if (possible) divisions_.push_back({.rule = rule, .log_weight = log_marginal});
  }
  return rules;
}

/// Adds what divides the rows by a numeric column; how many admissible rules it has. With missing values right the
/// bins go to the left as they come, that of the missing ones last; else that one goes first.
double RuleWeights::sweep_cuts(const Column& column, std::uint32_t feature, const Restrictions& restrictions,
                               std::uint64_t boxes) {
  const std::span<const LeafSweep::Bin> bins = sweep_->read(column);
  const std::size_t last = bins.size() - 1;
  flips_.resize(bins.size());
  log_marginals_.resize(bins.size());
  std::iota(flips_.begin(), flips_.end(), 0u);
  sweep_->flip({flips_.data(), last}, log_marginals_.data());
  double rules = 0.0;
  Row left = 0;
  for (std::size_t i = 0; i < last; ++i) {
    left += bins[i].rows;
    rules += add_cuts({.feature = feature, .cut = bins[i].code}, bins[i + 1].code, left, log_marginals_[i],
                      restrictions, boxes);
  }
  if (!column.has_missing) return rules;
  Rule rule{.feature = feature, .cut = 0, .missing_left = true};
  left = 0;
  std::size_t flip = 0, observed = bins.size();
  if (bins[last].code == column.missing_code()) {
    std::rotate(flips_.begin(), flips_.end() - 1, flips_.end());
    sweep_->flip({flips_.data(), last}, log_marginals_.data());
    observed = last;
    left = bins[last].rows;
    if (observed > 0) rules += add_cuts(rule, bins[0].code, left, log_marginals_[flip++], restrictions, boxes);
  }
  for (std::size_t i = 0; i + 1 < observed; ++i, ++flip) {
    left += bins[i].rows;
    rule.cut = bins[i].code;
    rules += add_cuts(rule, bins[i + 1].code, left, log_marginals_[flip], restrictions, boxes);
  }
  return rules;
}

/// Adds what divides the rows by a categorical column; how many admissible rules it has. Sets of the levels that have
/// rows come in the order of the Gray code, in which one level changes sides at a time. Level 0 is always left.
double RuleWeights::sweep_levels(const Column& column, std::uint32_t feature) {
  const std::span<const LeafSweep::Bin> bins = sweep_->read(column);
  if (bins.size() < 2 || bins.size() > most_levels) return 0.0;
  const bool fixed = bins[0].code == 0;
  const auto mobile = static_cast<std::uint32_t>(bins.size() - fixed);
  flips_.clear();
  if (fixed) flips_.push_back(0);
  for (std::uint32_t i = 1; i < 1u << mobile; ++i)
    flips_.push_back(static_cast<std::uint32_t>(std::countr_zero(i)) + fixed);
  log_marginals_.resize(flips_.size());
  sweep_->flip(flips_, log_marginals_.data());
  std::uint64_t free = ~std::uint64_t{0} >> (64 - column.n_codes()) & ~std::uint64_t{1};
  for (const LeafSweep::Bin& bin : bins) free &= ~(std::uint64_t{1} << bin.code);
  Division division{
      .rule = {.feature = feature, .subset = 1}, .rules = std::uint64_t{1} << std::popcount(free), .free = free};
  double admissible = 0.0;
  Row left = 0;
  for (std::size_t i = 0; i < flips_.size(); ++i) {
    const LeafSweep::Bin& bin = bins[flips_[i]];
    const std::uint64_t level = std::uint64_t{1} << bin.code;
    const bool was_left = (division.rule.subset & level) != 0 && !(fixed && i == 0);
    left = was_left ? left - bin.rows : left + bin.rows;
    if (bin.code != 0) division.rule.subset ^= level;
    if (!divides(left)) continue;
    admissible += 1.0;
    division.log_weight = log_marginals_[i];
    if (division.log_weight > -infinity) divisions_.push_back(division);
  }
  return admissible * static_cast<double>(division.rules);
}

/// Weights relative to that of the best rule.
void RuleWeights::normalize() {
  double best = -infinity;
  for (const Division& division : divisions_) best = std::max(best, division.log_weight);
  for (Division& division : divisions_)
    if (const double log_weight = division.log_weight - best; log_weight > -negligible)
      division.weight = static_cast<double>(division.rules) * std::exp(log_weight);
}

double RuleWeights::total(std::optional<std::size_t> but) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < divisions_.size(); ++i)
    if (i != but) sum += divisions_[i].weight;
  return sum;
}

std::optional<std::size_t> RuleWeights::find(const Rule& rule) const {
  for (std::size_t i = 0; i < divisions_.size(); ++i) {
    const Division& division = divisions_[i];
    const Rule& first = division.rule;
    if (rule.feature == first.feature && rule.missing_left == first.missing_left &&
        (rule.subset & ~division.free) == first.subset && rule.cut >= first.cut &&
        rule.cut - first.cut < division.rules)
      return division.weight > 0.0 ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::size_t> RuleWeights::draw(Stream& stream, std::optional<std::size_t> but) const {
  std::optional<std::size_t> drawn;
  double place = stream.uniform() * total(but);
  for (std::size_t i = 0; i < divisions_.size(); ++i) {
    const double weight = divisions_[i].weight;
    if (weight == 0.0 || i == but) continue;
    drawn = i;
    if (place < weight) break;
    place -= weight;
  }
  return drawn;
}

Rule RuleWeights::draw_rule(std::size_t place, Stream& stream) const {
  const Division& division = divisions_[place];
  Rule rule = division.rule;
  if (division.rules == 1) return rule;
  std::uint64_t which = stream.below(division.rules);
  if (division.free == 0) {
    rule.cut += static_cast<std::uint32_t>(which);
    return rule;
  }
  for (std::uint64_t free = division.free; free != 0; free &= free - 1, which >>= 1)
    if ((which & 1) != 0) rule.subset |= free & -free;
  return rule;
}

double RuleWeights::log_probability(std::size_t place, std::optional<std::size_t> but) const {
  const Division& division = divisions_[place];
  return std::log(division.weight / static_cast<double>(division.rules)) - std::log(total(but)) + log_looked_at_;
}

}  // namespace baytree
