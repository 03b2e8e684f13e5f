#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/base/rng.hpp"
#include "baytree/data/design.hpp"

namespace baytree::cart {

// To add a leaf model: a class with the members of this one; what monotone trees ask for may throw. Then bind it and
// its two chains in bindings/cart, and describe it in Python (cart/leaves).
/// Dirichlet–multinomial leaves: class probabilities ~ Dirichlet(a, …, a), integrated out. With class counts n_k and n
/// = Σ n_k,
///   log p = lgamma(K a) − lgamma(n + K a) + Σ_k [lgamma(n_k + a) − lgamma(a)].
class CategoricalLeaf {
 public:
  /// `weight` is empty (every row counts once) or one weight per row. The spans must outlive the leaf.
  CategoricalLeaf(std::span<const std::int32_t> response, std::span<const double> weight, std::uint32_t classes,
                  double concentration);

  using Buffer = std::vector<double>;
  Row rows() const { return static_cast<Row>(response_.size()); }
  std::size_t n_statistics() const { return classes_; }
  /// The class counts (weights summed) of these rows.
  void statistics(std::span<const Row> rows, double* counts) const;
  double log_marginal(std::span<const Row> rows, Buffer& counts) const;

  /// Throws InputError where E(y) is not one number: with other than two classes.
  void require_values() const;
  /// The leaf's value, a draw of the probability of the second class given these rows, on a scale that keeps the order
  /// where probabilities round to 0 or 1: its log odds. No rows give a draw from the prior.
  double draw_value(std::span<const Row> rows, Stream& stream) const;
  /// A value as a probability.
  static double mean_of(double value);

 private:
  std::span<const std::int32_t> response_;
  std::span<const double> weight_;
  std::uint32_t classes_;
  double concentration_;
  // For whole counts n = 0 … rows: lgamma(n + a) − lgamma(a), and lgamma(K a) − lgamma(n + K a).
  std::vector<double> log_class_, log_total_;
};

}  // namespace baytree::cart
