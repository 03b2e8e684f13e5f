#include "baytree/bart/noise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace baytree::bart {
namespace {

/// In lanes and blocks, so that the order is fixed and the compiler may go wide.
template <class Square>
double sum_up(std::size_t rows, const Square& square) {
  constexpr std::size_t lanes = 8;
  double total = 0.0;
  for (std::size_t begin = 0; begin < rows; begin += block_rows) {
    const std::size_t end = std::min(rows, begin + block_rows);
    double sum[lanes] = {};
    std::size_t i = begin;
    for (; i + lanes <= end; i += lanes)
      for (std::size_t l = 0; l < lanes; ++l) sum[l] += square(i + l);
    for (; i < end; ++i) sum[0] += square(i);
    for (const double part : sum) total += part;
  }
  return total;
}

double sum_of_squares(std::span<const float> residual, std::span<const float> weight) {
  const float *r = residual.data(), *w = weight.data();
  if (weight.empty())
    return sum_up(residual.size(),
                  [=](std::size_t i) { return static_cast<double>(r[i]) * static_cast<double>(r[i]); });
  return sum_up(residual.size(), [=](std::size_t i) {
    return static_cast<double>(w[i]) * static_cast<double>(r[i]) * static_cast<double>(r[i]);
  });
}

}  // namespace

Noise::Noise(const VariancePrior& prior, std::span<const float> weight, std::size_t rows, double power, Backfit* forest,
             std::optional<Student> student)
    : prior_(prior),
      weight_(weight),
      rows_(rows),
      power_(power),
      sigma_(std::sqrt(prior.lambda)),
      forest_(forest),
      student_(std::move(student)) {
  for (const float of_row : weight) log_weight_ += std::log(static_cast<double>(of_row));
  if (!forest_) return;
  squares_.resize(rows);
  Team alone(1);
  read_forest(alone);
}

void Noise::begin(std::span<float> residual, Stream& stream, Team& team) {
  if (student_) student_->draw(sigma_, power_ > 0.0, residual, stream, team);
}

Target Noise::target(std::span<float> residual) const {
  if (forest_) return {residual, precision_, power_};
  if (student_) return {residual, student_->precision(), power_};
  return {residual, weight_, power_ / (sigma_ * sigma_)};
}

void Noise::draw(std::span<const float> residual, Stream& stream, Team& team) {
  if (forest_) {
    for (std::size_t i = 0; i < rows_; ++i) squares_[i] = residual[i] * residual[i] * precision_[i];
    forest_->sweep({squares_, {}, power_}, stream, team);
    read_forest(team);
  } else if (prior_.nu < infinity) {
    const double squares = power_ * (student_ ? student_->squares(residual) : sum_of_squares(residual, weight_));
    sigma_ = std::exp(0.5 * prior_.draw_log(squares, power_ * static_cast<double>(rows_), stream));
  }
}

void Noise::restore(double sigma, double freedom, Team& team) {
  sigma_ = sigma;
  if (student_) student_->restore(freedom);
  if (forest_) read_forest(team);
}

void Noise::forget(std::span<float> residual) {
  if (student_) student_->forget(residual);
}

void Noise::read_forest(Team& team) {
  if (weight_.empty())
    precision_.assign(rows_, 1.0f);
  else
    precision_.assign(weight_.begin(), weight_.end());
  forest_->hold_all(precision_, team);
}

/// log s², summed over the rows.
double Noise::log_variance() const {
  if (!forest_) return static_cast<double>(rows_) * 2.0 * std::log(sigma_);
  double sum = 0.0;
  for (std::size_t t = 0; t < forest_->size(); ++t) {
    auto value = forest_->values(t).begin();
    for (const Node& node : forest_->nodes(t))
      if (node.is_leaf()) sum += static_cast<double>(node.rows()) * static_cast<double>(*value++);
  }
  return sum;
}

double Noise::log_likelihood(std::span<const float> residual) const {
  if (student_) return student_->log_likelihood(sigma_, residual);
  const double squares =
      forest_ ? sum_of_squares(residual, precision_) : sum_of_squares(residual, weight_) / (sigma_ * sigma_);
  return -0.5 *
         (static_cast<double>(rows_) * std::log(2.0 * std::numbers::pi) + log_variance() - log_weight_ + squares);
}

}  // namespace baytree::bart
