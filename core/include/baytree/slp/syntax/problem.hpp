#pragma once

#include <string>
#include <vector>

#include "baytree/slp/syntax/term.hpp"

namespace baytree::slp {

/// Something to tell the author of a program, and where.
struct Problem {
  enum class Severity : std::uint8_t { error, warning };
  Severity severity = Severity::error;
  Place place;
  std::string message;
};

using Problems = std::vector<Problem>;

}  // namespace baytree::slp
