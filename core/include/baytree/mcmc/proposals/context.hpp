#pragma once

#include <optional>

#include "baytree/priors/grow_tree.hpp"

namespace baytree {

class RuleWeights;

/// What a proposal works on. It leaves its candidate in `replacement` and the tree as it was.
struct ProposalContext {
  PartitionedTree& tree;
  Grower& grower;
  Stream& stream;
  Replacement& replacement;
  std::size_t point = 0;  // of `cycle`: the choice point whose turn it is
  // Of proposals that know the likelihood: what draws rules by it, and its power. Chains of single trees have both.
  RuleWeights* rule_weights = nullptr;
  double power = 1.0;
};

/// The subtree at `at`.
inline std::span<Node> subtree(PartitionedTree& tree, std::size_t at) {
  return {tree.nodes.data() + at, tree.nodes[at].size};
}

/// log of π(T') q(T'→T) / (π(T) q(T→T')), prior and proposal but not the likelihood; nothing where it is to stay.
using LogRatio = std::optional<double>;

/// The summed log prior of the replacement's nodes from `first` on, minus that of the nodes they would replace. Both
/// sides come from the same function; the candidate's nodes are assessed where they stand, on their own rows.
double log_prior_change(ProposalContext& context, std::size_t first);

}  // namespace baytree
