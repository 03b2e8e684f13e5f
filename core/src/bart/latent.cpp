#include "baytree/bart/latent.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "baytree/bart/predict/class_probabilities.hpp"

namespace baytree::bart {
namespace {

double log_normal_cdf(double x) {
  if (x > -10.0) return std::log(0.5 * std::erfc(-x * std::numbers::sqrt2 / 2.0));
  // Mills' ratio, where the probability itself is lost
  const double square = x * x;
  return -0.5 * square - std::log(-x) - 0.5 * std::log(2.0 * std::numbers::pi) +
         std::log1p(-1.0 / square + 3.0 / (square * square));
}

/// φ(x)/Φ(x)
double inverse_mills(double x) {
  return std::exp(-0.5 * x * x - 0.5 * std::log(2.0 * std::numbers::pi) - log_normal_cdf(x));
}

float on_grid(double x, double grid) { return static_cast<float>(std::nearbyint(x / grid) * grid); }

int copies_of(const Latent& data, std::size_t row) {
  return data.weight.empty() ? 1 : static_cast<int>(data.weight[row]);
}

/// About where the density φ(u − own) Π Φ(u − f_j) of the row's own variable, given that it is the largest, has its
/// mode.
double near_mode(double own, std::span<const double> others, int steps) {
  double mode = own;
  for (const double other : others) mode = std::max(mode, other);
  for (int i = 0; i < steps; ++i) {
    double slope = 0.0;
    for (const double other : others) slope += inverse_mills(mode - other);
    mode += 0.5 * (own + slope - mode);
  }
  return mode;
}

/// That variable. Every factor of the product lies below its tangent in the logarithm; with tangents near the mode the
/// envelope is a normal density that is accepted mostly.
double draw_largest(double own, std::span<const double> others, Stream& stream) {
  const double mode = near_mode(own, others, 6);  // near it will do: any point gives an envelope
  double tilt = 0.0;
  for (const double other : others) tilt += inverse_mills(mode - other);
  for (;;) {
    const double u = own + tilt + stream.normal();
    double log_accept = -tilt * (u - mode);
    for (const double other : others) log_accept += log_normal_cdf(u - other) - log_normal_cdf(mode - other);
    if (std::log1p(-stream.uniform()) < log_accept) return u;
  }
}

/// The logarithm of the probability that it is the largest, however small: the trapezoidal rule around the mode,
/// relative to the density there, which falls off at least as fast as a normal one of variance 1.
double log_largest(double own, std::span<const double> others) {
  constexpr double reach = 8.0, step = 0.2;
  const double mode = near_mode(own, others, 40);
  const auto log_density = [&](double u) {
    double sum = -0.5 * (u - own) * (u - own);
    for (const double other : others) sum += log_normal_cdf(u - other);
    return sum;
  };
  const double top = log_density(mode);
  double total = 0.0;
  for (double u = mode - reach; u <= mode + reach; u += step) total += std::exp(log_density(u) - top);
  return top + std::log(step * total) - 0.5 * std::log(2.0 * std::numbers::pi);
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
