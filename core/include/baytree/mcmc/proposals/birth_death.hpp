#pragma once

#include "baytree/mcmc/proposals/context.hpp"

namespace baytree {

/// Splits a leaf by a rule from the prior, or undoes a split of two leaves; each with probability ½ where both are
/// possible (Chipman, George and McCulloch 1998).
LogRatio birth_or_death(ProposalContext& context);

}  // namespace baytree
