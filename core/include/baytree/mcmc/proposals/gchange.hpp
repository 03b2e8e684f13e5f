#pragma once

#include "baytree/mcmc/proposals/context.hpp"

namespace baytree {

/// Draws the rule of one split again by prior and likelihood, among all rules that divide its rows in another way, and
/// keeps both subtrees: a Gibbs step over rules, metropolised (Liu 1996). Rules weigh w, and divisions W, with S the
/// sum of all; then q(T→T') = w'/(S − W) and q(T'→T) = w/(S − W').
LogRatio change_rule_by_likelihood(ProposalContext& context);

}  // namespace baytree
