#pragma once

#include "baytree/mcmc/proposals/context.hpp"

namespace baytree {

/// Draws the rule of one split again from the prior and keeps all below it. The new rule's prior and proposal cancel;
/// what is left is the prior of the nodes below, whose rows have changed.
LogRatio change_rule(ProposalContext& context);

}  // namespace baytree
