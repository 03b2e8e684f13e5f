#pragma once

#include <span>
#include <vector>

#include "baytree/base/rng.hpp"
#include "baytree/subset/factor.hpp"

namespace baytree::subset {

/// Draws of what was integrated out, given the models.
struct CoefficientDraws {
  std::vector<double> coefficient;  // of each column of the model, ascending, draw after draw
  std::vector<double> sigma;        // the standard deviation of the noise, one a draw, as are the next two
  std::vector<double> level;        // σ times a standard normal variable, for an intercept
  std::vector<double> shrinkage;    // g/(1+g), by which least-squares coefficients are shrunk; 1 of ridge
};

/// Appends a draw given the model of a factor: g, then σ² ~ IG(E, (total − explained · g/(1+g))/2), then the
/// coefficients, which are normal.
void draw_coefficients(const Problem& problem, const Factor& factor, Stream& stream, CoefficientDraws& to);

/// Appends the posterior mean of each column's coefficient given the model of a factor, ascending.
void append_means(const Problem& problem, const Factor& factor, std::vector<double>& to);

}  // namespace baytree::subset
