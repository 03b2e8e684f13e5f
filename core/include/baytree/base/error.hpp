#pragma once

#include <stdexcept>

namespace baytree {

/// Input that cannot be used; the message says what, the value, and the remedy.
struct InputError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace baytree
