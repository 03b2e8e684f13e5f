// Sums of trees under the sanitizers: every width against the leaf-by-leaf predictor, over columns of every kind and
// any number of rows.
#include <cmath>
#include <limits>

#include "baytree/bart/predict/predictor.hpp"
#include "baytree/bart/predict/shap.hpp"
#include "baytree/bart/soft/gate.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/trees/predictor.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;
using namespace baytree::bart;

constexpr Simd widths[] = {Simd::plain, Simd::avx2, Simd::avx512};

struct Sums {
  explicit Sums(std::uint64_t seed) : stream(seed, Role::chain, 0) {
    columns = {{.observed = 5},
               {.observed = 255, .has_missing = true},
               {.observed = 70'000},
               {.categorical = true, .observed = 4},
               {.categorical = true, .observed = max_levels, .has_missing = true}};
  }

  Rule random_rule() {
    const auto feature = static_cast<std::uint32_t>(stream.below(columns.size()));
    const Column& column = columns[feature];
    if (!column.categorical)
      return {.feature = feature, .cut = static_cast<std::uint32_t>(stream.below(column.observed - 1))};
    const std::uint64_t levels =
        column.n_codes() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << column.n_codes()) - 1;
    return {.feature = feature, .subset = (stream.next64() & levels & ~std::uint64_t{2}) | 1};
  }

  void add_nodes(Nodes& nodes, std::size_t leaves) {
    Node node{.end = static_cast<Row>(stream.below(9)), .size = leaves == 1 ? 1u : 0u};
    if (leaves > 1) node.rule = random_rule();
    nodes.push_back(node);
    if (leaves == 1) return;
    const std::size_t left = 1 + stream.below(leaves - 1);
    add_nodes(nodes, left);
    add_nodes(nodes, leaves - left);
  }

  void add_tree(std::size_t leaves) {
    Nodes nodes;
    add_nodes(nodes, leaves);
    set_sizes(nodes);
    forest.add(nodes);
    index.push_back(static_cast<std::int32_t>(index.size()));
    for (std::size_t i = 0; i < leaves; ++i) values.push_back(static_cast<float>(stream.below(1000)) / 1024);
    for (std::size_t i = 1; i < leaves; ++i) bandwidths.push_back(0.01f + static_cast<float>(stream.uniform()));
  }

  std::vector<std::uint32_t> codes(std::size_t rows) {
    std::vector<std::uint32_t> out;
    for (std::size_t row = 0; row < rows; ++row)
      for (const Column& column : columns) out.push_back(static_cast<std::uint32_t>(stream.below(column.observed + 2)));
    return out;
  }

  ForestView view() const {
    return {forest.feature, forest.cut, forest.subset, forest.missing_left, forest.rows, forest.begin};
  }

  Stream stream;
  std::vector<Column> columns;
  Forest forest;
  std::vector<std::int32_t> index;
  std::vector<float> values, bandwidths;
};

void test_sums(std::size_t rows) {
  Sums given(rows);
  for (const std::size_t leaves : {1, 2, 3, 16, 17, 255}) given.add_tree(leaves);
  const std::vector<std::uint32_t> codes = given.codes(rows);
  const baytree::Predictor walker(given.view(), given.columns);
  std::vector<std::int64_t> leaf(rows * walker.trees());
  walker.apply(codes, rows, leaf);
  std::vector<float> walked(rows, 0.0f), soft_sums;
  for (std::size_t i = 0; i < leaf.size(); ++i) walked[i % rows] += given.values[leaf[i]];
  for (const Simd widest : widths) {
    const bart::Predictor predictor(given.view(), given.columns, widest);
    const StoredDraws hard{given.index, given.index.size(), 1, given.values, {}},
        soft{given.index, given.index.size(), 1, given.values, given.bandwidths};
    predictor.check(soft, codes, rows);
    std::vector<float> sums(rows);
    predictor.sums(hard, codes, rows, sums);
    CHECK(sums == walked);
    predictor.sums(soft, codes, rows, sums);
    if (soft_sums.empty()) soft_sums = sums;
    CHECK(sums == soft_sums);
    for (const StoredDraws& draws : {hard, soft}) {
      std::vector<double> mean(rows), values(rows * given.columns.size()), expected(1);
      predictor.mean(draws, codes, rows, mean);
      shapley_values(predictor, draws, codes, rows, values, expected);
      for (std::size_t row = 0; row < rows; ++row) {
        double total = expected[0];
        for (std::size_t column = 0; column < given.columns.size(); ++column)
          total += values[row * given.columns.size() + column];
        CHECK(std::abs(total - mean[row]) < 1e-4);
      }
    }
  }
}

TEST_CASE("refusals") {
  Sums given(1);
  given.add_tree(3);
  const bart::Predictor predictor(given.view(), given.columns);
  const std::vector<std::uint32_t> codes = given.codes(2);
  const std::vector<std::int32_t> beyond = {1}, below = {-1};
  const auto refuses = [&](const StoredDraws& draws) { return throws([&] { predictor.check(draws, codes, 2); }); };
  CHECK(!refuses({given.index, 1, 1, given.values, given.bandwidths}));
  CHECK((refuses({beyond, 1, 1, given.values, {}}) && refuses({below, 1, 1, given.values, {}})));
  CHECK((refuses({given.index, 0, 1, given.values, {}}) && refuses({given.index, 1, 0, given.values, {}}) &&
         refuses({given.index, 1, 2, given.values, {}})));
  CHECK((refuses({given.index, 1, 1, std::span(given.values).first(2), {}}) &&
         refuses({given.index, 1, 1, given.values, std::span(given.values).first(1)})));
  CHECK(throws([&] { predictor.check({given.index, 1, 1, given.values, {}}, codes, 3); }));
  given.add_tree(256);
  CHECK(throws([&] { bart::Predictor(given.view(), given.columns); }));
}

TEST_CASE("gate") {
  for (float x = -79.9f; x < 80; x += 0.01f)
    CHECK(std::abs(logistic(x) * (1 + std::exp(-static_cast<double>(x))) - 1) < 5e-7);
  const float endless = std::numeric_limits<float>::infinity();
  CHECK((logistic(endless) == 1 && logistic(-endless) < 1e-30f && logistic(0) == 0.5f));
}

TEST_CASE("sums of stored trees") {
  for (const std::size_t rows : {0, 1, 64, 65, 300}) test_sums(rows);
}

}  // namespace
