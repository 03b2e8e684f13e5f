#pragma once

#include <span>
#include <vector>

#include "baytree/trees/tree.hpp"

namespace baytree::bart {

/// Whether a rule has a soft form: a cut between observed values. Level sets and the question "is it missing?" are
/// hard.
inline bool may_be_soft(const Column& column, const Rule& rule) {
  return !column.categorical && rule.cut + 1 < column.observed;
}

/// The share that goes right at a rule, of rows of each code of its column, the missing code included: see `Gate`.
/// There are at most a few hundred codes, so no row needs an exponential. Shares are 0 or 1 where the rule is hard and
/// of missing values, which go one way.
void fill_gate(const Column& column, const Rule& rule, bool missing_left, std::span<float> right);

}  // namespace baytree::bart
