#include "baytree/bart/ensemble/leaf_spread.hpp"

#include <algorithm>
#include <cmath>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/base/slice.hpp"

namespace baytree::bart {

void LeafSpread::restore(double sd) {
  if (!(sd >= least() && sd <= most()))
    throw InputError("chain: the saved spread of leaf values belongs to another model");
  sd_ = sd;
}

void LeafSpread::draw(std::span<const std::unique_ptr<TreeSum>> sums, Stream& stream) {
  double squares = 0.0, leaves = 0.0;
  for (const auto& sum : sums)
    for (std::size_t t = 0; t < sum->size(); ++t)
      for (const float value : sum->values(t)) {
        squares += static_cast<double>(value) * static_cast<double>(value);
        leaves += 1.0;
      }
  // On the scale of log sd, whose own derivative takes one factor of the leaves' densities away.
  const double log_least = std::log(least()), log_most = std::log(most());
  const auto log_density = [&](double log_sd) {
    if (!(log_sd >= log_least && log_sd <= log_most)) return -infinity;
    const double sd = std::exp(log_sd), scales = sd / scale_;
    return (1.0 - leaves) * log_sd - 0.5 * squares / (sd * sd) - std::log1p(scales * scales);
  };
  sd_ = std::clamp(std::exp(slice_step(std::log(sd_), 0.5, log_density, stream)), least(), most());
  hand_to(sums);
}

void LeafSpread::hand_to(std::span<const std::unique_ptr<TreeSum>> sums) const {
  for (const auto& sum : sums) sum->set_leaf_sd(sd_);
}

}  // namespace baytree::bart
