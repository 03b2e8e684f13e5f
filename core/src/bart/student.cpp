#include "baytree/bart/student.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "baytree/bart/hard/pass.hpp"
#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::bart {
namespace {

constexpr double sds_in_reach = 16.0;

double log_prior(double freedom) { return 2.0 * std::log(freedom) - 0.1 * freedom; }

/// log of what the density of t has before its kernel, without log σ.
double log_constant(double freedom) {
  return log_gamma(0.5 * (freedom + 1.0)) - log_gamma(0.5 * freedom) - 0.5 * std::log(freedom * std::numbers::pi);
}

std::size_t blocks_of(std::size_t rows) { return (rows + block_rows - 1) / block_rows; }

/// Calls work(block, begin, end) for all blocks of rows.
template <class Work>
void share_rows(Team& team, std::size_t rows, const Work& work) {
  team.share(blocks_of(rows),
             [&](std::size_t block) { work(block, block * block_rows, std::min(rows, (block + 1) * block_rows)); });
}

}  // namespace

double Student::reach(std::span<const double> response) {
  std::vector<double> size(response.size());
  std::transform(response.begin(), response.end(), size.begin(), [](double y) { return std::abs(y); });
  const auto middle = size.begin() + static_cast<std::ptrdiff_t>(size.size() / 2);
  std::nth_element(size.begin(), middle, size.end());
  return sds_in_reach * (*middle > 0.0 ? 2.0 * *middle : 0.25);
}

Student::Student(std::span<const double> response, std::span<const float> weight, double grid)
    : response_(response),
      weight_(weight),
      grid_(grid),
      reach_(reach(response)),
      most_sd_(reach_ / sds_in_reach),
      choice_(choices.size() / 2),
      latent_(response.size()),
      scale_(response.size(), 1.0),
      precision_(response.size(), 1.0f) {}

/// Σ log(1 + w r² / (σ² ν)) over the rows, of each ν.
Student::Logs Student::log_kernels(double sigma, std::span<const float> residual, Team& team) const {
  // So many factors are multiplied before there is a logarithm, and what is larger has one of its own.
  constexpr std::size_t together = 16;
  constexpr double far = 1e18;
  Logs inverse;
  for (std::size_t k = 0; k < choices.size(); ++k) inverse[k] = 1.0 / choices[k];
  std::vector<Logs> of_blocks(blocks_of(response_.size()));
  share_rows(team, response_.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    Logs sum{}, product;
    for (std::size_t first = begin; first < end; first += together) {
      product.fill(1.0);
      for (std::size_t i = first; i < std::min(end, first + together); ++i) {
        const double r = residual_of(i, residual) / sigma, square = weight(i) * r * r;
        if (square < far)
          for (std::size_t k = 0; k < choices.size(); ++k) product[k] *= 1.0 + square * inverse[k];
        else
          for (std::size_t k = 0; k < choices.size(); ++k) sum[k] += std::log(square * inverse[k]);
      }
      for (std::size_t k = 0; k < choices.size(); ++k) sum[k] += std::log(product[k]);
    }
    of_blocks[block] = sum;
  });
  Logs total{};
  for (const Logs& sum : of_blocks)
    for (std::size_t k = 0; k < choices.size(); ++k) total[k] += sum[k];
  return total;
}

void Student::draw(double sigma, bool likelihood, std::span<float> residual, Stream& stream, Team& team) {
  Logs log_weight{};
  if (likelihood) log_weight = log_kernels(sigma, residual, team);
  const double rows = likelihood ? static_cast<double>(response_.size()) : 0.0;
  for (std::size_t k = 0; k < choices.size(); ++k) {
    const double freedom = choices[k];
    log_weight[k] = log_prior(freedom) + rows * log_constant(freedom) - 0.5 * (freedom + 1.0) * log_weight[k];
  }
  const double largest = *std::max_element(log_weight.begin(), log_weight.end());
  double total = 0.0;
  for (double& weight : log_weight) total += std::exp(weight - largest);
  double left = stream.uniform() * total;
  for (choice_ = 0; choice_ + 1 < choices.size(); ++choice_)
    if ((left -= std::exp(log_weight[choice_] - largest)) < 0.0) break;
  if (!likelihood) return;
  // Every block of rows has random numbers of its own, so that they do not depend on threads.
  const std::uint64_t key = stream.next64();
  share_rows(team, response_.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    Stream own(key, Role::rows, static_cast<std::uint32_t>(block));
    draw_rows(sigma, residual, begin, end, own);
  });
}

void Student::draw_rows(double sigma, std::span<float> residual, std::size_t begin, std::size_t end, Stream& stream) {
  const double most_variance = most_sd_ * most_sd_;
  const double nu = freedom(), shape = 0.5 * (nu + 1.0), variance = sigma * sigma;
  const bool blind = testing::is_injected(Fault::student_scale), unmoved = testing::is_injected(Fault::student_far);
  for (std::size_t i = begin; i < end; ++i) {
    const double r = residual_of(i, residual), w = weight(i), square = blind ? 0.0 : w * r * r / variance;
    const double scale = w * std::exp(stream.log_gamma(shape)) / (0.5 * (nu + square));
    // The part that the first of two normal numbers has in the variance of their sum.
    const double part = std::min(most_variance * scale / variance, 1.0);
    // Drawn whether it is needed or not: rounding that moves one row across the border leaves the others' numbers
    // alone.
    const double normal = stream.normal();
    const double pull = unmoved && part < 1.0 ? 0.0 : part * r;
    const double from_fit = pull + most_sd_ * std::sqrt(1.0 - part) * normal;
    const float fit = latent_[i] - residual[i];
    residual[i] = static_cast<float>(std::nearbyint(std::clamp(from_fit, -reach_, reach_) / grid_) * grid_);
    latent_[i] = fit + residual[i];
    scale_[i] = scale;
    precision_[i] = static_cast<float>(part < 1.0 ? 1.0 / most_variance : scale / variance);
  }
}

double Student::squares(std::span<const float> residual) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const double r = residual_of(i, residual);
    sum += scale_[i] * r * r;
  }
  return sum;
}

double Student::log_likelihood(double sigma, std::span<const float> residual) const {
  const double nu = freedom();
  double sum = static_cast<double>(residual.size()) * (log_constant(nu) - std::log(sigma));
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const double r = residual_of(i, residual) / sigma, w = weight(i);
    sum += 0.5 * std::log(w) - 0.5 * (nu + 1.0) * std::log1p(w * r * r / nu);
  }
  return sum;
}

void Student::forget(std::span<float> residual) {
  for (std::size_t i = 0; i < residual.size(); ++i) {
    residual[i] -= latent_[i];
    latent_[i] = 0.0f;
  }
}

void Student::restore(double freedom) {
  const auto* const found = std::find(choices.begin(), choices.end(), freedom);
  if (found == choices.end()) throw InputError("chain: the noise cannot have these degrees of freedom");
  choice_ = static_cast<std::size_t>(found - choices.begin());
}

}  // namespace baytree::bart
