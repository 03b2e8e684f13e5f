// Runs the table that programs see without Python, so that the sanitizers see all of it: on random trees under random
// constraints, the admissible rules are compared with all rules of the columns tried one by one.
#include "baytree/priors/node_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string>

#include "baytree/base/error.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/priors/program_knowledge.hpp"
#include "baytree/trees/partition.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;
using slp::NodeId;
using slp::Question;

/// Columns of every kind: numeric with ties, with missing values, constant, two-byte codes, categorical with and
/// without missing values. The cut values of a column are 0, 1, 2, …; a row of code c has the value c − 0.5.
struct Table {
  Table(std::uint64_t seed, Row rows) : stream(seed, Role::chain, 0) {
    add(rows, false, 6, false);
    add(rows, false, 5, true);
    add(rows, true, 4, false);
    add(rows, true, 3, true);
    add(rows, false, 1, true);
    add(rows, false, 2, false);
    add(rows, false, 9, true);
    for (auto& code : codes.back()) code = static_cast<std::uint16_t>(code == 9 || stream.bernoulli(0.5) ? code : 4);
    for (std::size_t j = 0; j < codes.size(); ++j) {
      if (j + 1 == codes.size())
        design.columns[j].codes = std::span<const std::uint16_t>(codes[j]);
      else
        design.columns[j].codes = std::span<const std::uint8_t>(narrow[j]);
    }
    design.rows = rows;
    validate(design);
  }

  void add(Row rows, bool categorical, std::uint32_t observed, bool has_missing) {
    std::vector<std::uint16_t> column(rows);
    for (auto& code : column) code = static_cast<std::uint16_t>(stream.below(observed + has_missing));
    narrow.emplace_back(column.begin(), column.end());
    codes.push_back(std::move(column));
    vocabulary.names.push_back("column " + std::to_string(codes.size()));
    auto& cuts = vocabulary.cuts.emplace_back(categorical ? 0 : observed - 1);
    std::iota(cuts.begin(), cuts.end(), 0.0);
    auto& levels = vocabulary.levels.emplace_back();
    for (std::uint32_t level = 0; categorical && level < observed; ++level)
      levels.push_back("level " + std::to_string(level));
    design.columns.push_back({.categorical = categorical, .observed = observed, .has_missing = has_missing});
  }

  std::uint32_t feature() { return static_cast<std::uint32_t>(stream.below(design.columns.size())); }

  Stream stream;
  std::vector<std::vector<std::uint16_t>> codes;
  std::vector<std::vector<std::uint8_t>> narrow;
  Vocabulary vocabulary;
  Design design;
};

Knowledge random_knowledge(Table& table) {
  Stream& stream = table.stream;
  Knowledge knowledge;
  if (stream.bernoulli(0.2)) knowledge.max_depth = static_cast<std::uint32_t>(stream.below(4));
  while (stream.bernoulli(0.2)) knowledge.forbidden.push_back(table.feature());
  while (stream.bernoulli(0.3))
    knowledge.below_depth.push_back({table.feature(), static_cast<std::uint32_t>(stream.below(4))});
  while (stream.bernoulli(0.3)) {
    auto& only = knowledge.only.emplace_back(Knowledge::Only{.depth = static_cast<std::uint32_t>(stream.below(4))});
    for (std::uint64_t members = stream.below(8); members > 0; --members) only.features.push_back(table.feature());
  }
  while (stream.bernoulli(0.4)) knowledge.below_feature.push_back({table.feature(), table.feature()});
  if (stream.bernoulli(0.3)) {
    knowledge.interacting.resize(stream.bernoulli(0.5) ? 3 : 130);  // more than one word of groups
    for (auto& group : knowledge.interacting)
      for (std::uint64_t members = stream.below(4); members > 0; --members) group.push_back(table.feature());
  }
  for (std::uint64_t boxes = stream.bernoulli(0.5) ? stream.below(5) : 0; boxes > 0; --boxes) {
    Box& box = knowledge.boxes.emplace_back();
    for (std::uint32_t feature : {0u, 1u, 4u, 5u, 6u}) {
      if (stream.bernoulli(0.25)) continue;
      double min = 0.5 * static_cast<double>(stream.below(16)) - 1.0,
             max = min + 0.5 * static_cast<double>(stream.below(5));
      if (stream.bernoulli(0.2)) min = -infinity;
      if (stream.bernoulli(0.2)) max = infinity;
      box.sides.push_back({feature, min, max});
    }
  }
  if (stream.bernoulli(0.3))
    for (std::size_t j = 0; j < table.design.columns.size(); ++j) knowledge.weights.push_back(0.5 + stream.uniform());
  return knowledge;
}

