#include "baytree/slp/program/number.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace baytree::slp {
namespace {

struct Entry {
  std::string_view name;
  std::uint32_t arity;
  Function function;
};

constexpr Entry entries[] = {
    {"pi", 0, Function::pi},
    {"e", 0, Function::e},
    {"inf", 0, Function::infinity},
    {"-", 1, Function::negate},
    {"+", 1, Function::plus},
    {"abs", 1, Function::absolute},
    {"exp", 1, Function::exponential},
    {"log", 1, Function::logarithm},
    {"sqrt", 1, Function::square_root},
    {"floor", 1, Function::floor},
    {"ceiling", 1, Function::ceiling},
    {"round", 1, Function::round},
    {"truncate", 1, Function::truncate},
    {"sign", 1, Function::sign},
    {"+", 2, Function::add},
    {"-", 2, Function::subtract},
    {"*", 2, Function::multiply},
    {"/", 2, Function::divide},
    {"**", 2, Function::power},
    {"^", 2, Function::power},
    {"exp", 2, Function::power},
    {"min", 2, Function::minimum},
    {"max", 2, Function::maximum},
    {"//", 2, Function::quotient},
    {"mod", 2, Function::modulo},
    {"rem", 2, Function::remainder},
};

/// Nothing where the value is not defined, as the root of −1 or infinity less infinity.
std::optional<Number> defined(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(Number::of(value));
}

std::optional<Number> whole(std::int64_t value) {
  if (value > largest_integer || value < -largest_integer) return std::nullopt;
  return Number::whole(value);
}

std::optional<Number> rounded(double value) {
  // 2^60 is a double; whatever is larger in size is no whole number we can hold.
  if (!(std::abs(value) < 0x1p60)) return std::nullopt;
  return Number::whole(static_cast<std::int64_t>(value));
}

/// The product of two numbers that can be held, where it can be held, too.
std::optional<std::int64_t> multiplied(std::int64_t x, std::int64_t y) {
  if (x != 0 && std::abs(y) > largest_integer / std::abs(x)) return std::nullopt;
  return x * y;
}

/// x to a power of 0 or more, as long as it can be held.
std::optional<Number> whole_power(std::int64_t x, std::int64_t y) {
  if (x == 0 || x == 1 || y == 0) return Number::whole(y == 0 ? 1 : x);
  if (x == -1) return Number::whole(y % 2 == 0 ? 1 : -1);
  if (y > 60) return std::nullopt;
  std::optional<std::int64_t> product = 1;
  for (; y > 0 && product; --y) product = multiplied(*product, x);
  return product ? std::optional(Number::whole(*product)) : std::nullopt;
}

std::optional<Number> apply_whole(Function function, std::int64_t x, std::int64_t y) {
  switch (function) {
    case Function::add:
      return whole(x + y);  // both are below 2^60
    case Function::subtract:
      return whole(x - y);
    case Function::multiply:
      if (const auto product = multiplied(x, y)) return Number::whole(*product);
      return std::nullopt;
    case Function::divide:
      if (y == 0) return std::nullopt;
      if (x % y == 0) return whole(x / y);
      return Number::of(static_cast<double>(x) / static_cast<double>(y));
    case Function::power:
      return y >= 0 ? whole_power(x, y) : defined(std::pow(static_cast<double>(x), static_cast<double>(y)));
    case Function::quotient:
      return y == 0 ? std::nullopt : whole(x / y);
    case Function::remainder:
      return y == 0 ? std::nullopt : whole(x % y);
    case Function::modulo:
      if (y == 0) return std::nullopt;
      return whole(x % y != 0 && (x % y < 0) != (y < 0) ? x % y + y : x % y);
    default:
      return std::nullopt;
  }
}

std::optional<Number> apply_real(Function function, double x, double y) {
  switch (function) {
    case Function::add:
      return defined(x + y);
    case Function::subtract:
      return defined(x - y);
    case Function::multiply:
      return defined(x * y);
    case Function::divide:
      return y == 0.0 ? std::nullopt : defined(x / y);
    case Function::power:
      return defined(std::pow(x, y));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Function> function_named(std::string_view name, std::uint32_t arity) {
  for (const Entry& entry : entries)
    if (entry.name == name && entry.arity == arity) return entry.function;
  return std::nullopt;
}

std::uint32_t arity_of(Function function) { return function < Function::negate ? 0 : function < Function::add ? 1 : 2; }

std::optional<Number> apply(Function function, Number x, Number y) {
  switch (function) {
    case Function::pi:
      return Number::of(std::numbers::pi);
    case Function::e:
      return Number::of(std::numbers::e);
    case Function::infinity:
      return Number::of(std::numeric_limits<double>::infinity());
    case Function::negate:
      return x.is_integer ? Number::whole(-x.integer) : Number::of(-x.real);
    case Function::plus:
      return x;
    case Function::absolute:
      return x.is_integer ? Number::whole(std::abs(x.integer)) : Number::of(std::abs(x.real));
    case Function::exponential:
      return defined(std::exp(x.value()));
    case Function::logarithm:
      return x.value() > 0.0 ? defined(std::log(x.value())) : std::nullopt;
    case Function::square_root:
      return defined(std::sqrt(x.value()));
    case Function::floor:
      return x.is_integer ? x : rounded(std::floor(x.real));
    case Function::ceiling:
      return x.is_integer ? x : rounded(std::ceil(x.real));
    case Function::round:
      return x.is_integer ? x : rounded(std::round(x.real));
    case Function::truncate:
      return x.is_integer ? x : rounded(std::trunc(x.real));
    case Function::sign:
      return x.is_integer ? Number::whole((x.integer > 0) - (x.integer < 0))
                          : Number::of((x.real > 0.0) - (x.real < 0.0));
    case Function::minimum:
      return compare(y, x) < 0 ? y : x;
    case Function::maximum:
      return compare(y, x) > 0 ? y : x;
    default:
      return x.is_integer && y.is_integer ? apply_whole(function, x.integer, y.integer)
                                          : apply_real(function, x.value(), y.value());
  }
}

int compare(Number x, Number y) {
  if (x.is_integer && y.is_integer) return (x.integer > y.integer) - (x.integer < y.integer);
  const double a = x.value(), b = y.value();
  if (std::isnan(a) || std::isnan(b)) return std::isnan(b) - std::isnan(a);
  return (a > b) - (a < b);
}

}  // namespace baytree::slp
