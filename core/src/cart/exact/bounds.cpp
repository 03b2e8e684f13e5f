#include "baytree/cart/exact/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/cart/exact/sums.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::cart::exact {
namespace {

constexpr std::uint32_t never = ~std::uint32_t{0};
// A share of the evidence, and a difference of log probabilities, that is not looked into.
constexpr double negligible = 1e-16, as_good = 1e-9;
// Of the uncertainty, how much is looked into at a time; and of how many sets, beside those looked into before.
constexpr double at_once = 0.9, growth = 0.5;
constexpr std::uint64_t first_ones = 16;
// What all that is left may matter together where the interval of an evidence is as good as a number.
constexpr double closed = 1e-12;
// A set of rows that has more divisions is not even looked at.
constexpr std::uint64_t most_looked_at = std::uint64_t{1} << 20;

double log_add(double a, double b) {
  const double larger = std::max(a, b);
  return larger == -infinity ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

double combined(Goal goal, const std::vector<double>& terms) {
  return goal == Goal::evidence ? log_sum(terms) : *std::max_element(terms.begin(), terms.end());
}

}  // namespace

Bounds::Bounds(Problem problem, Goal goal, Budget budget, unsigned threads)
    : problem_(std::move(problem)),
      goal_(goal),
      setting_(std::make_unique<Setting>(problem_)),
      team_(usable_threads(problem_.prior.knowledge, threads)),
      low_(-infinity),
      high_(infinity) {
  for (unsigned thread = 0; thread < team_.threads(); ++thread) hands_.push_back({Choices(*setting_, memo_, highs_)});
  if (most_divisions(problem_.design, ~std::uint32_t{0}) > most_looked_at)
    throw InputError(
        "bounds: a column has too many levels, so that the rules of one node are more than a million; merge "
        "levels or leave the column out");
  find_most_probable_rules();
  pairs_ = std::make_unique<Pairs>(*setting_, problem_.design.rows);
  divided_ = pairs_->list([this](const double* classes, Row rows) {
    return testing::is_injected(Fault::exact_bound) ? setting_->leaf(classes, rows)
                                                    : problem_.power * problem_.log_most_divided(classes, rows);
  });
  add_root();
  for (bool more = true; more;) {
    value_all();
    const std::vector<Candidate> found = candidates();
    complete_ = found.empty();
    // Where no tree can be better than the best one, nothing lies between.
    if (complete_ && goal_ == Goal::mode) high_ = low_;
    more = !complete_ && meet(found, budget);
  }
}

std::uint64_t Bounds::bytes() const {
  const std::size_t of_set = sizeof(std::uint32_t) * 3, of_value = sizeof(double) * 3;
  return memo_.bytes() + sets_ * of_set + lows_.size() * of_value;
}

void Bounds::add_root() {
  Key all;
  for (const Key& key : setting_->patterns.key) all ^= key;
  const Row rows = problem_.design.rows;
  by_rows_.resize(rows + 1);
  memo_.make_room(1);
  memo_.add(all, Contexts::root, rows, spare_, [](RowSet& set) {
    set.depths = 0;
    set.expanded = false;
  });
  by_rows_[rows].push_back(0);
  valued_.push_back(never);
  met_.push_back(never);
  sets_ = 1;
}

/// Where any column that varies may be asked about, q patterns need so many columns to differ in that their codes
/// make q combinations at least. The column that is asked about is one of them.
void Bounds::find_most_probable_rules() {
  const Setting& setting = *setting_;
  std::vector<double> codes;
  double least = infinity, most = 0.0;
  surely_splittable_ = setting.contexts.single() && problem_.prior.min_leaf <= 1;
  for (std::uint32_t feature = 0; feature < problem_.design.columns.size(); ++feature) {
    if (setting.restrictions.depth_limit(feature) == 0) continue;
    for (std::uint32_t depth = 0; depth < setting.limit; ++depth)
      if (setting.contexts.freedom(Contexts::root, depth)[feature] == Freedom::none) surely_splittable_ = false;
    codes.push_back(problem_.design.columns[feature].n_codes());
    least = std::min(least, setting.weight[feature]);
    most = std::max(most, setting.weight[feature]);
  }
  log_rule_.assign(setting.patterns.size() + 1, 0.0);
  rule_.assign(log_rule_.size(), 1.0);
  if (!surely_splittable_) return;
  std::sort(codes.begin(), codes.end(), std::greater<>());
  std::size_t columns = 0;
  double combinations = 1.0;
  for (std::size_t q = 2; q < log_rule_.size(); ++q) {
    while (combinations < static_cast<double>(q) && columns < codes.size()) combinations *= codes[columns++];
    log_rule_[q] = std::log(most / (most + least * (static_cast<double>(columns) - 1.0)));
    rule_[q] = std::exp(log_rule_[q]);
  }
}

// ---- values
// ----------------------------------------------------------------------------------------------------------

/// Values all sets from the few rows to the many; those that nothing happened to keep what they have.
void Bounds::value_all() {
  std::vector<double> lows, highs;
  lows.reserve(lows_.size());
  highs.reserve(highs_.size());
  std::vector<std::vector<std::uint32_t>> todo(by_rows_.size());
  for (std::size_t n = 0; n < by_rows_.size(); ++n)
    for (const std::uint32_t number : by_rows_[n]) {
      RowSet& set = memo_[number];
      const std::uint32_t depths = set.last() - set.first() + 1;
      const std::size_t before = set.begin;
      set.begin = static_cast<std::uint32_t>(lows.size());
      if (met_[number] == never && valued_[number] == set.depths) {
        lows.insert(lows.end(), lows_.begin() + before, lows_.begin() + before + depths);
        highs.insert(highs.end(), highs_.begin() + before, highs_.begin() + before + depths);
        continue;
      }
      lows.resize(lows.size() + depths);
      highs.resize(highs.size() + depths);
      valued_[number] = set.depths;
      todo[n].push_back(number);
    }
  lows_.swap(lows);
  highs_.swap(highs);
  for (const std::vector<std::uint32_t>& sets : todo)
    for_each_set(team_, memo_, sets, [&](std::size_t thread, std::uint32_t number) {
      if (met_[number] == never)
        pairs_->take(memo_[number].rows) ? look_two_ahead(hands_[thread], memo_[number])
                                         : look_ahead(hands_[thread], memo_[number]);
      else
        value(hands_[thread], memo_[number]);
    });
  low_ = std::max(low_, lows_[memo_[0].begin]);
  high_ = std::min(high_, highs_[memo_[0].begin]);
}

double Bounds::prior_of(const Choices& here, std::size_t division) const {
  return here.log_split_prior() + (goal_ == Goal::evidence ? here.log_rules(division) : here.log_rule(division));
}

void Bounds::keep(Hand& hand, const RowSet& set, std::uint32_t depth) {
  const std::size_t place = set.begin + depth - set.first();
  lows_[place] = combined(goal_, hand.low);
  highs_[place] = combined(goal_, hand.high);
}

void Bounds::value(Hand& hand, RowSet& set) {
  Choices& here = hand.choices;
  here.take(set);
  here.find_children();
  set.leaf = here.leaf();
  for (std::uint32_t depth = set.first(); depth <= set.last(); ++depth) {
    here.go_to(depth);
    hand.low.assign(1, here.log_leaf_prior() + here.leaf());
    hand.high = hand.low;
    for (std::size_t i = 0; here.splittable() && i < here.divisions().size(); ++i) {
      const double prior = prior_of(here, i);
      hand.low.push_back(prior + here.value(i, lows_));
      hand.high.push_back(prior + here.value(i, highs_));
    }
    keep(hand, set, depth);
  }
}

/// Values a set by its rules and what there is on both sides of them. The lower end of a mode is that of a tree that
/// is known node by node.
void Bounds::look_ahead(Hand& hand, RowSet& set) {
  Choices& here = hand.choices;
  here.take(set);
  here.weigh_rules();
  set.leaf = here.leaf();
  hand.sides.clear();
  for (const Division& division : here.divisions())
    for (const Side* side : {&division.left, &division.right}) hand.sides.push_back(outlook(here.divider(), *side));
  for (std::uint32_t depth = set.first(); depth <= set.last(); ++depth) {
    here.go_to(depth);
    hand.low.assign(1, here.log_leaf_prior() + here.leaf());
    hand.high = hand.low;
    for (std::size_t i = 0; here.splittable() && i < here.divisions().size(); ++i) {
      const Outlook &left = hand.sides[2 * i], &right = hand.sides[2 * i + 1];
      const double prior = prior_of(here, i);
      if (goal_ == Goal::evidence) hand.low.push_back(prior + least(left, depth + 1) + least(right, depth + 1));
      hand.high.push_back(prior + most(left, depth + 1) + most(right, depth + 1));
    }
    keep(hand, set, depth);
  }
}

/// The same by two levels of rules, all of whose sides the counts of pairs of columns tell.
void Bounds::look_two_ahead(Hand& hand, RowSet& set) {
  Divider& divider = hand.choices.divider();
  divider.take(set);
  set.leaf = setting_->leaf(divider.statistics(divider.whole()), set.rows);
  for (std::uint32_t depth = set.first(); depth <= set.last(); ++depth) {
    const std::size_t place = set.begin + depth - set.first();
    const bool splits = depth < setting_->limit;
    pairs_->read(divider, depth, true, hand.buffers);
    const double all = std::accumulate(hand.buffers.weight[0].begin(), hand.buffers.weight[0].end(), 0.0);
    if (!splits || !(all > 0.0)) {
      lows_[place] = highs_[place] = set.leaf;
      continue;
    }
    const bool is_last = depth + 2 >= setting_->limit;
    const double split = is_last ? 0.0 : setting_->split[depth + 2];
    const auto may_split = [&](std::uint64_t counts, std::uint64_t patterns) {
      return !is_last && patterns >> Pairs::half > 1 && Pairs::rows_of(counts) / 2 >= problem_.prior.min_leaf;
    };
    const auto least = [&](std::uint64_t counts, std::uint64_t patterns) {
      return pairs_->likelihood(counts) * (may_split(counts, patterns) ? 1.0 - split : 1.0);
    };
    const auto most = [&](std::uint64_t counts, std::uint64_t patterns) {
      const double leaf = pairs_->likelihood(counts);
      if (!may_split(counts, patterns)) return leaf;
      const double stays = (1.0 - split) * leaf, splits_on = split * divided_[Pairs::place(counts)];
      const double found =
          goal_ == Goal::evidence ? stays + splits_on : std::max(stays, splits_on * rule_[patterns >> Pairs::half]);
      return surely_splittable_ ? found : std::max(found, leaf);
    };
    const bool one = depth + 1 >= setting_->limit;
    if (goal_ == Goal::evidence) {
      lows_[place] = one ? pairs_->one_level<Total::sum>(depth, 0, hand.buffers)
                         : pairs_->two_levels<Total::sum>(depth, least, hand.buffers);
      highs_[place] = one ? lows_[place] : pairs_->two_levels<Total::sum>(depth, most, hand.buffers);
    } else {
      lows_[place] = setting_->log_leaf[depth] + set.leaf;
      highs_[place] = one ? pairs_->one_level<Total::most_probable>(depth, 0, hand.buffers)
                          : pairs_->two_levels<Total::most_probable>(depth, most, hand.buffers);
    }
  }
}

Bounds::Outlook Bounds::outlook(const Divider& divider, const Side& side) const {
  const double* statistics = divider.statistics(side);
  const bool is_last = !setting_->is_stored(side, 0);
  const double leaf = setting_->leaf(statistics, side.rows);
  if (is_last || testing::is_injected(Fault::exact_bound)) return {leaf, leaf, side.patterns, is_last};
  return {leaf, problem_.power * problem_.log_most_divided(statistics, side.rows), side.patterns, is_last};
}

double Bounds::least(const Outlook& side, std::uint32_t depth) const {
  return side.is_last || depth >= setting_->limit ? side.leaf : setting_->log_leaf[depth] + side.leaf;
}

/// A leaf, which costs nothing where there is no rule, or the best division, by the best rule.
double Bounds::most(const Outlook& side, std::uint32_t depth) const {
  if (side.is_last || depth >= setting_->limit) return side.leaf;
  const double stays = setting_->log_leaf[depth] + side.leaf;
  const double splits = setting_->log_split[depth] + side.divided;
  const double found =
      goal_ == Goal::evidence ? log_add(stays, splits) : std::max(stays, splits + log_rule_[side.patterns]);
  return surely_splittable_ ? found : std::max(found, side.leaf);
}

// ---- what matters
// ----------------------------------------------------------------------------------------------------

/// The sets whose children were not met and that make the interval large, those that matter most first.
std::vector<Bounds::Candidate> Bounds::candidates() {
  share_.assign(lows_.size(), goal_ == Goal::evidence ? 0.0 : -infinity);
  share_[memo_[0].begin] = goal_ == Goal::evidence ? 1.0 : highs_[memo_[0].begin];
  std::vector<Candidate> found;
  for (std::size_t n = by_rows_.size(); n-- > 0;)
    for (const std::uint32_t number : by_rows_[n]) {
      const RowSet& set = memo_[number];
      if (met_[number] != never)
        hand_down(set);
      else if (const double matters = priority(set); matters > (goal_ == Goal::evidence ? negligible : low_ + as_good))
        found.push_back({matters, number});
    }
  double left = 0.0;
  for (const Candidate& candidate : found) left += candidate.priority;
  if (goal_ == Goal::evidence && left < closed) return {};
  std::stable_sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.priority > b.priority; });
  return found;
}

