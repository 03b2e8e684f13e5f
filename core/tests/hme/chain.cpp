// Mixtures of experts under the sanitizers: normal systems against their equations, chains of every kind at every
// power, extreme numbers, refusals.
#include "baytree/hme/chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "baytree/base/numeric.hpp"
#include "baytree/hme/polya_gamma.hpp"
#include "baytree/mcmc/tempering.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;
using hme::ExpertKind, hme::Leaf, hme::Parameters, hme::Row;

bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

/// Rows of normal inputs with ones at the end; outputs are normal or random classes. Large numbers come by `scale`.
struct Table {
  Table(std::size_t n, std::size_t columns, std::size_t n_outputs, std::size_t depth, std::size_t branching,
        ExpertKind kind, double scale = 1.0) {
    Stream stream(n + columns, Role::chain, 0);
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t j = 0; j + 1 < columns; ++j) inputs.push_back(scale * stream.normal());
      inputs.push_back(1.0);
      const std::size_t own = stream.below(n_outputs);
      for (std::size_t k = 0; k < n_outputs; ++k)
        outputs.push_back(kind == ExpertKind::classes ? (k == own ? 1.0 : 0.0) : scale * stream.normal());
    }
    problem = {.columns = columns,
               .n_outputs = n_outputs,
               .depth = depth,
               .branching = branching,
               .experts = kind,
               .lambda = std::vector(n_outputs, 0.5)};
  }

  hme::Problem prepared() const {
    hme::Problem given = problem;
    given.inputs = inputs;
    given.outputs = outputs;
    given.prepare();
    return given;
  }

  std::vector<double> inputs, outputs;
  hme::Problem problem;
};

/// Q · mean = b, and the noise's own square in Q has as many degrees of freedom as there are columns.
void test_normal_system(std::size_t columns) {
  Stream stream(columns, Role::chain, 0);
  const double ridge = 0.3;
  hme::NormalSystem system(columns, 2);
  std::vector<double> q(columns * columns), b(2 * columns), x(columns);
  system.reset(99.0);
  system.add(x.data(), 1.0, std::vector{1.0, 1.0}.data());
  system.reset(ridge);
  for (std::size_t i = 0; i < columns; ++i) q[i * columns + i] = ridge;
  for (int row = 0; row < 20; ++row) {
    for (double& value : x) value = stream.normal();
    const double weight = stream.uniform(), product[2] = {stream.normal(), stream.normal()};
    system.add(x.data(), weight, product);
    for (std::size_t i = 0; i < columns; ++i) {
      for (std::size_t j = 0; j < columns; ++j) q[i * columns + j] += weight * x[i] * x[j];
      for (std::size_t k = 0; k < 2; ++k) b[k * columns + i] += product[k] * x[i];
    }
  }
  system.factor();
  const auto times = [&](std::span<const double> v, std::size_t i) {
    return std::inner_product(v.begin(), v.end(), q.begin() + i * columns, 0.0);
  };
  for (const std::size_t k : {1, 0}) {
    const std::span<const double> mean = system.mean(k);
    for (std::size_t i = 0; i < columns; ++i) CHECK(close(times(mean, i), b[k * columns + i]));
  }
  constexpr int draws = 4000;
  double sum = 0.0;
  for (int draw = 0; draw < draws; ++draw) {
    const std::span<const double> noise = system.noise(2.0, stream);
    for (std::size_t i = 0; i < columns; ++i) sum += noise[i] * times(noise, i) / 4.0;
  }
  const double freedom = static_cast<double>(columns);
  CHECK(std::abs(sum / draws - freedom) < 4.0 * std::sqrt(2.0 * freedom / draws));
}

TEST_CASE("polya gamma") {
  Stream stream(1, Role::chain, 0);
  for (const double tilt : {0.0, 1e-300, 1.5625, 3.125, -3.1250000001, 90.0, 800.0, -1500.0, 1e6, 1e12})
    for (int draw = 0; draw < 200; ++draw) {
      const double omega = hme::polya_gamma(tilt, stream);
      CHECK((std::isfinite(omega) && omega > 0.0));
    }
}

/// What a chain says of its state is what the state says, and another chain put there goes on alike.
void test_chain(const Table& table, double power) {
  const hme::Problem problem = table.prepared();
  hme::Chain chain(problem, power, Stream(1, Role::chain, 0));
  hme::Draws draws;
  for (int step = 0; step < 40; ++step) {
    CHECK(chain.step());
    const hme::Position position = chain.position();
    check(problem, position.parameters);
    CHECK(std::ranges::all_of(position.leaf, [&](Leaf leaf) { return leaf < problem.leaves; }));
    CHECK((std::isfinite(chain.log_likelihood()) && std::isfinite(chain.log_prior())));
    chain.store(draws);
    CHECK((draws.log_mixture.size() == static_cast<std::size_t>(step + 1) && std::isfinite(draws.log_mixture.back())));
  }
  CHECK((draws.parameters.gates.size() == 40 * problem.gate_numbers() &&
         draws.parameters.variance.size() == 40 * problem.variances()));
  hme::Chain other(problem, power, Stream(1, Role::chain, 0));
  other.restore(chain.position());
  CHECK((other.log_likelihood() == chain.log_likelihood() && other.steps() == 40));
  for (int step = 0; step < 10; ++step) {
    chain.step();
    other.step();
    CHECK((chain.log_likelihood() == other.log_likelihood() && chain.position().leaf == other.position().leaf));
  }
  other.restart();
  const hme::Position here = chain.position(), there = other.position();
  exchange(chain, other);
  CHECK((chain.position().leaf == there.leaf && other.position().parameters.gates == here.parameters.gates));
  CHECK((chain.position().stream == here.stream && other.position().steps == there.steps));
  chain.begin(here.parameters);
  CHECK(chain.position().parameters.coefficients == here.parameters.coefficients);
}

