#include "baytree/hme/logit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "baytree/base/interruption.hpp"
#include "baytree/hme/polya_gamma.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::hme {

double log_total(std::span<const double> scores) {
  if (scores.size() == 1) return std::max(scores[0], 0.0) + std::log(1.0 + std::exp(-std::abs(scores[0])));
  double largest = 0.0;
  for (const double score : scores) largest = std::max(largest, score);
  double sum = std::exp(-largest);
  for (const double score : scores) sum += std::exp(score - largest);
  return largest + std::log(sum);
}

LogitDraw::LogitDraw(const Problem& problem, std::size_t classes, double sd)
    : problem_(&problem), scored_(classes - 1), sd_(sd), system_(problem.columns, 1), scores_(problem.rows * scored_) {}

void LogitDraw::draw(std::span<const Row> rows, std::span<const std::uint32_t> chosen, std::span<double> coefficients,
                     Stream& stream) {
  const std::size_t columns = problem_->columns;
  for (std::size_t k = 0; k < scored_; ++k) score(rows, coefficients, k);
  for (std::size_t k = 0; k < scored_; ++k) {
    system_.reset(1.0 / (sd_ * sd_));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      heed_interruption();
      double* scores = scores_.data() + i * scored_;
      // Without its own score a class leaves the total of the others.
      const double own = scores[k];
      double others = 0.0;
      if (scored_ > 1 && !testing::is_injected(Fault::hme_offset)) {
        std::swap(scores[k], scores[scored_ - 1]);
        others = log_total({scores, scored_ - 1});
        std::swap(scores[k], scores[scored_ - 1]);
      }
      const double omega = polya_gamma(testing::is_injected(Fault::hme_tilt) ? 0.0 : own - others, stream);
      const double product = (chosen[i] == k ? 0.5 : -0.5) + omega * others;
      system_.add(problem_->x(rows[i]), omega, &product);
    }
    system_.factor();
    const std::span<double> drawn = coefficients.subspan(k * columns, columns);
    const std::span<const double> mean = system_.mean(0);
    std::copy(mean.begin(), mean.end(), drawn.begin());
    const std::span<const double> noise = system_.noise(1.0, stream);
    for (std::size_t j = 0; j < columns; ++j) drawn[j] += noise[j];
    if (scored_ > 1) score(rows, coefficients, k);
  }
}

void LogitDraw::score(std::span<const Row> rows, std::span<const double> coefficients, std::size_t of_class) {
  const std::size_t columns = problem_->columns;
  const double* beta = coefficients.data() + of_class * columns;
  for (std::size_t i = 0; i < rows.size(); ++i)
    scores_[i * scored_ + of_class] = std::inner_product(beta, beta + columns, problem_->x(rows[i]), 0.0);
}

}  // namespace baytree::hme
