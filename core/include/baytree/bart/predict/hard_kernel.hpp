#pragma once

#include <cstdint>
#include <span>

#include "baytree/bart/predict/code_block.hpp"
#include "baytree/bart/predict/trees.hpp"
#include "baytree/base/simd.hpp"

namespace baytree::bart {

/// The two loops over rows by which leaf values are added up. Both compute the padded rows of a block.
struct HardKernel {
  /// Finds the leaf of each row of a block.
  void (*find_leaves)(const StoredTrees& trees, std::size_t tree, const CodeBlock& block, Lane<std::uint8_t>& leaf);
  /// Adds the value of each row's leaf.
  void (*add_values)(std::span<const float> values, const Lane<std::uint8_t>& leaf, std::size_t rows, Lane<float>& sum);
};

/// The kernel for this width, which the machine must have.
HardKernel hard_kernel(Simd simd);

}  // namespace baytree::bart
