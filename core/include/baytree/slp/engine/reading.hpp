#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baytree/slp/program/program.hpp"

namespace baytree::slp {

/// Reads `text` and a goal, a body such as `cart(T), T = leaf`. Problems of the goal have lines from two behind the
/// last of the text on.
struct Reading {
  Program program;
  std::vector<std::string> goal_variables;
  std::uint32_t program_lines = 0;
};
Reading read_with_goal(std::string_view text, std::string_view goal, Problems& problems);

}  // namespace baytree::slp
