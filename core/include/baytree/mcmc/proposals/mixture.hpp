#pragma once

#include <cstdint>
#include <vector>

#include "baytree/mcmc/proposals/move.hpp"

namespace baytree {

enum class Proposal : std::uint8_t { uc, q0, cycle, birth_death, change, swap };

struct Component {
  Proposal proposal = Proposal::uc;
  double weight = 1.0;
  std::uint64_t last = 0;  // of `cycle`: it regrows at choice points 0 … last in turn
};

/// Proposals chosen by weight, whatever the state, so the mixture is exact if each of them is.
struct Mixture {
  explicit Mixture(std::vector<Component> components);

  std::size_t choose(Stream& stream) const;
  /// Takes component i's turn.
  LogRatio propose(std::size_t i, MoveContext& move);

  std::vector<Component> components;
  std::vector<std::uint64_t> turns, accepted;  // of each component; accepted counts the turns that changed the tree

 private:
  std::vector<double> cumulative_;
};

}  // namespace baytree
