#include "baytree/bart/hard/grow_start.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "baytree/base/interruption.hpp"
#include "baytree/trees/partition.hpp"

namespace baytree::bart {

void GrowStart::sweep(Backfit& sum, const Target& target, Stream& stream) {
  sum.set_precision(target.precision);
  for (std::size_t t = 0; t < sum.size(); ++t) {
    heed_interruption();
    partial_.assign(target.residual.begin(), target.residual.end());
    std::array<float, 256> values{};
    std::copy(sum.values(t).begin(), sum.values(t).end(), values.begin());
    add_changes(partial_, sum.numbers(t), values.data());
    grow(sum, target, stream);
    // Any tree is monotone with one value for all leaves.
    if (!sum.in_order(nodes_, values_)) std::fill(values_.begin(), values_.end(), 0.0f);
    sum.restore(t, nodes_, values_, target.residual);
  }
}

/// A tree in preorder, with the values of its leaves, for the partial residuals.
void GrowStart::grow(Backfit& sum, const Target& target, Stream& stream) {
  struct Region {
    Row begin, end;
    std::uint32_t depth;
  };
  nodes_.clear();
  values_.clear();
  rows_.resize(design_.rows);
  std::iota(rows_.begin(), rows_.end(), Row{0});
  std::vector<Region> pending{{0, design_.rows, 0}};
  Path path;
  const Restrictions& restrictions = sum.rules().restrictions();
  path.go_to(Nodes{Node{}}, 0, restrictions);
  while (!pending.empty()) {
    const Region region = pending.back();
    pending.pop_back();
    const std::span<const Row> rows(rows_.data() + region.begin, region.end - region.begin);
    const Situation here = path.enter(region.depth, restrictions);
    Node node{.depth = region.depth};
    const bool room = values_.size() + pending.size() + 2 <= sum.room();
    if (room && choose_rule(sum, rows, here, target, stream, node.rule)) {
      node.size = 0;
      const Row left = with_test(design_.columns[node.rule.feature], node.rule, [&](auto test) {
        return partition_rows(rows, rows_.data() + region.begin, spare_, test);
      });
      pending.push_back({region.begin + left, region.end, region.depth + 1});
      pending.push_back({region.begin, region.begin + left, region.depth + 1});
      path.split(here, node.rule, restrictions);
    } else {
      double total = 0.0, weight = 0.0;
      for (const Row row : rows) {
        const double w = target.weight.empty() ? 1.0 : static_cast<double>(target.weight[row]);
        total += w * static_cast<double>(partial_[row]);
        weight += w;
      }
      values_.push_back(static_cast<float>(sum.draw_value({total, weight}, stream)));
    }
    nodes_.push_back(node);
  }
  set_sizes(nodes_);
}

bool GrowStart::choose_rule(Backfit& sum, std::span<const Row> rows, const Situation& here, const Target& target,
                            Stream& stream, Rule& rule) {
  const double split = prior_.alpha * std::pow(1.0 + here.depth, -prior_.beta);
  if (rows.size() / 2 < prior_.min_leaf || split <= 0.0) return false;
  candidates_.clear();
  double log_columns = -infinity;
  for (std::uint32_t feature = 0; feature < design_.columns.size(); ++feature) {
    if (sum.rules().restrictions().freedom(here, feature) == Freedom::none) continue;
    const Column& column = design_.columns[feature];
    by_code_.assign(column.n_codes(), {});
    with_codes(column, [&](const auto* codes) {
      for (const Row row : rows) {
        const double w = target.weight.empty() ? 1.0 : static_cast<double>(target.weight[row]);
        by_code_[codes[row]] += {w * static_cast<double>(partial_[row]), w, 1};
      }
    });
    const Sums all =
        std::accumulate(by_code_.begin(), by_code_.end(), Sums{}, [](Sums a, const Sums& b) { return a += b; });
    const std::size_t first = candidates_.size();
    add_candidates(sum, feature, here, all);
    const std::size_t found = candidates_.size() - first;
    if (found == 0) continue;
    const double log_weight = sum.columns().log_weight(feature), none = sum.log_marginal({all.sum, all.weight});
    log_columns = std::max(log_columns, log_weight) + std::log1p(std::exp(-std::abs(log_columns - log_weight)));
    for (std::size_t i = first; i < candidates_.size(); ++i)
      candidates_[i].log_weight += log_weight - std::log(static_cast<double>(found)) - none;
  }
  if (candidates_.empty()) return false;
  double largest = std::log1p(-split);
  for (Candidate& candidate : candidates_)
    largest = std::max(largest, candidate.log_weight += std::log(split) - log_columns);
  double total = std::exp(std::log1p(-split) - largest);
  const double none = total;
  for (const Candidate& candidate : candidates_) total += std::exp(candidate.log_weight - largest);
  double place = stream.uniform() * total - none;
  if (place < 0.0) return false;
  for (const Candidate& candidate : candidates_) {
    rule = candidate.rule;
    place -= std::exp(candidate.log_weight - largest);
    if (place < 0.0) break;
  }
  return true;
}

/// Of a numeric column every cut, with missing values on either side; of levels, each against the others.
void GrowStart::add_candidates(const Backfit& sum, std::uint32_t feature, const Situation& here, const Sums& all) {
  const Column& column = design_.columns[feature];
  const auto add = [&](const Rule& rule, const Sums& left) {
    const Sums right = all - left;
    if (left.rows < prior_.min_leaf || right.rows < prior_.min_leaf || !sum.rules().restrictions().allows(here, rule))
      return;
    candidates_.push_back(
        {rule, sum.log_marginal({left.sum, left.weight}) + sum.log_marginal({right.sum, right.weight})});
  };
  if (column.categorical) {
    const std::uint64_t levels = (std::uint64_t{1} << column.n_codes()) - 1;
    for (std::uint32_t level = 0; level < column.n_codes(); ++level) {
      const bool is_first = level == 0;  // which is always left
      if (column.n_codes() == 2 && !is_first) break;
      add({.feature = feature, .subset = is_first ? 1 : levels & ~(std::uint64_t{1} << level)},
          is_first ? by_code_[0] : all - by_code_[level]);
    }
    return;
  }
  for (const bool missing_left : {false, true}) {
    if (missing_left && !column.has_missing) break;
    Sums left = missing_left ? by_code_[column.missing_code()] : Sums{};
    const std::uint32_t cuts = column.observed - (column.has_missing && !missing_left ? 0 : 1);
    for (std::uint32_t cut = 0; cut < cuts; ++cut) {
      left += by_code_[cut];
      if (by_code_[cut].rows > 0 || cut == 0) add({.feature = feature, .cut = cut, .missing_left = missing_left}, left);
    }
  }
}

}  // namespace baytree::bart
