#pragma once

#include <cstdint>
#include <vector>

#include "baytree/mcmc/proposals/birth_death.hpp"
#include "baytree/mcmc/proposals/change.hpp"
#include "baytree/mcmc/proposals/gbirth.hpp"
#include "baytree/mcmc/proposals/gchange.hpp"
#include "baytree/mcmc/proposals/insert_delete.hpp"
#include "baytree/mcmc/proposals/regrow.hpp"
#include "baytree/mcmc/proposals/swap.hpp"

namespace baytree {

/// The proposals of a single tree: the name of each, which is that of its fault as well, and the function that makes
/// it. The values of `Proposal`, what a mixture does with them and their names in Python come from this list.
///
/// To add one: a function `LogRatio name(ProposalContext&)` in a file of its own, a line here, and a fault
/// (testing/fault). Evaluate both directions by one function, as `log_prior_change` does, and assess every node of the
/// candidate.
// clang-format off
#define BAYTREE_EVERY_PROPOSAL(proposal)         \
  proposal(uc, regrow_anywhere)                  \
  proposal(q0, regrow_root)                      \
  proposal(cycle, regrow_in_turn)                \
  proposal(birth_death, birth_or_death)          \
  proposal(change, change_rule)                  \
  proposal(swap, swap_rules)                     \
  proposal(gbirth, birth_or_death_by_likelihood) \
  proposal(gchange, change_rule_by_likelihood)   \
  proposal(insert_delete, insert_or_delete)
// clang-format on

enum class Proposal : std::uint8_t {
#define BAYTREE_NAME(name, propose) name,
  BAYTREE_EVERY_PROPOSAL(BAYTREE_NAME)
#undef BAYTREE_NAME
};

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
  LogRatio propose(std::size_t i, ProposalContext& context);

  std::vector<Component> components;
  std::vector<std::uint64_t> turns, accepted;  // of each component; accepted counts the turns that changed the tree

 private:
  std::vector<double> cumulative_;
};

}  // namespace baytree
