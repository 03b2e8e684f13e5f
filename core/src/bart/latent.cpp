#include "baytree/bart/latent.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "baytree/bart/predict/class_probabilities.hpp"
#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"

namespace baytree::bart {
namespace {

const double log_root_two_pi = 0.5 * std::log(2.0 * std::numbers::pi);

double log_normal_cdf(double x) {
  if (x > -35.0) return std::log(0.5 * std::erfc(-x * std::numbers::sqrt2 / 2.0));
  // Mills' ratio, where the probability itself is soon lost
  const double square = x * x, ratio = -1.0 / square;
  return -0.5 * square - std::log(-x) - log_root_two_pi +
         std::log1p(ratio * (1.0 + 3.0 * ratio * (1.0 + 5.0 * ratio * (1.0 + 7.0 * ratio))));
}

/// φ(x)/Φ(x)
double inverse_mills(double x) { return std::exp(-0.5 * x * x - log_root_two_pi - log_normal_cdf(x)); }

float on_grid(double x, double grid) { return static_cast<float>(std::nearbyint(x / grid) * grid); }

int copies_of(const Latent& data, std::size_t row) {
  return data.weight.empty() ? 1 : static_cast<int>(data.weight[row]);
}

[[noreturn]] void give_up() {
  throw InputError(
      "the normal variable behind a class cannot be drawn: its sum of trees is no number of a sensible size; please "
      "report this");
}

/// Of the density φ(u − own) Π Φ(u − f_j) of the row's own variable, given that it is the largest.
struct Mode {
  double at;
  double tilt;  // Σ r(at − f_j), r the inverse of Mills' ratio
};

/// Where it has its mode, to about 1e-3. The slope of its logarithm falls and is convex, so that Newton's method
/// converges from anywhere: after one step from below.
Mode find_mode(double own, std::span<const double> others) {
  constexpr int most_steps = 100;
  double mode = own;
  for (const double other : others) mode = std::max(mode, other);
  for (int i = 0; i < most_steps; ++i) {
    double tilt = 0.0, curvature = 1.0;
    for (const double other : others) {
      const double x = mode - other, ratio = inverse_mills(x);
      tilt += ratio;
      curvature += ratio * (x + ratio);
    }
    const double step = (own + tilt - mode) / curvature;
    if (std::abs(step) < 1e-3) return {mode, tilt};
    mode += step;
  }
  give_up();
}

/// That variable. Every factor of the product lies below its tangent in the logarithm; with tangents near the mode the
/// envelope is a normal density, of which about one in √(1 + rivals) is accepted at least.
double draw_largest(double own, std::span<const double> others, Stream& stream) {
  constexpr int most_tries = 100'000;
  const Mode mode = find_mode(own, others);
  double at_mode = 0.0;
  for (const double other : others) at_mode += log_normal_cdf(mode.at - other);
  for (int i = 0; i < most_tries; ++i) {
    const double u = own + mode.tilt + stream.normal();
    double log_accept = -at_mode - mode.tilt * (u - mode.at);
    for (const double other : others) log_accept += log_normal_cdf(u - other);
    if (std::log1p(-stream.uniform()) < log_accept) return u;
  }
  give_up();
}

/// The logarithm of the probability that it is the largest, however small: the trapezoidal rule outward from the mode,
/// relative to the density there, which is log-concave and at no point narrower than a normal one of precision
/// 1 + rivals.
double log_largest(double own, std::span<const double> others) {
  constexpr double negligible = -40.0;
  const double mode = find_mode(own, others).at, step = 0.5 / std::sqrt(1.0 + static_cast<double>(others.size()));
  const auto log_density = [&](double u) {
    double sum = -0.5 * (u - own) * (u - own);
    for (const double other : others) sum += log_normal_cdf(u - other);
    return sum;
  };
  const double top = log_density(mode);
  double total = 1.0;
  for (const double direction : {-step, step})
    for (int i = 1;; ++i) {
      const double fall = log_density(mode + i * direction) - top;
      if (!(fall > negligible)) break;
      total += std::exp(fall);
    }
  return top + std::log(step * total) - log_root_two_pi;
}

void draw_two_classes(const Latent& data, std::span<float> residual, std::span<float> latent, Stream& stream) {
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const float fit = latent[i] - residual[i];
    const double mean = static_cast<double>(fit) + data.centre[0] + (data.offset.empty() ? 0.0 : data.offset[i]);
    const double sign = data.response[i] == 1 ? 1.0 : -1.0;
    const int copies = copies_of(data, i);
    double sum = 0.0;
    for (int copy = 0; copy < copies; ++copy) sum += sign * stream.normal_above(-sign * mean);
    residual[i] = on_grid(sum / copies, data.grid);
    latent[i] = fit + residual[i];
  }
}

void draw_classes(const Latent& data, std::vector<std::vector<float>>& residual,
                  std::vector<std::vector<float>>& latent, Stream& stream) {
  const std::size_t classes = data.classes;
  std::vector<double> fit(classes), others(classes - 1), sum(classes);
  for (std::size_t i = 0; i < data.response.size(); ++i) {
    heed_interruption();
    const auto own = static_cast<std::size_t>(data.response[i]);
    for (std::size_t k = 0; k < classes; ++k)
      fit[k] = static_cast<double>(latent[k][i] - residual[k][i]) + data.centre[k];
    std::copy(fit.begin(), fit.begin() + static_cast<std::ptrdiff_t>(own), others.begin());
    std::copy(fit.begin() + static_cast<std::ptrdiff_t>(own) + 1, fit.end(),
              others.begin() + static_cast<std::ptrdiff_t>(own));
    std::fill(sum.begin(), sum.end(), 0.0);
    const int copies = copies_of(data, i);
    for (int copy = 0; copy < copies; ++copy) {
      const double largest = draw_largest(fit[own], others, stream);
      for (std::size_t k = 0; k < classes; ++k)
        sum[k] += k == own ? largest - fit[k] : -stream.normal_above(fit[k] - largest);
    }
    for (std::size_t k = 0; k < classes; ++k) {
      const float f = latent[k][i] - residual[k][i];
      residual[k][i] = on_grid(sum[k] / copies, data.grid);
      latent[k][i] = f + residual[k][i];
    }
  }
}

}  // namespace

