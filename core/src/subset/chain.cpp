#include "baytree/subset/chain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"

namespace baytree::subset {

namespace {

/// x/(1+x) of x = e^log_x.
double barker(double log_x) { return 1.0 / (1.0 + std::exp(-log_x)); }

/// The first index whose running sum of weights exceeds a share of all of them.
std::size_t choose(const std::vector<double>& weights, double target) {
  double sum = 0.0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    sum += weights[i];
    last = i;
    if (target < sum) return i;
  }
  return last;
}

}  // namespace

Chain::Chain(const Problem& problem, std::vector<ProposalShare> shares, double power, Stream stream)
    : problem_(&problem),
      shares_(std::move(shares)),
      power_(power),
      stream_(stream),
      factor_(problem),
      in_(problem.units()),
      present_parents_(problem.units()),
      turns_(shares_.size()),
      accepted_(shares_.size()),
      weights_(problem.free_units.size()) {
  if (!(power >= 0.0 && power < infinity)) throw InputError("power must be 0 or more");
  if (shares_.empty()) throw InputError("a chain needs a proposal");
  for (const ProposalShare& share : shares_)
    if (!(share.number > 0.0 && share.number <= 1e6))
      throw InputError("the number of turns of a proposal must be positive, and at most a million");
  for (Unit unit = 0; unit < problem.units(); ++unit)
    if (!problem.free[unit]) {
      if (!factor_.entering(unit).possible)
        throw InputError("the columns that are always in depend on each other, or are constant; leave some out");
      apply(unit);
    }
  // What is always in needs its parents, and they theirs, who come before them.
  for (Unit unit = static_cast<Unit>(problem.units()); unit-- > 0;)
    if (in_[unit])
      for (const Unit parent : problem.parents[unit])
        if (!satisfied(unit) && !in_[parent] && factor_.entering(parent).possible) apply(parent);
  // Sizes that the prior excludes are passed on the way to the first that it allows; a few units more make chains start
  // apart.
  const std::size_t n = problem.free_units.size();
  const auto first =
      std::find_if(problem.log_size.begin(), problem.log_size.end(), [](double x) { return x > -infinity; });
  const std::size_t least = static_cast<std::size_t>(first - problem.log_size.begin());
  const std::size_t tries = 64 * n;
  for (std::size_t i = 0; i < tries && members_.size() < least + std::min<std::size_t>(n / 2, 8); ++i) {
    const Unit unit = problem.free_units[stream_.below(n)];
    if (in_[unit] || !factor_.entering(unit).possible || broken_after(unit) > 0) continue;
    if (members_.size() >= least && problem.log_size[members_.size() + 1] == -infinity) break;
    apply(unit);
  }
  refactor();
  if (log_prior_ == -infinity) throw InputError("no model was found that the prior allows; allow other sizes");
}

bool Chain::step() {
  std::uint64_t before = 0, after = 0;
  for (const std::uint64_t count : accepted_) before += count;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const double whole = std::floor(shares_[i].number);
    std::size_t turns = static_cast<std::size_t>(whole);
    if (shares_[i].number > whole && stream_.uniform() < shares_[i].number - whole) ++turns;
    for (; turns > 0; --turns) turn(i);
  }
  for (const std::uint64_t count : accepted_) after += count;
  return after > before;
}

void Chain::turn(std::size_t i) {
  const Proposal proposal = shares_[i].proposal;
  const std::vector<Unit>& units = problem_->free_units;
  const std::size_t n = units.size();
  if (n == 0) return;
  const auto count = [&](bool moved) {
    ++turns_[i];
    if (moved) ++accepted_[i];
  };
  switch (proposal) {
    case Proposal::gibbs:
      for (const Unit unit : units) count(update(unit, Fault::subset_gibbs));
      break;
    case Proposal::random:
      for (std::size_t k = 0; k < n; ++k) count(update(units[stream_.below(n)], Fault::subset_random));
      break;
    case Proposal::metropolis:
      for (std::size_t k = 0; k < n; ++k) count(metropolis());
      break;
    case Proposal::informed:
      count(informed());
      break;
    case Proposal::replace:
      count(replace());
  }
}

/// The fault takes the odds twice.
bool Chain::update(Unit unit, Fault fault) {
  const double log_odds = gain(flipped(unit));
  if (!(stream_.uniform() < barker(testing::is_injected(fault) ? 2.0 * log_odds : log_odds))) return false;
  flip(unit);
  return true;
}

