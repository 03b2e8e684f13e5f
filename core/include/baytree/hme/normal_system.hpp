#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "baytree/base/rng.hpp"

namespace baytree::hme {

/// The normal distribution N(Q⁻¹b, s² Q⁻¹) of regression coefficients, from sums over rows: Q = ridge·I + Σ w x x', and
/// a b for each response.
class NormalSystem {
 public:
  NormalSystem(std::size_t columns, std::size_t responses);

  /// Forgets all rows. The ridge must be positive.
  void reset(double ridge);
  /// A row: w x x' and, for each response, its product times x.
  void add(const double* x, double weight, const double* product);
  /// To be called after the last row.
  void factor();
  /// Q⁻¹b of a response.
  std::span<const double> mean(std::size_t response);
  /// A draw of N(0, s² Q⁻¹).
  std::span<const double> noise(double s, Stream& stream);

 private:
  std::size_t columns_, responses_;
  double ridge_ = 1.0;
  std::vector<double> q_;  // the upper half of Q by rows, then its Cholesky factor
  std::vector<double> b_, scaled_, solution_;
};

}  // namespace baytree::hme