/// A split above a node, and the side the node is on.
struct Step {
  std::uint32_t feature;
  Question question;
  bool left;
};

/// All questions about a column, whatever a node says to them.
std::vector<Question> all_questions(const Column& column) {
  std::vector<Question> questions;
  if (column.categorical) {
    for (std::uint64_t levels = 1; levels + 1 < std::uint64_t{1} << column.n_codes(); levels += 2)
      questions.push_back({Question::Kind::levels, 0.0, levels});
    return questions;
  }
  for (std::uint32_t cut = 0; cut + 1 < column.observed; ++cut) {
    questions.push_back({Question::Kind::cut, static_cast<double>(cut)});
    if (column.has_missing) questions.push_back({Question::Kind::cut_or_gone, static_cast<double>(cut)});
  }
  if (column.has_missing) questions.push_back({Question::Kind::observed});
  return questions;
}

bool goes_left(const Column& column, const Question& question, std::uint32_t code) {
  const bool missing = code == column.missing_code();
  const bool low = static_cast<double>(code) - 0.5 <= question.cut;
  switch (question.kind) {
    case Question::Kind::cut:
      return !missing && low;
    case Question::Kind::cut_or_gone:
      return missing || low;
    case Question::Kind::observed:
      return !missing;
    case Question::Kind::levels:
      return (question.levels >> code & 1) != 0;
  }
  return false;
}

enum class Fate { left, right, cut };

Fate fate(const Box& box, std::uint32_t feature, const Question& question) {
  const auto side =
      std::find_if(box.sides.begin(), box.sides.end(), [&](const Box::Side& s) { return s.feature == feature; });
  if (side == box.sides.end()) return Fate::cut;
  if (question.kind == Question::Kind::observed || side->max <= question.cut) return Fate::left;
  return side->min > question.cut ? Fate::right : Fate::cut;
}

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// The constraints as their definitions say, from the path alone.
bool is_allowed(const Knowledge& knowledge, const std::vector<Step>& path, std::uint32_t feature,
                const Question& question) {
  if (knowledge.max_depth && path.size() >= *knowledge.max_depth) return false;
  if (contains(knowledge.forbidden, feature)) return false;
  for (const auto& [below, depth] : knowledge.below_depth)
    if (below == feature && path.size() >= depth) return false;
  for (const auto& [depth, features] : knowledge.only)
    if (path.size() == depth && !contains(features, feature)) return false;
  for (const auto& [below, above] : knowledge.below_feature)
    for (const Step& step : path)
      if (below == feature && above == step.feature) return false;
  if (!knowledge.interacting.empty()) {
    auto groups = knowledge.interacting;
    std::vector<std::uint32_t> others;
    for (std::uint32_t j = 0; j < 7; ++j)
      if (std::none_of(groups.begin(), groups.end(), [&](const auto& group) { return contains(group, j); }))
        others.push_back(j);
    groups.push_back(others);
    const auto holds_all = [&](const auto& group) {
      return contains(group, feature) &&
             std::all_of(path.begin(), path.end(), [&](const Step& step) { return contains(group, step.feature); });
    };
    if (std::none_of(groups.begin(), groups.end(), holds_all)) return false;
  }
  for (const Box& box : knowledge.boxes) {
    const auto follows = [&](const Step& step) {
      return fate(box, step.feature, step.question) == (step.left ? Fate::left : Fate::right);
    };
    if (std::all_of(path.begin(), path.end(), follows) && fate(box, feature, question) == Fate::cut) return false;
  }
  return true;
}

bool same(const std::vector<Question>& a, const std::vector<Question>& b) {
  return a.size() == b.size() &&
         std::all_of(a.begin(), a.end(), [&](const Question& q) { return std::count(b.begin(), b.end(), q) == 1; });
}

