// Subsets of columns under the sanitizers: factors that are updated against factors that are made anew, groups,
// duplicates, more columns than rows, refusals.
#include "baytree/subset/chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "baytree/base/numeric.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/subset/enumeration.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;
using subset::CoefficientPrior, subset::Column, subset::Evidence, subset::Proposal, subset::Unit;

/// Rows and units of one, two or three columns by turns; every third column may be a copy of one before, and one is
/// zero.
struct Table {
  Table(std::size_t rows, std::size_t units, CoefficientPrior prior, bool copies, std::uint64_t seed)
      : stream(seed, Role::chain, 0) {
    for (std::size_t unit = 0; unit < units; ++unit) begin.push_back(begin.back() + 1 + static_cast<Column>(unit % 3));
    const std::size_t p = begin.back();
    std::vector<double> x(p * rows), y(rows);
    for (double& value : x) value = stream.normal();
    for (double& value : y) value = stream.normal();
    if (copies) {
      for (std::size_t j = 3; j < p; j += 3)
        std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(stream.below(j) * rows), rows,
                    x.begin() + static_cast<std::ptrdiff_t>(j * rows));
      std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(stream.below(p) * rows), rows, 0.0);
    }
    const auto product = [&](const double* a, const double* b) {
      double sum = 0.0;
      for (std::size_t i = 0; i < rows; ++i) sum += a[i] * b[i];
      return sum;
    };
    for (std::size_t i = 0; i < p; ++i) {
      for (std::size_t j = 0; j < p; ++j) gram.push_back(product(&x[i * rows], &x[j * rows]));
      response.push_back(product(&x[i * rows], y.data()));
    }
    const double n = static_cast<double>(rows);
    evidence.emplace(prior, 3.0, n, n + 2.0, product(y.data(), y.data()) + 0.5);
    free.assign(units, true);
    parents.resize(units);
    log_odds.assign(units, 0.0);
    log_size.assign(units + 1, 0.0);
  }

  subset::Problem problem() const {
    subset::Problem given{.gram = gram,
                          .response = response,
                          .evidence = *evidence,
                          .unit_begin = begin,
                          .free = free,
                          .parents = parents,
                          .log_size = log_size,
                          .log_odds = log_odds};
    given.prepare();
    return given;
  }

  Stream stream;
  std::vector<Column> begin{0};
  std::vector<double> gram, response, log_size, log_odds;
  std::optional<Evidence> evidence;
  std::vector<bool> free;
  std::vector<std::vector<Unit>> parents;
};

/// By a dense factor of its own columns, or nothing where they depend on each other.
std::optional<subset::Change> made_anew(const subset::Problem& problem, const std::set<Unit>& units) {
  std::vector<Column> columns;
  for (const Unit unit : units)
    for (Column j = problem.unit_begin[unit]; j < problem.unit_begin[unit + 1]; ++j) columns.push_back(j);
  const std::size_t q = columns.size();
  std::vector<double> l(q * q), w(q);
  subset::Change change{.possible = true};
  for (std::size_t i = 0; i < q; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = problem.cross(columns[i], columns[j]);
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * q + k] * l[j * q + k];
      if (i == j && !(sum > problem.least_pivot(columns[i]))) return {};
      l[i * q + j] = i == j ? std::sqrt(sum) : sum / l[j * q + j];
    }
    w[i] = problem.response[columns[i]];
    for (std::size_t k = 0; k < i; ++k) w[i] -= l[i * q + k] * w[k];
    w[i] /= l[i * q + i];
    change.explained += w[i] * w[i];
    change.log_determinant += 2.0 * std::log(l[i * q + i]);
  }
  return change;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-7 * std::max(1.0, std::abs(b)); }

bool same(const subset::Change& found, const std::optional<subset::Change>& exact, bool ridge) {
  if (!found.possible || !exact) return found.possible == exact.has_value();
  return close(found.explained, exact->explained) && (!ridge || close(found.log_determinant, exact->log_determinant));
}

