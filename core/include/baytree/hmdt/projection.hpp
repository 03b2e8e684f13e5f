#pragma once

#include "baytree/hmdt/hidden_chains.hpp"

namespace baytree::hmdt {

/// The hidden chains of the nodes of a complete tree, of which node n has the children n · branching + 1 …; the
/// children of its lowest nodes are the outcomes. With many nodes there are too many joint states to be kept.
struct HiddenTree {
  std::size_t nodes = 1, branching = 2;
  std::span<const std::uint64_t> begin;    ///< as of HiddenChains
  std::span<const double> log_transition;  ///< (rows, nodes, decision before, decision)
  std::span<const double> log_evidence;    ///< (rows, outcomes)

  std::size_t rows() const { return begin.back(); }
  std::size_t outcomes() const { return nodes * (branching - 1) + 1; }

  /// Throws InputError unless all sizes agree and every row has an outcome that is possible.
  void check() const;
};

/// A forward pass that keeps the probabilities of each node's decisions, and not of their combinations: steps in time
/// are exact, as nodes step independently, and so is what a row adds, by a pass up the tree and one down; then the
/// nodes are taken as independent again (Boyen and Koller 1998).
Filtered project(const HiddenTree& tree, unsigned threads);

}  // namespace baytree::hmdt
