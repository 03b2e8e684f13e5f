#pragma once

#include <cmath>

#include "baytree/base/rng.hpp"

namespace baytree {

/// One step of a slice sampler, stepping out (Neal 2003), from `now` under a log density up to a constant. It leaves
/// the distribution as it is whatever the width, which should be about that of the distribution.
template <class LogDensity>
double slice_step(double now, double width, const LogDensity& log_density, Stream& stream) {
  constexpr int most_steps = 50;
  const double level = log_density(now) + std::log1p(-stream.uniform());
  double low = now - width * stream.uniform(), high = low + width;
  for (int i = 0; i < most_steps && log_density(low) > level; ++i) low -= width;
  for (int i = 0; i < most_steps && log_density(high) > level; ++i) high += width;
  for (;;) {
    const double next = low + (high - low) * stream.uniform();
    if (log_density(next) > level || next == now) return next;
    (next < now ? low : high) = next;
  }
}

}  // namespace baytree
