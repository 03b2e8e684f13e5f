#include "baytree/subset/coefficients.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace baytree::subset {

namespace {

/// Places in the factor by ascending column.
std::vector<std::size_t> ascending(std::span<const Column> order) {
  std::vector<std::size_t> places(order.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return order[a] < order[b]; });
  return places;
}

}  // namespace

void draw_coefficients(const Problem& problem, const Factor& factor, Stream& stream, CoefficientDraws& to) {
  const std::size_t q = factor.size();
  const Evidence& evidence = problem.evidence;
  const double shrinkage = evidence.draw_shrinkage(q, factor.explained(), stream);
  const double rest = evidence.rest(shrinkage * factor.explained());
  const double sigma = std::exp((std::log(rest / 2.0) - stream.log_gamma(evidence.half_freedom())) / 2.0);
  to.sigma.push_back(sigma);
  to.level.push_back(sigma * stream.normal());
  to.shrinkage.push_back(shrinkage);
  std::vector<double> w(q);
  const double spread = sigma * std::sqrt(shrinkage);
  for (std::size_t k = 0; k < q; ++k) w[k] = shrinkage * factor.w()[k] + spread * stream.normal();
  for (const std::size_t place : ascending(factor.order())) to.coefficient.push_back(factor.solved(place, w));
}

void append_means(const Problem& problem, const Factor& factor, std::vector<double>& to) {
  if (factor.size() == 0) return;
  const double shrinkage = problem.evidence.mean_shrinkage(factor.size(), factor.explained());
  for (const std::size_t place : ascending(factor.order())) to.push_back(shrinkage * factor.solved(place, factor.w()));
}

}  // namespace baytree::subset
