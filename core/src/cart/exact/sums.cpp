#include "baytree/cart/exact/sums.hpp"

#include <cmath>
#include <tuple>

#include "baytree/base/numeric.hpp"

namespace baytree::cart::exact {
namespace {

constexpr std::uint64_t bytes_of_set = sizeof(RowSet) + 4 * sizeof(std::uint32_t);

}  // namespace

std::uint64_t most_divisions(const Design& design, std::uint32_t most_codes) {
  constexpr std::uint32_t most_levels = 32;
  std::uint64_t most = 0;
  for (const Column& column : design.columns) {
    if (column.categorical && column.n_codes() > most_levels) return ~std::uint64_t{0};
    const std::uint32_t codes = std::clamp(column.n_codes(), 1u, most_codes);
    most += column.categorical ? std::uint64_t{1} << (codes - 1) : std::uint64_t{column.has_missing ? 2u : 1u} * codes;
  }
  return most;
}

unsigned usable_threads(const Knowledge& known, unsigned threads) {
  return known.boxes.empty() && known.interacting.empty() && known.below_feature.empty() ? threads : 1;
}

double log_sum(const std::vector<double>& terms) {
  constexpr double negligible = -45.0;
  const double largest = *std::max_element(terms.begin(), terms.end());
  if (largest == -infinity) return -infinity;
  double sum = 0.0;
  for (const double term : terms)
    if (term - largest > negligible) sum += std::exp(term - largest);
  return largest + std::log(sum);
}

Sums::Sums(Problem problem, Budget budget, unsigned threads)
    : problem_(std::move(problem)), team_(usable_threads(problem_.prior.knowledge, threads)) {
  setting_ = std::make_unique<Setting>(problem_);
  pairs_ = std::make_unique<Pairs>(*setting_, Pairs::most_rows_of_last_two(*setting_));
  for (unsigned thread = 0; thread < team_.threads(); ++thread) hands_.push_back({choices()});
  complete_ = meet_all(budget);
  if (!complete_) return;
  for (std::vector<std::uint32_t> sets : by_rows_) {
    std::sort(sets.begin(), sets.end());  // as they lie in memory
    for_each(sets, [&](std::size_t thread, std::uint32_t number) { value(hands_[thread], memo_[number]); });
  }
}

bool Sums::meet_all(Budget budget) {
  constexpr std::uint32_t any = ~std::uint32_t{0};
  const Row rows = problem_.design.rows;
  if (most_divisions(problem_.design, any) > budget.sets || setting_->limit > 0xffff) return false;
  by_rows_.resize(rows + 1);
  in_order_.resize(rows + 1);
  memo_.make_room(1);
  Key all;
  for (const Key& key : setting_->patterns.key) all ^= key;
  memo_.add(all, Contexts::root, rows, hands_[0].spare, [](RowSet& set) { set.depths = 0; });
  by_rows_[rows].push_back(0);
  sets_ = 1;
  for (Row n = rows; n >= 3 * problem_.prior.min_leaf && n > 0; --n) {  // no child of fewer rows can be split
    const std::vector<std::uint32_t> sets = by_rows_[n];
    // Threads add at the same time, so there must be room for all. Boxes part cuts that divide alike.
    const std::uint64_t divisions = most_divisions(problem_.design, setting_->contexts.single() ? n : any);
    for (std::size_t begin = 0, end; begin < sets.size(); begin = end) {
      const std::uint64_t at_once = std::max<std::uint64_t>(std::max<std::uint64_t>(sets_, 4096) / (4 * divisions), 1);
      end = std::min<std::size_t>(begin + at_once, sets.size());
      memo_.make_room((end - begin) * 2 * divisions + team_.threads());
      for_each({sets.data() + begin, end - begin}, [&](std::size_t thread, std::uint32_t number) {
        RowSet& set = memo_[number];
        if (pairs_->suffice(set))
          set.expanded = false;
        else
          meet_children(hands_[thread], number);
      });
      for (Hand& hand : hands_) {
        sets_ += hand.met.size();
        for (const std::uint32_t number : hand.met) by_rows_[memo_[number].rows].push_back(number);
        hand.met.clear();
      }
      if (sets_ > budget.sets || sets_ * bytes_of_set > budget.bytes) return false;
    }
  }
  // Each set has a value a depth, one after the other.
  std::uint64_t values = 0;
  for (Row n = 0; n <= rows; ++n) {
    put_in_order(n);
    for (const std::uint32_t number : by_rows_[n]) {
      memo_[number].begin = static_cast<std::uint32_t>(values);
      values += memo_[number].depth_count();
    }
  }
  if (values > 0xffffffffu || sets_ * bytes_of_set + values * sizeof(double) > budget.bytes) return false;
  value_.resize(values);
  return true;
}

void Sums::meet_children(Hand& hand, std::uint32_t number) {
  const RowSet& set = memo_[number];
  const std::uint32_t first = set.first() + 1;
  if (first >= setting_->limit) return;
  std::uint32_t last = std::min(set.last() + 1, setting_->limit - 1);
  // So that none has to move when it is met a level deeper.
  if (pairs_->reach(last)) ++last;
  hand.choices.take(set);
  hand.choices.each_stored([&](std::size_t i, const Side& side, bool left) {
    const Division& division = hand.choices.divisions()[i];
    const std::uint32_t context = hand.choices.context_of(division, left);
    const auto [found, is_new] = memo_.add(side.key, context, side.rows, hand.spare, [&](RowSet& made) {
      made.parent = number;
      made.feature = division.feature;
      made.cut = division.cut;
      made.subset = division.subset;
      made.missing_left = division.missing_left;
      made.left = left;
      made.depths = first << 16 | last;
    });
    if (is_new)
      hand.met.push_back(found);
    else
      memo_[found].reach(first, last);
  });
}

std::vector<std::uint32_t> Sums::expand(const RowSet& set) {
  if (set.expanded) return {};
  Hand& hand = hands_[0];
  const std::uint32_t number = memo_.find(set.key, set.context, set.rows);
  memo_.make_room(2 * most_divisions(problem_.design, ~std::uint32_t{0}) + 1);
  meet_children(hand, number);
  memo_[number].expanded = true;
  for (const std::uint32_t child : hand.met) {
    RowSet& met = memo_[child];
    met.begin = static_cast<std::uint32_t>(value_.size());
    value_.resize(value_.size() + met.depth_count());
    value(hand, met);
    by_rows_[met.rows].push_back(child);
    in_order_[met.rows] = false;
  }
  return std::exchange(hand.met, {});
}

void Sums::value(Hand& hand, RowSet& set) {
  value_set(*pairs_, set, Total::sum, hand.choices, hand.buffers, value_, [&hand](const Choices& here) {
    hand.terms.assign(1, here.log_leaf_prior() + here.leaf());
    if (here.splittable())
      for (std::size_t i = 0; i < here.divisions().size(); ++i) hand.terms.push_back(here.log_term(i));
    return log_sum(hand.terms);
  });
  const Divider& divider = hand.choices.divider();
  set.leaf = setting_->leaf(divider.statistics(divider.whole()), set.rows);
}

const std::vector<std::uint32_t>& Sums::of_rows(Row rows) {
  if (!in_order_[rows]) put_in_order(rows);
  return by_rows_[rows];
}

/// In an order that depends neither on threads nor on what was asked before.
void Sums::put_in_order(Row rows) {
  const auto name = [&](std::uint32_t i) { return std::tuple(memo_[i].key.high, memo_[i].key.low, memo_[i].context); };
  std::vector<std::uint32_t>& sets = by_rows_[rows];
  std::sort(sets.begin(), sets.end(), [&](std::uint32_t a, std::uint32_t b) { return name(a) < name(b); });
  in_order_[rows] = true;
}

}  // namespace baytree::cart::exact