/// One node against the definitions; returns its admissible rules.
std::vector<Step> check_node(NodeTable& nodes, NodeId node, const Table& table, const Knowledge& knowledge,
                             Row min_leaf, const std::vector<Step>& path) {
  std::vector<Row> rows;
  for (Row row = 0; row < table.design.rows; ++row)
    if (std::all_of(path.begin(), path.end(), [&](const Step& step) {
          return goes_left(table.design.columns[step.feature], step.question, table.codes[step.feature][row]) ==
                 step.left;
        }))
      rows.push_back(row);
  const auto found = nodes.rows(node);
  CHECK(std::equal(found.begin(), found.end(), rows.begin(), rows.end()));
  CHECK((nodes.node_size(node) == rows.size() && nodes.depth(node) == path.size()));

  std::vector<Step> admissible;
  std::vector<double> weights;
  nodes.usable(node, weights);
  CHECK(weights.size() == table.design.columns.size());
  for (std::uint32_t feature = 0; feature < nodes.features(); ++feature) {
    const Column& column = table.design.columns[feature];
    std::vector<Question> expected, listed;
    for (const Question& question : all_questions(column)) {
      const auto left = static_cast<std::size_t>(std::count_if(
          rows.begin(), rows.end(), [&](Row row) { return goes_left(column, question, table.codes[feature][row]); }));
      const bool holds =
          left >= min_leaf && rows.size() - left >= min_leaf && is_allowed(knowledge, path, feature, question);
      CHECK(nodes.is_admissible(node, feature, question) == holds);
      if (holds) expected.push_back(question);
      if (!holds) CHECK(throws([&] { nodes.split(node, feature, question); }));
    }
    const std::uint64_t count = nodes.count_rules(node, feature);
    for (std::uint64_t n = 0; n < count; ++n) listed.push_back(nodes.rule(node, feature, n));
    CHECK(same(listed, expected));
    CHECK(throws([&] { nodes.rule(node, feature, count); }));
    CHECK(weights[feature] == (expected.empty() ? 0.0 : knowledge.weights.empty() ? 1.0 : knowledge.weights[feature]));
    for (const Question& question : expected) admissible.push_back({feature, question, true});
    if (column.categorical) continue;
    const auto [low, high] = nodes.region(node, feature);
    double least = -infinity, most = infinity;
    for (const Step& step : path)
      if (step.feature == feature && step.question.kind != Question::Kind::observed)
        (step.left ? most : least) = step.left ? std::min(most, step.question.cut) : std::max(least, step.question.cut);
    CHECK((low == least && high == most));
  }
  CHECK(nodes.splittable(node) == !admissible.empty());
  return admissible;
}

/// Grows a random tree, checking every node, and forgets it now and then.
void walk(NodeTable& nodes, NodeId node, Table& table, const Knowledge& knowledge, Row min_leaf,
          std::vector<Step>& path) {
  const auto admissible = check_node(nodes, node, table, knowledge, min_leaf, path);
  if (admissible.empty() || path.size() == 5) return;
  for (int trial = 0; trial < 2; ++trial) {
    const auto& [feature, question, unused] = admissible[table.stream.below(admissible.size())];
    const NodeId mark = nodes.mark();
    const std::size_t memory = nodes.memory();
    const auto [left, right] = nodes.split(node, feature, question);
    CHECK((nodes.memory() > memory && nodes.parent(left) == node && nodes.parent(right) == node));
    CHECK((nodes.is_left(left) && !nodes.is_left(right) && nodes.rule(left) == nodes.rule(right) &&
           nodes.rule(left).feature == feature));
    CHECK(std::isnan(nodes.log_marginal(left)));
    nodes.log_marginal(left) = 1.0;
    for (const NodeId child : {left, right}) {
      path.push_back({feature, question, child == left});
      walk(nodes, child, table, knowledge, min_leaf, path);
      path.pop_back();
    }
    CHECK(nodes.log_marginal(left) == 1.0);
    if (trial == 1 || path.size() > 1) return;
    nodes.rewind(mark);
    CHECK((nodes.memory() == memory && nodes.mark() == mark && throws([&] { nodes.rows(left); })));
  }
}

TEST_CASE("against brute force") {
  for (std::uint64_t repeat = 0; repeat < 150; ++repeat) {
    Table table(repeat, repeat % 2 == 0 ? 60 : 200);
    const Knowledge knowledge = repeat < 10 ? Knowledge{} : random_knowledge(table);
    const auto min_leaf = static_cast<Row>(std::vector{1, 2, 5, 20}[table.stream.below(4)]);
    NodeTable nodes(table.design, table.vocabulary, knowledge, min_leaf);
    std::vector<Step> path;
    walk(nodes, nodes.root(), table, knowledge, min_leaf, path);
  }
}

