#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "baytree/base/rng.hpp"
#include "baytree/base/team.hpp"

namespace baytree::bart {

/// Noise of Student's t distribution, σ ε / √(w λ) with λ ~ Gamma(ν/2, ν/2) for each row: given λ it is normal (Geweke
/// 1993). ν is one of a few numbers, so that it can be drawn with every λ integrated out; then the λ are drawn given
/// it. Both are drawn first in a sweep, so that λ is no state.
///
/// A row that lies far off would leave the grid on which residuals add up exactly. Where the noise of a row has a
/// standard deviation above c, which is about that of all responses, it is taken for the sum of two normal parts, the
/// first of that standard deviation; and fit + first part, drawn given the response, stands for the response. Of the
/// other rows the response stands for itself.
class Student {
 public:
  /// What ν may be. Before any data each has a probability ∝ ν² exp(−ν/10): the density of Gamma(2, rate 1/10) (Juárez
  /// and Steel 2010), times ν as they are about even steps of its logarithm.
  static constexpr std::array<double, 13> choices = {1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

  /// How far what stands for one of these responses lies from its fit at most, 16 c. Of all that may come up less than
  /// one in 10²⁰ lies beyond, and is moved there.
  static double reach(std::span<const double> response);

  Student(std::span<const double> response, std::span<const float> weight, double grid);

  double freedom() const { return choices[choice_]; }
  /// Of each row, that of the noise of what stands for its response.
  std::span<const float> precision() const { return precision_; }

  /// Draws ν, λ and what stands for the responses, of which `residual` is the rest without the fits, before and after.
  /// Without a likelihood ν alone.
  void draw(double sigma, bool likelihood, std::span<float> residual, Stream& stream, Team& team);

  /// Σ w λ r² of the responses themselves.
  double squares(std::span<const float> residual) const;
  double log_likelihood(double sigma, std::span<const float> residual) const;

  /// Lets 0 stand for every response, as in the beginning.
  void forget(std::span<float> residual);
  /// Throws InputError for what ν cannot be.
  void restore(double freedom);

 private:
  using Logs = std::array<double, choices.size()>;

  double weight(std::size_t row) const { return weight_.empty() ? 1.0 : static_cast<double>(weight_[row]); }
  double residual_of(std::size_t row, std::span<const float> residual) const {
    return response_[row] - static_cast<double>(latent_[row] - residual[row]);
  }
  Logs log_kernels(double sigma, std::span<const float> residual, Team& team) const;
  void draw_rows(double sigma, std::span<float> residual, std::size_t begin, std::size_t end, Stream& stream);

  std::span<const double> response_;
  std::span<const float> weight_;  // none where all weigh 1
  double grid_, reach_, most_sd_;
  std::size_t choice_;
  std::vector<float> latent_;  // what stands for the responses
  std::vector<double> scale_;  // w λ
  std::vector<float> precision_;
};

}  // namespace baytree::bart
