#pragma once

#include <cstdint>
#include <span>

#include "baytree/bart/code_block.hpp"
#include "baytree/bart/sum_trees.hpp"
#include "baytree/simd.hpp"

namespace baytree {

/// The two loops over rows by which leaf values are added up. Both compute the padded rows of a block.
struct SumKernel {
  /// Finds the leaf of each row of a block.
  void (*find_leaves)(const SumTrees& trees, std::size_t tree, const CodeBlock& block, Lane<std::uint8_t>& leaf);
  /// Adds the value of each row's leaf.
  void (*add_values)(std::span<const float> values, const Lane<std::uint8_t>& leaf, std::size_t rows, Lane<float>& sum);
};

/// The kernel for this width, which the machine must have.
SumKernel sum_kernel(Simd simd);

}  // namespace baytree