/// As many levels as there can be: too many rules to list.
TEST_CASE("many levels") {
  Table table(1, 300);
  table.add(300, true, max_levels, true);
  table.design.columns.back().codes = std::span<const std::uint16_t>(table.codes.back());
  const auto feature = static_cast<std::uint32_t>(table.design.columns.size() - 1);
  for (std::size_t j = 0; j < feature; ++j)
    table.design.columns[j].codes = std::span<const std::uint16_t>(table.codes[j]);
  for (const Row min_leaf : {1u, 100u, 150u}) {
    NodeTable nodes(table.design, table.vocabulary, {}, min_leaf);
    CHECK((nodes.levels(feature) == 64 && nodes.level_name(feature, 63) == "missing"));
    const std::uint64_t count = nodes.count_rules(nodes.root(), feature);
    CHECK((min_leaf > 1 || count <= (std::uint64_t{1} << 63) - 1));
    std::set<std::uint64_t> numbers{0, count - 1}, seen;
    for (int i = 0; i < 300; ++i) numbers.insert(table.stream.below(count));
    for (const std::uint64_t n : numbers) {
      const Question question = nodes.rule(nodes.root(), feature, n);
      CHECK((nodes.is_admissible(nodes.root(), feature, question) && seen.insert(question.levels).second));
    }
  }
}

/// A new node may take the number of a forgotten one, not what was remembered of it.
TEST_CASE("forgotten nodes") {
  Table table(4, 60);
  NodeTable nodes(table.design, table.vocabulary, {}, 1);
  const NodeId mark = nodes.mark();
  const NodeId low = nodes.split(nodes.root(), 0, {Question::Kind::cut, 1.0}).first;
  CHECK(nodes.count_rules(low, 0) == 1);
  nodes.rewind(mark);
  const NodeId high = nodes.split(nodes.root(), 0, {Question::Kind::cut, 3.0}).first;
  CHECK((high == low && nodes.count_rules(high, 0) == 3));
}

TEST_CASE("hostile questions") {
  Table table(2, 60);
  NodeTable nodes(table.design, table.vocabulary, {}, 5);
  const NodeId root = nodes.root();
  CHECK((root == nodes.root() && throws([&] { nodes.parent(root); }) && throws([&] { nodes.rewind(0); }) &&
         throws([&] { nodes.rewind(2); })));
  std::vector<double> weights;
  for (const NodeId node : {1u, 0xffffffffu}) {
    CHECK((throws([&] { nodes.node_size(node); }) && throws([&] { nodes.depth(node); }) &&
           throws([&] { nodes.region(node, 0); })));
    CHECK((throws([&] { nodes.splittable(node); }) && throws([&] { nodes.usable(node, weights); }) &&
           throws([&] { nodes.count_rules(node, 0); })));
    CHECK((throws([&] { nodes.rule(node, 0, 0); }) && throws([&] { nodes.is_admissible(node, 0, {}); }) &&
           throws([&] { nodes.split(node, 0, {}); })));
    CHECK((throws([&] { nodes.parent(node); }) && throws([&] { nodes.rule(node); }) &&
           throws([&] { nodes.log_marginal(node); })));
  }
  for (const std::uint32_t feature : {7u, 0xffffffffu}) {
    CHECK((throws([&] { nodes.feature_name(feature); }) && throws([&] { nodes.is_categorical(feature); }) &&
           throws([&] { nodes.levels(feature); })));
    CHECK((throws([&] { nodes.level_name(feature, 0); }) && throws([&] { nodes.region(root, feature); }) &&
           throws([&] { nodes.count_rules(root, feature); })));
    CHECK((throws([&] { nodes.rule(root, feature, 0); }) && throws([&] { nodes.is_admissible(root, feature, {}); })));
    CHECK(throws([&] { nodes.split(root, feature, {}); }));
  }
  CHECK((throws([&] { nodes.region(root, 2); }) && throws([&] { nodes.level_name(0, 0); }) &&
         throws([&] { nodes.level_name(2, 4); })));
  const auto asks = [&](std::uint32_t feature, const Question& question) {
    return nodes.is_admissible(root, feature, question);
  };
  CHECK((asks(0, {Question::Kind::cut, 2.0}) && !asks(0, {Question::Kind::cut, 2.5}) &&
         !asks(0, {Question::Kind::cut, unknown})));
  CHECK((!asks(0, {Question::Kind::cut, infinity}) && !asks(0, {Question::Kind::observed}) &&
         !asks(0, {Question::Kind::cut_or_gone, 2.0})));
  CHECK((!asks(0, {Question::Kind::levels, 2.0, 1}) && !asks(2, {Question::Kind::cut, 0.0})));
  CHECK((asks(2, {Question::Kind::levels, 0.0, 0b0011}) && !asks(2, {Question::Kind::levels, 0.0, 0b1100})));
  CHECK((!asks(2, {Question::Kind::levels, 0.0, 0b10001}) && !asks(2, {Question::Kind::levels, 0.0, 0b1111}) &&
         !asks(2, {Question::Kind::levels, 0.0, 0})));
}

