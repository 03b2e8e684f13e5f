#include "baytree/mcmc/proposals/mixture.hpp"

#include "baytree/base/error.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree {
namespace {

LogRatio make(Proposal proposal, ProposalContext& context) {
  switch (proposal) {
#define BAYTREE_CASE(name, propose) \
  case Proposal::name:              \
    return propose(context);
    BAYTREE_EVERY_PROPOSAL(BAYTREE_CASE)
#undef BAYTREE_CASE
  }
  return std::nullopt;
}

constexpr Fault fault_of(Proposal proposal) {
#define BAYTREE_FAULT(name, propose) Fault::name,
  constexpr Fault faults[] = {BAYTREE_EVERY_PROPOSAL(BAYTREE_FAULT)};
#undef BAYTREE_FAULT
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

LogRatio Mixture::propose(std::size_t i, ProposalContext& context) {
  const Component& component = components[i];
  const std::uint64_t turn = turns[i]++;
  context.point = turn % (component.last + 1);
  const LogRatio ratio = make(component.proposal, context);
  if (ratio && testing::is_injected(fault_of(component.proposal))) {
    const bool should_be_one = component.proposal == Proposal::q0 || component.proposal == Proposal::cycle;
    return should_be_one ? log_points_ratio(context, count_points(context.tree.nodes)) : 0.0;
  }
  return ratio;
}

}  // namespace baytree