double Bounds::priority(const RowSet& set) const {
  double sum = 0.0, largest = -infinity;
  for (std::size_t i = set.begin; i <= set.begin + set.last() - set.first(); ++i) {
    sum += share_[i] * -std::expm1(lows_[i] - highs_[i]);
    if (highs_[i] > lows_[i]) largest = std::max(largest, share_[i]);
  }
  return goal_ == Goal::evidence ? sum : largest;
}

/// Of the evidence, the share of the upper end that trees with a child have; of the mode, the most that any of them
/// may have.
void Bounds::hand_down(const RowSet& set) {
  const double least = goal_ == Goal::evidence ? negligible : low_ + as_good;
  const auto matters = [&](std::uint32_t depth) { return share_[set.begin + depth - set.first()] > least; };
  Choices& here = hands_[0].choices;
  bool taken = false;
  for (std::uint32_t depth = set.first(); depth <= set.last(); ++depth) {
    if (!matters(depth)) continue;
    if (!taken) {
      here.take(set);
      here.find_children();
      taken = true;
    }
    here.go_to(depth);
    if (!here.splittable() || depth + 1 >= setting_->limit) continue;
    const std::size_t place = set.begin + depth - set.first();
    for (std::size_t i = 0; i < here.divisions().size(); ++i) {
      const double of_set = prior_of(here, i) + here.value(i, highs_) - highs_[place];
      const double share = goal_ == Goal::evidence ? share_[place] * std::exp(of_set) : share_[place] + of_set;
      if (!(share > least)) continue;
      for (const Child* child : {&here.left(i), &here.right(i)}) {
        if (child->set == nullptr) continue;
        double& of_child = share_[child->values + depth + 1];
        of_child = goal_ == Goal::evidence ? of_child + share : std::max(of_child, share);
      }
    }
  }
}

