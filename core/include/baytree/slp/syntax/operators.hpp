#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace baytree::slp {

/// How an operator binds: its priority, and the highest priority of what may stand on either side.
struct Operator {
  int priority, left, right;
};

std::optional<Operator> prefix_operator(std::string_view name);
std::optional<Operator> infix_operator(std::string_view name);

inline constexpr int highest_priority = 1200, argument_priority = 999;

}  // namespace baytree::slp