/// Random flips; before each, what every unit would change, and what every exchange of one unit for another would.
void test_factor(std::size_t rows, std::size_t units, CoefficientPrior prior, bool copies) {
  Table table(rows, units, prior, copies, rows + units);
  const subset::Problem problem = table.problem();
  subset::Factor factor(problem);
  const bool ridge = prior == CoefficientPrior::ridge;  // else no determinant is kept
  std::set<Unit> model;
  const auto flipped = [&](Unit unit) {
    std::set<Unit> other = model;
    if (!other.erase(unit)) other.insert(unit);
    return other;
  };
  std::size_t refused = 0;
  for (int flip = 0; flip < 400; ++flip) {
    CHECK(same({true, factor.explained(), factor.log_determinant()}, made_anew(problem, model), ridge));
    CHECK(factor.size() == factor.order().size());
    for (Unit unit = 0; unit < units; ++unit)
      CHECK(same(model.contains(unit) ? factor.leaving(unit) : factor.entering(unit), made_anew(problem, flipped(unit)),
                 ridge));
    if (flip % 8 == 0)
      for (const Unit out : model)
        for (Unit in = 0; in < units; ++in) {
          if (model.contains(in)) continue;
          std::set<Unit> other = flipped(out);
          other.insert(in);
          CHECK(same(factor.exchanging(out, in), made_anew(problem, other), ridge));
        }
    const Unit unit = static_cast<Unit>(table.stream.below(units));
    if (model.contains(unit)) {
      factor.leave(unit);
    } else if (factor.entering(unit).possible) {
      factor.enter(unit);
    } else {
      ++refused;
      continue;
    }
    model = flipped(unit);
    if (flip == 200) {
      factor.clear();
      model.clear();
    }
  }
  const bool dependent = !ridge && (copies || table.begin.back() > rows);
  CHECK((refused > 0) == dependent);
}

/// The whole posterior by a loop over masks.
void test_enumeration(std::size_t rows, CoefficientPrior prior) {
  Table table(rows, 8, prior, true, rows);
  table.free[2] = table.free[5] = false;
  table.log_size.resize(7);
  for (Unit unit = 0; unit < 8; ++unit) table.log_odds[unit] = table.free[unit] ? 0.3 * unit - 1.0 : 0.0;
  table.parents[7] = {0, 2};
  table.parents[4] = {1, 3};
  if (!made_anew(table.problem(), {2, 5})) {
    CHECK(throws([&] { enumerate(table.problem(), 1, {}, table.stream); }));
    return;
  }
  const subset::Problem problem = table.problem();
  std::map<std::vector<Unit>, double> target;
  double total = 0.0;
  for (unsigned mask = 0; mask < 64; ++mask) {
    std::set<Unit> model{2, 5};
    double log_prior = 0.0;
    for (std::size_t bit = 0; bit < 6; ++bit)
      if (mask >> bit & 1u) {
        model.insert(problem.free_units[bit]);
        log_prior += problem.log_odds[problem.free_units[bit]];
      }
    const std::optional<subset::Change> change = made_anew(problem, model);
    if (!change || (model.contains(7) && !model.contains(0)) ||
        (model.contains(4) && !(model.contains(1) && model.contains(3))))
      continue;
    std::size_t columns = 0;
    for (const Unit unit : model) columns += problem.size(unit);
    const double weight =
        std::exp(log_prior + problem.evidence.log_marginal(columns, change->explained, change->log_determinant));
    target[{model.begin(), model.end()}] = weight;
    total += weight;
  }
  const std::vector<double> quantiles = {0.0, 0.1, 0.1, 0.7, 0.999};
  const subset::Enumeration found = enumerate(problem, 100, quantiles, table.stream);
  CHECK((close(found.log_total, std::log(total)) && found.inclusion.size() == 8 && found.sizes.size() == 7));
  CHECK((found.top.begin.size() == target.size() + 1 && found.drawn.begin.size() == quantiles.size() + 1));
  double before = infinity;
  for (std::size_t i = 0; i + 1 < found.top.begin.size(); ++i) {
    const std::vector<Unit> model(found.top.unit.begin() + found.top.begin[i],
                                  found.top.unit.begin() + found.top.begin[i + 1]);
    CHECK((target.contains(model) &&
           close(std::log(target[model]), found.top.log_likelihood[i] + found.top.log_prior[i])));
    CHECK(found.top.log_likelihood[i] + found.top.log_prior[i] <= before);
    before = found.top.log_likelihood[i] + found.top.log_prior[i];
  }
  std::size_t columns = 0;
  for (const Unit unit : found.drawn.unit) columns += problem.size(unit);
  CHECK((found.mean.size() == columns && found.given.coefficient.size() == columns));
  CHECK((found.given.sigma.size() == quantiles.size() && found.given.level.size() == quantiles.size() &&
         found.given.shrinkage.size() == quantiles.size()));
  CHECK(enumerate(problem, 0, {}, table.stream).top.begin.size() == 1);
}

