#include "baytree/cart/leaf/gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/cart/leaf/sweep.hpp"

namespace baytree::cart {

GaussianLeaf::GaussianLeaf(std::span<const double> response, std::span<const double> weight, NormalInverseGamma prior)
    : response_(response), weight_(weight), prior_(prior) {
  const auto positive = [](double x) { return x > 0.0 && x < infinity; };
  if (!std::isfinite(prior.mean) || !positive(prior.kappa) || !positive(prior.nu) || !positive(prior.scale))
    throw InputError("Gaussian leaf: mean must be finite, and kappa, nu and scale positive and finite");
  if (!weight.empty() && weight.size() != response.size()) throw InputError("one weight a row is needed");
  for (const double y : response)
    if (!std::isfinite(y)) throw InputError("the response must be finite");
  if (!weight.empty()) return;
  log_constant_.resize(response.size() + 1);
  for (std::size_t n = 0; n <= response.size(); ++n) log_constant_[n] = log_constant(static_cast<double>(n));
}

double GaussianLeaf::log_constant(double total_weight) const {
  const auto& [mean, kappa, nu, scale] = prior_;
  return -0.5 * total_weight * std::log(std::numbers::pi) + 0.5 * std::log(kappa / (kappa + total_weight)) +
         log_gamma(0.5 * (nu + total_weight)) - log_gamma(0.5 * nu) + 0.5 * nu * std::log(nu * scale);
}

std::unique_ptr<LeafSweep> GaussianLeaf::sweep() const { return std::make_unique<Sweep<GaussianLeaf>>(*this); }

void GaussianLeaf::statistics(const NodeRows& rows, double* out) const {
  double total = 0.0, sum = 0.0, squares = 0.0;
  if (weight_.empty()) {
    rows.for_each([&](Row row) {
      const double y = response_[row] - prior_.mean;
      sum += y;
      squares += y * y;
    });
    total = static_cast<double>(rows.size());
  } else {
    rows.for_each([&](Row row) {
      const double y = response_[row] - prior_.mean, w = weight_[row];
      total += w;
      sum += w * y;
      squares += w * y * y;
    });
  }
  out[0] = total;
  out[1] = sum;
  out[2] = squares;
}

double GaussianLeaf::log_marginal(const NodeRows& rows, Buffer&) const {
  double statistic[3];
  statistics(rows, statistic);
  return log_marginal(statistic, rows.size());
}

double GaussianLeaf::log_marginal(const double* statistic, Row rows) const {
  const double total = statistic[0], sum = statistic[1], squares = statistic[2];
  const double constant = weight_.empty() ? log_constant_[rows] : log_constant(total);
  return constant - 0.5 * (prior_.nu + total) * std::log(spread(total, sum, squares));
}

/// That of one leaf in which nothing varies: without spread, log p is superadditive in W, as Γ is log convex and
/// κ (κ + V + W) ≤ (κ + V) (κ + W).
double GaussianLeaf::log_most_divided(const double* statistic, Row rows, Row) const {
  const double still[] = {statistic[0], 0.0, 0.0};
  return log_marginal(still, rows);
}

void GaussianLeaf::moments(const double* statistic, double* out) const {
  const double total = statistic[0], sum = statistic[1], squares = statistic[2];
  const double kappa = prior_.kappa + total, nu = prior_.nu + total;
  out[0] = prior_.mean + sum / kappa;
  out[1] = out[0] * out[0] + (nu > 2.0 ? spread(total, sum, squares) / (kappa * (nu - 2.0)) : infinity);
}

double GaussianLeaf::spread(double total_weight, double sum, double squares) const {
  return prior_.nu * prior_.scale + std::fmax(0.0, squares - sum * sum / (prior_.kappa + total_weight));
}

double GaussianLeaf::draw_value(const NodeRows& rows, Stream& stream) const {
  double statistic[3];
  statistics(rows, statistic);
  const auto [total, sum, squares] = statistic;
  const double kappa = prior_.kappa + total, nu = prior_.nu + total;
  const double value =
      prior_.mean + sum / kappa + std::sqrt(spread(total, sum, squares) / (nu * kappa)) * stream.student(nu);
  // With very few degrees of freedom t leaves the range of numbers.
  return std::clamp(value, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
}

}  // namespace baytree::cart
