#include "baytree/bart/ensemble/column_weights.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "baytree/base/numeric.hpp"

namespace baytree::bart {

void ColumnWeights::set(std::vector<double> log_weights) {
  log_weights_ = std::move(log_weights);
  equal_ = std::adjacent_find(log_weights_.begin(), log_weights_.end(), std::not_equal_to<>()) == log_weights_.end();
  const double largest = *std::max_element(log_weights_.begin(), log_weights_.end());
  before_.assign(1, 0.0);
  for (const double log_weight : log_weights_) before_.push_back(before_.back() + std::exp(log_weight - largest));
}

std::uint32_t ColumnWeights::draw(Stream& stream) const {
  if (equal_) return static_cast<std::uint32_t>(stream.below(log_weights_.size()));
  const auto above = std::upper_bound(before_.begin() + 1, before_.end() - 1, stream.uniform() * before_.back());
  return static_cast<std::uint32_t>(above - before_.begin() - 1);
}

std::uint32_t ColumnWeights::draw_untried(const std::vector<bool>& tried, Stream& stream) const {
  double largest = -infinity, total = 0.0;
  for (std::size_t column = 0; column < log_weights_.size(); ++column)
    if (!tried[column]) largest = std::max(largest, log_weights_[column]);
  const auto weight = [&](std::size_t column) {
    return tried[column] ? 0.0 : std::exp(log_weights_[column] - largest);
  };
  for (std::size_t column = 0; column < log_weights_.size(); ++column) total += weight(column);
  double place = stream.uniform() * total;
  std::uint32_t last = 0;
  for (std::uint32_t column = 0; column < log_weights_.size(); ++column) {
    if (tried[column]) continue;
    last = column;
    if (place < weight(column)) break;
    place -= weight(column);
  }
  return last;
}

}  // namespace baytree::bart
