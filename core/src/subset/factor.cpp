#include "baytree/subset/factor.hpp"

#include <algorithm>
#include <cmath>

#include "baytree/base/cholesky.hpp"
#include "baytree/base/simd.hpp"

namespace baytree::subset {

namespace {

// The passes over all columns. Each column has its own sums, so that the bits do not depend on how many are done at
// once.

BAYTREE_CLONES void subtract_multiple(double* to, const double* from, double factor, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) to[j] -= factor * from[j];
}

BAYTREE_CLONES void divide(double* values, double divisor, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) values[j] /= divisor;
}

/// What a row of R explains of each column, and of its product with y, is taken off (sign −1) or given back (sign 1).
BAYTREE_CLONES void account(const double* row, double w, double sign, double* left, double* product, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    left[j] += sign * (row[j] * row[j]);
    product[j] += sign * (row[j] * w);
  }
}

BAYTREE_CLONES void rotate(double* first, double* second, double cosine, double sine, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    const double a = first[j], b = second[j];
    first[j] = cosine * a + sine * b;
    second[j] = cosine * b - sine * a;
  }
}

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

double log_squares(const double* l, std::size_t m) {
  double sum = 0.0;
  for (std::size_t i = 0; i < m; ++i) sum += 2.0 * std::log(l[i * m + i]);
  return sum;
}

}  // namespace

Factor::Factor(const Problem& problem)
    : problem_(&problem),
      columns_(problem.columns()),
      place_(problem.columns()),
      left_(problem.columns()),
      product_(problem.columns()) {
  clear();
}

void Factor::clear() {
  order_.clear();
  w_.clear();
  for (Column j = 0; j < columns_; ++j) left_[j] = problem_->cross(j, j);
  std::copy(problem_->response.begin(), problem_->response.end(), product_.begin());
  summarise();
}

void Factor::enter(Unit unit) {
  for (Column j = problem_->unit_begin[unit]; j < problem_->unit_begin[unit + 1]; ++j) push(j);
  summarise();
}

void Factor::leave(Unit unit) {
  for (Column j = problem_->unit_begin[unit + 1]; j-- > problem_->unit_begin[unit];) pull(place_[j]);
  summarise();
}

void Factor::reserve(std::size_t size) {
  if (size <= capacity_) return;
  const std::size_t capacity = std::min(columns_, std::max<std::size_t>(2 * capacity_, 8));
  rows_.resize(capacity * columns_);
  std::vector<double> inverse(capacity * capacity);
  for (std::size_t k = 0; k < order_.size(); ++k)
    std::copy_n(inverse_row(k), order_.size(), inverse.data() + k * capacity);
  inverse_ = std::move(inverse);
  capacity_ = capacity;
}

void Factor::push(Column column) {
  const std::size_t q = order_.size();
  reserve(q + 1);
  double* added = row(q);
  std::copy_n(problem_->gram.data() + column * columns_, columns_, added);
  added[column] = problem_->cross(column, column);
  for (std::size_t k = 0; k < q; ++k) subtract_multiple(added, row(k), row(k)[column], columns_);
  // Columns that come in another order leave other parts of their squares, so that one of a model that exists may be
  // somewhat below the limit here.
  const double pivot = std::sqrt(std::max(added[column], 1e-3 * problem_->least_pivot(column)));
  divide(added, pivot, columns_);
  added[column] = pivot;
  double product = problem_->response[column];
  for (std::size_t k = 0; k < q; ++k) product -= row(k)[column] * w_[k];
  w_.push_back(product / pivot);
  account(added, w_.back(), -1.0, left_.data(), product_.data(), columns_);
  for (std::size_t i = 0; i < q; ++i) {
    double sum = 0.0;
    for (std::size_t l = i; l < q; ++l) sum += inverse_row(i)[l] * row(l)[column];
    inverse_row(i)[q] = -sum / pivot;
  }
  std::fill_n(inverse_row(q), q, 0.0);
  inverse_row(q)[q] = 1.0 / pivot;
  place_[column] = static_cast<std::uint32_t>(q);
  order_.push_back(column);
}

void Factor::pull(std::size_t k) {
  const std::size_t q = order_.size();
  // Without column k the factor has one entry too many in each later column; a rotation of two rows removes it.
  for (std::size_t l = k; l + 1 < q; ++l) {
    const Column column = order_[l + 1];
    const double a = row(l)[column], b = row(l + 1)[column], length = std::hypot(a, b), cosine = a / length,
                 sine = b / length;
    rotate(row(l), row(l + 1), cosine, sine, columns_);
    row(l)[column] = length;
    row(l + 1)[column] = 0.0;
    const double first = w_[l], second = w_[l + 1];
    w_[l] = cosine * first + sine * second;
    w_[l + 1] = cosine * second - sine * first;
    for (std::size_t i = 0; i < q; ++i) {
      double* inverse = inverse_row(i);
      const double x = inverse[l], y = inverse[l + 1];
      inverse[l] = cosine * x + sine * y;
      inverse[l + 1] = cosine * y - sine * x;
    }
    place_[column] = static_cast<std::uint32_t>(l);
  }
  // The last row is now the part of the column that leaves.
  account(row(q - 1), w_.back(), 1.0, left_.data(), product_.data(), columns_);
  for (std::size_t i = k; i + 1 < q; ++i) std::copy_n(inverse_row(i + 1), q, inverse_row(i));
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(k));
  w_.pop_back();
}

