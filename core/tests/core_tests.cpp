// Runs the core without Python, so that the sanitizers see all of it: every proposal on awkward designs, with the
// invariants of the state checked after each block.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>

#include "baytree/cart/chain.hpp"
#include "baytree/cart/leaf/categorical.hpp"
#include "baytree/cart/leaf/gaussian.hpp"
#include "baytree/mcmc/tempering.hpp"
#include "baytree/slp/program/lint.hpp"
#include "baytree/trees/partition.hpp"
#include "baytree/trees/predictor.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;

/// Columns of every kind: numeric with ties, constant, with missing values, two-byte codes, categorical with and
/// without missing values, as many levels as there can be.
struct Table {
  explicit Table(Row rows) {
    Stream stream(7, Role::chain, 0);
    add_narrow(stream, rows, false, 5, false);
    add_narrow(stream, rows, false, 1, false);
    add_narrow(stream, rows, false, 4, true);
    add_narrow(stream, rows, true, 4, false);
    add_narrow(stream, rows, true, 3, true);
    add_narrow(stream, rows, true, max_levels, true);
    std::vector<std::uint16_t> codes(rows);
    for (auto& code : codes) code = static_cast<std::uint16_t>(stream.below(1000));
    wide.push_back(std::move(codes));
    for (const auto& narrow_codes : narrow) {
      design.columns[&narrow_codes - narrow.data()].codes = std::span<const std::uint8_t>(narrow_codes);
    }
    design.columns.push_back({.codes = std::span<const std::uint16_t>(wide[0]), .observed = 1000});
    design.rows = rows;
    for (const Column& column : design.columns) {
      auto& values_of_cuts = cuts.emplace_back(column.categorical ? 0 : column.observed - 1);
      std::iota(values_of_cuts.begin(), values_of_cuts.end(), 0.0);
    }
    for (Row row = 0; row < rows; ++row) {
      classes.push_back(static_cast<std::int32_t>(stream.below(3)));
      values.push_back(stream.uniform());
      weights.push_back(0.5 + stream.uniform());
    }
  }

  void add_narrow(Stream& stream, Row rows, bool categorical, std::uint32_t observed, bool has_missing) {
    std::vector<std::uint8_t> codes(rows);
    for (auto& code : codes) code = static_cast<std::uint8_t>(stream.below(observed + has_missing));
    narrow.push_back(std::move(codes));
    design.columns.push_back({.categorical = categorical, .observed = observed, .has_missing = has_missing});
  }

  std::vector<std::vector<std::uint8_t>> narrow;
  std::vector<std::vector<std::uint16_t>> wide;
  std::vector<std::int32_t> classes;
  std::vector<double> values, weights;
  std::vector<std::vector<double>> cuts;
  Design design;
};

