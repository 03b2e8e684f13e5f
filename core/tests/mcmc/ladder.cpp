#include "baytree/mcmc/ladder.hpp"

#include <cmath>
#include <vector>

#include "checks.hpp"

namespace {

using namespace baytree;

TEST_CASE("ladder") {
  // Rejections of 0.3 and 0.1: the middle rung moves to where half of their sum lies.
  const Ladder moved = respaced(std::vector{1.0, 0.5, 0.0}, std::vector{0.3, 0.1});
  CHECK((moved.front() == 1.0 && moved.back() == 0.0 && std::abs(moved[1] - (1.0 - 0.5 * 0.2 / 0.3)) < 1e-12));
  // Equal rejections stay; with none at all the rungs spread evenly by number, and never fall together.
  const Ladder even{1.0, 0.6, 0.1, 0.0};
  const Ladder same = respaced(even, std::vector{0.2, 0.2, 0.2});
  for (std::size_t i = 0; i < even.size(); ++i) CHECK(std::abs(same[i] - even[i]) < 1e-12);
  const Ladder still = respaced(even, std::vector{0.0, 0.0, 1.0});
  for (std::size_t i = 1; i < still.size(); ++i) CHECK(still[i] < still[i - 1]);
  CHECK((throws([] { check_ladder(std::vector{0.9, 0.1}); }) && throws([] { check_ladder(std::vector{1.0, 1.0}); }) &&
         throws([] { check_ladder({}); })));
}

}  // namespace
