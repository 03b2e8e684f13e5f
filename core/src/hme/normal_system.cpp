#include "baytree/hme/normal_system.hpp"

#include <algorithm>

#include "baytree/base/cholesky.hpp"

namespace baytree::hme {

NormalSystem::NormalSystem(std::size_t columns, std::size_t responses)
    : columns_(columns),
      responses_(responses),
      q_(columns * columns),
      b_(responses * columns),
      scaled_(columns),
      solution_(columns) {}

void NormalSystem::reset(double ridge) {
  ridge_ = ridge;
  std::fill(q_.begin(), q_.end(), 0.0);
  std::fill(b_.begin(), b_.end(), 0.0);
  for (std::size_t i = 0; i < columns_; ++i) q_[i * columns_ + i] = ridge;
}

void NormalSystem::add(const double* x, double weight, const double* product) {
  for (std::size_t i = 0; i < columns_; ++i) scaled_[i] = weight * x[i];
  for (std::size_t j = 0; j < columns_; ++j) {
    double* row = q_.data() + j * columns_;
    for (std::size_t i = j; i < columns_; ++i) row[i] += scaled_[i] * x[j];
  }
  for (std::size_t k = 0; k < responses_; ++k) {
    double* b = b_.data() + k * columns_;
    for (std::size_t i = 0; i < columns_; ++i) b[i] += product[k] * x[i];
  }
}

void NormalSystem::factor() {
  // No pivot of Q is below the ridge but by rounding.
  factorise(q_.data(), columns_, columns_, [this](std::size_t, double left) { return std::max(left, ridge_); });
}

std::span<const double> NormalSystem::mean(std::size_t response) {
  std::copy_n(b_.data() + response * columns_, columns_, solution_.begin());
  solve_lower(q_.data(), columns_, columns_, solution_.data());
  solve_upper(q_.data(), columns_, columns_, solution_.data());
  return solution_;
}

std::span<const double> NormalSystem::noise(double s, Stream& stream) {
  for (double& value : solution_) value = s * stream.normal();
  solve_upper(q_.data(), columns_, columns_, solution_.data());
  return solution_;
}

}  // namespace baytree::hme
