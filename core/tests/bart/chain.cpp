// Chains over sums of trees under the sanitizers: passes of every width against each other and against plain sums, and
// chains over columns of every kind that are put elsewhere and go on as if they had not been.
#include "baytree/bart/chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "baytree/base/rng.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;
using namespace baytree::bart;

constexpr Simd widths[] = {Simd::plain, Simd::avx2, Simd::avx512};

/// Columns of every kind: numeric with many and with tied values, with missing values, constant, two-byte codes,
/// categorical with and without missing values.
struct Table {
  Table(std::uint64_t seed, Row rows) : stream(seed, Role::chain, 1) {
    design.rows = rows;
    add(100, false, false);
    add(3, false, false);
    add(6, false, true);
    add(1, false, false);
    add(4, true, false);
    add(3, true, true);
    wide.resize(rows);
    for (auto& code : wide) code = static_cast<std::uint16_t>(stream.below(400));
    for (std::size_t j = 0; j < bytes.size(); ++j) design.columns[j].codes = std::span<const std::uint8_t>(bytes[j]);
    design.columns.push_back({.codes = std::span<const std::uint16_t>(wide), .observed = 400});
    validate(design);
    for (Row i = 0; i < rows; ++i) {
      numbers.push_back(0.01 * bytes[0][i] + 0.2 * bytes[4][i] + 0.3 * stream.normal());
      classes.push_back(static_cast<std::int32_t>(stream.below(3)));
      weights.push_back(1.0 + static_cast<double>(stream.below(3)));
    }
    sign = classes;
    for (auto& label : sign) label = label > 0;
  }

  void add(std::uint32_t observed, bool categorical, bool has_missing) {
    auto& column = bytes.emplace_back(design.rows);
    for (auto& code : column) code = static_cast<std::uint8_t>(stream.below(observed + has_missing));
    design.columns.push_back({.categorical = categorical, .observed = observed, .has_missing = has_missing});
  }

  Stream stream;
  Design design;
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<std::uint16_t> wide;
  std::vector<double> numbers, weights;
  std::vector<std::int32_t> classes, sign;
};

TEST_CASE("ranges of codes") {
  Stream stream(4, Role::chain, 0);
  for (const std::size_t rows : {1, 63, 64, 65, 1000, 4097}) {
    std::vector<std::uint8_t> leaf(rows), code(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      leaf[i] = static_cast<std::uint8_t>(stream.below(5));
      code[i] = static_cast<std::uint8_t>(leaf[i] == 3 ? stream.below(256) : 40 + stream.below(9));
    }
    std::vector<Row> those;
    for (std::uint8_t first = 0; first < 5; ++first)
      for (const std::uint8_t second : {first, static_cast<std::uint8_t>(first + 1)}) {
        std::uint8_t least = 255, most = 0;
        rows_of_leaves(leaf, first, second, those);
        for (const Row row : those) {
          least = std::min(least, code[row]);
          most = std::max(most, code[row]);
        }
        const CodeRange found = codes_of_leaves(leaf, first, second, code.data());
        CHECK((found.least == least && found.most == most));
      }
  }
}

