#pragma once

#include <doctest/doctest.h>

#include "baytree/base/error.hpp"

namespace baytree {

/// Whether it refuses its input.
template <class F>
bool throws(F f) {
  try {
    f();
  } catch (const InputError&) {
    return true;
  }
  return false;
}

}  // namespace baytree
