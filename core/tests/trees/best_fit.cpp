#include "baytree/trees/best_fit.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "baytree/trees/partition.hpp"
#include "checks.hpp"
#include "table.hpp"

namespace {

using namespace baytree;

/// What the leaves of a tree leave of some rows, from its next node on.
double left_by(const Table& table, const Nodes& nodes, std::size_t& next, const std::vector<Row>& rows) {
  const Node& node = nodes[next++];
  CHECK(node.rows() == rows.size());
  if (node.is_leaf()) {
    double weight = 0.0, sum = 0.0, left = 0.0;
    for (const Row row : rows) weight += table.weights[row], sum += table.weights[row] * table.values[row];
    for (const Row row : rows) left += table.weights[row] * std::pow(table.values[row] - sum / weight, 2);
    return left;
  }
  std::vector<Row> yes, no;
  with_test(table.design.columns[node.rule.feature], node.rule, [&](auto goes_left) {
    for (const Row row : rows) (goes_left(row) ? yes : no).push_back(row);
  });
  const double left = left_by(table, nodes, next, yes);
  return left + left_by(table, nodes, next, no);
}

TEST_CASE("trees of every number of leaves leave what is said, at least what any does") {
  const Table table(120);
  const Surface surface{table.weights, table.values, 1};
  std::vector<Row> rows(table.design.rows);
  std::iota(rows.begin(), rows.end(), Row{0});
  constexpr std::uint32_t leaves = 5;
  for (const std::uint64_t budget : {1, 40, 400}) {
    BestFits fits(table.design, surface, leaves, budget);
    const std::vector<double> low = fits.low(), high = fits.high();
    REQUIRE(low.size() == leaves);
    for (std::uint32_t most = 1; most <= leaves; ++most) {
      const Nodes nodes = fits.tree(most);
      std::size_t next = 0;
      CHECK(left_by(table, nodes, next, rows) == doctest::Approx(high[most - 1]).epsilon(1e-9));
      CHECK(next == nodes.size());
      CHECK((nodes.size() + 1) / 2 <= most);
      CHECK(low[most - 1] <= high[most - 1]);
      if (most > 1) CHECK(high[most - 1] <= high[most - 2]);
    }
    CHECK(fits.looks() <= budget + leaves * leaves);
  }
}

}  // namespace