void draw_latents(const Latent& data, std::vector<std::vector<float>>& residual,
                  std::vector<std::vector<float>>& latent, Stream& stream) {
  if (data.classes == 2)
    draw_two_classes(data, residual[0], latent[0], stream);
  else
    draw_classes(data, residual, latent, stream);
}

double class_log_likelihood(const Latent& data, const std::vector<std::vector<float>>& residual,
                            const std::vector<std::vector<float>>& latent) {
  const auto fit = [&](std::size_t i, std::size_t k) {
    return static_cast<double>(latent[k][i] - residual[k][i]) + data.centre[k];
  };
  const auto weight = [&](std::size_t i) { return data.weight.empty() ? 1.0 : static_cast<double>(data.weight[i]); };
  const std::size_t rows = data.response.size(), classes = data.classes;
  double total = 0.0;
  if (classes == 2) {
    for (std::size_t i = 0; i < rows; ++i) {
      const double mean = fit(i, 0) + (data.offset.empty() ? 0.0 : data.offset[i]);
      total += weight(i) * log_normal_cdf(data.response[i] == 1 ? mean : -mean);
    }
    return total;
  }
  constexpr std::size_t block = 256;
  constexpr double least = 1e-3;  // from which on the probabilities' error does not show in their logarithm
  std::vector<double> means, probabilities, others;
  for (std::size_t begin = 0; begin < rows; begin += block) {
    heed_interruption();
    const std::size_t end = std::min(rows, begin + block);
    means.clear();
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t k = 0; k < classes; ++k) means.push_back(fit(i, k));
    probabilities.resize(means.size());
    class_probabilities(means, classes, probabilities);
    for (std::size_t i = begin; i < end; ++i) {
      const auto own = static_cast<std::size_t>(data.response[i]);
      const double probability = probabilities[(i - begin) * classes + own];
      double log_probability = std::log(std::max(probability, least));
      if (probability < least) {
        others.clear();
        for (std::size_t k = 0; k < classes; ++k)
          if (k != own) others.push_back(fit(i, k));
        log_probability = log_largest(fit(i, own), others);
      }
      total += weight(i) * log_probability;
    }
  }
  return total;
}

}  // namespace baytree::bart
