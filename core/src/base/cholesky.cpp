#include "baytree/base/cholesky.hpp"

#include "baytree/base/simd.hpp"

namespace baytree {

// Entry by entry, so wider vectors give the same bits.
BAYTREE_CLONES void eliminate_row(double* a, std::size_t n, std::size_t width, std::size_t pivot) {
  const double* from = a + pivot * width;
  for (std::size_t k = pivot + 1; k < n; ++k) {
    double* __restrict row = a + k * width;
    const double times = from[k];
    for (std::size_t l = k; l < width; ++l) row[l] -= times * from[l];
  }
}

}  // namespace baytree
