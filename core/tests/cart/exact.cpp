// Sums over all trees on awkward designs, by several threads: what must hold whatever the table, under the sanitizers.
#include <cmath>
#include <numeric>

#include "baytree/cart/exact/marginals.hpp"
#include "baytree/cart/exact/trees.hpp"
#include "baytree/cart/leaf/categorical.hpp"
#include "baytree/cart/leaf/gaussian.hpp"
#include "checks.hpp"
#include "table.hpp"

namespace {

using namespace baytree;
using namespace baytree::cart::exact;

constexpr Budget enough{.sets = 1'000'000, .bytes = std::uint64_t{1} << 30};

/// The columns of a table with few codes.
Design few_codes(const Table& table) {
  Design design = table.design;
  design.columns.resize(5);
  return design;
}

template <class Leaf>
void test_sums(const Design& design, const Leaf& leaf, const GrowTree& prior) {
  const Sums prior_only(problem_of(design, leaf, prior, 0.0), enough, 3);
  REQUIRE(prior_only.complete());
  CHECK(std::abs(prior_only.log_evidence()) < 1e-10);

  Sums one(problem_of(design, leaf, prior, 1.0), enough, 1), three(problem_of(design, leaf, prior, 1.0), enough, 3);
  REQUIRE((one.complete() && three.complete()));
  CHECK(one.log_evidence() == three.log_evidence());
  CHECK(one.sets() == three.sets());
  CHECK(one.values() == three.values());

  ScoredTrees best, drawn;
  best_trees(three, 20, best);
  Stream stream(1, Role::chain, 0);
  draw_trees(three, 20, stream, drawn);
  CHECK(best.log_prior.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) {
    const double log_target = best.log_prior[i] + best.log_likelihood[i];
    CHECK(log_target < one.log_evidence());
    CHECK(log_target <= best.log_prior[0] + best.log_likelihood[0] + 1e-9);
    CHECK(drawn.log_prior[i] + drawn.log_likelihood[i] <= best.log_prior[0] + best.log_likelihood[0] + 1e-9);
  }

  Marginals marginals(three);
  const std::vector<double> leaves = marginals.leaves();
  CHECK(std::abs(std::accumulate(leaves.begin(), leaves.end(), 0.0) - 1.0) < 1e-10);
  double root = leaves[1];
  for (const auto& [rule, probability] : marginals.root()) root += probability;
  CHECK(std::abs(root - 1.0) < 1e-10);
  for (const double share : marginals.inclusion()) CHECK((share > -1e-12 && share < 1.0 + 1e-12));
  // Training rows as rows that are new.
  std::vector<std::uint32_t> codes;
  for (Row row = 0; row < design.rows; ++row)
    for (const Column& column : design.columns)
      codes.push_back(with_codes(column, [row](const auto* of) -> std::uint32_t { return of[row]; }));
  const std::vector<double> fitted = marginals.fitted(), moments = marginals.moments(codes);
  REQUIRE(fitted.size() == moments.size());
  for (std::size_t i = 0; i < fitted.size(); ++i) CHECK(std::abs(fitted[i] - moments[i]) < 1e-9);
}

}  // namespace

TEST_CASE("the sums hold whatever the leaf and the knowledge") {
  const Table table(120);
  const Design design = few_codes(table);
  const cart::CategoricalLeaf classes(table.classes, {}, 3, 1.0), weighted(table.classes, table.weights, 3, 0.5);
  const cart::GaussianLeaf numbers(table.values, table.weights, {0.5, 0.5, 3.0, 0.3});
  GrowTree prior{.min_leaf = 12};
  test_sums(design, classes, prior);
  test_sums(design, numbers, prior);
  prior.by_column = false;
  prior.knowledge.interacting = {{0, 2}, {2, 3}};
  test_sums(design, weighted, prior);
}

TEST_CASE("what is too much is not begun, or left") {
  const Table table(120);
  const cart::CategoricalLeaf classes(table.classes, {}, 3, 1.0);
  CHECK(!Sums(problem_of(table.design, classes, GrowTree(), 1.0), enough, 1).complete());
  const Design design = few_codes(table);
  CHECK(!Sums(problem_of(design, classes, GrowTree(), 1.0), {.sets = 100, .bytes = enough.bytes}, 2).complete());
  CHECK(!Sums(problem_of(design, classes, GrowTree(), 1.0), {.sets = 1'000'000, .bytes = 10'000}, 2).complete());
}
