#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "baytree/subset/problem.hpp"

namespace baytree::subset {

/// What changes when a unit enters or leaves: the square explained and the log determinant become these. `possible` is
/// false where its columns depend on those of the model.
struct Change {
  bool possible = false;
  double explained = 0.0, log_determinant = 0.0;
};

/// The Cholesky factor T of A = X'X (plus I/c) for the columns of a model, kept while columns come and go, together
/// with what it says about every other column.
///
/// R = T'⁻¹ A has a row a column of the model and a column of *every* column, those of T among them. So d_j = A_jj − Σ
/// R_kj² is the square of column j that the model leaves, and e_j = b_j − Σ R_kj W_k, W = T'⁻¹ b, what is left of its
/// product with y: to add j explains e_j²/d_j more. With T⁻¹, to drop column k explains β_k²/M_kk less, where β = T⁻¹W
/// and M = T⁻¹T'⁻¹. To judge a single column takes no loop; a change takes O(q) passes over all columns, by Givens
/// rotations where one leaves.
class Factor {
 public:
  explicit Factor(const Problem& problem);

  std::size_t size() const { return order_.size(); }
  double explained() const { return explained_; }
  double log_determinant() const { return log_determinant_; }
  /// The columns of the model, in the order in which they came.
  std::span<const Column> order() const { return order_; }

  /// W, by place in that order.
  std::span<const double> w() const { return w_; }
  /// The entry of T⁻¹x at a place.
  double solved(std::size_t place, std::span<const double> x) const;

  /// What a unit that is not in the model would change if it entered.
  Change entering(Unit unit) const;
  /// What a unit of the model would change if it left.
  Change leaving(Unit unit) const;
  /// What it changes if one unit leaves and another enters.
  Change exchanging(Unit out, Unit in) const;

  void enter(Unit unit);
  void leave(Unit unit);
  void clear();

 private:
  double* row(std::size_t k) { return rows_.data() + k * columns_; }
  const double* row(std::size_t k) const { return rows_.data() + k * columns_; }
  double* inverse_row(std::size_t k) { return inverse_.data() + k * capacity_; }
  const double* inverse_row(std::size_t k) const { return inverse_.data() + k * capacity_; }
  /// A logarithm costs as much as all else of a judgement, and g-priors have no use for determinants.
  double log_if_used(double x) const { return problem_->evidence.ridge() > 0.0 ? std::log(x) : 0.0; }
  void push(Column column);
  void pull(std::size_t k);
  void reserve(std::size_t size);
  void summarise();
  void take_left(Unit unit) const;
  void take_variance(Unit unit) const;
  Change added(Unit unit, Change base) const;

  const Problem* problem_;
  std::size_t columns_, capacity_ = 0;
  std::vector<Column> order_;
  std::vector<std::uint32_t> place_;            // of each column of the model, in that order
  std::vector<double> rows_;                    // R
  std::vector<double> inverse_;                 // T⁻¹, a row a column of the model
  std::vector<double> w_;                       // W
  std::vector<double> left_, product_;          // d and e of every column
  std::vector<double> coefficient_, variance_;  // β and the diagonal of M
  double explained_ = 0.0, log_determinant_ = 0.0;
  mutable std::vector<double> left_block_, variance_block_, side_;  // of units of several columns
};

}  // namespace baytree::subset