void test_tempered(const Table& table) {
  const hme::Problem problem = table.prepared();
  const auto make = [&](Stream stream) { return std::make_unique<hme::Chain>(problem, 1.0, stream); };
  Tempered<hme::Chain> chain({.ladder = {1.0, 0.5, 0.0}, .swap_every = 3, .adapts = true}, make, 1, 0);
  chain.warm_up(60, 2);
  chain.end_warm_up();
  chain.draw(30, 2, 2);
  CHECK(chain.take().log_mixture.size() == 30);
}

TEST_CASE("refusals") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refuses = [](ExpertKind kind, auto change) {
    Table table(10, 3, 2, 2, 2, kind);
    change(table);
    return throws([&] { table.prepared(); });
  };
  constexpr ExpertKind linear = ExpertKind::linear, classes = ExpertKind::classes;
  CHECK((!refuses(linear, [](Table&) {}) && !refuses(classes, [](Table&) {})));
  CHECK((refuses(linear, [](Table& t) { t.inputs.pop_back(); }) &&
         refuses(linear, [](Table& t) { t.outputs.pop_back(); })));
  CHECK((refuses(linear, [](Table& t) { t.inputs.clear(), t.outputs.clear(); }) &&
         refuses(linear, [](Table& t) { t.problem.columns = 0; })));
  CHECK((refuses(linear, [](Table& t) { t.inputs[0] = nan; }) &&
         refuses(linear, [](Table& t) { t.outputs[0] = infinity; })));
  CHECK((refuses(linear, [](Table& t) { t.problem.branching = 1; }) &&
         refuses(linear, [](Table& t) { t.problem.depth = 17; })));
  CHECK(refuses(linear, [](Table& t) { t.problem.depth = 1, t.problem.branching = std::size_t{1} << 60; }));
  CHECK((refuses(linear, [](Table& t) { t.problem.gate_sd = 0.0; }) &&
         refuses(linear, [](Table& t) { t.problem.sd = nan; })));
  CHECK((refuses(linear, [](Table& t) { t.problem.nu = 0.0; }) &&
         refuses(linear, [](Table& t) { t.problem.lambda = {1.0}; })));
  CHECK(refuses(linear, [](Table& t) { t.problem.lambda[1] = -1.0; }));
  CHECK((refuses(classes, [](Table& t) { t.outputs[0] = t.outputs[1] = 1.0; }) &&
         refuses(classes, [](Table& t) { t.outputs[0] = 0.5; })));
  CHECK(refuses(classes, [](Table& t) { t.problem.n_outputs = 1; }));
  const Table table(10, 3, 2, 2, 2, linear);
  const hme::Problem problem = table.prepared();
  for (const double power : {-1.0, nan, infinity})
    CHECK(throws([&] { hme::Chain(problem, power, Stream(1, Role::chain, 0)); }));
  hme::Chain chain(problem, 1.0, Stream(1, Role::chain, 0));
  const hme::Position position = chain.position();
  const auto not_restored = [&](auto change) {
    hme::Position bad = position;
    change(bad);
    return throws([&] { chain.restore(bad); });
  };
  CHECK(!not_restored([](auto&) {}));
  CHECK((not_restored([](auto& bad) { bad.leaf.pop_back(); }) && not_restored([](auto& bad) { bad.leaf[0] = 4; })));
  CHECK((not_restored([](auto& bad) { bad.parameters.gates.pop_back(); }) &&
         not_restored([](auto& bad) { bad.parameters.gates[0] = nan; })));
  CHECK((not_restored([](auto& bad) { bad.parameters.gates[0] = 1e60; }) &&
         refuses(linear, [](Table& t) { t.inputs[0] = 1e60; })));
  CHECK((not_restored([](auto& bad) { bad.parameters.variance[0] = 0.0; }) &&
         not_restored([](auto& bad) { bad.parameters.coefficients.push_back(0.0); })));
}

TEST_CASE("normal systems") {
  for (const std::size_t columns : {1, 2, 7}) test_normal_system(columns);
}

TEST_CASE("chains of every shape") {
  for (const double power : {0.0, 0.5, 1.0, 2.0})
    for (const ExpertKind kind : {ExpertKind::linear, ExpertKind::constant, ExpertKind::classes}) {
      test_chain({30, 3, 2, 2, 2, kind}, power);
      test_chain({30, 2, 3, 1, 4, kind}, power);
      test_chain({3, 1, 2, 3, 2, kind}, power);
      test_chain({5, 2, 2, 0, 2, kind}, power);
      test_chain({20, 4, 2, 1, 3, kind, 1e6}, power);
    }
}

TEST_CASE("tempered chains") {
  test_tempered({30, 3, 2, 2, 2, ExpertKind::linear});
  test_tempered({30, 3, 3, 1, 3, ExpertKind::classes});
}

}  // namespace