/// Long enough to make the factor anew many times; put back in the middle of one, a chain goes on to the bit.
void test_chain(std::size_t rows, CoefficientPrior prior, Proposal proposal) {
  Table table(rows, 9, prior, true, 5);
  table.parents[8] = {0, 1};
  const subset::Problem problem = table.problem();
  subset::Chain chain(problem, {{proposal, 1.5}, {Proposal::gibbs, 0.25}}, 1.0, Stream(1, Role::chain, 0));
  for (int step = 0; step < 300; ++step) {
    chain.step();
    const std::vector<Unit> model = chain.model();
    const std::optional<subset::Change> change = made_anew(problem, {model.begin(), model.end()});
    CHECK(change.has_value());
    std::size_t columns = 0;
    for (const Unit unit : model) columns += problem.size(unit);
    CHECK(close(chain.log_likelihood(),
                problem.evidence.log_marginal(columns, change->explained, change->log_determinant)));
  }
  subset::Chain other(problem, {{proposal, 1.5}, {Proposal::gibbs, 0.25}}, 1.0, Stream(1, Role::chain, 0));
  other.restore(chain.position());
  for (int step = 0; step < 100; ++step) {
    chain.step();
    other.step();
    CHECK((chain.model() == other.model() && chain.log_likelihood() == other.log_likelihood() &&
           chain.turns() == other.turns()));
  }
  subset::Position position = chain.position();
  const auto refuses = [&](auto change) {
    subset::Position bad = position;
    change(bad);
    return throws([&] { other.restore(bad); });
  };
  CHECK(!refuses([](auto&) {}));
  CHECK((refuses([](auto& bad) { bad.base = {99}; }) && refuses([](auto& bad) { bad.flips.push_back(99); }) &&
         refuses([](auto& bad) { bad.turns.clear(); })));
  CHECK((refuses([](auto& bad) { bad.base = {1, 1}; }) && refuses([](auto& bad) { bad.base = {1, 0}; })));
  CHECK((refuses([](auto& bad) { bad.base = {8}, bad.flips = {}; }) &&
         refuses([](auto& bad) { bad.flips.assign(100'000, 0); })));
}

TEST_CASE("refusals") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refuses = [](auto change) {
    Table table(20, 4, CoefficientPrior::fixed, false, 1);
    change(table);
    return throws([&] { table.problem(); });
  };
  CHECK(!refuses([](Table&) {}));
  CHECK((refuses([](Table& t) { t.gram.pop_back(); }) && refuses([](Table& t) { t.response.pop_back(); })));
  CHECK((refuses([](Table& t) { t.gram[1] = nan; }) && refuses([](Table& t) { t.response[1] = infinity; })));
  CHECK((refuses([](Table& t) { t.begin[1] = 0; }) && refuses([](Table& t) { t.begin.back() = 99; }) &&
         refuses([](Table& t) { t.begin = {}; })));
  CHECK((refuses([](Table& t) { t.parents[2] = {9}; }) && refuses([](Table& t) { t.parents[2] = {2}; }) &&
         refuses([](Table& t) { t.parents.pop_back(); })));
  CHECK((refuses([](Table& t) { t.log_size.pop_back(); }) && refuses([](Table& t) { t.log_size[0] = nan; }) &&
         refuses([](Table& t) { t.log_odds[0] = infinity; })));
  CHECK((refuses([](Table& t) { t.log_size.assign(5, -infinity); }) && refuses([](Table& t) { t.free.pop_back(); })));
  CHECK(refuses([](Table& t) { t.free[0] = false; }));  // one size too many
  const auto no_evidence = [](CoefficientPrior prior, double parameter, double rows, double freedom, double total) {
    return throws([&] { Evidence(prior, parameter, rows, freedom, total); });
  };
  CHECK((!no_evidence(CoefficientPrior::empirical, 0.0, 9.0, 9.0, 1.0) &&
         no_evidence(CoefficientPrior::fixed, 0.0, 9.0, 9.0, 1.0)));
  CHECK((no_evidence(CoefficientPrior::hyper_g, 2.0, 9.0, 9.0, 1.0) &&
         no_evidence(CoefficientPrior::hyper_gn, 3.0, 0.0, 9.0, 1.0)));
  CHECK((no_evidence(CoefficientPrior::ridge, -1.0, 9.0, 9.0, 1.0) &&
         no_evidence(CoefficientPrior::fixed, nan, 9.0, 9.0, 1.0)));
  CHECK((no_evidence(CoefficientPrior::fixed, 1.0, 9.0, 0.0, 1.0) &&
         no_evidence(CoefficientPrior::fixed, 1.0, 9.0, 9.0, 0.0)));
  const Table table(20, 4, CoefficientPrior::fixed, false, 1);
  const subset::Problem problem = table.problem();
  const auto no_chain = [&](std::vector<subset::ProposalShare> shares, double power) {
    return throws([&] { subset::Chain(problem, shares, power, Stream(1, Role::chain, 0)); });
  };
  CHECK((!no_chain({{Proposal::gibbs, 1.0}}, 0.0) && no_chain({}, 1.0) && no_chain({{Proposal::gibbs, 0.0}}, 1.0) &&
         no_chain({{Proposal::gibbs, nan}}, 1.0)));
  CHECK((no_chain({{Proposal::gibbs, 1.0}}, -1.0) && no_chain({{Proposal::gibbs, 1.0}}, nan)));
  for (const std::vector<double>& quantiles : {std::vector{1.0}, {-0.1}, {0.5, 0.4}, {nan}})
    CHECK(throws([&] { enumerate(problem, 1, quantiles, table.stream); }));
  const Table many(20, 31, CoefficientPrior::ridge, false, 1);
  CHECK(throws([&] { enumerate(many.problem(), 1, {}, many.stream); }));
}

TEST_CASE("the factor against refactorisation") {
  for (const CoefficientPrior prior : {CoefficientPrior::fixed, CoefficientPrior::ridge})
    for (const bool copies : {false, true}) {
      test_factor(60, 10, prior, copies);
      test_factor(7, 12, prior, copies);
      test_factor(9, 1, prior, false);
    }
}

constexpr CoefficientPrior every_prior[] = {CoefficientPrior::fixed, CoefficientPrior::empirical,
                                            CoefficientPrior::hyper_g, CoefficientPrior::hyper_gn,
                                            CoefficientPrior::ridge};

TEST_CASE("enumeration") {
  for (const CoefficientPrior prior : every_prior)
    for (const std::size_t rows : {9, 30, 40}) test_enumeration(rows, prior);
}

TEST_CASE("chains, by every proposal") {
  for (const CoefficientPrior prior : every_prior) {
    for (const Proposal proposal :
         {Proposal::gibbs, Proposal::random, Proposal::metropolis, Proposal::informed, Proposal::replace})
      test_chain(30, prior, proposal);
    test_chain(6, prior, Proposal::metropolis);
  }
}

}  // namespace
