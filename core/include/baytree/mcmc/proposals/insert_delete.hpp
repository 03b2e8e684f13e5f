#pragma once

#include "baytree/mcmc/proposals/context.hpp"

namespace baytree {

/// Inserts a split above any node, whose subtree goes to one side of it and a new leaf to the other, by a rule drawn by
/// prior and likelihood; or deletes a split together with a leaf that is its child. Each with probability ½ where both
/// are possible.
LogRatio insert_or_delete(ProposalContext& context);

}  // namespace baytree
