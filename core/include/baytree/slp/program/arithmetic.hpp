#pragma once

#include <optional>
#include <span>

#include "baytree/slp/syntax/parser.hpp"

namespace baytree::slp {

/// The smallest and largest value that an expression can have.
struct Interval {
  double low, high;
};

/// The value of an arithmetic expression, `variables[i]` being the value of variable i; nothing where it is no number
/// or has no finite value. `exp(X, Y)` is X to the power Y.
std::optional<double> evaluate(const Source& source, TermId expression, std::span<const double> variables);

/// Bounds of an expression given those of its variables; nothing where a part of it is unknown.
std::optional<Interval> bounds(const Source& source, TermId expression, Interval variables);

}  // namespace baytree::slp