TEST_CASE("knowledge that does not fit") {
  Table table(3, 60);
  const auto refuses = [&](const Knowledge& knowledge) {
    return throws([&] { NodeTable(table.design, table.vocabulary, knowledge, 5); });
  };
  CHECK((!refuses({}) && throws([&] { NodeTable(table.design, table.vocabulary, {}, 0); })));
  CHECK((refuses({.forbidden = {7}}) && refuses({.below_depth = {{7, 1}}}) && refuses({.below_feature = {{0, 7}}}) &&
         refuses({.interacting = {{0, 7}}})));
  CHECK((refuses({.only = {{0, {7}}}}) && !refuses({.only = {{0, {}}, {0xffffffff, {6}}}})));
  CHECK((refuses({.weights = std::vector<double>(7, 1e300)}) && !refuses({.weights = std::vector<double>(7, 1e280)})));
  CHECK(
      (refuses({.required = {7}}) && refuses({.weights = {1.0}}) && refuses({.weights = std::vector<double>(7, 0.0)})));
  CHECK((refuses({.boxes = {Box{{{7, 0.0, 1.0}}}}}) && refuses({.boxes = {Box{{{2, 0.0, 1.0}}}}}) &&
         refuses({.boxes = {Box{{{0, 1.0, 0.0}}}}})));
  CHECK((refuses({.boxes = {Box{{{0, 0.0, 1.0}, {0, 0.0, 1.0}}}}}) && refuses({.boxes = std::vector<Box>(65)}) &&
         !refuses({.boxes = std::vector<Box>(64)})));
  Vocabulary vocabulary = table.vocabulary;
  vocabulary.cuts[0].pop_back();
  CHECK(throws([&] { NodeTable(table.design, vocabulary, {}, 5); }));
  vocabulary = table.vocabulary;
  vocabulary.levels[3][1] = "missing";
  CHECK(NodeTable(table.design, vocabulary, {}, 5).level_name(3, 3) == "missing_");
}

const Vocabulary people{.names = {"age", "Income", "colour", "x1"},
                        .cuts = {{30.0}, {1e3}, {}, {0.5}},
                        .levels = {{}, {}, {"red", "blue"}, {}}};

Knowledge read(const std::string& text, Row& min_leaf, slp::Problems& problems) {
  const slp::Program program = slp::read_program(text, problems);
  CHECK(problems.empty());
  return read_knowledge(program, people, min_leaf, problems);
}

TEST_CASE("facts") {
  Row min_leaf = 0;
  slp::Problems problems;
  read("cart(leaf).", min_leaf, problems);
  CHECK((min_leaf == 5 && problems.empty()));
  const Knowledge all = read(
      "min_leaf(7). max_depth(3.0). max_leaves(6). forbid(colour). forbid_below(age, 2). forbid_below(x2, age). "
      "interaction([age, 'Income']). only(1, [colour, "
      "x1]). require(age). "
      "weight(age, 3). weight(x1, 0.5). const_class_probs(young, age, -inf, 20). const_class_probs(young, x1, -1, "
      "2.5). const_class_probs(rich, x2, 128, inf). "
      "const_class_probs(young, age, - 3, 40).",
      min_leaf, problems);
  CHECK((problems.empty() && min_leaf == 7 && all.max_depth == 3u && all.max_leaves == 6u));
  CHECK((all.forbidden == std::vector{2u} && all.required == std::vector{0u} &&
         all.interacting == (std::vector<std::vector<std::uint32_t>>{{0, 1}})));
  CHECK((all.below_depth.size() == 1 && all.below_depth[0].feature == 0 && all.below_depth[0].depth == 2));
  CHECK((all.only.size() == 1 && all.only[0].depth == 1 && all.only[0].features == (std::vector{2u, 3u})));
  CHECK((all.below_feature.size() == 1 && all.below_feature[0].feature == 1 && all.below_feature[0].above == 0));
  CHECK(all.weights == (std::vector{3.0, 1.0, 1.0, 0.5}));
  const auto is = [](const Box::Side& side, std::uint32_t feature, double min, double max) {
    return side.feature == feature && side.min == min && side.max == max;
  };
  CHECK((all.boxes.size() == 2 && all.boxes[0].sides.size() == 2 && all.boxes[1].sides.size() == 1));
  CHECK((is(all.boxes[0].sides[0], 0, -3.0, 20.0) && is(all.boxes[0].sides[1], 3, -1.0, 2.5) &&
         is(all.boxes[1].sides[0], 1, 128.0, infinity)));
}

