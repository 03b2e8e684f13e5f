#include "baytree/mcmc/proposals/mixture.hpp"

#include "baytree/base/error.hpp"
#include "baytree/mcmc/proposals/birth_death.hpp"
#include "baytree/mcmc/proposals/change.hpp"
#include "baytree/mcmc/proposals/regrow.hpp"
#include "baytree/mcmc/proposals/swap.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree {
namespace {

constexpr Fault fault_of(Proposal proposal) {
  constexpr Fault faults[] = {Fault::uc, Fault::q0, Fault::cycle, Fault::birth_death, Fault::change, Fault::swap};
  return faults[static_cast<std::size_t>(proposal)];
}

}  // namespace

Mixture::Mixture(std::vector<Component> parts)
    : components(std::move(parts)), turns(components.size()), accepted(components.size()) {
  if (components.empty()) throw InputError("a chain needs at least one proposal");
  double total = 0.0;
  for (const Component& component : components) {
    if (!(component.weight > 0.0 && component.weight < infinity))
      throw InputError("the weight of a proposal must be positive and finite");
    cumulative_.push_back(total += component.weight);
  }
}

std::size_t Mixture::choose(Stream& stream) const {
  if (components.size() == 1) return 0;
  const double place = stream.uniform() * cumulative_.back();
  std::size_t i = 0;
  while (i + 1 < cumulative_.size() && place >= cumulative_[i]) ++i;
  return i;
}

LogRatio Mixture::propose(std::size_t i, MoveContext& move) {
  const Component& component = components[i];
  const std::uint64_t turn = turns[i]++;
  LogRatio ratio;
  switch (component.proposal) {
    case Proposal::uc:
      ratio = regrow_anywhere(move);
      break;
    case Proposal::q0:
      ratio = regrow_at(move, 0);
      break;
    case Proposal::cycle:
      ratio = regrow_at(move, turn % (component.last + 1));
      break;
    case Proposal::birth_death:
      ratio = birth_or_death(move);
      break;
    case Proposal::change:
      ratio = change_rule(move);
      break;
    case Proposal::swap:
      ratio = swap_rules(move);
      break;
  }
  if (ratio && testing::is_injected(fault_of(component.proposal))) {
    const bool should_be_one = component.proposal == Proposal::q0 || component.proposal == Proposal::cycle;
    return should_be_one ? log_points_ratio(move, count_points(move.tree.nodes)) : 0.0;
  }
  return ratio;
}

}  // namespace baytree
