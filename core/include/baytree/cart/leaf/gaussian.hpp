#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "baytree/base/rng.hpp"
#include "baytree/data/design.hpp"
#include "baytree/mcmc/proposals/leaf_sweep.hpp"
#include "baytree/trees/node_rows.hpp"

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
  /// The likelihood as proposals see it. The leaf must outlive it.
  std::unique_ptr<LeafSweep> sweep() const;
  std::size_t n_statistics() const { return 3; }
  /// W, s and q of these rows.
  void statistics(const NodeRows& rows, double* out) const;
  /// Adds those of one row, so many times.
  void add(Row row, double times, double* out) const {
    const double y = response_[row] - prior_.mean, w = weight_.empty() ? times : times * weight_[row];
    out[0] += w;
    out[1] += w * y;
    out[2] += w * y * y;
  }
  double log_marginal(const NodeRows& rows, Buffer&) const;
  /// Of so many rows with these statistics.
  double log_marginal(const double* statistic, Row rows) const;
  /// The most that the log marginals of any division of rows with these statistics into leaves can add up to.
  double log_most_divided(const double* statistic, Row rows, Row least) const;
  /// Of μ given these statistics: its mean and its mean square, which is infinite where ν + W is 2 or less.
  std::size_t n_outputs() const { return 1; }
  void moments(const double* statistic, double* out) const;

  void require_values() const {}
  /// The leaf's value, a draw of μ given these rows; no rows give a draw from the prior. With κ' = κ + W, ν' = ν + W,
  ///   μ ~ mean + s/κ' + √((ν λ + q − s²/κ') / (ν' κ')) · Student(ν').
  double draw_value(const NodeRows& rows, Stream& stream) const;
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