TEST_CASE("passes") {
  Stream stream(3, Role::chain, 0);
  for (const std::size_t rows : {1, 15, 16, 17, 63, 64, 65, 1000, 4096}) {
    for (const std::size_t leaves : {1, 2, 5, 7, 11, 16, 17, 255}) {
      std::vector<std::uint8_t> leaf(rows), before(rows), code(rows);
      std::vector<float> residual(rows), weight(rows), change(256);
      const std::size_t leaves_before = leaves == 255 ? 3 : 16;
      for (std::size_t i = 0; i < rows; ++i) {
        leaf[i] = static_cast<std::uint8_t>(stream.below(leaves));
        before[i] = static_cast<std::uint8_t>(stream.below(leaves_before));
        code[i] = static_cast<std::uint8_t>(stream.below(9));
        residual[i] = static_cast<float>(stream.normal());
        weight[i] = static_cast<float>(stream.uniform());
      }
      for (std::size_t k = 0; k < leaves_before; ++k) change[k] = static_cast<float>(stream.normal());
      for (const bool weighted : {false, true})
        for (const Change how : {Change::none, Change::add, Change::multiply})
          for (const bool divides : {false, true}) {
            if (weighted && how == Change::multiply) continue;
            PassSums found[3];
            std::vector<float> after[3];
            for (int w = 0; w < 3; ++w) {
              after[w] = residual;
              Pass pass{.residual = after[w].data(),
                        .weight = weighted ? weight.data() : nullptr,
                        .multiplies = how == Change::multiply};
              if (how != Change::none) {
                pass.changed = before.data();
                pass.change = change.data();
                pass.changed_leaves = leaves_before;
              }
              pass.leaf = leaf.data();
              pass.leaves = leaves;
              if (divides) pass.rule = {code.data(), 4, 7};
              pass.second = static_cast<std::uint8_t>(leaves > 1);
              block_pass(pass, best_simd(widths[w]))(pass, 0, rows, found[w]);
            }
            for (int w = 1; w < 3; ++w) {
              CHECK(after[w] == after[0]);
              CHECK((found[w].right_sum == found[0].right_sum && found[w].right_rows == found[0].right_rows &&
                     found[w].right_weight == found[0].right_weight));
              for (std::size_t k = 0; k < leaves; ++k)
                CHECK((found[w].sum[k] == found[0].sum[k] && (!weighted || found[w].weight[k] == found[0].weight[k])));
            }
            double right = 0.0, first = 0.0;
            std::uint64_t right_rows = 0;
            for (std::size_t i = 0; i < rows; ++i) {
              const float by = change[before[i]];
              const float changed = how == Change::add        ? residual[i] + by
                                    : how == Change::multiply ? residual[i] * by
                                                              : residual[i];
              const double value = static_cast<double>(changed) * (weighted ? static_cast<double>(weight[i]) : 1.0);
              if (leaf[i] == 0) first += value;
              const bool goes_right = divides && code[i] > 4 && code[i] != 7 && leaf[i] <= (leaves > 1);
              right_rows += goes_right;
              right += goes_right ? value : 0.0;
            }
            const double tolerance = 1e-5 * static_cast<double>(rows);
            CHECK((std::abs(found[0].sum[0] - first) < tolerance && std::abs(found[0].right_sum - right) < tolerance));
            CHECK(found[0].right_rows[0] + found[0].right_rows[1] == right_rows);
          }
    }
  }
}

Model model_of(std::size_t trees, bool sparse, bool monotone, std::uint32_t grow_sweeps) {
  Model model{.proposals = {{Proposal::birth_death, 1.0}, {Proposal::change, 0.5}, {Proposal::perturb, 0.5}},
              .noise = {3.0, 0.1},
              .sparse = sparse};
  model.grow_sweeps = grow_sweeps;
  model.even_sweeps = 2;
  model.prior = {{.alpha = 0.95, .beta = 0.5, .min_leaf = 2}, trees};
  model.leaf.sd = 0.2;
  if (monotone) model.prior.tree.knowledge.monotone = {1, -1, 0, 0, 0, 0, 0};
  return model;
}

Model soft_model_of(std::size_t trees, bool sparse) {
  Model model = model_of(trees, sparse, false, 0);
  model.prior.bandwidth = 0.1;
  model.proposals.back() = {Proposal::bandwidth, 1.0};
  return model;
}

/// A chain, saved and put back into a new one, goes on as if nothing had been; so does one of another width.
void test_chain(const Table& table, const Response& response, const Model& model) {
  Chain one(table.design, response, model, Stream(5, Role::chain, 0), Simd::plain);
  Chain other(table.design, response, model, Stream(5, Role::chain, 0), best_simd());
  one.warm_up(20, 1);
  other.warm_up(20, 2);
  one.end_warm_up();
  const Forest forest = one.trees();
  const ForestView trees{forest.feature, forest.cut, forest.subset, forest.missing_left, forest.rows, forest.begin};
  const std::vector<float> values = one.values(), bandwidths = one.bandwidths();
  const Position position = one.position();
  Chain third(table.design, response, model, Stream(5, Role::chain, 0), best_simd());
  third.warm_up(3, 1);
  third.end_warm_up();
  third.restore(trees, values, bandwidths, position);
  one.draw(10, 2, 1);
  third.draw(10, 2, 1);
  const Draws from_one = one.take(), from_third = third.take();
  const auto equal = [](const TreeDraws& a, const TreeDraws& b) {
    return a.value == b.value && a.bandwidth == b.bandwidth && a.tree == b.tree && a.forest.feature == b.forest.feature;
  };
  CHECK((equal(from_one.mean, from_third.mean) && equal(from_one.variance, from_third.variance)));
  CHECK((from_one.sigma == from_third.sigma && from_one.log_weight == from_third.log_weight));
  CHECK((from_one.mean.bandwidth.empty() == !one.soft() && from_one.variance.value.empty() == !one.has_variance()));
  other.end_warm_up();
  other.draw(10, 2, 2);
  const Draws from_other = other.take();
  CHECK((equal(from_one.mean, from_other.mean) && equal(from_one.variance, from_other.variance)));
  CHECK(std::isfinite(one.log_likelihood()));
  const std::vector<float> few(values.begin(), values.end() - 1);
  CHECK(throws([&] { third.restore(trees, few, bandwidths, position); }));
  if (bandwidths.empty()) return;
  const std::vector<float> fewer(bandwidths.begin(), bandwidths.end() - 1);
  CHECK(throws([&] { third.restore(trees, values, fewer, position); }));
}

