#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace baytree::cart