TEST_CASE("wrong facts") {
  struct Wrong {
    std::string text, message;
    std::uint32_t column;
  };
  std::string many;
  for (int i = 0; i < 65; ++i) many += "const_class_probs(" + std::to_string(100 + i) + ", age, 0, 1). ";
  const Wrong cases[] = {
      {"forbid(agee).", "there is no column agee; did you mean age?", 8},
      {"forbid(x5).", "there is no column x5", 8},
      {"forbid(x0).", "there is no column x0", 8},
      {"forbid(Income).", "Income is a variable here", 8},
      {"forbid(2).", "2 is no feature", 8},
      {"forbid(f(age)).", "f(age) is no feature", 8},
      {"forbid(age) :- true.", "forbid/1 states a constraint: it must be a plain fact", 1},
      {"0.5 : max_depth(3).", "max_depth/1 states a constraint", 7},
      {"max_depth(-1).", "-1 must be a whole number of at least 0", 11},
      {"max_depth(2.5).", "2.5 must be a whole number", 11},
      {"max_depth(inf).", "inf must be a whole number", 11},
      {"max_depth(3). max_depth(4).", "max_depth/1 is stated twice", 15},
      {"min_leaf(0).", "0 must be a whole number of at least 1", 10},
      {"min_leaf(5000000000).", "5000000000 must be a whole number", 10},
      {"max_leaves(many).", "many must be a whole number of at least 1", 12},
      {"forbid_below(age, colr).", "there is no column colr", 19},
      {"forbid_below(age, 1.5).", "1.5 must be a whole number", 19},
      {"interaction(age).", "age must be a list of features", 13},
      {"interaction([]).", "[] must be a list of features", 13},
      {"interaction([age, color]).", "there is no column color; did you mean colour?", 19},
      {"only(age, [age]).", "age must be a whole number of at least 0", 6},
      {"only(0, age).", "age must be a list of features, as in only(0, [a, b])", 9},
      {"only(0, []).", "[] must be a list of features", 9},
      {"only(0, [age, color]).", "there is no column color; did you mean colour?", 15},
      {"only(0, [age]) :- true.", "only/2 states a constraint", 1},
      {"weight(age, 0).", "0 must be a positive number", 13},
      {"weight(age, inf).", "inf must be a positive number", 13},
      {"weight(age, heavy).", "heavy must be a positive number", 13},
      {"weight(age, 1). weight(age, 2).", "a second weight of age", 17},
      {"const_class_probs(b, age, 3, 2).", "no value of age lies in b", 27},
      {"const_class_probs(b, age, inf, inf).", "no value of age lies in b", 27},
      {"const_class_probs(b, age, 1, 2). const_class_probs(b, age, 3, 4).", "no value of age lies in b", 60},
      {"const_class_probs(b, age, low, 2).", "low must be a number, inf or -inf", 27},
      {"const_class_probs(b, colour, 1, 2).", "colour is categorical", 22},
      {"const_class_probs(B, age, 1, 2).", "a box is named by a word", 19},
      {many, "at most 64 boxes", 64 * 35 + 1},
      {"require(age). forbid(age).", "age is both required and forbidden", 1},
      {"require(age). forbid_below(age, 0).", "age is both required and forbidden", 1},
      {"max_depth(0). require(age).", "age is required, but max_depth(0) allows no split", 15},
      {"max_leaves(1). require(age).", "1 required features take more than 1 leaves", 16},
  };
  for (const Wrong& wrong : cases) {
    Row min_leaf = 0;
    slp::Problems problems;
    const Knowledge rest = read(wrong.text, min_leaf, problems);
    const bool as_expected = problems.size() == 1 && problems[0].message.starts_with(wrong.message) &&
                             problems[0].place.column == wrong.column &&
                             problems[0].severity == slp::Problem::Severity::error;
    if (!as_expected)
      for (const slp::Problem& problem : problems)
        std::fprintf(stderr, "%s\n  %u: %s\n", wrong.text.c_str(), problem.place.column, problem.message.c_str());
    CHECK(as_expected);
    CHECK((rest.boxes.size() <= 64 && (rest.boxes.empty() || !rest.boxes[0].sides.empty())));
  }
}

}  // namespace
