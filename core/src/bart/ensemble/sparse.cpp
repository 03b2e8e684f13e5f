#include "baytree/bart/ensemble/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/base/slice.hpp"

namespace baytree::bart {
namespace {

/// log(exp(a) + exp(b))
double log_add(double a, double b) {
  const double larger = std::max(a, b);
  return larger == -infinity ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

}  // namespace

SparseWeights::SparseWeights(std::size_t columns)
    : log_weights_(columns, -std::log(static_cast<double>(columns))), count_(columns), log_rate_(columns) {}

void SparseWeights::restore(std::vector<double> log_weights, double concentration) {
  if (log_weights.size() != log_weights_.size() || !(concentration > 0.0 && concentration < infinity))
    throw InputError("chain: the saved column weights belong to another table");
  log_weights_ = std::move(log_weights);
  concentration_ = concentration;
}

void SparseWeights::draw(std::span<const std::unique_ptr<TreeSum>> sums, Stream& stream) {
  const std::size_t columns = log_weights_.size();
  const double shape = concentration_ / static_cast<double>(columns);
  const double log_total = stream.log_gamma(concentration_);
  std::fill(count_.begin(), count_.end(), 0.0);
  // All in logarithms: where only a column of tiny weight has a rule, u is huge. Splits at which nothing is blocked add
  // to the rates of all columns alike.
  std::fill(log_rate_.begin(), log_rate_.end(), -infinity);
  double log_common = 0.0;
  for (const auto& sum : sums)
    for (std::size_t t = 0; t < sum->size(); ++t)
      sum->for_each_split(t, [&](const Node& node, const std::vector<bool>& blocked) {
        ++count_[node.rule.feature];
        const double log_exponential = std::log(-std::log1p(-stream.uniform())) - log_total;
        if (std::find(blocked.begin(), blocked.end(), true) == blocked.end()) {  // of none, too
          log_common = log_add(log_common, log_exponential);
          return;
        }
        double log_available = -infinity;
        for (std::size_t j = 0; j < columns; ++j)
          if (!blocked[j]) log_available = log_add(log_available, log_weights_[j]);
        for (std::size_t j = 0; j < columns; ++j)
          if (!blocked[j]) log_rate_[j] = log_add(log_rate_[j], log_exponential - log_available);
      });
  double largest = -infinity;
  for (std::size_t j = 0; j < columns; ++j) {
    log_weights_[j] = stream.log_gamma(shape + count_[j]) - log_add(log_common, log_rate_[j]);
    largest = std::max(largest, log_weights_[j]);
  }
  double total = 0.0;
  for (const double log_weight : log_weights_) total += std::exp(log_weight - largest);
  for (double& log_weight : log_weights_) log_weight -= largest + std::log(total);
  draw_concentration(stream);
  hand_to(sums);
}

/// On the scale of logit a/(a + p), up to a constant.
double SparseWeights::log_density(double logit) const {
  const auto columns = static_cast<double>(log_weights_.size());
  const double a = columns * std::exp(logit), shape = a / columns;
  if (!(shape > 0.0 && a < infinity)) return -infinity;
  const double log_share = -std::log1p(std::exp(-logit)), log_rest = -std::log1p(std::exp(logit));
  const double sum = std::accumulate(log_weights_.begin(), log_weights_.end(), 0.0);
  // Beta(1/2, 1) has the density share^(−1/2) / 2; the derivative of the share by its logit is share · rest.
  return baytree::log_gamma(a) - columns * baytree::log_gamma(shape) + shape * sum + 0.5 * log_share + log_rest;
}

void SparseWeights::draw_concentration(Stream& stream) {
  const auto columns = static_cast<double>(log_weights_.size());
  const double now = std::log(concentration_ / columns);
  concentration_ =
      columns * std::exp(slice_step(now, 1.0, [this](double logit) { return log_density(logit); }, stream));
}

void SparseWeights::hand_to(std::span<const std::unique_ptr<TreeSum>> sums) const {
  for (const auto& sum : sums) sum->set_log_weights(log_weights_);
}

}  // namespace baytree::bart
