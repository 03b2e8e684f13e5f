#pragma once

#include <cstdio>
#include <cstdlib>

#include "baytree/base/error.hpp"

namespace baytree {

inline int checks = 0;

inline void check(bool holds, const char* what, const char* file, int line) {
  ++checks;
  if (holds) return;
  std::fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
  std::exit(1);
}
#define CHECK(condition) ::baytree::check(condition, #condition, __FILE_NAME__, __LINE__)

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