// ---- more sets
// -------------------------------------------------------------------------------------------------------

/// Meets the children of those that matter most. False where the budget is used up.
bool Bounds::meet(const std::vector<Candidate>& candidates, Budget budget) {
  double total = 0.0, done = 0.0;
  if (goal_ == Goal::evidence)
    for (const Candidate& candidate : candidates) total += candidate.priority;
  const std::uint64_t most = std::max(first_ones, static_cast<std::uint64_t>(growth * static_cast<double>(expanded_)));
  std::uint64_t number = 0;
  for (const Candidate& candidate : candidates) {
    if (number >= most || (number >= first_ones && done > at_once * total)) break;
    heed_interruption();
    RowSet& set = memo_[candidate.number];
    Choices& here = hands_[0].choices;
    here.take(set);
    std::uint64_t more = 0;
    here.each_stored([&](std::size_t i, const Side& side, bool left) {
      more += memo_.find(side.key, here.context_of(here.divisions()[i], left), side.rows) == Memo::none ? 1 : 0;
    });
    if (sets_ + more > budget.sets || bytes() + more * 2 * sizeof(RowSet) > budget.bytes) {
      if (number > 0) {
        meet_again();
        value_all();
      }
      return false;
    }
    meet_children(candidate.number);
    ++number;
    ++expanded_;
    done += goal_ == Goal::evidence ? candidate.priority : 0.0;
  }
  meet_again();
  return true;
}