void test_philox() {
  // The vectors published with Random123.
  CHECK((philox({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  CHECK((philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
         PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  CHECK((philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
         PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

void test_stream() {
  Stream stream(1, Role::chain, 2);
  std::vector<std::uint32_t> words(200);
  for (auto& word : words) word = stream.next32();
  CHECK(stream.position() == words.size());
  for (std::size_t position : {0u, 1u, 63u, 64u, 65u, 199u}) {
    stream.seek(position);
    CHECK(stream.position() == position);
    CHECK(stream.next32() == words[position]);
  }
  for (int i = 0; i < 1000; ++i) CHECK(stream.below((std::uint64_t{1} << 40) + 1) <= std::uint64_t{1} << 40);
}

void test_extremes() {
  std::vector<Row> rows(100);
  std::iota(rows.begin(), rows.end(), 0u);
  std::vector<std::uint32_t> spare;
  const auto key = [](Row row) { return row * 37 % 50; };
  std::vector<std::uint32_t> sorted;
  for (const Row row : rows) sorted.push_back(key(row));
  std::sort(sorted.begin(), sorted.end());
  for (Row m : {1u, 2u, 64u, 65u, 100u}) {
    const Extremes found = extremes(rows, m, spare, key);
    CHECK(found.low == sorted[m - 1] && found.high == sorted[rows.size() - m]);
  }
}

/// A column's admissible rules, counted one by one.
std::uint64_t count_by_trying(const Column& column, std::span<const Row> rows, Row min_leaf) {
  std::vector<Rule> candidates;
  if (column.categorical) {
    for (std::uint64_t subset = 1; subset + 1 < std::uint64_t{1} << column.n_codes(); subset += 2)
      candidates.push_back({.subset = subset});
  } else {
    for (std::uint32_t cut = 0; cut + 1 < column.n_codes(); ++cut) candidates.push_back({.cut = cut});
    for (std::uint32_t cut = 0; column.has_missing && cut + 1 < column.observed; ++cut)
      candidates.push_back({.cut = cut, .missing_left = true});
  }
  std::uint64_t count = 0;
  for (const Rule& rule : candidates) {
    const auto left = with_test(column, rule, [&](auto test) { return std::count_if(rows.begin(), rows.end(), test); });
    count += left >= min_leaf && static_cast<std::int64_t>(rows.size()) - left >= min_leaf;
  }
  return count;
}

void test_admissible(const Table& table) {
  AdmissibleBuffers buffers;
  Stream stream(3, Role::chain, 0);
  for (int repeat = 0; repeat < 60; ++repeat) {
    std::vector<Row> rows;
    for (Row row = 0; row < table.design.rows; ++row)
      if (stream.bernoulli(repeat % 3 == 0 ? 0.05 : 0.5)) rows.push_back(row);
    for (std::uint32_t j = 0; j < table.design.columns.size(); ++j) {
      const Column& column = table.design.columns[j];
      if (column.n_codes() > 20 && column.categorical) continue;
      for (Row min_leaf : {1u, 2u, 5u, 20u}) {
        const ColumnRules rules = column_rules(column, rows, min_leaf, buffers);
        CHECK(rules.count == (rows.size() < 2 * min_leaf ? 0 : count_by_trying(column, rows, min_leaf)));
        CHECK(has_rule(column, rows, min_leaf, buffers) == (rules.count > 0));
        if (rules.count == 0) continue;
        const Rule rule = nth_rule(column, j, rules, rows, min_leaf, stream.below(rules.count), buffers);
        const auto left =
            with_test(column, rule, [&](auto test) { return std::count_if(rows.begin(), rows.end(), test); });
        CHECK(left >= min_leaf && rows.size() - left >= min_leaf);
      }
    }
  }
}

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
    CHECK(unpacked[i].size == node.size && unpacked[i].rule == (node.is_leaf() ? Rule{} : node.rule));
    CHECK(node.rows() >= std::min(min_leaf, table.design.rows));
    CHECK(node.is_leaf() || node.splittable);
    if (node.is_leaf()) rows += node.rows();
  }
  CHECK(rows == table.design.rows);
  // A chain put at the same tree agrees to the bit.
  const double log_likelihood = chain.log_likelihood(), log_prior = chain.log_prior();
  const auto points = count_points(chain.nodes());
  chain.restore(unpacked);
  CHECK(chain.log_likelihood() == log_likelihood && std::abs(chain.log_prior() - log_prior) < 1e-9 &&
        count_points(chain.nodes()) == points);
}

Mixture every_proposal() {
  std::vector<Component> components;
  for (Proposal proposal :
       {Proposal::uc, Proposal::q0, Proposal::cycle, Proposal::birth_death, Proposal::change, Proposal::swap})
    components.push_back({.proposal = proposal, .last = 5});
  return Mixture(components);
}

template <class Leaf>
void test_chain(const Table& table, const Leaf& leaf) {
  for (bool by_column : {true, false})
    for (Row min_leaf : {1u, 5u, 20u}) {
      const GrowTree prior{.alpha = 0.95, .beta = 0.5, .min_leaf = min_leaf, .by_column = by_column};
      const auto make = [&](Stream stream) {
        return std::make_unique<cart::Chain<Leaf>>(table.design, leaf, prior, every_proposal(), 1.0, stream);
      };
      Tempered<cart::Chain<Leaf>> chain({.ladder = {1.0, 0.3, 0.0}, .swap_every = 7, .adapts = true}, make, 11, 0);
      for (int block = 0; block < 20; ++block) {
        chain.warm_up(50, 2);
        for (std::size_t rung = 0; rung < 3; ++rung) check_state(chain.rung(rung), table, min_leaf);
      }
      chain.draw(50, 3, 2);
      const cart::Draws draws = chain.take();
      CHECK(draws.state.size() == 50 && draws.log_prior.size() == 50);
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

void test_grow_trees(const Table& table) {
  for (bool by_column : {true, false}) {
    Grower grower(table.design, {.alpha = 0.95, .beta = 0.5, .min_leaf = 5, .by_column = by_column});
    Stream stream(13, Role::chain, 0);
    const Forest forest = grow_trees(grower, 200, stream);
    CHECK(forest.begin.size() == 200 && forest.feature.size() > 400);
    const ForestView view{forest.feature, forest.cut, forest.subset, forest.missing_left, forest.rows, forest.begin};
    for (std::size_t tree = 0; tree < forest.begin.size(); ++tree) {
      CHECK(!unpack_tree(view, tree, table.design.columns).empty());
      CHECK(forest.rows[forest.begin[tree]] == table.design.rows);
    }
    CHECK(*std::min_element(forest.rows.begin(), forest.rows.end()) >= 5);
  }
}

/// Every kind of knowledge alone, and all together. That a tree restored from its bare rules has the same prior and the
/// same choice points shows that what lies above a node is the same by every way that leads there.
void test_knowledge(const Table& table) {
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
          CHECK(node.is_leaf() || !knowledge.max_depth || node.depth < *knowledge.max_depth);
        CHECK(!knowledge.max_leaves || chain.nodes().size() / 2 < *knowledge.max_leaves);
      }
      CHECK(largest > 3);
    }
  const auto start = [&](const Knowledge& knowledge, double alpha) {
    const GrowTree prior{.alpha = alpha, .beta = 0.0, .min_leaf = 5, .knowledge = knowledge, .cuts = {}};
    return cart::Chain<cart::GaussianLeaf>(table.design, leaf, prior, every_proposal(), 1.0, Stream(3, Role::chain, 0));
  };
  CHECK(!throws([&] { start({.max_leaves = 1}, 0.95); }) && throws([&] { start({.max_leaves = 0}, 0.95); }));
  CHECK(throws([&] { start({.boxes = {low}}, 0.95); }));
  // Trees that knowledge excludes cannot be gone to.
  const auto goes_to = [&](const Knowledge& knowledge) {
    const Nodes tree{{.rule = {.feature = 0, .cut = 2}, .size = 3}, {}, {}};
    return !throws([&] { start(knowledge, 0.95).restore(tree); });
  };
  CHECK(goes_to({}) && goes_to({.max_leaves = 2}) && !goes_to({.max_leaves = 1}) && !goes_to({.forbidden = {0}}) &&
        !goes_to({.max_depth = 0}));
}

/// Every draw is a monotone function, at random pairs of points that differ in columns with a sign; codes at prediction
/// include missing values where training had none.
template <class Leaf>
void test_monotone(const Table& table, const Leaf& leaf) {
  const std::vector<int> signs{1, 0, -1, 0, 0, 0, 1};
  std::vector<Component> components;
  for (Proposal proposal : {Proposal::uc, Proposal::birth_death, Proposal::change, Proposal::swap})
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
    CHECK(from_prior || different > below.size() / 20);
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

void test_ladder() {
  // Rejections of 0.3 and 0.1: the middle rung moves to where half of their sum lies.
  const Ladder moved = respaced(std::vector{1.0, 0.5, 0.0}, std::vector{0.3, 0.1});
  CHECK(moved.front() == 1.0 && moved.back() == 0.0 && std::abs(moved[1] - (1.0 - 0.5 * 0.2 / 0.3)) < 1e-12);
  // Equal rejections stay; with none at all the rungs spread evenly by number, and never fall together.
  const Ladder even{1.0, 0.6, 0.1, 0.0};
  const Ladder same = respaced(even, std::vector{0.2, 0.2, 0.2});
  for (std::size_t i = 0; i < even.size(); ++i) CHECK(std::abs(same[i] - even[i]) < 1e-12);
  const Ladder still = respaced(even, std::vector{0.0, 0.0, 1.0});
  for (std::size_t i = 1; i < still.size(); ++i) CHECK(still[i] < still[i - 1]);
  CHECK(throws([] { check_ladder(std::vector{0.9, 0.1}); }) && throws([] { check_ladder(std::vector{1.0, 1.0}); }) &&
        throws([] { check_ladder({}); }));
}

void test_rounds() {
  // Each item once a round, whatever the threads; an error of the first item that has one is thrown on.
  for (unsigned threads : {1u, 2u, 5u}) {
    std::vector<int> calls(4);
    int rounds = 0;
    in_rounds(calls.size(), threads, [&](std::size_t i) { ++calls[i]; }, [&] { return ++rounds < 50; });
    CHECK(rounds == 50 && std::all_of(calls.begin(), calls.end(), [](int n) { return n == 50; }));
    std::string said;
    try {
      in_rounds(
          4, threads,
          [](std::size_t i) {
            if (i > 1) throw InputError(std::to_string(i));
          },
          [] { return true; });
    } catch (const InputError& error) {
      said = error.what();
    }
    CHECK(said == "2");
  }
}

void test_damaged_forests(const Table& table) {
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

/// Programs, whole and damaged, never crash the reader, and what it read it writes and reads again alike.
void test_slp() {
  const std::string text = R"(% figure 2, and every kind of token
1 - 1/D : [D] : cart(leaf).
1/D : [D] : cart(Split-[L,R]) :- NewD is D+1, splt(Split), [NewD] : cart(L), [NewD] : cart(R).
0.4:splt(x1). 0.3::splt(x2). 0.3 ## splt(x3).
p(X, 'quo ted', "text", 0'a, 0'\n, 1.5e-3, -7, - 7, [a,b|T], {x, y}, 2 ^ 3 ^ X) | X > 0, \+ q(T) :- ( q(X) -> true ; fail ), /* ü */ once(q(T)).
q(_). q(Ünï).
)";
  const auto written = [](const slp::Source& source) {
    std::string out;
    for (const slp::Sentence& sentence : source.sentences)
      out += slp::write(source, sentence.term, sentence.variables) + ".\n";
    return out;
  };
  Stream stream(5, Role::chain, 0);
  for (int repeat = 0; repeat < 3000; ++repeat) {
    std::string damaged = text;
    for (std::uint64_t edits = repeat == 0 ? 0 : 1 + stream.below(8); edits > 0 && !damaged.empty(); --edits) {
      const std::size_t at = stream.below(damaged.size());
      switch (stream.below(4)) {
        case 0:
          damaged[at] = static_cast<char>(stream.below(256));
          break;
        case 1:
          damaged.erase(at, 1 + stream.below(20));
          break;
        case 2:
          damaged.insert(at, 1 + stream.below(3), "()[]{}|,.'\"0:-\\"[stream.below(15)]);
          break;
        default:
          damaged.insert(at, damaged.substr(stream.below(damaged.size()), 20));
      }
    }
    slp::Problems problems;
    const slp::Program program = slp::read_program(damaged, problems);
    CHECK(repeat > 0 || problems.empty());
    if (problems.empty()) slp::lint(program, "");
    const std::string once = written(program.source);
    slp::Problems again;
    CHECK(written(slp::parse(once, again)) == once && again.empty());
  }
  slp::Problems problems;
  slp::parse(std::string(100000, '(') + "a.", problems);
  slp::parse("p :- " + std::string(100000, '-') + "a.", problems);
  std::string chain = "p :- a";
  for (int i = 0; i < 100000; ++i) chain += ",a";
  CHECK(written(slp::read_program(chain + ".", problems).source).size() > chain.size());
  CHECK(problems.size() == 2);
}

}  // namespace

int main() {
  const Table table(300);
  validate(table.design);
  test_philox();
  test_stream();
  test_extremes();
  test_admissible(table);
  test_chain(table, cart::CategoricalLeaf(table.classes, {}, 3, 1.0));
  test_chain(table, cart::CategoricalLeaf(table.classes, table.weights, 3, 0.5));
  test_chain(table, cart::GaussianLeaf(table.values, {}, {0.5, 0.1, 3.0, 0.05}));
  test_chain(table, cart::GaussianLeaf(table.values, table.weights, {0.5, 0.1, 3.0, 0.05}));
  test_grow_trees(table);
  test_ladder();
  test_rounds();
  test_knowledge(table);
  std::vector<std::int32_t> two;
  std::vector<double> rising;
  for (Row row = 0; row < table.design.rows; ++row) {
    rising.push_back(table.values[row] + table.wide[0][row] / 1000.0 - table.narrow[2][row] / 4.0);
    two.push_back(rising.back() > 0.3);
  }
  test_monotone(table, cart::CategoricalLeaf(two, {}, 2, 0.7));
  test_monotone(table, cart::GaussianLeaf(rising, table.weights, {0.5, 0.1, 3.0, 0.05}));
  CHECK(throws([&] { cart::CategoricalLeaf(table.classes, {}, 3, 1.0).require_values(); }));
  test_damaged_forests(table);
  test_slp();
  std::printf("core: %d checks hold\n", checks);
}
