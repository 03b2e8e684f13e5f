#pragma once

#include "baytree/mcmc/proposals/context.hpp"

namespace baytree {

/// Exchanges the rules of a split and of a split that is its child, chosen uniformly among such pairs. The exchange
/// undoes itself and keeps the number of pairs, so the ratio is that of the priors.
LogRatio swap_rules(ProposalContext& context);

}  // namespace baytree
