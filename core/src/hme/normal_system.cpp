#include "baytree/hme/normal_system.hpp"

#include <algorithm>
#include <cmath>

namespace baytree::hme {

NormalSystem::NormalSystem(std::size_t columns, std::size_t responses)
    : columns_(columns), responses_(responses), q_(columns * columns), b_(responses * columns), solution_(columns) {}

void NormalSystem::reset(double ridge) {
  ridge_ = ridge;
  std::fill(q_.begin(), q_.end(), 0.0);
  std::fill(b_.begin(), b_.end(), 0.0);
  for (std::size_t i = 0; i < columns_; ++i) q_[i * columns_ + i] = ridge;
}

void NormalSystem::add(const double* x, double weight, const double* product) {
  for (std::size_t i = 0; i < columns_; ++i) {
    const double scaled = weight * x[i];
    double* row = q_.data() + i * columns_;
    for (std::size_t j = 0; j <= i; ++j) row[j] += scaled * x[j];
  }
  for (std::size_t k = 0; k < responses_; ++k) {
    double* b = b_.data() + k * columns_;
    for (std::size_t i = 0; i < columns_; ++i) b[i] += product[k] * x[i];
  }
}

void NormalSystem::factor() {
  for (std::size_t i = 0; i < columns_; ++i) {
    double* row = q_.data() + i * columns_;
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = q_.data() + j * columns_;
      double sum = row[j];
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      // No pivot of Q is below the ridge but by rounding.
      row[j] = i == j ? std::sqrt(std::max(sum, ridge_)) : sum / other[j];
    }
  }
}

std::span<const double> NormalSystem::mean(std::size_t response) {
  const double* b = b_.data() + response * columns_;
  for (std::size_t i = 0; i < columns_; ++i) {
    const double* row = q_.data() + i * columns_;
    double sum = b[i];
    for (std::size_t k = 0; k < i; ++k) sum -= row[k] * solution_[k];
    solution_[i] = sum / row[i];
  }
  solve_upper();
  return solution_;
}

std::span<const double> NormalSystem::noise(double s, Stream& stream) {
  for (double& value : solution_) value = s * stream.normal();
  solve_upper();
  return solution_;
}

void NormalSystem::solve_upper() {
  for (std::size_t i = columns_; i-- > 0;) {
    const double* row = q_.data() + i * columns_;
    solution_[i] /= row[i];
    for (std::size_t k = 0; k < i; ++k) solution_[k] -= row[k] * solution_[i];
  }
}

}  // namespace baytree::hme
