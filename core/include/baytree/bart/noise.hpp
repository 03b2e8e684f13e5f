#pragma once

#include <optional>
#include <span>
#include <vector>

#include "baytree/bart/hard/backfit.hpp"
#include "baytree/bart/student.hpp"

namespace baytree::bart {

/// Normal noise around the sum of trees, of variance s² / weight. s² is one number, or differs from row to row: then it
/// is the product of the leaves that a row lies in, one of each tree of a second forest (Pratola, Chipman, George and
/// McCulloch 2020). Or noise of Student's t distribution, with s for its scale.
class Noise {
 public:
  /// s² has this prior or, where there is a forest, its own; the likelihood has a power.
  Noise(const VariancePrior& prior, std::span<const float> weight, std::size_t rows, double power, Backfit* forest,
        std::optional<Student> student);

  double sigma() const { return sigma_; }
  bool has_sigma() const { return !forest_; }
  /// The degrees of freedom, where it is Student's.
  std::optional<double> freedom() const { return student_ ? std::optional(student_->freedom()) : std::nullopt; }

  /// Draws what trees are fitted to where it is Student's: before they are, in every sweep.
  void begin(std::span<float> residual, Stream& stream, Team& team);

  /// What the trees of the mean are fitted to.
  Target target(std::span<float> residual) const;
  void draw(std::span<const float> residual, Stream& stream, Team& team);
  /// Of residuals.
  double log_likelihood(std::span<const float> residual) const;

  /// After the forest was put elsewhere.
  void restore(double sigma, double freedom, Team& team);
  /// The residual is then the negative of the fits where noise is Student's.
  void forget(std::span<float> residual);

 private:
  void read_forest(Team& team);
  double log_variance() const;

  VariancePrior prior_;
  std::span<const float> weight_;  // of each row; none where all weigh 1
  double log_weight_ = 0.0;        // summed over the rows
  std::size_t rows_;
  double power_;
  double sigma_ = 1.0;
  Backfit* forest_;  // none where s² is one number
  std::optional<Student> student_;
  std::vector<float> precision_;  // weight / s² of each row, had anew from the forest after every sweep of it
  std::vector<float> squares_;
};

}  // namespace baytree::bart
