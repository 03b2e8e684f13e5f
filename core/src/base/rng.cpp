#include "baytree/base/rng.hpp"

#include <cmath>

#include "baytree/base/numeric.hpp"
#include "baytree/base/simd.hpp"

namespace baytree {
namespace {

constexpr std::uint32_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57, weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;

/// Ten rounds on `Lanes` counters side by side; the inner loop is written for the vectoriser.
template <unsigned Lanes>
BAYTREE_INLINE void rounds(std::uint32_t (&c)[4][Lanes], std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    for (unsigned i = 0; i < Lanes; ++i) {
      const std::uint64_t product0 = std::uint64_t{multiplier0} * c[0][i];
      const std::uint64_t product1 = std::uint64_t{multiplier1} * c[2][i];
      const std::uint32_t c1 = c[1][i], c3 = c[3][i];
      c[0][i] = static_cast<std::uint32_t>(product1 >> 32) ^ c1 ^ key0;
      c[1][i] = static_cast<std::uint32_t>(product1);
      c[2][i] = static_cast<std::uint32_t>(product0 >> 32) ^ c3 ^ key1;
      c[3][i] = static_cast<std::uint32_t>(product0);
    }
    key0 += weyl0;
    key1 += weyl1;
  }
}

constexpr unsigned stream_lanes = 16;

/// 256 layers of equal area that cover the right half of the normal density exp(−x²/2): layer i reaches from 0 to
/// edge[i], and all but its end lies under the density. The lowest one, 0, has the tail for its end.
struct Ziggurat {
  static constexpr double tail = 3.6541528853610088, area = 0.00492867323399;
  std::array<double, 257> edge, density;

  Ziggurat() {
    edge[0] = area * std::exp(0.5 * tail * tail);
    edge[1] = tail;
    for (std::size_t i = 2; i < 256; ++i)
      edge[i] = std::sqrt(-2.0 * std::log(area / edge[i - 1] + std::exp(-0.5 * edge[i - 1] * edge[i - 1])));
    edge[256] = 0.0;
    for (std::size_t i = 0; i < 257; ++i) density[i] = std::exp(-0.5 * edge[i] * edge[i]);
  }
};

BAYTREE_CLONES void stream_rounds(std::uint32_t (&c)[4][stream_lanes], std::uint32_t key0, std::uint32_t key1) {
  rounds(c, key0, key1);
}

}  // namespace

PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key) {
  std::uint32_t c[4][1] = {{counter[0]}, {counter[1]}, {counter[2]}, {counter[3]}};
  rounds(c, key[0], key[1]);
  return {c[0][0], c[1][0], c[2][0], c[3][0]};
}

void Stream::refill() {
  static_assert(lanes == stream_lanes);
  std::uint32_t c[4][lanes];
  for (unsigned i = 0; i < lanes; ++i) {
    const std::uint64_t block = blocks_ * lanes + i;
    c[0][i] = static_cast<std::uint32_t>(block);
    c[1][i] = static_cast<std::uint32_t>(block >> 32);
    c[2][i] = static_cast<std::uint32_t>(role_);
    c[3][i] = replica_;
  }
  stream_rounds(c, static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
  for (unsigned i = 0; i < lanes; ++i)
    for (unsigned word = 0; word < 4; ++word) buffer_[4 * i + word] = c[word][i];
  ++blocks_;
  used_ = 0;
}

void Stream::seek(std::uint64_t position) {
  blocks_ = position / words;
  used_ = words;
  if (const auto rest = static_cast<unsigned>(position % words)) {
    refill();
    used_ = rest;
  }
}

std::uint64_t Stream::below(std::uint64_t n) {
  if (n <= 0xFFFFFFFF) {
    const auto small = static_cast<std::uint32_t>(n);
    std::uint64_t product = std::uint64_t{next32()} * small;
    if (static_cast<std::uint32_t>(product) < small) {
      const std::uint32_t threshold = -small % small;
      while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{next32()} * small;
    }
    return product >> 32;
  }
  const std::uint64_t threshold = -n % n;  // 2^64 mod n: below it a word would make the first values too frequent
  std::uint64_t word = next64();
  while (word < threshold) word = next64();
  return word % n;
}

double Stream::normal() {
  static const Ziggurat layers;
  for (;;) {
    const std::uint64_t word = next64();
    const std::size_t layer = word & 255;
    const double sign = (word >> 8 & 1) != 0 ? -1.0 : 1.0;
    const double x = static_cast<double>(word >> 11) * 0x1p-53 * layers.edge[layer];
    if (x < layers.edge[layer + 1]) return sign * x;
    if (layer == 0) return sign * normal_above(Ziggurat::tail);
    const double low = layers.density[layer], high = layers.density[layer + 1];
    if (low + uniform() * (high - low) < std::exp(-0.5 * x * x)) return sign * x;
  }
}

double Stream::normal_above(double low) {
  if (low < 0.5) {
    for (;;)
      if (const double z = normal(); z > low) return z;
  }
  // So far out it is an exponential; and no number would be accepted of one that is not finite, or no number.
  if (!(low < 1e9)) return low - std::log(1.0 - uniform()) / low;
  // An exponential from `low` on, of the rate that is accepted most often.
  const double rate = 0.5 * (low + std::sqrt(low * low + 4.0));
  for (;;) {
    const double z = low - std::log(1.0 - uniform()) / rate;
    if (uniform() < std::exp(-0.5 * (z - rate) * (z - rate))) return z;
  }
}

double Stream::log_gamma(double shape) {
  if (!(shape < infinity)) return shape;  // for which nothing would be accepted
  // Below 1: a gamma variable of shape a is one of shape a + 1 times U^(1/a).
  const double shift = shape < 1.0 ? std::log(1.0 - uniform()) / shape : 0.0;
  const double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal(), root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double log_v = 3.0 * std::log(root), v = root * root * root;
    if (std::log(1.0 - uniform()) < 0.5 * x * x + d * (1.0 - v + log_v)) return shift + std::log(d) + log_v;
  }
}

double Stream::logit_beta(double a, double b) {
  const double first = log_gamma(a);
  return first - log_gamma(b);
}

double Stream::student(double freedom) {
  const double z = normal();
  return z * std::exp(0.5 * (std::log(0.5 * freedom) - log_gamma(0.5 * freedom)));
}

}  // namespace baytree
