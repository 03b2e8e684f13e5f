#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baytree/slp/engine/analysis.hpp"
#include "baytree/slp/engine/machine.hpp"

namespace baytree::slp {

// To add a proposal: a value of `Proposal`, its case in `Mixture::propose`, where it is not exact its `objection`,
// and its value in bindings/slp.

/// Proposals that prune a proof at a choice and prove it again. N is the number of choices.
///
/// - `sequence` redraws all from choice k on; ratio N/N'. Exact always.
/// - `subtree` redraws, from choice k on, the smallest goal around it that can be proved by itself; ratio N/N'. Exact
/// because the rest of the
///   proof neither reads nor depends on it; where there is no such goal it would be `sequence`, and is refused.
/// - `address` redraws what lies under choice k by labels alone and keeps all other choices by their address; choices
/// that appear are drawn, a
///   failure means stay; ratio N/N' · Π p'/p over the choices kept. Exact under `reject`, and under `backtrack` where
///   nothing fails.
/// - `independent` redraws all; ratio 1. Exact always.
/// - `cycle` takes k = 0 … last in turn, by `subtree` where the program allows it and else by `sequence`; ratio 1, and
/// where there is no choice k it stays.
enum class Proposal : std::uint8_t { sequence, subtree, address, independent, cycle };

struct Component {
  Proposal proposal = Proposal::subtree;
  double weight = 1.0;
  std::uint64_t last = 0;  // of `cycle`
};

/// The proposal that suits a program best: `subtree` where part of it can be proved again by itself, else `address`
/// under `reject` and `sequence` under `backtrack`.
Proposal best_proposal(const Analysis& analysis, Semantics semantics);

/// Why a proposal would not be exact; nothing where it is.
std::optional<std::string> objection(Proposal proposal, const Analysis& analysis, Semantics semantics);

/// Proposals chosen by weight, whatever the state.
class Mixture {
 public:
  /// Throws InputError where one of them is not exact for the program.
  Mixture(std::vector<Component> components, const Analysis& analysis, Semantics semantics);

  std::size_t choose(Chance& chance) const;
  /// Lets component i propose. The log of π(T')q(T'→T) / π(T)q(T→T'), likelihood apart; nothing where the proof stays.
  /// After a proposal the machine must be told to accept or to discard.
  std::optional<double> propose(std::size_t i, Machine& machine, Chance& chance);
  /// Whether the likelihood ratio is to be cut at 1.

  std::vector<Component> components;
  std::vector<std::uint64_t> turns, accepted;  // of each component

 private:
  bool is_local_;
};

}  // namespace baytree::slp
