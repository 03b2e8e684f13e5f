#pragma once

#include <array>
#include <cstdint>

namespace baytree {

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// Philox4x32-10 (Salmon et al. 2011): a keyed bijection of a 128-bit counter.
PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key);

/// What a stream is for; streams of different roles never overlap.
enum class Role : std::uint32_t { chain, rung, swap, rows };

/// The random numbers of one (seed, role, replica). A counter is the whole state, so a stream can be saved as one
/// number, `position`, and results do not depend on threads. All distributions are our own: those of the standard
/// library differ between compilers. None keeps a number back for the next call, which would be a second part of the
/// state.
class Stream {
 public:
  Stream(std::uint64_t seed, Role role, std::uint32_t replica) : seed_(seed), role_(role), replica_(replica) {}

  std::uint32_t next32() {
    if (used_ == words) refill();
    return buffer_[used_++];
  }
  std::uint64_t next64() {
    const std::uint64_t high = next32();
    return high << 32 | next32();
  }
  /// Uniform on [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(next64() >> 11) * 0x1p-53; }
  bool bernoulli(double probability) { return uniform() < probability; }
  /// Exactly uniform on 0 … n−1, n > 0 (Lemire 2019: multiply, and reject the few products that would bias).
  std::uint64_t below(std::uint64_t n);
  /// Standard normal (Marsaglia and Tsang 2000: the ziggurat).
  double normal();
  /// Standard normal, given that it exceeds `low` (Robert 1995).
  double normal_above(double low);
  /// The logarithm of a gamma variable of this shape and scale 1 (Marsaglia and Tsang 2000, A simple method): the
  /// variable itself underflows where the shape is small.
  double log_gamma(double shape);
  /// log p/(1−p) of p ~ Beta(a, b): p itself may round to 0 or 1.
  double logit_beta(double a, double b);
  /// Student's t with this many degrees of freedom.
  double student(double freedom);

  /// Number of 32-bit words consumed so far.
  std::uint64_t position() const { return blocks_ * words - (words - used_); }
  void seek(std::uint64_t position);

 private:
  static constexpr unsigned lanes = 16, words = 4 * lanes;
  void refill();

  std::uint64_t seed_;
  Role role_;
  std::uint32_t replica_;
  std::uint64_t blocks_ = 0;  // buffers generated so far
  unsigned used_ = words;
  std::array<std::uint32_t, words> buffer_{};
};

}  // namespace baytree
