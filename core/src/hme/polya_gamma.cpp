#include "baytree/hme/polya_gamma.hpp"

#include <cmath>
#include <numbers>

namespace baytree::hme {
namespace {

using std::numbers::pi;

/// Below it the density's series in 1/x is used, above it the one in x; both have decreasing terms there.
constexpr double border = 0.64;

/// The n-th term of the alternating series of the density of J*(1, 0) at x, as a multiple of the first.
double term(unsigned n, double x) {
  const double rate = x > border ? 0.5 * pi * pi * x : 2.0 / x;
  return (2.0 * n + 1.0) * std::exp(-rate * n * (n + 1.0));
}

/// The series less its second term is at least this share of the first one, which lies above it: 1 − 3 exp(−4 /
/// border).
constexpr double surely_below = 0.994;

/// Inverse Gaussian of mean 1/z and shape 1, given that it is below the border.
double inverse_gaussian_below(double z, Stream& stream) {
  if (z * border < 1.0) {
    // The mean lies beyond the border: from the limit z = 0, whose variables are 1 / normal², thinned by the tilt.
    for (;;) {
      const double normal = stream.normal_above(1.0 / std::sqrt(border)), x = 1.0 / (normal * normal);
      if (stream.uniform() < std::exp(-0.5 * z * z * x)) return x;
    }
  }
  const double mean = 1.0 / z;
  for (;;) {
    // Michael, Schucany and Haas (1976), with the smaller root in a form that does not cancel.
    const double normal = stream.normal(), r = 0.5 * mean * normal * normal;
    double x = mean / (1.0 + r + std::sqrt(r * (2.0 + r)));
    if (stream.uniform() * (mean + x) > mean) x = mean * mean / x;
    if (x < border) return x;
  }
}

}  // namespace

double polya_gamma(double tilt, Stream& stream) {
  if (std::isnan(tilt)) return tilt;  // for which nothing would be accepted
  const double z = 0.5 * std::abs(tilt), rate = 0.125 * pi * pi + 0.5 * z * z;
  // The masses of the proposal beyond the border and below it, both times e^z / 2. The last product is 0 long before
  // its first factor is infinite.
  const double root = std::sqrt(0.5 / border);
  const double far = std::erfc(root * (border * z + 1.0));
  const double beyond = 0.25 * pi / rate * std::exp(z - rate * border);
  const double below = 0.5 * std::erfc(root * (1.0 - border * z)) + (far > 0.0 ? 0.5 * std::exp(2.0 * z) * far : 0.0);
  const double share = beyond / (beyond + below);
  for (;;) {
    const double x =
        stream.uniform() < share ? border - std::log(1.0 - stream.uniform()) / rate : inverse_gaussian_below(z, stream);
    const double height = stream.uniform();
    if (height < surely_below) return 0.25 * x;
    // The partial sums of the series lie above and below it by turns.
    double sum = 1.0;
    for (unsigned n = 1;; ++n) {
      if (n % 2 == 1) {
        sum -= term(n, x);
        if (height <= sum) return 0.25 * x;
      } else {
        sum += term(n, x);
        if (height > sum) break;
      }
    }
  }
}

}  // namespace baytree::hme
