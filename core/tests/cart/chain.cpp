// Runs the core without Python, so that the sanitizers see all of it: every proposal on awkward designs, with the
// invariants of the state checked after each block.
#include "baytree/cart/chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>

#include "baytree/cart/leaf/categorical.hpp"
#include "baytree/cart/leaf/gaussian.hpp"
#include "baytree/mcmc/tempering.hpp"
#include "baytree/trees/predictor.hpp"
#include "checks.hpp"
#include "table.hpp"

namespace {

using namespace baytree;

/// Every registered property of a partitioned tree.
template <class Leaf>
void check_state(cart::Chain<Leaf>& chain, const Table& table, Row min_leaf) {
  Forest forest;
  forest.add(chain.nodes());
  const ForestView view{forest.feature, forest.cut, forest.subset, forest.missing_left, forest.rows, forest.begin};
  const Nodes unpacked = unpack_tree(view, 0, table.design.columns);
  CHECK(unpacked.size() == chain.nodes().size());
  Row rows = 0;
  for (std::size_t i = 0; i < unpacked.size(); ++i) {
    const Node& node = chain.nodes()[i];
    CHECK((unpacked[i].size == node.size && unpacked[i].rule == (node.is_leaf() ? Rule{} : node.rule)));
    CHECK(node.rows() >= std::min(min_leaf, table.design.rows));
    CHECK((node.is_leaf() || node.splittable));
    if (node.is_leaf()) rows += node.rows();
  }
  CHECK(rows == table.design.rows);
  // A chain put at the same tree agrees to the bit.
  const double log_likelihood = chain.log_likelihood(), log_prior = chain.log_prior();
  const auto points = count_points(chain.nodes());
  chain.restore(unpacked);
  CHECK((chain.log_likelihood() == log_likelihood && std::abs(chain.log_prior() - log_prior) < 1e-9 &&
         count_points(chain.nodes()) == points));
}

Mixture every_proposal() {
  std::vector<Component> components;
#define BAYTREE_ADD(name, propose) components.push_back({.proposal = Proposal::name, .last = 5});
  BAYTREE_EVERY_PROPOSAL(BAYTREE_ADD)
#undef BAYTREE_ADD
  return Mixture(components);
}

template <class Leaf>
void test_chain(const Table& table, const Leaf& leaf) {
  Design with_sets = table.design;
  choose_rows(with_sets, RowForm::sets, Simd::avx512);
  for (bool by_column : {true, false})
    for (Row min_leaf : {1u, 5u, 20u}) {
      const GrowTree prior{.alpha = 0.95, .beta = 0.5, .min_leaf = min_leaf, .by_column = by_column};
      const auto draw = [&](const Design& design) {
        const auto make = [&](Stream stream) {
          return std::make_unique<cart::Chain<Leaf>>(design, leaf, prior, every_proposal(), 1.0, stream);
        };
        Tempered<cart::Chain<Leaf>> chain({.ladder = {1.0, 0.3, 0.0}, .swap_every = 7, .adapts = true}, make, 11, 0);
        for (int block = 0; block < 20; ++block) {
          chain.warm_up(50, 2);
          for (std::size_t rung = 0; rung < 3; ++rung) check_state(chain.rung(rung), table, min_leaf);
        }
        chain.draw(50, 3, 2);
        return chain.take();
      };
      const cart::Draws draws = draw(table.design), of_sets = draw(with_sets);
      CHECK((draws.log_likelihood == of_sets.log_likelihood && draws.log_prior == of_sets.log_prior &&
             draws.statistics == of_sets.statistics && draws.forest.feature == of_sets.forest.feature &&
             draws.forest.rows == of_sets.forest.rows));
      CHECK((draws.state.size() == 50 && draws.log_prior.size() == 50));
      CHECK(draws.statistics.size() ==
            (draws.forest.feature.size() + draws.forest.begin.size()) / 2 * leaf.n_statistics());
      const ForestView view{draws.forest.feature,      draws.forest.cut,  draws.forest.subset,
                            draws.forest.missing_left, draws.forest.rows, draws.forest.begin};
      const Predictor predictor(view, table.design.columns);
      std::vector<std::uint32_t> codes;
      for (Row row = 0; row < 30; ++row)
        for (const Column& column : table.design.columns)
          codes.push_back(column.missing_code() - (row * 7 + 3) % (column.observed + 1));
      std::vector<std::int64_t> leaves(30 * predictor.trees());
      predictor.apply(codes, 30, leaves);
      CHECK(*std::max_element(leaves.begin(), leaves.end()) < static_cast<std::int64_t>(predictor.leaves()));
    }
}

/// Every kind of knowledge alone, and all together. That a tree restored from its bare rules has the same prior and the
/// same choice points shows that what lies above a node is the same by every way that leads there.
TEST_CASE("knowledge") {
  const Table table;
  const cart::GaussianLeaf leaf(table.values, {}, {0.5, 0.1, 3.0, 0.05});
  const Box low{{{0, -infinity, 1.5}, {2, 0.5, infinity}, {6, 100.0, 300.0}}},
      high{{{0, 2.5, 3.0}, {6, 500.0, infinity}}};
  Knowledge all{.max_depth = 6,
                .forbidden = {3},
                .below_depth = {{4, 3}},
                .below_feature = {{5, 4}},
                .only = {{0, {0, 6}}, {0, {0, 6, 5}}, {2, {0, 2, 4, 5, 6}}},
                .interacting = {{0, 2, 6}, {0, 4, 5, 6}},
                .boxes = {low, high},
                .weights = {1.0, 2.0, 0.5, 1.0, 3.0, 0.1, 4.0},
                .max_leaves = 8};
  const Knowledge cases[] = {{.max_depth = 2},
                             {.forbidden = {0, 6}},
                             {.below_depth = {{6, 1}, {5, 0}}},
                             {.below_feature = {{6, 6}, {0, 2}}},
                             {.only = {{0, {2, 3}}, {1, {6}}}},
                             {.interacting = {{0, 6}, {3, 6}, {2}}},
                             {.boxes = {low}},
                             {.boxes = {low, high}},
                             {.weights = {1.0, 2.0, 0.5, 1.0, 3.0, 0.1, 4.0}},
                             {.max_leaves = 3},
                             all};
  for (const Knowledge& knowledge : cases)
    for (bool by_column : {true, false}) {
      const GrowTree prior{.alpha = 0.95,
                           .beta = 0.5,
                           .min_leaf = 5,
                           .by_column = by_column,
                           .knowledge = knowledge,
                           .cuts = table.cuts};
      cart::Chain<cart::GaussianLeaf> chain(table.design, leaf, prior, every_proposal(), 0.0,
                                            Stream(3, Role::chain, 0));
      std::size_t largest = 1;
      for (int block = 0; block < 20; ++block) {
        for (int step = 0; step < 50; ++step) chain.step();
        check_state(chain, table, 5);
        largest = std::max(largest, chain.nodes().size());
        for (const Node& node : chain.nodes())
          CHECK((node.is_leaf() || !knowledge.max_depth || node.depth < *knowledge.max_depth));
        CHECK((!knowledge.max_leaves || chain.nodes().size() / 2 < *knowledge.max_leaves));
      }
      CHECK(largest > 3);
    }
  const auto start = [&](const Knowledge& knowledge, double alpha) {
    const GrowTree prior{.alpha = alpha, .beta = 0.0, .min_leaf = 5, .knowledge = knowledge, .cuts = {}};
    return cart::Chain<cart::GaussianLeaf>(table.design, leaf, prior, every_proposal(), 1.0, Stream(3, Role::chain, 0));
  };
  CHECK((!throws([&] { start({.max_leaves = 1}, 0.95); }) && throws([&] { start({.max_leaves = 0}, 0.95); })));
  CHECK(throws([&] { start({.boxes = {low}}, 0.95); }));
  // Trees that knowledge excludes cannot be gone to.
  const auto goes_to = [&](const Knowledge& knowledge) {
    const Nodes tree{{.rule = {.feature = 0, .cut = 2}, .size = 3}, {}, {}};
    return !throws([&] { start(knowledge, 0.95).restore(tree); });
  };
  CHECK((goes_to({}) && goes_to({.max_leaves = 2}) && !goes_to({.max_leaves = 1}) && !goes_to({.forbidden = {0}}) &&
         !goes_to({.max_depth = 0})));
}

/// Every draw is a monotone function, at random pairs of points that differ in columns with a sign; codes at prediction
/// include missing values where training had none.
template <class Leaf>
void test_monotone(const Table& table, const Leaf& leaf) {
  const std::vector<int> signs{1, 0, -1, 0, 0, 0, 1};
  std::vector<Component> components;
  for (Proposal proposal : {Proposal::uc, Proposal::birth_death, Proposal::change, Proposal::swap, Proposal::gbirth,
                            Proposal::gchange, Proposal::insert_delete})
    components.push_back({.proposal = proposal});
  for (bool from_prior : {false, true}) {
    const GrowTree prior{.alpha = 0.95, .beta = 0.3, .min_leaf = 3};
    const auto make = [&](Stream stream) {
      return std::make_unique<cart::Chain<Leaf>>(table.design, leaf, prior, Mixture(components), from_prior ? 0.0 : 1.0,
                                                 stream, Monotone{signs, from_prior});
    };
    Tempered<cart::Chain<Leaf>> tempered({.ladder = {1.0, 0.0}, .swap_every = 3}, make, 11, 0);
    tempered.advance(200, 2);
    tempered.draw(60, 7, 2);
    cart::Chain<Leaf>& chain = tempered.cold();
    CHECK(chain.values().size() == (chain.nodes().size() + 1) / 2);
    const cart::Draws draws = tempered.take();
    CHECK(draws.value.size() * leaf.n_statistics() == draws.statistics.size());
    const ForestView view{draws.forest.feature,      draws.forest.cut,  draws.forest.subset,
                          draws.forest.missing_left, draws.forest.rows, draws.forest.begin};
    const Predictor predictor(view, table.design.columns);
    Stream stream(5, Role::chain, 0);
    constexpr std::size_t pairs = 400;
    std::vector<std::uint32_t> low, high;
    for (std::size_t pair = 0; pair < pairs; ++pair)
      for (std::size_t j = 0; j < signs.size(); ++j) {
        const Column& column = table.design.columns[j];
        std::uint32_t a = static_cast<std::uint32_t>(stream.below(column.observed + 1)), b = a;
        if (signs[j] != 0 && a < column.observed) b = static_cast<std::uint32_t>(stream.below(column.observed));
        if ((a < b) != (signs[j] > 0)) std::swap(a, b);
        low.push_back(a);
        high.push_back(b);
      }
    std::vector<std::int64_t> below(pairs * predictor.trees()), above(below.size());
    predictor.apply(low, pairs, below);
    predictor.apply(high, pairs, above);
    std::size_t different = 0;
    for (std::size_t i = 0; i < below.size(); ++i) {
      CHECK(draws.value[below[i]] <= draws.value[above[i]]);
      different += below[i] != above[i];
    }
    CHECK((from_prior || different > below.size() / 20));
    const Nodes nodes = chain.nodes();
    const std::vector<double> values = chain.values();
    chain.restore(nodes);
    CHECK(chain.values() == std::vector<double>(values.size(), chain.values()[0]));
    chain.restore_values(values);
    CHECK(chain.values() == values);
    CHECK(throws([&] { chain.restore_values({}); }));
  }
  const auto chain_with = [&](std::vector<int> wrong) {
    cart::Chain<Leaf>(table.design, leaf, {}, Mixture(components), 1.0, Stream(11, Role::chain, 0),
                      {std::move(wrong), false});
  };
  CHECK(throws([&] { chain_with({1}); }));
  CHECK(throws([&] { chain_with({2, 0, 0, 0, 0, 0, 0}); }));
  CHECK(throws([&] { chain_with({0, 0, 0, 1, 0, 0, 0}); }));
  CHECK(!throws([&] { chain_with({0, 0, 0, 0, 0, 0, 0}); }));
}

TEST_CASE("every proposal, and every kind of leaf") {
  const Table table;
  validate(table.design);
  test_chain(table, cart::CategoricalLeaf(table.classes, {}, 3, 1.0));
  test_chain(table, cart::CategoricalLeaf(table.classes, table.weights, 3, 0.5));
  test_chain(table, cart::GaussianLeaf(table.values, {}, {0.5, 0.1, 3.0, 0.05}));
  test_chain(table, cart::GaussianLeaf(table.values, table.weights, {0.5, 0.1, 3.0, 0.05}));
}

TEST_CASE("monotone trees") {
  const Table table;
  std::vector<std::int32_t> two;
  std::vector<double> rising;
  for (Row row = 0; row < table.design.rows; ++row) {
    rising.push_back(table.values[row] + table.wide[0][row] / 1000.0 - table.narrow[2][row] / 4.0);
    two.push_back(rising.back() > 0.3);
  }
  test_monotone(table, cart::CategoricalLeaf(two, {}, 2, 0.7));
  test_monotone(table, cart::GaussianLeaf(rising, table.weights, {0.5, 0.1, 3.0, 0.05}));
  CHECK(throws([&] { cart::CategoricalLeaf(table.classes, {}, 3, 1.0).require_values(); }));
}

}  // namespace