TEST_CASE("chains") {
  const Table table(1, 333);
  for (const bool weighted : {false, true})
    for (const bool sparse : {false, true})
      for (const bool monotone : {false, true}) {
        const std::span<const double> weight =
            weighted ? std::span<const double>(table.weights) : std::span<const double>();
        const Model model = model_of(7, sparse, monotone, weighted ? 2 : 0);
        test_chain(table, {.numbers = table.numbers, .weight = weight}, model);
        test_chain(table,
                   {.classes = table.sign, .n_classes = 2, .weight = weight, .centre = {0.2}, .offset = table.numbers},
                   model);
        test_chain(table, {.classes = table.classes, .n_classes = 3, .weight = weight, .centre = {0.0, 0.1, -0.1}},
                   model);
      }
  // A variance that differs from row to row; soft rules
  for (const bool weighted : {false, true})
    for (const bool sparse : {false, true}) {
      const std::span<const double> weight =
          weighted ? std::span<const double>(table.weights) : std::span<const double>();
      Model model = model_of(7, sparse, false, weighted ? 2 : 0);
      model.variance_trees = 4;
      test_chain(table, {.numbers = table.numbers, .weight = weight}, model);
      model = soft_model_of(7, sparse);
      test_chain(table, {.numbers = table.numbers, .weight = weight}, model);
      test_chain(table, {.classes = table.classes, .n_classes = 3, .weight = weight, .centre = {0.0, 0.1, -0.1}},
                 model);
    }
  // Several blocks of rows, shared by two threads
  const Table large(2, 40'000);
  test_chain(large, {.numbers = large.numbers}, model_of(3, false, false, 0));
  // Trees of more leaves than wide registers take
  Model bushy = model_of(2, false, false, 0);
  bushy.prior.tree.beta = 0.0;
  bushy.prior.tree.alpha = 0.999;
  bushy.power = 0.0;
  bushy.proposals = {{Proposal::birth_death, 40.0}};
  test_chain(large, {.numbers = large.numbers}, bushy);
  bushy.variance_trees = 1;
  test_chain(large, {.numbers = large.numbers}, bushy);
}

TEST_CASE("bad input") {
  const Table table(4, 20);
  const auto make = [&](const Response& response, const Model& model) {
    Chain(table.design, response, model, Stream(1, Role::chain, 0), Simd::plain);
  };
  const Response response{.numbers = table.numbers};
  CHECK(throws([&] { make({.numbers = std::span(table.numbers).first(3)}, model_of(2, false, false, 0)); }));
  CHECK(throws([&] { make(response, model_of(0, false, false, 0)); }));
  Model model = model_of(2, false, false, 0);
  model.proposals.clear();
  CHECK(throws([&] { make(response, model); }));
  model = model_of(2, false, false, 0);
  model.leaf.sd = -1.0;
  CHECK(throws([&] { make(response, model); }));
  model = soft_model_of(2, false);
  model.variance_trees = 2;
  CHECK(throws([&] { make(response, model); }));
  model = soft_model_of(2, false);
  model.grow_sweeps = 1;
  CHECK(throws([&] { make(response, model); }));
  model = soft_model_of(2, false);
  model.proposals.push_back({Proposal::perturb, 1.0});
  CHECK(throws([&] { make(response, model); }));
  model = soft_model_of(2, false);
  model.prior.bandwidth = 0.0;
  CHECK(throws([&] { make(response, model); }));
  model = model_of(2, false, false, 0);
  model.variance_trees = 2;
  CHECK(throws([&] { make({.classes = table.sign, .n_classes = 2, .centre = {0.0}}, model); }));
}

}  // namespace
