#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/base/rng.hpp"

namespace baytree::bart {

/// The normal variables behind classes (Albert and Chib 1993). With two classes there is one, z ~ N(f, 1), and the
/// second class is z > 0. With more, each class has one, z_k ~ N(f_k, 1), and the largest is the class. A row of weight
/// w counts as w rows, so that the mean of w variables stands for it.
///
/// Fits and residuals are kept as differences: on entry `residual` is z − f for the z of the last time, which `latent`
/// holds, and on return for new ones. So a chain can begin anew from −f with z = 0.
struct Latent {
  std::span<const std::int32_t> response;  // the class of each row
  std::span<const float> weight;           // whole numbers; none where all weigh 1
  std::uint32_t classes = 2;
  double grid = 1.0;               // that residuals lie on
  std::vector<double> centre;      // of each sum, added to its fits
  std::span<const double> offset;  // of each row, added to the fit of two classes; none where it is 0
};

/// One residual and one latent variable of each row for every sum of trees: one with two classes, else one for each.
void draw_latents(const Latent& data, std::vector<std::vector<float>>& residual,
                  std::vector<std::vector<float>>& latent, Stream& stream);

/// log P(class | f) summed over the rows, given residuals and latent variables.
double class_log_likelihood(const Latent& data, const std::vector<std::vector<float>>& residual,
                            const std::vector<std::vector<float>>& latent);

}  // namespace baytree::bart