/// The fault forgets that units of the model are chosen among few, and those outside among many.
bool Chain::metropolis() {
  const std::size_t n = problem_->free_units.size();
  if (stream_.next32() & 1u) {
    const Unit unit = testing::is_injected(Fault::subset_metropolis) && !members_.empty() && (stream_.next32() & 1u)
                          ? member(stream_.below(members_.size()))
                          : problem_->free_units[stream_.below(n)];
    const double log_ratio = gain(flipped(unit));
    if (!(log_ratio >= 0.0) && !(stream_.uniform() < std::exp(log_ratio))) return false;
    flip(unit);
    return true;
  }
  if (members_.empty() || members_.size() == n) return false;
  const Unit out = member(stream_.below(members_.size())), in = outsider(stream_.below(n - members_.size()));
  const Change change = factor_.exchanging(out, in);
  if (!change.possible) return false;
  toggle(out);
  toggle(in);
  const bool whole = broken_ == 0;
  toggle(in);
  toggle(out);
  if (!whole) return false;
  const std::size_t columns = factor_.size() - problem_->size(out) + problem_->size(in);
  const double log_likelihood = problem_->evidence.log_marginal(columns, change.explained, change.log_determinant);
  const double log_ratio =
      power_ * (log_likelihood - log_likelihood_) + problem_->log_odds[in] - problem_->log_odds[out];
  if (!(log_ratio >= 0.0) && !(stream_.uniform() < std::exp(log_ratio))) return false;
  apply(out);
  flip(in);
  return true;
}

/// The fault accepts every proposal.
bool Chain::informed() {
  const double forward = weigh_flips();
  if (!(forward > 0.0)) return false;
  const Unit unit = problem_->free_units[choose(weights_, stream_.uniform() * forward)];
  flip(unit);
  // With weights w(x) = x w(1/x) of the targets' ratios, all but the sums cancels.
  const double backward = weigh_flips();
  if (testing::is_injected(Fault::subset_informed) || stream_.uniform() * backward < forward) return true;
  flip(unit);
  return false;
}

double Chain::weigh_flips() {
  if (weighed_) return sum_of_weights_;
  sum_of_weights_ = 0.0;
  for (std::size_t i = 0; i < weights_.size(); ++i)
    sum_of_weights_ += weights_[i] = barker(gain(flipped(problem_->free_units[i])));
  weighed_ = true;
  return sum_of_weights_;
}

/// The fault prefers the unit that left.
bool Chain::replace() {
  if (members_.empty()) return false;
  const Unit out = member(stream_.below(members_.size()));
  apply(out);
  const std::vector<Unit>& units = problem_->free_units;
  double largest = -infinity;
  for (std::size_t i = 0; i < units.size(); ++i) {
    weights_[i] = -infinity;
    if (in_[units[i]]) continue;
    const Weighed with = flipped(units[i]);
    if (with.log_prior > -infinity) weights_[i] = power_ * with.log_likelihood + with.log_prior;
    if (testing::is_injected(Fault::subset_replace) && units[i] == out) weights_[i] += 1.0;
    largest = std::max(largest, weights_[i]);
  }
  if (largest == -infinity) {  // at the limit of dependence rounding may keep even the unit that left from coming back
    flip(out);
    return false;
  }
  double sum = 0.0;
  for (double& weight : weights_) sum += weight = std::exp(weight - largest);
  const Unit in = units[choose(weights_, stream_.uniform() * sum)];
  flip(in);
  return in != out;
}

Chain::Weighed Chain::flipped(Unit unit) const {
  const bool in = in_[unit] != 0;
  const double log_prior = log_prior_with(unit, !in);
  if (log_prior == -infinity) return {0.0, -infinity};
  const Change change = in ? factor_.leaving(unit) : factor_.entering(unit);
  if (!change.possible) return {0.0, -infinity};
  const std::size_t columns = in ? factor_.size() - problem_->size(unit) : factor_.size() + problem_->size(unit);
  return {problem_->evidence.log_marginal(columns, change.explained, change.log_determinant), log_prior};
}

double Chain::log_prior_with(Unit unit, bool in) const {
  if (broken_after(unit) > 0) return -infinity;
  const double size = problem_->log_size[in ? members_.size() + 1 : members_.size() - 1];
  return size + (in ? log_odds_ + problem_->log_odds[unit] : log_odds_ - problem_->log_odds[unit]);
}

bool Chain::satisfied(Unit unit) const {
  const std::size_t parents = problem_->parents[unit].size(), present = present_parents_[unit];
  return problem_->weak ? parents == 0 || present > 0 : present == parents;
}

/// How many units of the model would lack parents, were this one flipped.
std::size_t Chain::broken_after(Unit unit) const {
  std::size_t broken = broken_;
  if (!satisfied(unit)) broken = in_[unit] ? broken - 1 : broken + 1;
  for (const Unit child : problem_->children[unit]) {
    if (!in_[child]) continue;
    const std::size_t parents = problem_->parents[child].size(), present = present_parents_[child];
    const auto lacks = [&](std::size_t n) { return problem_->weak ? n == 0 : n < parents; };
    broken = broken - lacks(present) + lacks(in_[unit] ? present - 1 : present + 1);
  }
  return broken;
}

