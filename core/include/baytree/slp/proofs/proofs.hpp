#pragma once

#include <vector>

#include "baytree/slp/engine/machine.hpp"

namespace baytree::slp {

/// The choices of a proof.
struct PathChoice {
  std::uint64_t address;
  Option chosen;
  double probability;
};
using Path = std::vector<PathChoice>;

Path path_of(std::span<const Event> events);

/// The probabilities of all proofs of a goal, given their choices in the order in which `Machine::enumerate` finds
/// them. With ψ the product of a proof's choices: ψ/Z under `reject`; Π p/A under `backtrack`, where A is the share of
/// a choice's options that lead to any proof.
std::vector<double> proof_probabilities(const std::vector<Path>& paths, Semantics semantics);

}  // namespace baytree::slp
