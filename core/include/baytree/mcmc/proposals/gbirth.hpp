#pragma once

#include "baytree/mcmc/proposals/context.hpp"

namespace baytree {

/// Splits a leaf by a rule drawn by prior and likelihood, or undoes a split of two leaves; each with probability ½
/// where both are possible.
LogRatio birth_or_death_by_likelihood(ProposalContext& context);

}  // namespace baytree
