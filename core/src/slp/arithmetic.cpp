#include "baytree/slp/arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace baytree::slp {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::optional<double> constant(const std::string& name) {
  if (name == "pi") return std::numbers::pi;
  if (name == "e") return std::numbers::e;
  if (name == "inf") return infinite;
  return std::nullopt;
}

std::optional<double> apply(const std::string& name, double x) {
  if (name == "-") return -x;
  if (name == "+") return x;
  if (name == "abs") return std::abs(x);
  if (name == "exp") return std::exp(x);
  if (name == "log") return std::log(x);
  if (name == "sqrt") return std::sqrt(x);
  if (name == "floor") return std::floor(x);
  if (name == "ceiling") return std::ceil(x);
  if (name == "round") return std::round(x);
  return std::nullopt;
}

std::optional<double> apply(const std::string& name, double x, double y) {
  if (name == "+") return x + y;
  if (name == "-") return x - y;
  if (name == "*") return x * y;
  if (name == "/") return x / y;
  if (name == "**" || name == "^" || name == "exp") return std::pow(x, y);
  if (name == "min") return std::min(x, y);
  if (name == "max") return std::max(x, y);
  if (name == "//") return std::trunc(x / y);
  if (name == "mod") return x - y * std::floor(x / y);
  if (name == "rem") return std::fmod(x, y);
  return std::nullopt;
}

std::optional<double> value_of(const Source& source, TermId id, std::span<const double> variables) {
  const Term& term = source.terms[id];
  const std::string& name = source.symbols.name(term.name);
  switch (term.kind) {
    case Kind::variable:
      return variables[term.variable];
    case Kind::integer:
      return static_cast<double>(term.integer);
    case Kind::real:
      return term.real;
    case Kind::atom:
      return constant(name);
    case Kind::compound:
      break;
  }
  const auto first = value_of(source, source.terms.argument(id, 0), variables);
  if (!first || term.arity > 2) return std::nullopt;
  if (term.arity == 1) return apply(name, *first);
  const auto second = value_of(source, source.terms.argument(id, 1), variables);
  return second ? apply(name, *first, *second) : std::nullopt;
}

/// Bounds from the corners, for an operation that is monotone in each of its arguments over the intervals.
Interval corners(const std::string& name, Interval x, Interval y) {
  Interval out{infinite, -infinite};
  for (const double a : {x.low, x.high})
    for (const double b : {y.low, y.high}) {
      // An unbounded factor is still finite: 0 times it is 0.
      const double value = name == "*" && (a == 0.0 || b == 0.0) ? 0.0 : *apply(name, a, b);
      if (std::isnan(value)) return {-infinite, infinite};  // such as ∞ − ∞
      out = {std::min(out.low, value), std::max(out.high, value)};
    }
  return out;
}

Interval combine(const std::string& name, Interval x, Interval y) {
  if (name == "/") {
    if (y.low > 0.0) return corners(name, x, y);
    // Behind a divisor of 0 or more only the sign is known.
    if (y.low == 0.0) return {x.low >= 0.0 ? 0.0 : -infinite, x.high <= 0.0 ? 0.0 : infinite};
    return {-infinite, infinite};
  }
  if (name == "**" || name == "^" || name == "exp") return x.low > 0.0 ? corners(name, x, y) : Interval{x.low >= 0.0 ? 0.0 : -infinite, infinite};
  if (name == "+" || name == "-" || name == "*" || name == "min" || name == "max") return corners(name, x, y);
  return {-infinite, infinite};
}

Interval combine(const std::string& name, Interval x) {
  if (name == "-") return {-x.high, -x.low};
  if (name == "exp" || name == "sqrt" || name == "abs") return {0.0, infinite};
  if (name == "+" || name == "floor" || name == "ceiling" || name == "round") return {*apply(name, x.low), *apply(name, x.high)};
  return {-infinite, infinite};
}

}  // namespace

std::optional<double> evaluate(const Source& source, TermId expression, std::span<const double> variables) {
  const auto value = value_of(source, expression, variables);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<Interval> bounds(const Source& source, TermId expression, Interval variables) {
  const Term& term = source.terms[expression];
  if (term.kind == Kind::variable) return variables;
  if (term.kind != Kind::compound) {
    const auto value = value_of(source, expression, {});
    return value ? std::optional<Interval>({*value, *value}) : std::nullopt;
  }
  const std::string& name = source.symbols.name(term.name);
  const auto first = bounds(source, source.terms.argument(expression, 0), variables);
  if (!first || term.arity > 2) return std::nullopt;
  if (term.arity == 1) return apply(name, 1.0) ? std::optional(combine(name, *first)) : std::nullopt;
  const auto second = bounds(source, source.terms.argument(expression, 1), variables);
  return second && apply(name, 1.0, 1.0) ? std::optional(combine(name, *first, *second)) : std::nullopt;
}

}  // namespace baytree::slp
