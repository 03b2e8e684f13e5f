#include "baytree/cart/leaf/gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"

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

void GaussianLeaf::statistics(std::span<const Row> rows, double* out) const {
  double total = 0.0, sum = 0.0, squares = 0.0;
  if (weight_.empty()) {
    for (const Row row : rows) {
      const double y = response_[row] - prior_.mean;
      sum += y;
      squares += y * y;
    }
    total = static_cast<double>(rows.size());
  } else {
    for (const Row row : rows) {
      const double y = response_[row] - prior_.mean, w = weight_[row];
      total += w;
      sum += w * y;
      squares += w * y * y;
    }
  }
  out[0] = total;
  out[1] = sum;
  out[2] = squares;
}

double GaussianLeaf::log_marginal(std::span<const Row> rows, Buffer&) const {
  double statistic[3];
  statistics(rows, statistic);
  const auto [total, sum, squares] = statistic;
  const double constant = weight_.empty() ? log_constant_[rows.size()] : log_constant(total);
  return constant - 0.5 * (prior_.nu + total) * std::log(spread(total, sum, squares));
}

double GaussianLeaf::spread(double total_weight, double sum, double squares) const {
  return prior_.nu * prior_.scale + std::fmax(0.0, squares - sum * sum / (prior_.kappa + total_weight));
}

double GaussianLeaf::draw_value(std::span<const Row> rows, Stream& stream) const {
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
