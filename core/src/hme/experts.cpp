#include "baytree/hme/experts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "baytree/base/interruption.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::hme {

ExpertDraw::ExpertDraw(const Problem& problem)
    : problem_(&problem),
      system_(problem.seen(), problem.for_classes() ? 0 : problem.n_outputs),
      logit_(problem, problem.for_classes() ? problem.n_outputs : 1, problem.sd),
      product_(problem.n_outputs),
      scores_(problem.predictors()) {}

void ExpertDraw::draw(Leaf leaf, std::span<const Row> rows, double power, Parameters& parameters, Stream& stream) {
  if (!problem_->for_classes()) return draw_regression(leaf, rows, power, parameters, stream);
  const std::size_t numbers = problem_->predictors() * problem_->columns;
  draw_classes(rows, power, std::span(parameters.coefficients).subspan(leaf * numbers, numbers), stream);
}

/// σ² with the coefficients integrated out, then these: both are conjugate.
void ExpertDraw::draw_regression(Leaf leaf, std::span<const Row> rows, double power, Parameters& parameters,
                                 Stream& stream) {
  const Problem& p = *problem_;
  const std::size_t outputs = p.n_outputs, seen = p.seen(), skipped = p.columns - seen;
  const double ridge = 1.0 / (p.sd * p.sd);
  system_.reset(ridge);
  for (const Row row : rows) {
    for (std::size_t k = 0; k < outputs; ++k) product_[k] = power * p.y(row)[k];
    system_.add(p.x(row) + skipped, power, product_.data());
  }
  system_.factor();
  for (std::size_t k = 0; k < outputs; ++k) {
    double* beta = parameters.coefficients.data() + leaf * seen * outputs + k;  // every `outputs`-th
    const std::span<const double> mean = system_.mean(k);
    double squares = 0.0, penalty = 0.0;
    // Residuals rather than a difference of squares, which would cancel.
    for (const Row row : rows) {
      const double off = p.y(row)[k] - std::inner_product(mean.begin(), mean.end(), p.x(row) + skipped, 0.0);
      squares += off * off;
    }
    for (std::size_t j = 0; j < seen; ++j) {
      penalty += mean[j] * mean[j];
      beta[j * outputs] = mean[j];
    }
    const double freedom =
        p.nu + power * static_cast<double>(rows.size()) + (testing::is_injected(Fault::hme_freedom) ? 1.0 : 0.0);
    const double scale = 0.5 * (p.nu * p.lambda[k] + power * squares + ridge * penalty);
    const double log_variance = std::log(scale) - stream.log_gamma(0.5 * freedom);
    parameters.variance[leaf * outputs + k] = std::exp(log_variance);
    const std::span<const double> noise = system_.noise(std::exp(0.5 * log_variance), stream);
    for (std::size_t j = 0; j < seen; ++j) beta[j * outputs] += noise[j];
  }
}

/// By Pólya–Gamma variables where the likelihood has the power 1. Other powers ask for shapes that are not whole, which
/// have no simple draws; then the coefficients move by an elliptical slice (Murray, Adams and MacKay 2010), which needs
/// no more than the likelihood: on the ellipse through them and a draw of the prior, to a point where the likelihood
/// exceeds a random share of what it is.
void ExpertDraw::draw_classes(std::span<const Row> rows, double power, std::span<double> coefficients, Stream& stream) {
  if (power == 1.0) {
    chosen_.clear();
    for (const Row row : rows) chosen_.push_back(problem_->classes[row]);
    return logit_.draw(rows, chosen_, coefficients, stream);
  }
  if (testing::is_injected(Fault::hme_slice)) power = 1.0;
  other_.clear();
  for (std::size_t i = 0; i < coefficients.size(); ++i) other_.push_back(problem_->sd * stream.normal());
  const double least = power * log_likelihood(rows, coefficients) + std::log1p(-stream.uniform());
  double angle = 2.0 * std::numbers::pi * stream.uniform(), high = angle, low = angle - 2.0 * std::numbers::pi;
  candidate_.resize(coefficients.size());
  for (;;) {
    heed_interruption();
    const double here = std::cos(angle), there = std::sin(angle);
    for (std::size_t i = 0; i < coefficients.size(); ++i) candidate_[i] = here * coefficients[i] + there * other_[i];
    // Angle 0 is where it came from, and as good; only rounding could keep it out.
    if (power * log_likelihood(rows, candidate_) >= least || angle == 0.0) break;
    (angle < 0.0 ? low : high) = angle;
    angle = low + (high - low) * stream.uniform();
  }
  std::copy(candidate_.begin(), candidate_.end(), coefficients.begin());
}

double ExpertDraw::log_likelihood(std::span<const Row> rows, std::span<const double> coefficients) {
  const std::size_t columns = problem_->columns;
  double sum = 0.0;
  for (const Row row : rows) {
    for (std::size_t k = 0; k < scores_.size(); ++k)
      scores_[k] =
          std::inner_product(problem_->x(row), problem_->x(row) + columns, coefficients.data() + k * columns, 0.0);
    const std::uint32_t own = problem_->classes[row];
    sum += (own < scores_.size() ? scores_[own] : 0.0) - log_total(scores_);
  }
  return sum;
}

}  // namespace baytree::hme
