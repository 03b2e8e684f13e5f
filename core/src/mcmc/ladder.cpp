#include "baytree/mcmc/ladder.hpp"

#include <algorithm>

#include "baytree/base/error.hpp"

namespace baytree {

void check_ladder(std::span<const double> ladder) {
  if (ladder.empty() || ladder[0] != 1.0) throw InputError("a ladder must begin with 1");
  for (std::size_t i = 1; i < ladder.size(); ++i)
    if (!(ladder[i] >= 0.0 && ladder[i] < ladder[i - 1]))
      throw InputError("the powers of a ladder must fall and be 0 or more");
}

Ladder respaced(std::span<const double> ladder, std::span<const double> rejection) {
  // However seldom a swap is rejected, no two rungs may fall together.
  constexpr double least = 1e-3;
  std::vector<double> barrier(ladder.size(), 0.0);
  for (std::size_t i = 1; i < ladder.size(); ++i)
    barrier[i] = barrier[i - 1] + std::clamp(rejection[i - 1], least, 1.0);
  Ladder result(ladder.begin(), ladder.end());
  std::size_t upper = 1;
  for (std::size_t i = 1; i + 1 < ladder.size(); ++i) {
    const double wanted = barrier.back() * static_cast<double>(i) / static_cast<double>(ladder.size() - 1);
    while (barrier[upper] < wanted && upper + 1 < ladder.size()) ++upper;
    const double share = (wanted - barrier[upper - 1]) / (barrier[upper] - barrier[upper - 1]);
    result[i] = ladder[upper - 1] + share * (ladder[upper] - ladder[upper - 1]);
  }
  return result;
}

}  // namespace baytree
