// Hidden Markov chains under the sanitizers: against sums over all decisions in logarithms, also where scaled numbers
// would lose them, for any threads; refusals.
#include <algorithm>
#include <cmath>

#include "baytree/base/numeric.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/hmdt/projection.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;
using namespace baytree::hmdt;

double log_add(double a, double b) {
  const double largest = std::max(a, b);
  return largest == -infinity ? largest : largest + std::log(std::exp(a - largest) + std::exp(b - largest));
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

/// Random chains; the larger `sharp`, the less probable the least probable steps and rows.
struct Chains {
  Chains(std::size_t nodes, std::size_t branching, std::size_t outcomes, std::vector<std::uint64_t> first, double sharp,
         std::uint64_t seed)
      : begin(std::move(first)) {
    Stream stream(seed, Role::chain, 0);
    const std::size_t rows = begin.back();
    std::size_t states = 1;
    for (std::size_t node = 0; node < nodes; ++node) states *= branching;
    for (std::size_t s = 0; s < states; ++s)
      outcome.push_back(static_cast<std::uint32_t>(s < outcomes ? s : stream.below(outcomes)));
    for (std::size_t i = 0; i < rows * nodes * branching; ++i) {
      std::vector<double> score(branching);
      double total = -infinity;
      for (double& value : score) total = log_add(total, value = sharp * stream.normal());
      for (const double value : score) log_transition.push_back(value - total);
    }
    for (std::size_t i = 0; i < rows * outcomes; ++i) log_evidence.push_back(sharp * stream.normal());
    view = {nodes, branching, outcomes, begin, log_transition, log_evidence, outcome};
  }

  double step(std::size_t row, std::size_t before, std::size_t now) const {
    double sum = log_evidence[row * view.outcomes + outcome[now]];
    const std::size_t b = view.branching;
    for (std::size_t node = view.nodes; node-- > 0; before /= b, now /= b)
      sum += log_transition[((row * view.nodes + node) * b + before % b) * b + now % b];
    return sum;
  }

  std::vector<std::uint64_t> begin;
  std::vector<double> log_transition, log_evidence;
  std::vector<std::uint32_t> outcome;
  HiddenChains view;
};

/// Every sequence of joint states of the rows, with its log probability.
template <class Visit>
void visit_all(const Chains& chains, std::size_t first, std::size_t last, std::vector<std::size_t>& path,
               double log_probability, const Visit& visit) {
  const std::size_t row = first + path.size();
  if (row == last) {
    visit(path, log_probability);
    return;
  }
  const std::size_t before = path.empty() ? 0 : path.back();
  for (std::size_t now = 0; now < chains.view.states(); ++now) {
    path.push_back(now);
    visit_all(chains, first, last, path, log_probability + chains.step(row, before, now), visit);
    path.pop_back();
  }
}

void test_against_sums(const Chains& chains) {
  const HiddenChains& view = chains.view;
  const std::size_t b = view.branching, nodes = view.nodes;
  const Smoothed back = smooth(view, 1);
  const Filtered ahead = filter(view, 2);
  const DecisionPath best = best_path(view, 1);
  for (std::size_t number = 0; number < view.sequences(); ++number) {
    const std::size_t first = view.begin[number], last = view.begin[number + 1];
    std::vector<std::size_t> path, best_states;
    double total = -infinity, largest = -infinity;
    visit_all(chains, first, last, path, 0.0, [&](const std::vector<std::size_t>& states, double log_probability) {
      total = log_add(total, log_probability);
      if (log_probability > largest) largest = log_probability, best_states = states;
    });
    std::vector<double> outcome((last - first) * view.outcomes), pair((last - first) * nodes * b * b);
    visit_all(chains, first, last, path, 0.0, [&](const std::vector<std::size_t>& states, double log_probability) {
      const double probability = std::exp(log_probability - total);
      for (std::size_t t = 0; t < states.size(); ++t) {
        outcome[t * view.outcomes + view.outcome[states[t]]] += probability;
        std::size_t before = t ? states[t - 1] : 0, now = states[t];
        for (std::size_t node = nodes; node-- > 0; before /= b, now /= b)
          pair[((t * nodes + node) * b + before % b) * b + now % b] += probability;
      }
    });
    double forward = 0.0, smoothed = 0.0;
    for (std::size_t row = first; row < last; ++row) {
      forward += ahead.log_likelihood[row];
      smoothed += back.log_likelihood[row];
      for (std::size_t node = 0, states = best_states[row - first]; node < nodes; ++node) {
        std::size_t digit = states;
        for (std::size_t after = node + 1; after < nodes; ++after) digit /= b;
        CHECK(best.decision[row * nodes + node] == static_cast<std::int32_t>(digit % b));
      }
    }
    CHECK((near(forward, total) && near(smoothed, total)));
    CHECK(near(best.log_probability[number], largest));
    for (std::size_t i = 0; i < outcome.size(); ++i) CHECK(near(back.outcome[first * view.outcomes + i], outcome[i]));
    for (std::size_t i = 0; i < pair.size(); ++i) CHECK(near(back.pair[first * nodes * b * b + i], pair[i]));
    // At the last row all has been seen.
    for (std::size_t i = 0; i < view.outcomes; ++i)
      CHECK(near(ahead.outcome[(last - 1) * view.outcomes + i], outcome[(last - first - 1) * view.outcomes + i]));
  }
}

/// A state that a row makes impossible but for 1e-430, that nothing else leads to, and that later rows insist on.
TEST_CASE("states that underflow") {
  Chains chains(1, 2, 2, {0, 3}, 1.0, 1);
  chains.outcome = {0, 1};
  chains.log_transition = {std::log(0.5), std::log(0.5), std::log(0.5), std::log(0.5), -1e-300, -800,
                           -800,          -1e-300,       -1e-300,       -800,          -800,    -1e-300};
  chains.log_evidence = {0, -1000, 0, 0, -2000, 0};
  test_against_sums(chains);
  CHECK(smooth(chains.view, 1).outcome[5] == 1.0);
}

/// The outcome of each joint state of a tree of three nodes with two branches.
const std::vector<std::uint32_t> leaves{0, 0, 1, 1, 2, 3, 2, 3};

/// Row by row against sums over the joint states of nodes that were independent; for one node and at first rows against
/// the exact pass.
void test_projection(double sharp) {
  Chains chains(3, 2, 4, {0, 4, 5}, sharp, 7);
  chains.outcome = leaves;
  const HiddenChains& view = chains.view;
  const HiddenTree tree{3, 2, view.begin, view.log_transition, view.log_evidence};
  const Filtered found = project(tree, 2), exact = filter(view, 1);
  for (std::size_t row = 0; row < view.rows(); ++row) {
    double total = 0.0;
    std::vector<double> decision(6), outcome(4);
    const double largest =
        *std::max_element(view.log_evidence.begin() + 4 * row, view.log_evidence.begin() + 4 * row + 4);
    for (std::size_t s = 0; s < 8; ++s) {
      double weight = std::exp(view.log_evidence[4 * row + leaves[s]] - largest);
      for (std::size_t node = 0; node < 3; ++node)
        weight *= found.decision_ahead[6 * row + 2 * node + (s >> (2 - node) & 1)];
      for (std::size_t node = 0; node < 3; ++node) decision[2 * node + (s >> (2 - node) & 1)] += weight;
      outcome[leaves[s]] += weight;
      total += weight;
    }
    CHECK(near(found.log_likelihood[row], std::log(total) + largest));
    for (std::size_t i = 0; i < 6; ++i) CHECK(near(found.decision[6 * row + i], decision[i] / total));
    for (std::size_t i = 0; i < 4; ++i) CHECK(near(found.outcome[4 * row + i], outcome[i] / total));
    if (row == 0 || row == 4)
      for (std::size_t i = 0; i < 6; ++i) CHECK(near(found.decision[6 * row + i], exact.decision[6 * row + i]));
  }
  const Chains one(1, 3, 3, {0, 6}, sharp, 8);
  const Filtered alone = project({1, 3, one.view.begin, one.view.log_transition, one.view.log_evidence}, 1),
                 all = filter(one.view, 1);
  for (std::size_t i = 0; i < alone.decision.size(); ++i)
    CHECK((near(alone.decision[i], all.decision[i]) && near(alone.outcome_ahead[i], all.outcome_ahead[i])));
  CHECK(throws([&] { project({2, 2, view.begin, view.log_transition, view.log_evidence}, 1); }));
  CHECK(throws([&] { project({3, 2, one.view.begin, view.log_transition, view.log_evidence}, 1); }));
}

TEST_CASE("threads") {
  const Chains chains(3, 2, 4, {0, 7, 8, 40, 90, 91, 120}, 2.0, 3);
  const Smoothed one = smooth(chains.view, 1), many = smooth(chains.view, 4);
  CHECK((one.pair == many.pair && one.outcome == many.outcome && one.log_likelihood == many.log_likelihood));
  CHECK(filter(chains.view, 1).decision == filter(chains.view, 3).decision);
  CHECK(best_path(chains.view, 1).decision == best_path(chains.view, 3).decision);
}

TEST_CASE("refusals") {
  const Chains right(2, 2, 3, {0, 2, 5}, 1.0, 5);
  const auto refused = [](const Chains& chains) {
    return throws([&] { smooth(chains.view, 1); }) && throws([&] { filter(chains.view, 2); });
  };
  CHECK(!refused(right));
  const auto with = [&](auto change) {
    Chains wrong(2, 2, 3, {0, 2, 5}, 1.0, 5);
    change(wrong);
    wrong.view = {wrong.view.nodes,     wrong.view.branching, wrong.view.outcomes, wrong.begin,
                  wrong.log_transition, wrong.log_evidence,   wrong.outcome};
    return wrong;
  };
  CHECK(refused(with([](Chains& c) { c.begin = {}; })));
  CHECK(refused(with([](Chains& c) { c.begin = {1, 5}; })));
  CHECK(refused(with([](Chains& c) { c.begin = {0, 2, 2, 5}; })));
  CHECK(refused(with([](Chains& c) { c.begin = {0, 6}; })));
  CHECK(refused(with([](Chains& c) { c.outcome.push_back(0); })));
  CHECK(refused(with([](Chains& c) { c.outcome[2] = 3; })));
  CHECK(refused(with([](Chains& c) { c.outcome = {0, 1, 1, 0}; })));
  CHECK(refused(with([](Chains& c) { c.log_transition[3] = unknown; })));
  CHECK(refused(with([](Chains& c) { c.log_transition[3] = 0.1; })));
  CHECK(refused(with([](Chains& c) { c.log_evidence[4] = unknown; })));
  CHECK(refused(with([](Chains& c) { c.log_evidence[4] = infinity; })));
  CHECK(refused(with([](Chains& c) { std::fill_n(c.log_evidence.begin() + 3, 3, -infinity); })));
  CHECK(!refused(with([](Chains& c) { c.log_evidence[4] = -infinity; })));
  CHECK(refused(with([](Chains& c) { c.view.nodes = 0; })));
  CHECK(refused(with([](Chains& c) { c.view.nodes = 64; })));
  // Steps that cannot be taken, to what alone is possible.
  const auto stuck = with([](Chains& c) {
    c.outcome = {0, 1, 2, 2};
    for (std::size_t i = 0; i < 4; ++i) c.log_transition[i] = i % 2 ? -infinity : 0.0;
    c.log_evidence[0] = -infinity;
    c.log_evidence[1] = -infinity;
  });
  CHECK((refused(stuck) && throws([&] { best_path(stuck.view, 1); })));
}

TEST_CASE("passes against sums over all states") {
  for (const double sharp : {1.0, 30.0, 500.0}) {
    test_against_sums(Chains(1, 2, 2, {0, 5, 6}, sharp, 1));
    test_against_sums(Chains(1, 4, 3, {0, 4}, sharp, 2));
    test_against_sums(Chains(2, 3, 5, {0, 1, 4}, sharp, 3));
    test_against_sums(Chains(3, 2, 4, {0, 3, 4, 8}, sharp, 4));
  }
}

TEST_CASE("projection") {
  for (const double sharp : {1.0, 10.0}) test_projection(sharp);
}

}  // namespace
