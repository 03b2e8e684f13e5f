#include "baytree/trees/partition.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "checks.hpp"

namespace {

using namespace baytree;

TEST_CASE("extremes") {
  std::vector<Row> rows(100);
  std::iota(rows.begin(), rows.end(), 0u);
  std::vector<std::uint32_t> spare;
  const auto key = [](Row row) { return row * 37 % 50; };
  std::vector<std::uint32_t> sorted;
  for (const Row row : rows) sorted.push_back(key(row));
  std::sort(sorted.begin(), sorted.end());
  for (Row m : {1u, 2u, 64u, 65u, 100u}) {
    const Extremes found = extremes(rows, m, spare, key);
    CHECK((found.low == sorted[m - 1] && found.high == sorted[rows.size() - m]));
  }
}

}  // namespace
