#include "baytree/cart/leaf/categorical.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"

namespace baytree::cart {

CategoricalLeaf::CategoricalLeaf(std::span<const std::int32_t> response, std::span<const double> weight,
                                 std::uint32_t classes, double concentration)
    : response_(response), weight_(weight), classes_(classes), concentration_(concentration) {
  if (!(concentration > 0.0) || concentration == infinity)
    throw InputError("concentration must be positive and finite");
  if (!weight.empty() && weight.size() != response.size()) throw InputError("one weight a row is needed");
  for (const std::int32_t k : response)
    if (k < 0 || static_cast<std::uint32_t>(k) >= classes)
      throw InputError("class code " + std::to_string(k) + " is out of range");
  if (!weight.empty()) return;
  const double total = classes * concentration, log_a = log_gamma(concentration), log_total = log_gamma(total);
  log_class_.resize(response.size() + 1);
  log_total_.resize(response.size() + 1);
  for (std::size_t n = 0; n <= response.size(); ++n) {
    log_class_[n] = log_gamma(static_cast<double>(n) + concentration) - log_a;
    log_total_[n] = log_total - log_gamma(static_cast<double>(n) + total);
  }
}

void CategoricalLeaf::statistics(std::span<const Row> rows, double* counts) const {
  std::fill_n(counts, classes_, 0.0);
  if (weight_.empty())
    for (const Row row : rows) counts[response_[row]] += 1.0;
  else
    for (const Row row : rows) counts[response_[row]] += weight_[row];
}

double CategoricalLeaf::log_marginal(std::span<const Row> rows, Buffer& counts) const {
  if (weight_.empty() && classes_ == 2) {
    std::size_t second = 0;
    for (const Row row : rows) second += static_cast<std::size_t>(response_[row]);
    return log_total_[rows.size()] + log_class_[rows.size() - second] + log_class_[second];
  }
  counts.resize(classes_);
  statistics(rows, counts.data());
  double sum = 0.0;
  if (weight_.empty()) {
    for (const double n : counts) sum += log_class_[static_cast<std::size_t>(n)];
    return sum + log_total_[rows.size()];
  }
  double n_total = 0.0;
  const double log_a = log_gamma(concentration_);
  for (const double n : counts) {
    sum += log_gamma(n + concentration_) - log_a;
    n_total += n;
  }
  return sum + log_gamma(classes_ * concentration_) - log_gamma(n_total + classes_ * concentration_);
}

void CategoricalLeaf::require_values() const {
  if (classes_ != 2)
    throw InputError("monotone: the response has " + std::to_string(classes_) +
                     " classes; a probability can rise with a column where there are two");
}

double CategoricalLeaf::draw_value(std::span<const Row> rows, Stream& stream) const {
  double counts[2];
  statistics(rows, counts);
  return stream.logit_beta(counts[1] + concentration_, counts[0] + concentration_);
}

double CategoricalLeaf::mean_of(double value) { return 1.0 / (1.0 + std::exp(-value)); }

}  // namespace baytree::cart
