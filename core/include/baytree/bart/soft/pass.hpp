#pragma once

#include <cstddef>
#include <cstdint>

namespace baytree::bart {

/// Passes over rows for soft trees. All arrays of floats are padded with zeros to whole lanes.
inline constexpr std::size_t soft_lanes = 16;
/// Sums run in float over so many rows and in double across such blocks, so that their order is fixed.
inline constexpr std::size_t soft_block = 1024;

/// What a tree is fitted to.
struct SoftRows {
  float* residual = nullptr;
  const float* weight = nullptr;  // none where all rows weigh 1
};

constexpr std::size_t padded(std::size_t rows) { return (rows + soft_lanes - 1) / soft_lanes * soft_lanes; }

/// Divides the shares that a node has of the rows among its children, by the gate of its rule.
template <class Code>
void divide_shares(const Code* codes, std::size_t rows, const float* gate, const float* node, float* left,
                   float* right);

/// Adds Σ x y over at most a block of rows to the sum of each column y. Lane l adds the rows i with i mod 16 = l in
/// order.
void add_dots(const float* x, const float* const* columns, std::size_t n, std::size_t rows, double* sums);
/// product = x y.
void multiply(const float* x, const float* y, std::size_t rows, float* product);

/// Adds to the residuals `times`, 1 or −1, the fit of one tree over at most a block of rows: Σ share · value over its
/// leaves, rounded to whole units so that sums of fits are exact and do not depend on their order. `rounder` is 1.5 ·
/// 2²³ units, which added to a number leave no room for a fraction.
void add_fit(const float* const* shares, const float* values, std::size_t leaves, std::size_t rows, float times,
             float rounder, float* residual);

}  // namespace baytree::bart
