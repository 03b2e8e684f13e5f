#include "baytree/slp/program/arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "baytree/slp/program/number.hpp"

namespace baytree::slp {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::optional<Function> function_of(const Source& source, TermId id) {
  const Term& term = source.terms[id];
  return term.kind == Kind::atom || term.kind == Kind::compound
             ? function_named(source.symbols.name(term.name), term.arity)
             : std::nullopt;
}

std::optional<Number> value_of(const Source& source, TermId id, std::span<const double> variables) {
  const Term& term = source.terms[id];
  if (term.kind == Kind::variable) return Number::of(variables[term.variable]);
  if (term.kind == Kind::integer) return Number::whole(term.integer);
  if (term.kind == Kind::real) return Number::of(term.real);
  const auto function = function_of(source, id);
  if (!function) return std::nullopt;
  Number arguments[2];
  for (std::uint32_t i = 0; i < term.arity; ++i) {
    const auto value = value_of(source, source.terms.argument(id, i), variables);
    if (!value) return std::nullopt;
    arguments[i] = *value;
  }
  return apply(*function, arguments[0], arguments[1]);
}

double real_value(Function function, double x, double y) {
  const auto value = apply(function, Number::of(x), Number::of(y));
  return value ? value->value() : std::numeric_limits<double>::quiet_NaN();
}

/// Bounds from the corners, for an operation that is monotone in each of its arguments over the intervals.
Interval corners(Function function, Interval x, Interval y) {
  Interval out{infinite, -infinite};
  for (const double a : {x.low, x.high})
    for (const double b : {y.low, y.high}) {
      // An unbounded factor is still finite: 0 times it is 0.
      const double value = function == Function::multiply && (a == 0.0 || b == 0.0) ? 0.0 : real_value(function, a, b);
      if (std::isnan(value)) return {-infinite, infinite};  // such as ∞ − ∞
      out = {std::min(out.low, value), std::max(out.high, value)};
    }
  return out;
}

Interval combine(Function function, Interval x, Interval y) {
  switch (function) {
    case Function::divide:
      if (y.low > 0.0) return corners(function, x, y);
      // Behind a divisor of 0 or more only the sign is known.
      if (y.low == 0.0) return {x.low >= 0.0 ? 0.0 : -infinite, x.high <= 0.0 ? 0.0 : infinite};
      return {-infinite, infinite};
    case Function::power:
      return x.low > 0.0 ? corners(function, x, y) : Interval{x.low >= 0.0 ? 0.0 : -infinite, infinite};
    case Function::add:
    case Function::subtract:
    case Function::multiply:
    case Function::minimum:
    case Function::maximum:
      return corners(function, x, y);
    default:
      return {-infinite, infinite};
  }
}

Interval combine(Function function, Interval x) {
  switch (function) {
    case Function::negate:
      return {-x.high, -x.low};
    case Function::exponential:
    case Function::square_root:
    case Function::absolute:
      return {0.0, infinite};
    case Function::plus:
      return x;
    case Function::floor:
      return {std::floor(x.low), std::floor(x.high)};
    case Function::ceiling:
      return {std::ceil(x.low), std::ceil(x.high)};
    case Function::round:
      return {std::round(x.low), std::round(x.high)};
    default:
      return {-infinite, infinite};
  }
}

}  // namespace

std::optional<double> evaluate(const Source& source, TermId expression, std::span<const double> variables) {
  const auto value = value_of(source, expression, variables);
  return value && std::isfinite(value->value()) ? std::optional(value->value()) : std::nullopt;
}

std::optional<Interval> bounds(const Source& source, TermId expression, Interval variables) {
  const Term& term = source.terms[expression];
  if (term.kind == Kind::variable) return variables;
  if (term.kind != Kind::compound) {
    const auto value = value_of(source, expression, {});
    return value ? std::optional<Interval>({value->value(), value->value()}) : std::nullopt;
  }
  const auto function = function_of(source, expression);
  if (!function) return std::nullopt;
  const auto first = bounds(source, source.terms.argument(expression, 0), variables);
  if (!first || term.arity == 1) return first ? std::optional(combine(*function, *first)) : std::nullopt;
  const auto second = bounds(source, source.terms.argument(expression, 1), variables);
  return second ? std::optional(combine(*function, *first, *second)) : std::nullopt;
}

}  // namespace baytree::slp
