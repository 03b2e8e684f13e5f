#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace baytree::bart {

/// e^x in single precision for |x| ≤ 80, to a relative 3e-7. Plain arithmetic, so that loops of it run in wide
/// registers and every width gives the same bits.
inline float exponential(float x) {
  const float whole = (x * 1.44269504f + 0x1.8p23f) - 0x1.8p23f;  // x / log 2, rounded by the limits of a float
  const float rest = (x - whole * 0x1.62ep-1f) -
                     whole * 0x1.0bfbe8p-15f;  // less that many times log 2, whose first part has few digits
  const float high = ((rest * (1.0f / 5040) + 1.0f / 720) * rest + 1.0f / 120) * rest + 1.0f / 24;  // Taylor's series
  const float series = (((high * rest + 1.0f / 6) * rest + 0.5f) * rest + 1.0f) * rest + 1.0f;
  return series * std::bit_cast<float>((static_cast<std::int32_t>(whole) + 127) << 23);
}

/// x, or 80 with its sign where that is nearer to zero. Floats of one sign are in the order of their bits, and
/// compilers widen loops with choices between integers, not between floats.
inline float at_most_80(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  return std::bit_cast<float>(std::min(bits & 0x7fffffff, std::bit_cast<std::int32_t>(80.0f)) | (bits & ~0x7fffffff));
}

/// The logistic function.
inline float logistic(float x) { return 1.0f / (1.0f + exponential(at_most_80(-x))); }

/// A soft rule on a numeric column: of a row with a code, the share logistic((position of the code − position of the
/// cut) / bandwidth) goes right. A column's observed codes stand in the middles of equal parts of [0, 1], its cuts
/// between them. Missing values are no matter of the gate: all of them go one way.
class Gate {
 public:
  Gate(std::uint32_t cut, std::uint32_t observed, float bandwidth)
      : first_right_(static_cast<std::int32_t>(cut) + 1), scale_(1.0f / (static_cast<float>(observed) * bandwidth)) {}

  float right(std::uint32_t code) const {
    return logistic((static_cast<float>(static_cast<std::int32_t>(code) - first_right_) + 0.5f) * scale_);
  }

 private:
  std::int32_t first_right_;
  float scale_;  // of the distance in codes
};

}  // namespace baytree::bart
