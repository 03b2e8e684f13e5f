#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "baytree/base/rng.hpp"

namespace baytree::subset {

/// How the coefficients of a linear model are spread in advance, as multiples of σ².
enum class CoefficientPrior {
  fixed,      // c (X'X)⁻¹
  empirical,  // c (X'X)⁻¹ with the c that is best for the model at hand
  hyper_g,    // g (X'X)⁻¹, p(g) ∝ (1 + g)^(−a/2)
  hyper_gn,   // g (X'X)⁻¹, p(g) ∝ (1 + g/n)^(−a/2)
  ridge       // c I
};

/// What is expected of the shrinkage s = g/(1+g) of a model, and of the noise that it leaves.
struct Shrinkage {
  double mean = 0.0, square = 0.0;  // E s, E s²
  double root = 1.0;                // E √((1 − s R) / (1 − R)), where R is the share of the total that is explained
};

/// The marginal likelihood of a linear model whose coefficients and σ² ~ IG(ν/2, νλ/2) are integrated out (Chipman,
/// George and McCulloch 2001, Liang et al. 2008). It depends on the columns by their number, by what they explain of
/// y'y and, of `ridge`, by a determinant.
///
/// The integral over g has no closed form that is safe for all sizes. It is had by the trapezoidal rule in log g, which
/// converges exponentially, and kept for each number of columns as Chebyshev series of what is explained, a few
/// nanoseconds to evaluate.
class Evidence {
 public:
  /// `parameter` is c or a; `rows` is the n of `hyper_gn`; `freedom` is the number of rows, less one for an intercept,
  /// plus ν; `total` is νλ + y'y.
  Evidence(CoefficientPrior prior, double parameter, double rows, double freedom, double total);

  /// log p(y|model) − log p(y|no column). `explained` is b'A⁻¹b and `log_determinant` log |A|, where A = X'X, plus I/c
  /// of `ridge`, and b = X'y.
  double log_marginal(std::size_t columns, double explained, double log_determinant) const;

  /// The posterior mean of g/(1+g), by which least-squares coefficients are shrunk, and a draw of it; 1 of `ridge`.
  double mean_shrinkage(std::size_t columns, double explained) const;
  double draw_shrinkage(std::size_t columns, double explained, Stream& stream) const;
  /// The same mean with what else is expected, by a table: for as many models as there are.
  Shrinkage shrinkage(std::size_t columns, double explained) const;

  /// What is left of the total, and half the degrees of freedom: σ² ~ IG(half_freedom, rest/2) given the shrinkage.
  double rest(double explained) const;
  double share(double explained) const;
  double half_freedom() const { return half_; }

  /// What is added to the diagonal of X'X.
  double ridge() const { return prior_ == CoefficientPrior::ridge ? 1.0 / parameter_ : 0.0; }

 private:
  using Table = std::vector<double>;
  struct Tables;
  struct Integrand;

  double integrated(std::size_t columns, double log_rest) const;
  double integral(std::size_t columns, double log_rest) const;
  bool mixed() const { return prior_ == CoefficientPrior::hyper_g || prior_ == CoefficientPrior::hyper_gn; }
  double best_u(std::size_t columns, double share) const;
  double slope(std::size_t columns) const;
  double stretched(double log_rest) const;
  static double fineness(std::size_t columns);
  template <class Value>
  Table tabulated(std::size_t columns, std::size_t width, Value value) const;
  /// Calls visit(which, number) for each of the numbers that a table has of a share; `make` makes the table.
  template <class Make, class Visit>
  void look_up(Tables& tables, std::size_t columns, double log_rest, std::size_t width, Make make, Visit visit) const;

  CoefficientPrior prior_;
  double parameter_, rows_, half_, total_;
  std::shared_ptr<Tables> integrals_, shrinkages_;  // made when a number of columns is first asked for
};

}  // namespace baytree::subset
