#include "baytree/slp/proofs/proposal.hpp"

#include <algorithm>
#include <cmath>

#include "baytree/testing/fault.hpp"

namespace baytree::slp {
namespace {

// Under `reject` a part of a proof is redrawn until it succeeds; what succeeded once does so again, but may take long.
constexpr std::uint64_t most_attempts = 1'000'000;

/// The event of choice k.
std::size_t event_of(const Machine& machine, std::size_t k) {
  const std::span<const Event> events = machine.events();
  std::size_t at = 0;
  for (;; ++at)
    if (events[at].is_choice && k-- == 0) return at;
}

/// False where it failed and is not to be tried again.
bool redraw(Machine& machine, std::size_t k, Machine::Extent extent, Chance& chance) {
  const std::size_t event = event_of(machine, k);
  chance.begin_trial();
  for (std::uint64_t attempt = 0; attempt < most_attempts; ++attempt) {
    if (machine.prove_again(event, extent, Guide::fresh, chance) && !machine.took_second_try()) return true;
    machine.discard();
    if (!chance.tries_again()) return false;
  }
  throw InputError(machine.code().file + ": what lies behind a choice failed " + std::to_string(most_attempts) +
                   " times in a row; write the condition into the rules, so that choices that break it are not made");
}

double log_ratio(std::size_t before, std::size_t after) {
  return std::log(static_cast<double>(before)) - std::log(static_cast<double>(after));
}

}  // namespace

Proposal best_proposal(const Analysis& analysis, Semantics semantics) {
  if (analysis.is_local) return Proposal::subtree;
  return semantics == Semantics::reject ? Proposal::address : Proposal::sequence;
}

std::optional<std::string> objection(Proposal proposal, const Analysis& analysis, Semantics semantics) {
  if (proposal == Proposal::subtree && !analysis.is_local) {
    for (const RandomGoal& goal : analysis.random_goals)
      if (!goal.is_pure)
        return "subtree redraws part of a proof and keeps the rest, but no part of this program can be proved by "
               "itself: of " +
               goal.name + ", " + goal.reason;
    return "subtree redraws part of a proof and keeps the rest, but this program has one part only";
  }
  if (proposal == Proposal::address && semantics == Semantics::backtrack && analysis.may_fail)
    return "address keeps choices whose probabilities, under backtrack, depend on what fails, and this program may "
           "fail: " +
           analysis.failure + ". Use semantics reject, or another proposal";
  return std::nullopt;
}

Mixture::Mixture(std::vector<Component> parts, const Analysis& analysis, Semantics semantics)
    : components(std::move(parts)),
      turns(components.size()),
      accepted(components.size()),
      is_local_(analysis.is_local) {
  if (components.empty()) throw InputError("a chain needs at least one proposal");
  for (const Component& component : components) {
    if (!(component.weight > 0.0 && std::isfinite(component.weight)))
      throw InputError("the weight of a proposal must be positive and finite");
    if (testing::is_injected(Fault::proof_unaffected)) continue;
    if (const auto reason = objection(component.proposal, analysis, semantics)) throw InputError(*reason);
  }
}

std::size_t Mixture::choose(Chance& chance) const {
  if (components.size() == 1) return 0;
  std::vector<double> weights;
  double total = 0.0;
  for (const Component& component : components) {
    weights.push_back(component.weight);
    total += component.weight;
  }
  return chance.pick(weights, total);
}

std::optional<double> Mixture::propose(std::size_t i, Machine& machine, Chance& chance) {
  const Component& component = components[i];
  const std::uint64_t turn = turns[i]++;
  const std::size_t before = machine.choices();
  if (before == 0) return std::nullopt;
  const std::uint32_t depth = testing::is_injected(Fault::proof_depth) ? machine.depth() : 0;
  double ratio = 0.0;
  switch (component.proposal) {
    case Proposal::independent:
      if (!redraw(machine, 0, Machine::Extent::to_the_end, chance)) return std::nullopt;
      break;
    case Proposal::cycle: {
      std::size_t k = turn % (component.last + 1);
      if (testing::is_injected(Fault::proof_clamped)) k = std::min(k, before - 1);
      if (k >= before) return std::nullopt;
      if (!redraw(machine, k, is_local_ ? Machine::Extent::scope : Machine::Extent::to_the_end, chance))
        return std::nullopt;
      break;
    }
    case Proposal::sequence:
    case Proposal::subtree: {
      const bool is_part = component.proposal == Proposal::subtree && is_local_;
      if (!redraw(machine, chance.below(before), is_part ? Machine::Extent::scope : Machine::Extent::to_the_end,
                  chance))
        return std::nullopt;
      ratio = log_ratio(before, machine.choices_after());
      break;
    }
    case Proposal::address: {
      const std::size_t k = chance.below(before);
      if (!machine.prove_again(event_of(machine, k), Machine::Extent::to_the_end, Guide::matched, chance)) {
        machine.discard();
        return std::nullopt;
      }
      ratio = log_ratio(before, machine.choices_after());
      if (!testing::is_injected(Fault::proof_unaffected)) ratio += machine.log_kept_ratio();
      break;
    }
  }
  if (testing::is_injected(Fault::proof_one)) return 0.0;
  if (testing::is_injected(Fault::proof_depth)) return log_ratio(depth, machine.depth_after());
  return ratio;
}

}  // namespace baytree::slp
