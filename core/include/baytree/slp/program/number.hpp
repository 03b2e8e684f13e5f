#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace baytree::slp {

/// A number of a program: whole numbers stay whole as long as the arithmetic allows.
struct Number {
  bool is_integer = true;
  std::int64_t integer = 0;
  double real = 0.0;

  static Number whole(std::int64_t value) { return {true, value, 0.0}; }
  static Number of(double value) { return {false, 0, value}; }
  double value() const { return is_integer ? static_cast<double>(integer) : real; }
};

/// The largest whole number that a program's terms can hold.
inline constexpr std::int64_t largest_integer = (std::int64_t{1} << 60) - 1;

enum class Function : std::uint8_t {
  pi,
  e,
  infinity,
  negate,
  plus,
  absolute,
  exponential,
  logarithm,
  square_root,
  floor,
  ceiling,
  round,
  truncate,
  sign,
  add,
  subtract,
  multiply,
  divide,
  power,
  minimum,
  maximum,
  quotient,
  modulo,
  remainder,
};

/// What `name` with `arity` arguments means in arithmetic; `exp(X, Y)` is X to the power Y.
std::optional<Function> function_named(std::string_view name, std::uint32_t arity);
std::uint32_t arity_of(Function function);

/// The value of a function; nothing where it has none: division by 0, the root of −1, a whole number too large to hold.
/// `y` is ignored where there is one argument.
std::optional<Number> apply(Function function, Number x, Number y);

/// Puts the value in place of x; false where there is none. What labels and counters mostly do is done here, without a
/// call.
inline bool apply_to(Function function, Number& x, Number y) {
  if (!x.is_integer || !y.is_integer) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (function == Function::add) value = x.value() + y.value();
    if (function == Function::subtract) value = x.value() - y.value();
    if (function == Function::multiply) value = x.value() * y.value();
    if (function == Function::divide && y.value() != 0.0) value = x.value() / y.value();
    if (value == value) return x = Number::of(value), true;
  }
  const auto value = apply(function, x, y);
  if (value) x = *value;
  return value.has_value();
}

/// Negative, zero or positive as x is less than, equal to or greater than y; a NaN is less than all.
int compare(Number x, Number y);

}  // namespace baytree::slp
