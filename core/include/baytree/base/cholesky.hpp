#pragma once

#include <cmath>
#include <cstddef>

namespace baytree {

/// Takes row `pivot` of a factor, times its entry in the column of each row below, from that row.
void eliminate_row(double* a, std::size_t n, std::size_t width, std::size_t pivot);

/// In place, the Cholesky factor U of the symmetric n × n matrix A = U'U. Only the upper half is read and written, in
/// rows that are `width` numbers wide; columns B that stand behind the matrix become U'⁻¹B on the way.
///
/// `pivot(k, left)` is shown what is left of diagonal entry k and says what to take for it; where that is not positive
/// it ends. Returns how many rows were done.
///
/// This is the only factorisation of a whole matrix. The factor of a model's columns (subset/factor) grows and shrinks
/// by a column at a time, and enumeration (subset/enumeration) takes a few columns out of a triangle and keeps the
/// rest: these are other algorithms.
template <class Pivot>
std::size_t factorise(double* a, std::size_t n, std::size_t width, Pivot pivot) {
  for (std::size_t k = 0; k < n; ++k) {
    double* row = a + k * width;
    const double taken = pivot(k, row[k]);
    if (!(taken > 0.0)) return k;
    const double root = std::sqrt(taken);
    row[k] = root;
    for (std::size_t l = k + 1; l < width; ++l) row[l] /= root;
    eliminate_row(a, n, width, k);
  }
  return n;
}

/// In place, U'⁻¹x.
inline void solve_lower(const double* u, std::size_t n, std::size_t width, double* x) {
  for (std::size_t k = 0; k < n; ++k) {
    const double* row = u + k * width;
    x[k] /= row[k];
    for (std::size_t i = k + 1; i < n; ++i) x[i] -= row[i] * x[k];
  }
}

/// In place, U⁻¹x. Sums run from the last column to the first.
inline void solve_upper(const double* u, std::size_t n, std::size_t width, double* x) {
  for (std::size_t k = n; k-- > 0;) {
    const double* row = u + k * width;
    for (std::size_t i = n; --i > k;) x[k] -= row[i] * x[i];
    x[k] /= row[k];
  }
}

}  // namespace baytree
