#pragma once

#include <cstdint>
#include <vector>

#include "baytree/cart/exact/divisions.hpp"

namespace baytree::cart::exact {

/// What every choice at a node is made by, whatever its rows.
struct Setting {
  explicit Setting(const Problem& problem);

  const Problem& problem;
  Restrictions restrictions;
  std::uint32_t limit;        // no node this deep or deeper is split
  mutable Contexts contexts;  // made as they are met
  Patterns patterns;
  // By depth: of a node with an admissible rule, the probability that it splits; its log, and that of the rest.
  std::vector<double> split, log_split, log_leaf;
  std::vector<double> weight, log_weight;  // of the features

  double leaf(const double* statistics, Row rows) const {
    return problem.power * problem.log_marginal(statistics, rows);
  }
  /// Whether a node with these rows may have an admissible rule below this depth, so that it is stored.
  bool is_stored(const Side& side, std::uint32_t depth) const {
    return depth < limit && side.patterns > 1 && side.rows / 2 >= problem.prior.min_leaf;
  }
  /// Whether that may be so of a child of a node with these rows at this depth.
  bool may_store_children(const Side& whole, std::uint32_t depth) const {
    return depth + 1 < limit && whole.patterns > 2 && whole.rows / 3 >= problem.prior.min_leaf;
  }

 private:
  static std::uint32_t limit_of(const GrowTree& prior, const Restrictions& restrictions, const Design& design);
};

/// A child of a split: a set that is stored, or a leaf whatever its depth.
struct Child {
  const RowSet* set = nullptr;
  double leaf = 0.0;         // the set's own, too
  std::uint32_t values = 0;  // of the set, where that of depth 0 would be; wraps around
};

/// The choices at the nodes with one set of rows, at any of its depths. Holds buffers, so each thread has its own.
class Choices {
 public:
  Choices(const Setting& setting, const Memo& memo, const std::vector<double>& values);

  /// Takes a set of rows and finds its divisions.
  void take(const RowSet& set);
  /// Calls visit(division, side, whether it is the left one) for the sides that are stored and that no division before
  /// has; what `visit` will look up is on its way.
  template <class Visit>
  void each_stored(const Visit& visit) const;
  /// Weighs the rules: enough for what does not ask about children.
  void weigh_rules();
  /// Finds the children, all of which were met, and weighs the rules.
  void find_children();

  const RowSet& set() const { return *set_; }
  const Divider& divider() const { return divider_; }
  Divider& divider() { return divider_; }
  const std::vector<Division>& divisions() const { return divider_.divisions(); }
  const Child& left(std::size_t division) const { return children_[2 * division]; }
  const Child& right(std::size_t division) const { return children_[2 * division + 1]; }
  double leaf() const { return leaf_; }

  /// Goes to a depth. Then `log_rule` is the log prior of a rule of a division given a split, −∞ where it is not
  /// allowed there.
  void go_to(std::uint32_t depth);
  bool splittable() const { return splittable_; }
  double log_leaf_prior() const { return splittable_ ? setting_.log_leaf[prior_depth_] : 0.0; }
  double log_split_prior() const { return setting_.log_split[prior_depth_]; }
  double log_rule(std::size_t division) const {
    const std::uint32_t feature = divisions()[division].feature;
    return free_[feature] == Freedom::none ? -infinity : log_feature_[feature] - log_total_;
  }
  /// Of all its rules together.
  double log_rules(std::size_t division) const { return log_rule(division) + log_rules_[division]; }
  /// log P(division, and all that lies below) as these values have it, all its rules together.
  double log_term(std::size_t division) const {
    return log_split_prior() + log_rules(division) + value(left(division)) + value(right(division));
  }
  /// What these values have of both sides of a division together.
  double value(std::size_t division, const std::vector<double>& values) const {
    return value(left(division), values) + value(right(division), values);
  }
  double value() const { return values_[set_->begin + depth_ - set_->first()]; }
  double value(const Child& child) const { return value(child, values_); }
  double value(const Child& child, const std::vector<double>& values) const {
    return child.set == nullptr || depth_ + 1 >= setting_.limit ? child.leaf : values[child.values + depth_ + 1];
  }
  std::uint32_t context_of(const Division& division, bool left) const;

 private:
  void find_alike();

  const Setting& setting_;
  const Memo& memo_;
  const std::vector<double>& values_;
  Divider divider_;
  const RowSet* set_ = nullptr;
  double leaf_ = 0.0;
  std::vector<const Freedom*> freedom_;  // by depth
  const Freedom* free_ = nullptr;        // at this depth
  std::vector<std::uint32_t> like_;      // by division, the first one with the same sides; none where all are leaves
  std::vector<std::uint32_t> named_;     // by key, the number of a division
  std::vector<Child> children_;
  std::vector<double> log_rules_;            // by division
  std::vector<double> rules_, log_feature_;  // by feature: admissible rules; log of a rule's weight
  std::uint32_t depth_ = 0, prior_depth_ = 0;
  double log_total_ = 0.0;
  bool splittable_ = false;
};

template <class Visit>
void Choices::each_stored(const Visit& visit) const {
  const std::uint32_t depth = set_->first() + 1;
  const auto each = [&](auto one) {
    for (std::size_t i = 0; i < like_.size(); ++i) {
      if (like_[i] != i) continue;
      for (const bool left : {true, false}) {
        const Side& side = left ? divisions()[i].left : divisions()[i].right;
        if (setting_.is_stored(side, depth)) one(i, side, left);
      }
    }
  };
  each([&](std::size_t, const Side& side, bool) { memo_.prefetch_slot(side.key, Contexts::root); });
  each([&](std::size_t, const Side& side, bool) { memo_.prefetch_set(side.key, Contexts::root); });
  each(visit);
}

}  // namespace baytree::cart::exact