void Factor::summarise() {
  const std::size_t q = order_.size();
  explained_ = dot(w_.data(), w_.data(), q);
  log_determinant_ = 0.0;
  coefficient_.resize(q);
  variance_.resize(q);
  for (std::size_t k = 0; k < q; ++k) {
    log_determinant_ += 2.0 * log_if_used(row(k)[order_[k]]);
    coefficient_[k] = solved(k, w_);
    variance_[k] = dot(inverse_row(k) + k, inverse_row(k) + k, q - k);
  }
}

double Factor::solved(std::size_t place, std::span<const double> x) const {
  return dot(inverse_row(place) + place, x.data() + place, size() - place);
}

Change Factor::entering(Unit unit) const {
  const Column begin = problem_->unit_begin[unit];
  if (problem_->size(unit) == 1) {
    const double left = left_[begin];
    if (!(left > problem_->least_pivot(begin))) return {};
    return {true, explained_ + product_[begin] * product_[begin] / left, log_determinant_ + log_if_used(left)};
  }
  take_left(unit);
  return added(unit, {true, explained_, log_determinant_});
}

Change Factor::leaving(Unit unit) const {
  const std::size_t m = problem_->size(unit);
  if (m == 1) {
    const std::size_t k = place_[problem_->unit_begin[unit]];
    return {true, explained_ - coefficient_[k] * coefficient_[k] / variance_[k],
            log_determinant_ + log_if_used(variance_[k])};
  }
  take_variance(unit);
  const double* l = variance_block_.data();
  const double* x = variance_block_.data() + m * m;
  return {true, explained_ - dot(x, x, m), log_determinant_ + log_squares(l, m)};
}

Change Factor::exchanging(Unit out, Unit in) const {
  const std::size_t m = problem_->size(out), n = problem_->size(in), q = size();
  const Change base = leaving(out);
  take_variance(out);
  take_left(in);
  const double* l = variance_block_.data();
  const double* x = variance_block_.data() + m * m;
  // What the unit that leaves explains of each column that enters is theirs again.
  side_.assign(n * m, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const Column column = problem_->unit_begin[in] + static_cast<Column>(j);
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t k = place_[problem_->unit_begin[out] + i];
      double sum = 0.0;
      for (std::size_t o = k; o < q; ++o) sum += inverse_row(k)[o] * row(o)[column];
      side_[j * m + i] = sum;
    }
    solve_lower(l, m, m, side_.data() + j * m);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) left_block_[i * n + j] += dot(side_.data() + i * m, side_.data() + j * m, m);
    left_block_[n * n + i] += dot(side_.data() + i * m, x, m);
  }
  return added(in, base);
}

/// The unit's block of A that the model leaves unexplained, and its products with what is left of y.
void Factor::take_left(Unit unit) const {
  const std::size_t m = problem_->size(unit);
  const Column begin = problem_->unit_begin[unit];
  left_block_.resize(m * m + m);
  for (std::size_t i = 0; i < m; ++i) {
    const Column a = begin + static_cast<Column>(i);
    for (std::size_t j = 0; j <= i; ++j) {
      const Column b = begin + static_cast<Column>(j);
      double sum = i == j ? left_[a] : problem_->cross(a, b);
      if (i != j)
        for (std::size_t k = 0; k < size(); ++k) sum -= row(k)[a] * row(k)[b];
      left_block_[i * m + j] = left_block_[j * m + i] = sum;
    }
    left_block_[m * m + i] = product_[a];
  }
}

/// The Cholesky factor U of the unit's block of M, and U'⁻¹β.
void Factor::take_variance(Unit unit) const {
  const std::size_t m = problem_->size(unit), q = size();
  const Column begin = problem_->unit_begin[unit];
  variance_block_.resize(m * m + m);
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t a = place_[begin + i];
    for (std::size_t j = 0; j <= i; ++j)
      variance_block_[j * m + i] = dot(inverse_row(a), inverse_row(place_[begin + j]), q);
    variance_block_[m * m + i] = coefficient_[a];
  }
  factorise(variance_block_.data(), m, m, [](std::size_t, double left) { return left; });
  solve_lower(variance_block_.data(), m, m, variance_block_.data() + m * m);
}

/// The unit of `left_block_` enters a model of these figures.
Change Factor::added(Unit unit, Change base) const {
  const std::size_t m = problem_->size(unit);
  double* l = left_block_.data();
  double* e = l + m * m;
  const Column begin = problem_->unit_begin[unit];
  const auto pivot = [&](std::size_t i, double left) {
    return left > problem_->least_pivot(begin + static_cast<Column>(i)) ? left : 0.0;
  };
  if (factorise(l, m, m, pivot) < m) return {};
  solve_lower(l, m, m, e);
  return {true, base.explained + dot(e, e, m), base.log_determinant + log_squares(l, m)};
}

}  // namespace baytree::subset
