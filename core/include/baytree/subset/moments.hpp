#pragma once

#include <cstddef>
#include <vector>

namespace baytree::subset {

/// Posterior moments over all models, of columns and a response in standard units.
struct Moments {
  std::vector<double> mean;        // of each column's coefficient, which is 0 in models without it
  std::vector<double> covariance;  // of these: a triangle, by rows
  double sigma = 0.0;              // the mean of σ
  double variance = 0.0;           // and of σ²; infinite where half the degrees of freedom are no more than 1
};

inline std::size_t triangle(std::size_t n) { return n * (n + 1) / 2; }

/// The last m of some columns, eliminated from those before them: with [[S, B'], [B, A]] the products of all columns
/// and (e, b) those with y, what is needed to come back from the columns before to all.
struct Elimination {
  std::vector<double> rows;  // U and U'⁻¹B, where A = U'U with U upper triangular: m rows of U'⁻¹B, U
  std::vector<double> w;     // U'⁻¹b
  std::size_t from = 0;      // how many columns are before them
  std::size_t size() const { return w.size(); }
};

/// Weighted sums over models of what they say of the coefficients of some columns: Σ p E(β) and Σ p E(ββ').
///
/// A model's least-squares coefficients β̂ and inverse products M are those of the columns left, extended by back
/// substitution: β̂_K = A⁻¹b − C β̂, M_K = [−C M], M_KK = A⁻¹ + C M C' with C = A⁻¹B. That is linear, so that sums over
/// all models below an elimination are extended at once.
class CoefficientSums {
 public:
  bool empty() const { return empty_; }
  void clear();

  /// Of a model that has none of the columns: p E s, p E s² and p E sσ², with s the shrinkage; β is N(s β̂, sσ² M).
  void add(double mean, double square, double noise);
  /// Of the models below an elimination; adds them to the sums of all its columns, and clears them.
  void extend(const Elimination& elimination, CoefficientSums& below);

  /// Sums of so many columns, 0 where no model has one: Σ p E(β), and Σ p E(ββ') as a triangle.
  std::vector<double> first(std::size_t columns) const;
  std::vector<double> second(std::size_t columns) const;

 private:
  void reserve(std::size_t columns);

  bool empty_ = true;
  double mean_ = 0.0, square_ = 0.0, noise_ = 0.0;      // sums of the weights
  std::vector<double> of_mean_, of_square_, of_noise_;  // Σ p E s β̂; Σ p E s² β̂; Σ p (E s² β̂β̂' + E sσ² M)
  std::vector<double> solved_, inverse_, product_, h_, shifted_mean_, shifted_square_;
};

}  // namespace baytree::subset
