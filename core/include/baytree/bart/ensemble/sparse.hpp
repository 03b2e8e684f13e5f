#pragma once

#include <memory>
#include <span>
#include <vector>

#include "baytree/bart/ensemble/tree_sum.hpp"
#include "baytree/base/rng.hpp"

namespace baytree::bart {

/// A sparse prior of the column weights: s ~ Dirichlet(a/p, …, a/p) with a/(a + p) ~ Beta(1/2, 1) (Linero 2018), for p
/// columns.
///
/// A split chooses a column with probability s_c / Σ s_j over the columns j that have a rule there. With s = g / Σ g
/// and independent g_j ~ Gamma(a/p) this is g_c ∫ exp(−u Σ g_j) du: given a u for every split, each g_j is Gamma again,
/// whatever is blocked where. The sum of g is independent of s and of the trees, so it is drawn anew each time.
class SparseWeights {
 public:
  explicit SparseWeights(std::size_t columns);

  const std::vector<double>& log_weights() const { return log_weights_; }
  double concentration() const { return concentration_; }
  void restore(std::vector<double> log_weights, double concentration);

  /// Draws the weights given all trees of the sums, then the concentration, and hands the weights to the sums.
  void draw(std::span<const std::unique_ptr<TreeSum>> sums, Stream& stream);
  void hand_to(std::span<const std::unique_ptr<TreeSum>> sums) const;

 private:
  void draw_concentration(Stream& stream);
  double log_density(double logit) const;

  std::vector<double> log_weights_;
  double concentration_ = 1.0;
  std::vector<double> count_, log_rate_;
};

}  // namespace baytree::bart
