#include "baytree/bart/soft/leaves.hpp"

#include <cmath>

#include "baytree/base/cholesky.hpp"

namespace baytree::bart {
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
  factorise(factor_.entries.data(), n, n + 1, [&](std::size_t, double left) {
    const double pivot = std::fmax(left, 1.0);  // as A is at least I, only rounding can take it below 1
    log_determinant += std::log(pivot);
    return pivot;
  });
  for (std::size_t k = 0; k < n; ++k) squares += factor_.row(k)[n] * factor_.row(k)[n];
  return 0.5 * (squares - log_determinant);
}

void SoftLeaves::draw(Stream& stream, std::span<float> values) {
  const std::size_t n = factor_.leaves;
  drawn_.resize(n);
  for (double& z : drawn_) z = stream.normal();
  // Cᵀμ = C⁻¹b + z, solved from the last leaf to the first. Not by `solve_upper`, whose sums run the other way.
  for (std::size_t k = n; k-- > 0;) {
    const double* row = factor_.row(k);
    double value = row[n] + drawn_[k];
    for (std::size_t l = k + 1; l < n; ++l) value -= row[l] * drawn_[l];
    drawn_[k] = value / row[k];
    values[k] = static_cast<float>(spread_ * drawn_[k]);
  }
}

}  // namespace baytree::bart
