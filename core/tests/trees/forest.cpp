#include "baytree/trees/forest.hpp"

#include <cstdint>
#include <vector>

#include "checks.hpp"
#include "table.hpp"

namespace {

using namespace baytree;

TEST_CASE("damaged forests") {
  const Table table;
  const auto unpack = [&](std::vector<std::int32_t> feature, std::uint32_t cut, std::uint64_t subset) {
    const std::size_t n = feature.size();
    const std::vector<std::uint32_t> cuts(n, cut), rows(n, 1);
    const std::vector<std::uint64_t> subsets(n, subset), begin{0};
    const std::vector<std::uint8_t> missing(n, 0);
    unpack_tree({feature, cuts, subsets, missing, rows, begin}, 0, table.design.columns);
  };
  CHECK(!throws([&] { unpack({0, -1, -1}, 1, 0); }));
  CHECK(throws([&] { unpack({0, -1}, 1, 0); }));
  CHECK(throws([&] { unpack({0, -1, -1, -1}, 1, 0); }));
  CHECK(throws([&] { unpack({}, 1, 0); }));
  CHECK(throws([&] { unpack({99, -1, -1}, 1, 0); }));
  CHECK(throws([&] { unpack({0, -1, -1}, 4, 0); }));
  CHECK(throws([&] { unpack({0, -1, -1}, 0xffffffff, 0); }));
  CHECK(throws([&] { unpack({3, -1, -1}, 0, 0b1111); }));
  CHECK(throws([&] { unpack({3, -1, -1}, 0, 0b0110); }));
  CHECK(throws([&] { unpack({3, -1, -1}, 0, 0b10001); }));
}

}  // namespace
