#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "baytree/cart/exact/sums.hpp"
#include "baytree/trees/forest.hpp"

namespace baytree::cart::exact {

/// Trees, with the statistics of each leaf.
struct ScoredTrees {
  Forest forest;
  std::vector<double> statistics;
  std::vector<double> log_likelihood, log_prior;  // of each tree
};

/// A rule, and whether its left side is the right one of its division.
struct TurnedRule {
  Rule rule;
  bool turned = false;
};

/// The n-th rule of a division, n < division.rules: cuts ascend, those with missing values left last.
TurnedRule nth_rule(const Division& division, std::uint32_t levels, std::uint64_t n);

/// What becomes of a node: a rule of a division, or a leaf.
struct Decision {
  std::size_t division = 0;
  std::uint64_t rule = 0;
};

/// Builds trees from the root down and adds them to others.
class Builder {
 public:
  Builder(const Setting& setting, const Memo& memo, const std::vector<double>& values)
      : setting_(setting), root_(memo[0]), choices_(setting, memo, values) {}
  explicit Builder(Sums& sums) : Builder(sums.setting(), sums.memo(), sums.values()) { sums_ = &sums; }

  /// `decide(choices)` says what becomes of each node that is stored, in preorder: an optional `Decision`.
  template <class Decide>
  void build(ScoredTrees& out, const Decide& decide) {
    open_.assign(1, {&root_, 0, 0, {}});
    begin();
    while (!open_.empty()) {
      const Open here = std::move(open_.back());
      open_.pop_back();
      if (here.set == nullptr) {
        add_leaf(here.rows, here.depth, here.statistics.data());
        continue;
      }
      if (sums_ != nullptr) sums_->expand(*here.set);
      choices_.take(*here.set);
      if (here.set->expanded)
        choices_.find_children();
      else
        choices_.weigh_rules();
      choices_.go_to(here.depth);
      if (const std::optional<Decision> found = decide(choices_))
        split(*found, here.depth);
      else
        add_stored_leaf(here.depth);
    }
    finish(out);
  }

 private:
  struct Open {
    const RowSet* set;
    std::uint32_t depth;
    Row rows;
    std::vector<double> statistics;  // of a leaf that is not stored
  };
  void begin();
  void add_leaf(Row rows, std::uint32_t depth, const double* statistics);
  void add_stored_leaf(std::uint32_t depth);
  void split(const Decision& decision, std::uint32_t depth);
  void finish(ScoredTrees& out);

  const Setting& setting_;
  const RowSet& root_;
  Choices choices_;
  Sums* sums_ = nullptr;
  std::vector<Open> open_;
  Nodes nodes_;
  std::vector<double> statistics_;
  double log_prior_ = 0.0, log_likelihood_ = 0.0;
};

/// Adds independent draws from the posterior.
void draw_trees(Sums& sums, std::uint64_t draws, Stream& stream, ScoredTrees& out);

/// Adds the most probable trees, the first of which is the mode; trees of equal probability in a fixed order.
void best_trees(Sums& sums, std::uint64_t trees, ScoredTrees& out);

/// power · log P(y|T) of the tree that has the highest, of all that the prior makes.
double highest_log_likelihood(Sums& sums);

}  // namespace baytree::cart::exact
