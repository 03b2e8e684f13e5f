#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "baytree/base/rng.hpp"

namespace baytree::bart {

/// What the values of leaves depend on: with Φ the shares of the rows in each leaf, W the rows' weights and r the
/// residuals without these leaves, the matrix ΦᵀWΦ and behind it the column ΦᵀWr, by rows. Of the matrix only the upper
/// half is kept.
struct LeafSystem {
  std::size_t leaves = 0;
  std::vector<double> entries;

  void clear(std::size_t n) {
    leaves = n;
    entries.assign(n * (n + 1), 0.0);
  }
  double* row(std::size_t leaf) { return entries.data() + leaf * (leaves + 1); }
  const double* row(std::size_t leaf) const { return entries.data() + leaf * (leaves + 1); }
};

/// The values of leaves given the residuals without them: r ~ N(Φμ, W⁻¹/precision), μ ~ N(0, spread² I). In units of
/// the spread, with A = I + spread² precision ΦᵀWΦ = CCᵀ and b = spread precision ΦᵀWr,
///   μ/spread ~ N(A⁻¹b, A⁻¹),   log p(r) = constant + ½ bᵀA⁻¹b − ½ log det A.
class SoftLeaves {
 public:
  /// The log marginal likelihood of the residuals, but for the constant that it has without any leaf.
  double fit(const LeafSystem& sums, double precision, double spread);
  /// Draws values from what was fitted.
  void draw(Stream& stream, std::span<float> values);

 private:
  double spread_ = 0.0;
  LeafSystem factor_;  // Cᵀ, and behind it the column C⁻¹b
  std::vector<double> drawn_;
};

}  // namespace baytree::bart
