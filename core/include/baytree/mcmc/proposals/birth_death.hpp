#pragma once

#include "baytree/mcmc/proposals/move.hpp"

namespace baytree {

/// Splits a leaf by a rule from the prior, or undoes a split of two leaves; each with probability ½ where both are
/// possible (Chipman, George and McCulloch 1998).
LogRatio birth_or_death(MoveContext& move);

}  // namespace baytree
