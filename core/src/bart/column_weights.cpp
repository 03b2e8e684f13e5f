#include "baytree/bart/column_weights.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace baytree {

void ColumnWeights::set(std::vector<double> weights) {
  weights_ = std::move(weights);
  equal_ = std::adjacent_find(weights_.begin(), weights_.end(), std::not_equal_to<>()) == weights_.end();
  before_.assign(1, 0.0);
  for (const double weight : weights_) before_.push_back(before_.back() + weight);
}

std::uint32_t ColumnWeights::draw(Stream& stream) const {
  if (equal_) return static_cast<std::uint32_t>(stream.below(weights_.size()));
  const auto above = std::upper_bound(before_.begin() + 1, before_.end() - 1, stream.uniform() * before_.back());
  return static_cast<std::uint32_t>(above - before_.begin() - 1);
}

std::uint32_t ColumnWeights::draw_untried(const std::vector<bool>& tried, Stream& stream) const {
  double total = 0.0;
  for (std::size_t column = 0; column < weights_.size(); ++column)
    if (!tried[column]) total += weights_[column];
  double place = stream.uniform() * total;
  std::uint32_t last = 0;
  for (std::uint32_t column = 0; column < weights_.size(); ++column) {
    if (tried[column]) continue;
    last = column;
    if (place < weights_[column]) break;
    place -= weights_[column];
  }
  return last;
}

}  // namespace baytree
