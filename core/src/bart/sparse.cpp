#include "baytree/bart/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "baytree/error.hpp"
#include "baytree/numeric.hpp"

namespace baytree {
namespace {

// Where all columns that have a rule have underflowed, their sum counts as this.
constexpr double tiny = 1e-290;

}  // namespace

SparseWeights::SparseWeights(std::size_t columns)
    : log_weights_(columns, -std::log(static_cast<double>(columns))), gamma_(columns), count_(columns), rate_(columns) {}

void SparseWeights::restore(std::vector<double> log_weights, double concentration) {
  if (log_weights.size() != log_weights_.size() || !(concentration > 0.0 && concentration < infinity))
    throw InputError("chain: the saved column weights belong to another table");
  log_weights_ = std::move(log_weights);
  concentration_ = concentration;
}

void SparseWeights::draw(std::vector<Backfit>& sums, Stream& stream) {
  const std::size_t columns = log_weights_.size();
  const double shape = concentration_ / static_cast<double>(columns);
  const double log_total = stream.log_gamma(concentration_);
  for (std::size_t j = 0; j < columns; ++j) gamma_[j] = std::exp(log_weights_[j] + log_total);
  const double all = std::accumulate(gamma_.begin(), gamma_.end(), 0.0);
  std::fill(count_.begin(), count_.end(), 0.0);
  std::fill(rate_.begin(), rate_.end(), 0.0);
  double common = 1.0;
  for (Backfit& sum : sums)
    for (std::size_t t = 0; t < sum.trees().size(); ++t)
      sum.for_each_split(t, [&](const Node& node, const std::vector<bool>& blocked) {
        ++count_[node.rule.feature];
        double available = all;
        for (std::size_t j = 0; j < columns; ++j)
          if (blocked[j]) available -= gamma_[j];
        if (available < 1e-3 * all) {  // not by differences
          available = 0.0;
          for (std::size_t j = 0; j < columns; ++j)
            if (!blocked[j]) available += gamma_[j];
        }
        const double u = -std::log1p(-stream.uniform()) / std::max(available, tiny);
        common += u;
        for (std::size_t j = 0; j < columns; ++j)
          if (blocked[j]) rate_[j] += u;
      });
  double largest = -infinity;
  for (std::size_t j = 0; j < columns; ++j) {
    log_weights_[j] = stream.log_gamma(shape + count_[j]) - std::log(std::max(common - rate_[j], 1.0));
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

/// One step of a slice sampler (Neal 2003), stepping out.
void SparseWeights::draw_concentration(Stream& stream) {
  constexpr double width = 1.0;
  constexpr int most_steps = 50;
  const double now = std::log(concentration_ / static_cast<double>(log_weights_.size()));
  const double level = log_density(now) + std::log1p(-stream.uniform());
  double low = now - width * stream.uniform(), high = low + width;
  for (int i = 0; i < most_steps && log_density(low) > level; ++i) low -= width;
  for (int i = 0; i < most_steps && log_density(high) > level; ++i) high += width;
  for (;;) {
    const double next = low + (high - low) * stream.uniform();
    if (log_density(next) > level || next == now) {
      concentration_ = static_cast<double>(log_weights_.size()) * std::exp(next);
      return;
    }
    (next < now ? low : high) = next;
  }
}

void SparseWeights::hand_to(std::vector<Backfit>& sums) const {
  std::vector<double> weights(log_weights_.size());
  for (std::size_t j = 0; j < weights.size(); ++j) weights[j] = std::exp(log_weights_[j]);
  for (Backfit& sum : sums) sum.columns().set(weights);
}

}  // namespace baytree
