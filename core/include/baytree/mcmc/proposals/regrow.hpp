#pragma once

#include "baytree/mcmc/proposals/context.hpp"

namespace baytree {

/// Prune-and-regrow at a choice point chosen uniformly (`uc`): the regrown part is drawn from the prior given the rest,
/// so π and q cancel but for the choice of the point, and the ratio is N(T)/N(T') with N the number of choice points.
LogRatio regrow_anywhere(ProposalContext& context);

/// Prune-and-regrow at the root (`q0`): a new tree from the prior.
LogRatio regrow_root(ProposalContext& context);

/// Prune-and-regrow at the choice point whose turn it is (`cycle`). The point keeps its number in the new tree, so the
/// ratio is 1. A tree with no such point stays: moving to its last point instead would not be reversible.
LogRatio regrow_in_turn(ProposalContext& context);

/// log N(T)/N(T'), given N(T).
double log_points_ratio(ProposalContext& context, std::size_t points);

}  // namespace baytree
