#pragma once

#include <cmath>
#include <limits>

namespace baytree {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// log |Γ(x)|. The re-entrant form: `std::lgamma` writes a global sign, which is a race between chains; but not on
/// Windows, which has no other.
inline double log_gamma(double x) {
#if defined(_WIN32)
  return std::lgamma(x);
#else
  int sign = 0;
  return ::lgamma_r(x, &sign);
#endif
}

}  // namespace baytree
