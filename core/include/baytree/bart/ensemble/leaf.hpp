#pragma once

#include <algorithm>
#include <cmath>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/base/rng.hpp"

namespace baytree::bart {

// To add leaf values of another kind: a way to make a `Leaf` (as `of_mean`), what it does in each member below, and in
// `LeafPrior` what says so; then its argument in bindings/bart.

/// Sufficient statistics of a leaf, over its rows as they are without its tree. Of squares the weight is the number of
/// rows.
struct LeafSums {
  double sum = 0.0, weight = 0.0;
};

/// v ~ ν λ / χ²_ν; with ν infinite it is λ.
struct VariancePrior {
  double nu = 3.0, lambda = 1.0;

  /// log v, given squares that have v for their mean, so many.
  double draw_log(double squares, double number, Stream& stream) const {
    if (nu == infinity) return std::log(lambda);
    // χ²_k is twice a gamma variable of shape k/2
    return std::log(0.5 * (nu * lambda + squares)) - stream.log_gamma(0.5 * (nu + number));
  }
  /// The log density of such squares of normal variables with v integrated out, but for what does not depend on how
  /// they are divided into leaves.
  double log_marginal(double squares, double number) const {
    const double shape = 0.5 * nu, rate = 0.5 * nu * lambda;
    return shape * std::log(rate) - log_gamma(shape) + log_gamma(shape + 0.5 * number) -
           (shape + 0.5 * number) * std::log(rate + 0.5 * squares);
  }
};

/// What is known of leaf values before any data, and what a value does to the rows of its leaf.
///
/// The leaves of a mean have normal values, which are taken from the residuals. Those of a variance have the logarithms
/// of factors, by which squares of residuals are divided (Pratola, Chipman, George and McCulloch 2020). What rows
/// *hold* of a leaf is its value, or its factor.
class Leaf {
 public:
  /// Values are N(0, sd²) and lie on a grid.
  static Leaf of_mean(double sd, double grid) { return Leaf(sd * sd, grid, {}); }
  static Leaf of_variance(const VariancePrior& factor) { return Leaf(0.0, 0.0, factor); }

  /// Normal values of another spread on the same grid.
  Leaf with_sd(double sd) const { return Leaf(sd * sd, grid_, factor_); }

  /// Whether rows are multiplied by their changes, and not added to.
  bool multiplies() const { return grid_ == 0.0; }
  bool allows(float value) const {
    return multiplies() ? std::abs(value) < 80.0f
                        : std::nearbyint(static_cast<double>(value) / grid_) * grid_ == static_cast<double>(value);
  }

  /// The value of a leaf before there is a draw.
  float start() const { return multiplies() ? static_cast<float>(std::log(factor_.lambda)) : 0.0f; }

  float held_of(float value) const { return multiplies() ? std::exp(value) : value; }
  /// What rows hold of no leaf at all.
  float nothing() const { return multiplies() ? 1.0f : 0.0f; }
  /// What rows must be changed by to hold `then` and no longer `now`.
  float change(float now, float then) const { return multiplies() ? now / then : now - then; }
  /// The sum over some rows of this weight as they are without what they hold.
  double without(double sum, double weight, float held) const {
    return multiplies() ? sum * static_cast<double>(held) : sum + weight * static_cast<double>(held);
  }

  /// What is left of a sum without a part of it.
  double rest(double all, double part) const { return multiplies() ? std::max(all - part, 0.0) : all - part; }

  /// The density of a leaf's rows with its value integrated out is exp(fit/2) / sqrt(gain), but for what does not
  /// depend on the tree: several leaves take one logarithm.
  struct Marginal {
    double fit = 0.0, gain = 1.0;

    double log() const { return 0.5 * (fit - std::log(gain)); }
  };
  /// Of residuals the precision is that of their noise; of squares it is the power of their likelihood.
  Marginal marginal(const LeafSums& leaf, double precision) const {
    if (multiplies()) return {2.0 * factor_.log_marginal(precision * leaf.sum, precision * leaf.weight), 1.0};
    const double gain = 1.0 + precision * variance_ * leaf.weight;
    return {precision * precision * variance_ * leaf.sum * leaf.sum / gain, gain};
  }
  double draw(const LeafSums& leaf, double precision, Stream& stream) const {
    if (multiplies()) return factor_.draw_log(precision * leaf.sum, precision * leaf.weight, stream);
    const double variance = variance_ / (1.0 + precision * variance_ * leaf.weight);
    const double value = variance * precision * leaf.sum + std::sqrt(variance) * stream.normal();
    return std::nearbyint(value / grid_) * grid_;
  }

 private:
  Leaf(double variance, double grid, const VariancePrior& factor) : variance_(variance), grid_(grid), factor_(factor) {}

  double variance_, grid_;
  VariancePrior factor_;
};

/// What a model says of the leaf values of a mean.
struct LeafPrior {
  // A standard deviation that is learned stays within so many times its scale.
  static constexpr double least_scales = 1.0 / 1024, most_scales = 8.0;

  double sd = 1.0;  // or the scale of the prior of their standard deviation
  bool learns_sd = false;

  void check() const {
    if (!(sd > 0.0 && sd < infinity)) throw InputError("the standard deviation of leaf values must be positive");
  }
  double largest_sd() const { return learns_sd ? most_scales * sd : sd; }
  Leaf on_grid(double grid) const { return Leaf::of_mean(sd, grid); }
};

}  // namespace baytree::bart
