#include "baytree/cart/leaf/categorical.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/cart/leaf/sweep.hpp"
#include "baytree/cart/leaf/two_class_sweep.hpp"

namespace baytree::cart {
namespace {

constexpr std::size_t most_words = std::size_t{1} << 20;  // of the sets of all classes

}  // namespace

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
  const std::size_t words = words_for(response.size());
  if (classes * words > most_words) return;
  class_sets_.resize(classes * words);
  for (std::size_t row = 0; row < response.size(); ++row)
    class_sets_[static_cast<std::size_t>(response[row]) * words + row / word_bits] |= Word{1} << row % word_bits;
}

std::unique_ptr<LeafSweep> CategoricalLeaf::sweep() const {
  if (weight_.empty() && classes_ == 2) return std::make_unique<TwoClassSweep>(response_, log_class_, log_total_);
  return std::make_unique<Sweep<CategoricalLeaf>>(*this);
}

/// Whether sets are the quicker way to count the classes of these rows, which they are not for a few of many classes.
bool CategoricalLeaf::counts_by_sets(const NodeRows& rows) const {
  return rows.is_set() && !class_sets_.empty() && class_sets_.size() <= words_for(response_.size()) + 4 * rows.size();
}

void CategoricalLeaf::statistics(const NodeRows& rows, double* counts) const {
  if (counts_by_sets(rows)) {
    for (std::uint32_t k = 0; k < classes_; ++k) counts[k] = rows.count(class_set(k));
    return;
  }
  std::fill_n(counts, classes_, 0.0);
  if (weight_.empty())
    rows.for_each([&](Row row) { counts[response_[row]] += 1.0; });
  else
    rows.for_each([&](Row row) { counts[response_[row]] += weight_[row]; });
}

double CategoricalLeaf::log_marginal(const NodeRows& rows, Buffer& counts) const {
  if (weight_.empty() && classes_ == 2) {
    std::size_t second = 0;
    if (rows.is_set() && !class_sets_.empty())
      second = rows.count(class_set(1));
    else
      rows.for_each([&](Row row) { second += static_cast<std::size_t>(response_[row]); });
    return log_total_[rows.size()] + log_class_[rows.size() - second] + log_class_[second];
  }
  counts.resize(classes_);
  statistics(rows, counts.data());
  return log_marginal(counts.data(), rows.size());
}

double CategoricalLeaf::log_marginal(const double* counts, Row rows) const {
  const std::span<const double> all(counts, classes_);
  double sum = 0.0;
  if (weight_.empty()) {
    for (const double n : all) sum += log_class_[static_cast<std::size_t>(n)];
    return sum + log_total_[rows];
  }
  double n_total = 0.0;
  const double log_a = log_gamma(concentration_);
  for (const double n : all) {
    sum += log_gamma(n + concentration_) - log_a;
    n_total += n;
  }
  return sum + log_gamma(classes_ * concentration_) - log_gamma(n_total + classes_ * concentration_);
}

/// Of a leaf of one class.
double CategoricalLeaf::log_pure(double count) const {
  if (weight_.empty()) {
    const auto n = static_cast<std::size_t>(count);
    return log_class_[n] + log_total_[n];
  }
  const double total = classes_ * concentration_;
  return log_gamma(count + concentration_) - log_gamma(concentration_) + log_gamma(total) - log_gamma(count + total);
}

/// A leaf of all rows of a class, for each class: with (a)_n = Γ(a + n)/Γ(a) and A = K a, a leaf has
/// Π_k (a)_{n_k} / (A)_n ≤ Π_k (a)_{n_k} / (A)_{n_k}, as log Γ is convex; and leaves of one class are worth no more
/// than one of all their rows, as (a + i)/(A + i) grows with i. What the division of a class into two loses is log
/// convex in where it is divided, and so least at its ends.
double CategoricalLeaf::log_most_divided(const double* counts, Row rows, Row least) const {
  const std::span<const double> all(counts, classes_);
  double sum = 0.0;
  std::uint32_t present = 0;
  for (const double count : all) {
    if (count == 0.0) continue;
    sum += log_pure(count);
    ++present;
  }
  if (present > 1 || !weight_.empty() || rows < 2 * least || rows < 2) return sum;
  const double one = std::max(least, Row{1});
  return log_pure(one) + log_pure(static_cast<double>(rows) - one);
}

void CategoricalLeaf::moments(const double* counts, double* out) const {
  double total = classes_ * concentration_;
  for (std::uint32_t k = 0; k < classes_; ++k) total += counts[k];
  for (std::uint32_t k = 0; k < classes_; ++k) {
    out[k] = (counts[k] + concentration_) / total;
    out[classes_ + k] = out[k] * (counts[k] + concentration_ + 1.0) / (total + 1.0);
  }
}

void CategoricalLeaf::require_values() const {
  if (classes_ != 2)
    throw InputError("monotone: the response has " + std::to_string(classes_) +
                     " classes; a probability can rise with a column where there are two");
}

double CategoricalLeaf::draw_value(const NodeRows& rows, Stream& stream) const {
  double counts[2];
  statistics(rows, counts);
  return stream.logit_beta(counts[1] + concentration_, counts[0] + concentration_);
}

double CategoricalLeaf::mean_of(double value) { return 1.0 / (1.0 + std::exp(-value)); }

}  // namespace baytree::cart
