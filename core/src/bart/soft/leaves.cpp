#include "baytree/bart/soft/leaves.hpp"

#include <cmath>

#include "baytree/base/simd.hpp"

namespace baytree::bart {
namespace {

/// Takes row `pivot` of the factor, times its entry in the column of each row below, from that row. Entry by entry, so
/// wider vectors give the same bits.
BAYTREE_CLONES void eliminate(LeafSystem& factor, std::size_t pivot) {
  const std::size_t n = factor.leaves;
  const double* from = factor.row(pivot);
  for (std::size_t k = pivot + 1; k < n; ++k) {
    double* __restrict row = factor.row(k);
    const double times = from[k];
    for (std::size_t l = k; l <= n; ++l) row[l] -= times * from[l];
  }
}

}  // namespace

double SoftLeaves::fit(const LeafSystem& sums, double precision, double spread) {
  const std::size_t n = sums.leaves;
  const double scale = spread * precision;
  spread_ = spread;
  factor_.clear(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double* from = sums.row(k);
    double* row = factor_.row(k);
    for (std::size_t l = k; l < n; ++l) row[l] = spread * scale * from[l];
    row[k] += 1.0;
    row[n] = scale * from[n];
  }
  double squares = 0.0, log_determinant = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    double* row = factor_.row(k);
    const double pivot = std::fmax(row[k], 1.0);  // as A is at least I, only rounding can take it below 1
    const double root = std::sqrt(pivot);
    row[k] = root;
    for (std::size_t l = k + 1; l <= n; ++l) row[l] /= root;
    eliminate(factor_, k);
    squares += row[n] * row[n];
    log_determinant += std::log(pivot);
  }
  return 0.5 * (squares - log_determinant);
}

void SoftLeaves::draw(Stream& stream, std::span<float> values) {
  const std::size_t n = factor_.leaves;
  drawn_.resize(n);
  for (double& z : drawn_) z = stream.normal();
  // Cᵀμ = C⁻¹b + z, solved from the last leaf to the first.
  for (std::size_t k = n; k-- > 0;) {
    const double* row = factor_.row(k);
    double value = row[n] + drawn_[k];
    for (std::size_t l = k + 1; l < n; ++l) value -= row[l] * drawn_[l];
    drawn_[k] = value / row[k];
    values[k] = static_cast<float>(spread_ * drawn_[k]);
  }
}

}  // namespace baytree::bart
