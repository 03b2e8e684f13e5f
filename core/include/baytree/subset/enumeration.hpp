#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "baytree/subset/coefficients.hpp"
#include "baytree/subset/moments.hpp"

namespace baytree::subset {

/// Some models, with their figures.
struct ListedModels {
  std::vector<Unit> unit;              // of each model, ascending
  std::vector<std::int64_t> begin{0};  // where the units of each begin, and one more
  std::vector<double> log_likelihood, log_prior;
};

/// The whole posterior.
struct Enumeration {
  double log_total = 0.0;         // log Σ P(γ) P(y|γ), the prior being unnormalised
  std::vector<double> inclusion;  // P(unit in γ | y) of every unit
  std::vector<double> sizes;      // P(so many free units | y)
  Moments moments;                // of the coefficients and the noise
  ListedModels top;               // the most probable models, best first
  ListedModels drawn;             // one for each quantile
  std::vector<double> mean;       // of the coefficients given each drawn model
  CoefficientDraws given;         // each drawn model
};

/// More free units than this are not enumerated.
inline constexpr std::size_t most_enumerated = 30;

/// Visits every model in Gray-code order, one flip a model. The columns of units that flip seldom are eliminated first,
/// so that a flip eliminates one or two units from small matrices: their number is constant on the average, however
/// many units there are.
///
/// A second time, to draw models and to add up moments, of which those of coefficients are carried back through the
/// eliminations of many models at once.
///
/// `most` is how many of the most probable models are listed. `quantiles`, ascending in [0, 1), are inverted: uniform
/// ones give independent draws, the coefficients of which come from the stream.
Enumeration enumerate(const Problem& problem, std::size_t most, std::span<const double> quantiles, Stream stream);

}  // namespace baytree::subset
