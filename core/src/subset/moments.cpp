#include "baytree/subset/moments.hpp"

namespace baytree::subset {

void CoefficientSums::clear() {
  empty_ = true;
  mean_ = square_ = noise_ = 0.0;
  of_mean_.clear();
  of_square_.clear();
  of_noise_.clear();
}

void CoefficientSums::add(double mean, double square, double noise) {
  empty_ = false;
  mean_ += mean;
  square_ += square;
  noise_ += noise;
}

void CoefficientSums::reserve(std::size_t columns) {
  if (of_mean_.size() >= columns) return;
  of_mean_.resize(columns, 0.0);
  of_square_.resize(columns, 0.0);
  of_noise_.resize(triangle(columns), 0.0);
}

void CoefficientSums::extend(const Elimination& elimination, CoefficientSums& below) {
  const std::size_t n = elimination.from, m = elimination.size(), width = n + m;
  if (below.empty_) return;
  below.reserve(n);
  reserve(width);
  add(below.mean_, below.square_, below.noise_);
  // U⁻¹ times [U'⁻¹B, I, U'⁻¹b]: C, the factor of A⁻¹ and h = A⁻¹b, from the last row up.
  solved_.assign(elimination.rows.begin(), elimination.rows.end());
  h_ = elimination.w;
  inverse_.assign(m * m, 0.0);
  for (std::size_t i = m; i-- > 0;) {
    double* row = solved_.data() + i * width;
    const double* factor = elimination.rows.data() + i * width + n;
    inverse_[i * m + i] = 1.0;
    for (std::size_t k = i + 1; k < m; ++k) {
      const double* lower = solved_.data() + k * width;
      for (std::size_t j = 0; j < n; ++j) row[j] -= factor[k] * lower[j];
      for (std::size_t j = k; j < m; ++j) inverse_[i * m + j] -= factor[k] * inverse_[k * m + j];
      h_[i] -= factor[k] * h_[k];
    }
    for (std::size_t j = 0; j < n; ++j) row[j] /= factor[i];
    for (std::size_t j = i; j < m; ++j) inverse_[i * m + j] /= factor[i];
    h_[i] /= factor[i];
  }
  // C times the sums below: Σ p E s β̂, Σ p E s² β̂ and the square.
  shifted_mean_.assign(m, 0.0);
  shifted_square_.assign(m, 0.0);
  product_.assign(m * n, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    const double* c = solved_.data() + i * width;
    double* product = product_.data() + i * n;
    for (std::size_t j = 0; j < n; ++j) {
      shifted_mean_[i] += c[j] * below.of_mean_[j];
      shifted_square_[i] += c[j] * below.of_square_[j];
      const double* sums = below.of_noise_.data() + triangle(j);
      double total = c[j] * sums[j];
      for (std::size_t k = 0; k < j; ++k) {
        product[k] += c[j] * sums[k];
        total += c[k] * sums[k];
      }
      product[j] += total;
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    of_mean_[j] += below.of_mean_[j];
    of_square_[j] += below.of_square_[j];
  }
  for (std::size_t k = 0; k < triangle(n); ++k) of_noise_[k] += below.of_noise_[k];
  for (std::size_t i = 0; i < m; ++i) {
    of_mean_[n + i] += h_[i] * below.mean_ - shifted_mean_[i];
    of_square_[n + i] += h_[i] * below.square_ - shifted_square_[i];
    double* sums = of_noise_.data() + triangle(n + i);
    const double* product = product_.data() + i * n;
    for (std::size_t j = 0; j < n; ++j) sums[j] += h_[i] * below.of_square_[j] - product[j];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* c = solved_.data() + j * width;
      double total = below.square_ * h_[i] * h_[j] - h_[i] * shifted_square_[j] - h_[j] * shifted_square_[i];
      for (std::size_t k = 0; k < n; ++k) total += product[k] * c[k];
      for (std::size_t k = i; k < m; ++k) total += below.noise_ * inverse_[i * m + k] * inverse_[j * m + k];
      sums[n + j] += total;
    }
  }
  below.clear();
}

std::vector<double> CoefficientSums::first(std::size_t columns) const {
  std::vector<double> sums = of_mean_;
  sums.resize(columns, 0.0);
  return sums;
}

std::vector<double> CoefficientSums::second(std::size_t columns) const {
  std::vector<double> sums = of_noise_;
  sums.resize(triangle(columns), 0.0);
  return sums;
}

}  // namespace baytree::subset
