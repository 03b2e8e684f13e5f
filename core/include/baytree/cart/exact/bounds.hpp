#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "baytree/base/team.hpp"
#include "baytree/cart/exact/pairs.hpp"
#include "baytree/cart/exact/trees.hpp"

namespace baytree::cart::exact {

// Where all sets of rows are too many, some are met, and each has an interval that its V(S, d) lies in (sums.hpp).
// Those whose children were met have theirs from the children. Of the others the rules are known, and what lies behind
// a rule is at least two leaves and at most a division into the best leaves that there could be, whether a rule makes
// them or not. Time and again those sets are chosen that matter most, and their children are met. An interval never
// grows by that: what a child's rules say lies within what its counts alone say. Where every column has two codes,
// pairs of columns let a set look at two levels of rules (pairs.hpp), which is as good as if its children were met, at
// no memory.

/// What is bounded: the sum over all trees, or its largest term.
enum class Goal : std::uint8_t { evidence, mode };

/// An interval that is certain, and the smaller the more sets may be met.
class Bounds {
 public:
  Bounds(Problem problem, Goal goal, Budget budget, unsigned threads);

  /// Whether nothing is left that could make the interval smaller.
  bool complete() const { return complete_; }
  double log_low() const { return low_; }
  double log_high() const { return high_; }
  /// How many sets of rows were met, and of bytes in use.
  std::uint64_t sets() const { return sets_; }
  std::uint64_t bytes() const;
  /// Adds the tree that the lower end is of, where the mode is bounded and one was found.
  void best_tree(ScoredTrees& out) const;

 private:
  /// What is known of one side of a division whose sets were not met.
  struct Outlook {
    double leaf, divided;  // log marginals of one leaf, and at most of several
    std::uint32_t patterns;
    bool is_last;  // not split at any depth
  };
  struct Hand {
    Choices choices;
    std::vector<Outlook> sides = {};
    std::vector<double> low = {}, high = {};
    Pairs::Buffers buffers = {};
  };
  struct Candidate {
    double priority;
    std::uint32_t number;
  };

  void add_root();
  void find_most_probable_rules();
  void value_all();
  void value(Hand& hand, RowSet& set);
  void look_ahead(Hand& hand, RowSet& set);
  void look_two_ahead(Hand& hand, RowSet& set);
  void keep(Hand& hand, const RowSet& set, std::uint32_t depth);
  double prior_of(const Choices& here, std::size_t division) const;
  Outlook outlook(const Divider& divider, const Side& side) const;
  double least(const Outlook& side, std::uint32_t depth) const;
  double most(const Outlook& side, std::uint32_t depth) const;
  std::vector<Candidate> candidates();
  void hand_down(const RowSet& set);
  double priority(const RowSet& set) const;
  bool meet(const std::vector<Candidate>& candidates, Budget budget);
  void meet_children(std::uint32_t number);
  void meet_again();

  Problem problem_;
  Goal goal_;
  std::unique_ptr<Setting> setting_;
  std::unique_ptr<Pairs> pairs_;
  std::vector<double> divided_;  // as `pairs_` lists leaves: at most of several, for the rows of one
  Memo memo_;
  Team team_;
  std::vector<double> lows_, highs_;  // by set and depth
  std::vector<Hand> hands_;
  std::vector<std::vector<std::uint32_t>> by_rows_;
  std::vector<std::uint32_t> valued_, met_;  // by set, the depths that it was valued at, and that its children know of
  std::vector<double> share_;                // by set and depth, how much of the upper end depends on it
  std::vector<double> log_rule_, rule_;      // by patterns, the most that a rule may have, where the mode is bounded
  std::uint32_t spare_ = Memo::none;
  std::uint64_t sets_ = 0, expanded_ = 0;
  double low_, high_;
  bool surely_splittable_ = false;  // whatever has several patterns
  bool complete_ = false;
};

}  // namespace baytree::cart::exact
