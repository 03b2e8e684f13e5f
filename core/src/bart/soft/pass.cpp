#include "baytree/bart/soft/pass.hpp"

#include <algorithm>

#include "baytree/base/simd.hpp"

namespace baytree::bart {
namespace {

template <class Code>
BAYTREE_INLINE void divide(const Code* codes, std::size_t rows, const float* gate, const float* node,
                           float* __restrict left, float* __restrict right) {
  for (std::size_t i = 0; i < rows; ++i) {
    const float to_right = node[i] * gate[codes[i]];
    right[i] = to_right;
    left[i] = node[i] - to_right;
  }
  std::fill(left + rows, left + padded(rows), 0.0f);
  std::fill(right + rows, right + padded(rows), 0.0f);
}

/// The products of x with several columns side by side, which keeps the adders busy; each column has lanes of its own.
template <std::size_t Columns>
BAYTREE_INLINE void dots(const float* x, const float* const* columns, std::size_t rows, double* sums) {
  float lanes[Columns][soft_lanes] = {};
  for (std::size_t i = 0; i < rows; i += soft_lanes)
    for (std::size_t column = 0; column < Columns; ++column)
      for (std::size_t lane = 0; lane < soft_lanes; ++lane)
        lanes[column][lane] += x[i + lane] * columns[column][i + lane];
  for (std::size_t column = 0; column < Columns; ++column) {
    double parts[soft_lanes];
    for (std::size_t lane = 0; lane < soft_lanes; ++lane) parts[lane] = static_cast<double>(lanes[column][lane]);
    for (std::size_t width = soft_lanes / 2; width > 0; width /= 2)
      for (std::size_t lane = 0; lane < width; ++lane) parts[lane] += parts[lane + width];
    sums[column] += parts[0];
  }
}

}  // namespace

template <>
BAYTREE_CLONES void divide_shares(const std::uint8_t* codes, std::size_t rows, const float* gate, const float* node,
                                  float* left, float* right) {
  divide(codes, rows, gate, node, left, right);
}
template <>
BAYTREE_CLONES void divide_shares(const std::uint16_t* codes, std::size_t rows, const float* gate, const float* node,
                                  float* left, float* right) {
  divide(codes, rows, gate, node, left, right);
}

BAYTREE_CLONES void add_dots(const float* x, const float* const* columns, std::size_t n, std::size_t rows,
                             double* sums) {
  std::size_t column = 0;
  for (; column + 4 <= n; column += 4) dots<4>(x, columns + column, rows, sums + column);
  for (; column < n; ++column) dots<1>(x, columns + column, rows, sums + column);
}

BAYTREE_CLONES void multiply(const float* x, const float* y, std::size_t rows, float* __restrict product) {
  for (std::size_t i = 0; i < rows; ++i) product[i] = x[i] * y[i];
}

BAYTREE_CLONES void add_fit(const float* const* shares, const float* values, std::size_t leaves, std::size_t rows,
                            float times, float rounder, float* residual) {
  float fit[soft_block];
  std::fill_n(fit, rows, 0.0f);
  for (std::size_t leaf = 0; leaf < leaves; ++leaf)
    for (std::size_t i = 0; i < rows; ++i) fit[i] += shares[leaf][i] * values[leaf];
  for (std::size_t i = 0; i < rows; ++i) residual[i] += times * ((fit[i] + rounder) - rounder);
}

}  // namespace baytree::bart
