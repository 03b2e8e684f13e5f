#pragma once

#include <cstdint>
#include <vector>

#include "baytree/base/numeric.hpp"
#include "baytree/trees/forest.hpp"

namespace baytree::cart {

/// What a chain recorded. A tree that stayed the same is stored once: `state` counts the trees stored since the chain
/// began.
struct Draws {
  Forest forest;
  std::vector<double> statistics;  // of each leaf, in the order of the leaves
  std::vector<double> value;  // of each leaf E(y), or the probability of the second class, where trees must be monotone
  std::vector<std::int64_t> state;  // one a draw, as are the next two
  std::vector<double> log_likelihood, log_prior;
  std::vector<double> rung_log_likelihood;  // of a tempered chain: of every rung, the cold one first
};

/// Keeps in `best`, which has one tree or none, the tree that a chain is at, where P(T) · P(y|T)^power is higher.
template <class Chain>
void keep_best(Chain& chain, Draws& best) {
  const double power = chain.power(), log_likelihood = chain.log_likelihood();
  const double most = best.state.empty() ? -infinity : best.log_prior[0] + power * best.log_likelihood[0];
  // No prior probability is more than 1, and most trees need not have theirs computed.
  if (!(power * log_likelihood > most) || log_likelihood == infinity) return;
  const double log_prior = chain.log_prior();
  if (!(log_prior + power * log_likelihood > most)) return;
  best = {};
  chain.store(best);
  best.state.push_back(0);
  best.log_likelihood.push_back(log_likelihood);
  best.log_prior.push_back(log_prior);
}

}  // namespace baytree::cart