Unit Chain::outsider(std::size_t rank) const {
  // Members before the outsider of this rank push it on by one each.
  const std::vector<Unit>& units = problem_->free_units;
  std::size_t place = rank;
  for (const Unit unit : members_) {
    if (static_cast<std::size_t>(std::lower_bound(units.begin(), units.end(), unit) - units.begin()) > place) break;
    ++place;
  }
  return units[place];
}

void Chain::flip(Unit unit) {
  apply(unit);
  if (flips_.size() >= flips_between_factors)
    refactor();
  else
    assess();
}

/// Flips a unit, without a look at what the new model is worth.
void Chain::apply(Unit unit) {
  weighed_ = false;
  toggle(unit);
  if (in_[unit])
    factor_.enter(unit);
  else
    factor_.leave(unit);
  if (problem_->free[unit]) {
    const auto at = std::lower_bound(members_.begin(), members_.end(), unit);
    if (in_[unit])
      members_.insert(at, unit);
    else
      members_.erase(at);
  }
  flips_.push_back(unit);
}

/// Flips a unit as far as parents and children are concerned.
void Chain::toggle(Unit unit) {
  broken_ = broken_after(unit);
  in_[unit] ^= 1;
  for (const Unit child : problem_->children[unit]) present_parents_[child] += in_[unit] ? 1u : -1u;
}

/// Makes the factor anew, which ends the growth of rounding errors.
void Chain::refactor() {
  weighed_ = false;
  base_ = model();
  flips_.clear();
  factor_.clear();
  for (const Unit unit : base_) factor_.enter(unit);
  assess();
}

void Chain::assess() {
  log_odds_ = 0.0;
  for (const Unit unit : members_) log_odds_ += problem_->log_odds[unit];
  log_likelihood_ = problem_->evidence.log_marginal(factor_.size(), factor_.explained(), factor_.log_determinant());
  log_prior_ = broken_ > 0 ? -infinity : problem_->log_size[members_.size()] + log_odds_;
}

std::vector<Unit> Chain::model() const {
  std::vector<Unit> units;
  for (Unit unit = 0; unit < in_.size(); ++unit)
    if (in_[unit]) units.push_back(unit);
  return units;
}

void Chain::store(Draws& draws) const {
  for (Unit unit = 0; unit < in_.size(); ++unit)
    if (in_[unit]) draws.unit.push_back(unit);
  draws.begin.push_back(static_cast<std::int64_t>(draws.unit.size()));
  append_means(*problem_, factor_, draws.mean);
}

void exchange(Chain& a, Chain& b) {
  std::swap(a.factor_, b.factor_);
  std::swap(a.in_, b.in_);
  std::swap(a.present_parents_, b.present_parents_);
  std::swap(a.members_, b.members_);
  std::swap(a.broken_, b.broken_);
  std::swap(a.log_odds_, b.log_odds_);
  std::swap(a.base_, b.base_);
  std::swap(a.flips_, b.flips_);
  std::swap(a.log_likelihood_, b.log_likelihood_);
  std::swap(a.log_prior_, b.log_prior_);
  a.weighed_ = b.weighed_ = false;
}

void Chain::restore(const Position& position) {
  const std::size_t n = problem_->units();
  const auto known = [&](Unit unit) { return unit < n; };
  const bool fits = std::all_of(position.base.begin(), position.base.end(), known) &&
                    std::all_of(position.flips.begin(), position.flips.end(), known) &&
                    position.flips.size() <= 2 * flips_between_factors && position.turns.size() == shares_.size() &&
                    position.accepted.size() == shares_.size();
  if (!fits) throw InputError("chain: the saved state belongs to another problem");
  std::fill(in_.begin(), in_.end(), std::uint8_t{0});
  std::fill(present_parents_.begin(), present_parents_.end(), 0u);
  members_.clear();
  broken_ = 0;
  factor_.clear();
  const auto enter = [&](Unit unit) {
    if (in_[unit] && !problem_->free[unit]) throw InputError("chain: the saved model lacks what is always in");
    apply(unit);
  };
  for (const Unit unit : position.base) enter(unit);
  if (model() != position.base) throw InputError("chain: the saved model is damaged");
  flips_.clear();
  for (const Unit unit : position.flips) enter(unit);
  base_ = position.base;
  for (Unit unit = 0; unit < n; ++unit)
    if (!problem_->free[unit] && !in_[unit]) throw InputError("chain: the saved model lacks what is always in");
  assess();
  if (log_prior_ == -infinity) throw InputError("chain: the saved model has prior probability 0");
  if (!(std::fabs(log_likelihood_) < infinity))
    throw InputError("chain: the saved model has a column that does not vary");
  stream_.seek(position.stream);
  turns_ = position.turns;
  accepted_ = position.accepted;
}

}  // namespace baytree::subset
