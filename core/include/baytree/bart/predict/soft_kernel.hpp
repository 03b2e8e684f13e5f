#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/bart/predict/code_block.hpp"
#include "baytree/bart/predict/trees.hpp"
#include "baytree/base/simd.hpp"

namespace baytree::bart {

/// The loops over rows for soft rules. Both compute the padded rows of a block.
struct SoftKernel {
  /// Finds which share of each row goes right at a split: by a gate at a cut, and all or nothing of missing values, of
  /// categorical columns, where the rule asks whether the value is missing, and where no bandwidth is given.
  void (*find_shares)(const StoredTrees& trees, const StoredSplit& split, const CodeBlock& block,
                      const float* bandwidth, Lane<float>& right);
  /// Adds to each row's sum the values of the leaves, each times the share of the row that comes there. `spare` has
  /// room for a lane of each leaf.
  void (*add_values)(const StoredTrees& trees, std::size_t tree, const CodeBlock& block, const float* values,
                     const float* bandwidths, std::span<Lane<float>> spare, Lane<float>& sum);
};

/// The kernel for this width, which the machine must have.
SoftKernel soft_kernel(Simd simd);

}  // namespace baytree::bart
