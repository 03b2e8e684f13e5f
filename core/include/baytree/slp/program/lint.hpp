#pragma once

#include <string_view>

#include "baytree/slp/program/program.hpp"

namespace baytree::slp {

/// What in a well-formed program is probably not meant: labels that do not sum to 1 or can be negative, labelled
/// clauses mixed with unlabelled ones, predicates that are undefined or never reached, variables that occur once,
/// unlabelled left recursion. `goal` names the predicate that will be called, as `name/arity`; without one, every
/// predicate that no other calls counts as called.
Problems lint(const Program& program, std::string_view goal = {});

}  // namespace baytree::slp
