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
  /// The likelihood as proposals see it. The leaf must outlive it.
  std::unique_ptr<LeafSweep> sweep() const;
  std::size_t n_statistics() const { return classes_; }
  /// The class counts (weights summed) of these rows.
  void statistics(const NodeRows& rows, double* counts) const;
  /// Adds those of one row, so many times.
  void add(Row row, double times, double* counts) const {
    counts[response_[row]] += weight_.empty() ? times : times * weight_[row];
  }
  double log_marginal(const NodeRows& rows, Buffer& counts) const;
  /// Of so many rows with these statistics.
  double log_marginal(const double* counts, Row rows) const;
  /// The most that the log marginals of any division of rows with these counts into two leaves or more can add up to,
  /// each of `least` rows at least.
  double log_most_divided(const double* counts, Row rows, Row least) const;
  /// Of the class probabilities given these counts: their means, and behind them their mean squares.
  std::size_t n_outputs() const { return classes_; }
  void moments(const double* counts, double* out) const;

  /// Throws InputError where E(y) is not one number: with other than two classes.
  void require_values() const;
  /// The leaf's value, a draw of the probability of the second class given these rows, on a scale that keeps the order
  /// where probabilities round to 0 or 1: its log odds. No rows give a draw from the prior.
  double draw_value(const NodeRows& rows, Stream& stream) const;
  /// A value as a probability.
  static double mean_of(double value);

 private:
  bool counts_by_sets(const NodeRows& rows) const;
  const Word* class_set(std::uint32_t k) const { return class_sets_.data() + k * words_for(response_.size()); }
  double log_pure(double count) const;

  std::span<const std::int32_t> response_;
  std::span<const double> weight_;
  std::uint32_t classes_;
  double concentration_;
  // For whole counts n = 0 … rows: lgamma(n + a) − lgamma(a), and lgamma(K a) − lgamma(n + K a).
  std::vector<double> log_class_, log_total_;
  std::vector<Word> class_sets_;  // the rows of each class, where rows have no weights
};

}  // namespace baytree::cart
