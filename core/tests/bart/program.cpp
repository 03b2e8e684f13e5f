// Sums of trees that a program derives, under the sanitizers: chains over columns of every kind that are put elsewhere
// and go on as if they had not been.
#include <cmath>
#include <string>
#include <vector>

#include "baytree/bart/chain.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/slp/engine/prepare.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;
using namespace baytree::bart;

const std::string growing = R"(
min_leaf(2).
cart(T) :- root(N), [0] : grow(N, T).
0.9 ** (1 + D) : [D] : grow(N, split(F, V, L, R)) | splittable(N) :-
    choose_feature(N, F), split(N, F, V, A, B), E is D + 1, [E] : grow(A, L), [E] : grow(B, R).
0.3 : [_] : grow(N, leaf(N)).
)";

/// A numeric column with missing values, one of two values, and levels.
struct Table {
  explicit Table(Row rows) : codes(3, std::vector<std::uint8_t>(rows)) {
    Stream stream(1, Role::chain, 1);
    design.rows = rows;
    design.columns = {{.observed = 40, .has_missing = true}, {.observed = 2}, {.categorical = true, .observed = 4}};
    for (std::size_t j = 0; j < codes.size(); ++j) {
      for (auto& code : codes[j]) code = static_cast<std::uint8_t>(stream.below(design.columns[j].n_codes()));
      design.columns[j].codes = std::span<const std::uint8_t>(codes[j]);
    }
    validate(design);
    vocabulary = {{"a", "b", "c"}, {std::vector<double>(39), {0.0}, {}}, {{}, {}, {"p", "q", "r", "s"}}};
    for (std::size_t cut = 0; cut < 39; ++cut) vocabulary.cuts[0][cut] = static_cast<double>(cut);
    for (Row i = 0; i < rows; ++i) {
      numbers.push_back(0.02 * codes[0][i] + 0.3 * codes[1][i] + 0.2 * stream.normal());
      classes.push_back(static_cast<std::int32_t>(stream.below(3)));
      weights.push_back(1.0 + static_cast<double>(stream.below(3)));
    }
  }

  Design design;
  Vocabulary vocabulary;
  std::vector<std::vector<std::uint8_t>> codes;
  std::vector<double> numbers, weights;
  std::vector<std::int32_t> classes;
};

ForestView view(const Forest& forest) {
  return {forest.feature, forest.cut, forest.subset, forest.missing_left, forest.rows, forest.begin};
}

void test_chain(const Table& table, const Response& response, const std::string& text, slp::Semantics semantics) {
  const slp::Prepared program = slp::prepare(text, "cart(T)", "program");
  CHECK(program.problems.empty());
  const TreeProgram trees{table.vocabulary, program, semantics, {}, {{.proposal = slp::Proposal::subtree}}};
  Model model{.leaf = {.sd = 0.3}, .proposals = {{Proposal::subtree, 1.5}}, .noise = {3.0, 0.1}};
  model.prior.trees = 5;
  Chain one(table.design, response, model, Stream(5, Role::chain, 0), Simd::plain, &trees),
      same(table.design, response, model, Stream(5, Role::chain, 0), Simd::plain, &trees);
  one.warm_up(300, 1);
  same.warm_up(7, 2);
  one.end_warm_up();
  same.end_warm_up();
  const Forest forest = one.trees();
  const std::vector<float> values = one.values();
  CHECK(throws([&] { same.restore(view(forest), values, {}, {}); }));
  same.restore(view(forest), values, {}, one.position());
  one.draw(30, 2, 1);
  same.draw(30, 2, 1);
  const Draws from_one = one.take(), from_same = same.take();
  CHECK((from_one.mean.value == from_same.mean.value && from_one.mean.tree == from_same.mean.tree &&
         from_one.sigma == from_same.sigma));
  CHECK((from_one.mean.forest.feature == from_same.mean.forest.feature && std::isfinite(one.log_likelihood())));
  CHECK((one.accepted()[0] > 0 && one.accepted() == same.accepted()));
}

TEST_CASE("chains") {
  const Table table(400);
  for (const std::string& text : {growing, growing + "monotone(a, 1).\n"})
    for (const auto semantics : {slp::Semantics::backtrack, slp::Semantics::reject}) {
      test_chain(table, {.numbers = table.numbers}, text, semantics);
      test_chain(table, {.numbers = table.numbers, .weight = table.weights}, text, semantics);
      test_chain(table, {.classes = table.classes, .n_classes = 3, .weight = table.weights, .centre = {0.0, 0.1, -0.1}},
                 text, semantics);
    }
}

TEST_CASE("bad input") {
  const Table table(30);
  const slp::Prepared program = slp::prepare(growing, "cart(T)", "program");
  const TreeProgram trees{
      table.vocabulary, program, slp::Semantics::backtrack, {}, {{.proposal = slp::Proposal::subtree}}};
  const auto make = [&](const Model& model) {
    Chain(table.design, {.numbers = table.numbers}, model, Stream(1, Role::chain, 0), Simd::plain, &trees);
  };
  const std::vector<ProposalShare> proposals{{Proposal::subtree, 1.0}};
  make({.leaf = {.sd = 0.3}, .proposals = proposals});
  CHECK(throws([&] { make({.leaf = {.sd = -0.3}, .proposals = proposals}); }));
  CHECK(throws([&] { make({.leaf = {.sd = 0.3}, .proposals = {{Proposal::change, 1.0}}}); }));
  CHECK(throws([&] { make({.leaf = {.sd = 0.3}, .proposals = proposals, .variance_trees = 2}); }));
  CHECK(throws([&] { make({.leaf = {.sd = 0.3}, .proposals = proposals, .sparse = true}); }));
}

}  // namespace
