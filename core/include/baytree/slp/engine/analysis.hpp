#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "baytree/slp/engine/code.hpp"

namespace baytree::slp {

/// A goal that makes random choices, and whether it can be proved again by itself.
struct RandomGoal {
  Place place;
  std::string name;  // name/arity
  bool is_pure = false;
  std::string reason;  // why not
};

/// What can be said of a program without running it.
struct Analysis {
  /// Goals that can be proved again by themselves: all they are given is known by then, and nobody else reads what they
  /// give. So whether and how they succeed depends on the inside alone, and all else keeps its probabilities.
  std::unordered_set<TermId> pure;
  std::vector<RandomGoal> random_goals;
  /// Whether some of the random goals are pure: proving one of them again leaves the rest of a proof alone.
  bool is_local = false;
  /// Whether a choice may turn out to be a dead end, as far as we can see.
  bool may_fail = true;
  std::string failure;  // where
};

Analysis analyse(const Reading& reading);

}  // namespace baytree::slp
