#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/base/rng.hpp"
#include "baytree/data/design.hpp"

namespace baytree::cart {

// To add a leaf model, see categorical.hpp.
/// μ | σ² ~ N(mean, σ²/kappa), σ² ~ IG(nu/2, nu·scale/2).
struct NormalInverseGamma {
  double mean, kappa, nu, scale;
};

/// Gaussian leaves, each with its own μ and σ², both integrated out. With W the summed weight, s = Σ w (y − mean) and q
/// = Σ w (y − mean)²,
///   log p = −W/2 log π + ½ log(κ/(κ+W)) + lgamma((ν+W)/2) − lgamma(ν/2) + ν/2 log(ν λ) − (ν+W)/2 log(ν λ + q −
///   s²/(κ+W)).
class GaussianLeaf {
 public:
  /// `weight` is empty (every row counts once) or one weight per row. The spans must outlive the leaf.
  GaussianLeaf(std::span<const double> response, std::span<const double> weight, NormalInverseGamma prior);

  struct Buffer {};
  Row rows() const { return static_cast<Row>(response_.size()); }
  std::size_t n_statistics() const { return 3; }
  /// W, s and q of these rows.
  void statistics(std::span<const Row> rows, double* out) const;
  double log_marginal(std::span<const Row> rows, Buffer&) const;

  void require_values() const {}
  /// The leaf's value, a draw of μ given these rows; no rows give a draw from the prior. With κ' = κ + W, ν' = ν + W,
  ///   μ ~ mean + s/κ' + √((ν λ + q − s²/κ') / (ν' κ')) · Student(ν').
  double draw_value(std::span<const Row> rows, Stream& stream) const;
  static double mean_of(double value) { return value; }

 private:
  /// ν λ + q − s²/(κ+W).
  double spread(double total_weight, double sum, double squares) const;
  double log_constant(double total_weight) const;

  std::span<const double> response_, weight_;
  NormalInverseGamma prior_;
  std::vector<double> log_constant_;  // all terms but the last, for W = 0 … rows
};

}  // namespace baytree::cart
