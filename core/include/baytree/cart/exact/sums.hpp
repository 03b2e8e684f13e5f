#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "baytree/base/interruption.hpp"
#include "baytree/base/team.hpp"
#include "baytree/cart/exact/pairs.hpp"

namespace baytree::cart::exact {

// With S the rows of a node, d its depth, s_d its split probability (0 without an admissible rule) and L(S) the leaf's
// marginal likelihood to the power that is asked for,
//   V(S, d) = (1 − s_d) L(S) + s_d Σ_rules P(rule) V(S_left, d+1) V(S_right, d+1),
// so that V(all rows, 0) = P(y|x). Children have fewer rows than their parents. So all sets are met from the many rows
// to the few, and valued from the few to the many; those of as many rows as each other do not wait for each other,
// which is what threads share. Where pairs of columns tell what lies at the last two depths (pairs.hpp), no sets of the
// last one are met before something asks for them.

/// Calls work(thread, number) for these sets, on all threads of a team.
template <class Work>
void for_each_set(Team& team, const Memo& memo, std::span<const std::uint32_t> sets, const Work& work) {
  constexpr std::size_t at_once = 8192, dealt = 16;
  for (std::size_t begin = 0; begin < sets.size(); begin += at_once) {
    heed_interruption();
    const std::size_t end = std::min(begin + at_once, sets.size());
    std::atomic<std::size_t> next = begin;
    team.deal_out(team.threads(), [&](std::size_t thread) {
      for (std::size_t i = next.fetch_add(dealt); i < end; i = next.fetch_add(dealt))
        for (std::size_t j = i; j < std::min(i + dealt, end); ++j) {
          if (j + 2 < end) memo.prefetch(sets[j + 2]);
          if (j + 1 < end) memo.prefetch(memo[sets[j + 1]].parent);
          work(thread, sets[j]);
        }
    });
  }
}

/// The most divisions that a set of rows with so many codes in a column may have, as far as numbers go.
std::uint64_t most_divisions(const Design& design, std::uint32_t most_codes);

/// With rules on paths to be followed, contexts are numbered as they are met, by one thread.
unsigned usable_threads(const Knowledge& known, unsigned threads);

/// Values a set at each of its depths, whose children have values: by pairs where they suffice, else what
/// combine(choices) says at a depth.
template <class Combine>
void value_set(const Pairs& pairs, const RowSet& set, Total total, Choices& here, Pairs::Buffers& buffers,
               std::vector<double>& values, const Combine& combine) {
  double* out = values.data() + set.begin;
  if (pairs.suffice(set)) {
    here.divider().take(set);
    const std::array<double, 2> found = pairs.value(here.divider(), total, buffers);
    std::copy_n(found.begin(), set.depth_count(), out);
    return;
  }
  here.take(set);
  here.find_children();
  for (std::uint32_t depth = set.first(); depth <= set.last(); ++depth) {
    here.go_to(depth);
    *out++ = combine(here);
  }
}

/// All trees of a problem, added up.
class Sums {
 public:
  /// Meets all sets of rows, until they are more than the budget allows, and values them.
  Sums(Problem problem, Budget budget, unsigned threads);

  /// Whether the budget was enough; else there is nothing else to know.
  bool complete() const { return complete_; }
  /// How many sets of rows were met, of nodes at a depth that were valued, and of bytes in use.
  std::uint64_t sets() const { return sets_; }
  std::uint64_t nodes() const { return value_.size(); }
  std::uint64_t bytes() const { return memo_.bytes() + sets_ * sizeof(std::uint32_t) + value_.size() * sizeof(double); }

  const Setting& setting() const { return *setting_; }
  const Memo& memo() const { return memo_; }
  const RowSet& root() const { return memo_[0]; }
  double log_evidence() const { return value_[root().begin]; }
  /// By set and depth.
  const std::vector<double>& values() const { return value_; }
  /// The sets by their number of rows.
  const std::vector<std::vector<std::uint32_t>>& by_rows() const { return by_rows_; }
  /// Those of so many rows, in an order that is always the same.
  const std::vector<std::uint32_t>& of_rows(Row rows);
  unsigned threads() const { return team_.threads(); }
  Choices choices() const { return Choices(*setting_, memo_, value_); }
  const Pairs& pairs() const { return *pairs_; }
  /// Meets the children of a set that did not need them, and values those that are new, which it returns.
  std::vector<std::uint32_t> expand(const RowSet& set);

  /// Calls work(thread, number) for these sets, on several threads.
  template <class Work>
  void for_each(std::span<const std::uint32_t> sets, const Work& work) {
    for_each_set(team_, memo_, sets, work);
  }

 private:
  /// What a thread met, and what it works with.
  struct Hand {
    Choices choices;
    std::uint32_t spare = Memo::none;
    std::vector<std::uint32_t> met = {};
    std::vector<double> terms = {};
    Pairs::Buffers buffers = {};
  };
  bool meet_all(Budget budget);
  void meet_children(Hand& hand, std::uint32_t number);
  void put_in_order(Row rows);
  void value(Hand& hand, RowSet& set);

  Problem problem_;
  std::unique_ptr<Setting> setting_;
  std::unique_ptr<Pairs> pairs_;
  Memo memo_;
  std::vector<double> value_;
  Team team_;
  std::vector<Hand> hands_;
  std::vector<std::vector<std::uint32_t>> by_rows_;
  std::vector<bool> in_order_;
  std::uint64_t sets_ = 0;
  bool complete_ = false;
};

/// log Σ exp, in the order of the terms.
double log_sum(const std::vector<double>& terms);

}  // namespace baytree::cart::exact