void Bounds::meet_children(std::uint32_t number) {
  RowSet& set = memo_[number];
  met_[number] = set.depths;
  set.expanded = true;
  const std::uint32_t first = set.first() + 1, last = std::min(set.last() + 1, std::max(setting_->limit, 1u) - 1);
  if (first >= setting_->limit) return;
  Choices& here = hands_[0].choices;
  here.take(set);
  memo_.make_room(2 * here.divisions().size() + 1);
  here.each_stored([&](std::size_t i, const Side& side, bool left) {
    const Division& division = here.divisions()[i];
    const auto [found, is_new] =
        memo_.add(side.key, here.context_of(division, left), side.rows, spare_, [&](RowSet& made) {
          made.parent = number;
          made.feature = division.feature;
          made.cut = division.cut;
          made.subset = division.subset;
          made.missing_left = division.missing_left;
          made.left = left;
          made.expanded = false;
          made.depths = first << 16 | last;
        });
    if (!is_new) {
      memo_[found].reach(first, last);
      return;
    }
    by_rows_[side.rows].push_back(found);
    valued_.push_back(never);
    met_.push_back(never);
    ++sets_;
  });
}

/// Where a set came to lie at other depths, its children do.
void Bounds::meet_again() {
  for (std::size_t n = by_rows_.size(); n-- > 0;)
    for (std::size_t i = 0; i < by_rows_[n].size(); ++i) {
      const std::uint32_t number = by_rows_[n][i];
      if (met_[number] != never && met_[number] != memo_[number].depths) meet_children(number);
    }
}

void Bounds::best_tree(ScoredTrees& out) const {
  if (low_ == -infinity) return;
  Builder builder(*setting_, memo_, lows_);
  builder.build(out, [&](const Choices& here) -> std::optional<Decision> {
    if (!here.set().expanded || !here.splittable()) return {};
    std::optional<Decision> found;
    double most = here.log_leaf_prior() + here.leaf();
    for (std::size_t i = 0; i < here.divisions().size(); ++i)
      if (const double term = prior_of(here, i) + here.value(i, lows_); term > most) {
        most = term;
        found = Decision{i};
      }
    return found;
  });
}

}  // namespace baytree::cart::exact
