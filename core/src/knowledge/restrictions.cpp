#include "baytree/knowledge/restrictions.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "baytree/base/error.hpp"

namespace baytree {

Restrictions::Restrictions(const Knowledge& knowledge, const Design& design, std::span<const std::vector<double>> cuts)
    : features_(design.columns.size()) {
  read_limits(knowledge);
  read_only(knowledge);
  read_groups(knowledge);
  read_boxes(knowledge, design, cuts);
  read_weights(knowledge);
  look_above_ = !knowledge.below_feature.empty() || !knowledge.interacting.empty();
  follow_paths_ = look_above_ || boxes_ != 0;
  free_ = !follow_paths_ && !knowledge.max_depth && knowledge.forbidden.empty() && knowledge.below_depth.empty() &&
          only_.empty();
}

void Restrictions::check(std::uint32_t feature) const {
  if (feature >= features_)
    throw InputError("knowledge: feature " + std::to_string(feature) + " but only " + std::to_string(features_) +
                     " columns");
}

void Restrictions::read_limits(const Knowledge& knowledge) {
  depth_.assign(features_, knowledge.max_depth.value_or(std::numeric_limits<std::uint32_t>::max()));
  for (const std::uint32_t feature : knowledge.forbidden) {
    check(feature);
    depth_[feature] = 0;
  }
  for (const auto& [feature, depth] : knowledge.below_depth) {
    check(feature);
    depth_[feature] = std::min(depth_[feature], depth);
  }
  not_below_.resize(features_);
  for (const auto& [feature, above] : knowledge.below_feature) {
    check(feature);
    check(above);
    not_below_[feature].push_back(above);
  }
  for (const std::uint32_t feature : knowledge.required) check(feature);
}

void Restrictions::read_only(const Knowledge& knowledge) {
  for (const auto& [depth, features] : knowledge.only) {
    const auto same_depth = [at = depth](const OnlyAt& other) { return other.depth == at; };
    auto entry = std::find_if(only_.begin(), only_.end(), same_depth);
    if (entry == only_.end()) entry = only_.insert(entry, {depth, std::vector<bool>(features_, true)});
    std::vector<bool> listed(features_);
    for (const std::uint32_t feature : features) {
      check(feature);
      listed[feature] = true;
    }
    for (std::size_t feature = 0; feature < features_; ++feature)
      entry->allowed[feature] = entry->allowed[feature] && listed[feature];
  }
}

void Restrictions::read_groups(const Knowledge& knowledge) {
  if (knowledge.interacting.empty()) return;
  const std::size_t others = knowledge.interacting.size();
  group_words_ = others / 64 + 1;
  groups_.assign(features_ * group_words_, 0);
  std::vector<bool> listed(features_);
  const auto add = [&](std::size_t feature, std::size_t group) {
    groups_[feature * group_words_ + group / 64] |= std::uint64_t{1} << group % 64;
  };
  for (std::size_t group = 0; group < others; ++group)
    for (const std::uint32_t feature : knowledge.interacting[group]) {
      check(feature);
      add(feature, group);
      listed[feature] = true;
    }
  for (std::size_t feature = 0; feature < features_; ++feature)
    if (!listed[feature]) add(feature, others);
}

void Restrictions::read_boxes(const Knowledge& knowledge, const Design& design,
                              std::span<const std::vector<double>> cuts) {
  if (knowledge.boxes.size() > max_boxes)
    throw InputError("knowledge: " + std::to_string(knowledge.boxes.size()) + " boxes; at most " +
                     std::to_string(max_boxes) + " are possible");
  if (!knowledge.boxes.empty() && cuts.size() != features_)
    throw InputError("knowledge: cut values of " + std::to_string(cuts.size()) + " columns for " +
                     std::to_string(features_));
  sides_.assign(features_, 0);
  box_cuts_.resize(features_);
  for (std::size_t number = 0; number < knowledge.boxes.size(); ++number) {
    const std::uint64_t box = std::uint64_t{1} << number;
    const std::string name = "knowledge: box " + std::to_string(number);
    boxes_ |= box;
    for (const auto& [feature, min, max] : knowledge.boxes[number].sides) {
      check(feature);
      if (design.columns[feature].categorical) throw InputError(name + ": its sides must be of numeric features");
      if ((sides_[feature] & box) != 0) throw InputError(name + ": two sides of feature " + std::to_string(feature));
      if (!(min <= max)) throw InputError(name + ": its smallest value must not exceed its largest");
      if (cuts[feature].size() != std::max(design.columns[feature].observed, 1u) - 1)
        throw InputError(name + ": " + std::to_string(cuts[feature].size()) + " cut values of feature " +
                         std::to_string(feature));
      sides_[feature] |= box;
      const auto cuts_below = [&values = cuts[feature]](double x) {
        return static_cast<std::uint32_t>(std::lower_bound(values.begin(), values.end(), x) - values.begin());
      };
      box_cuts_[feature].push_back({cuts_below(min), cuts_below(max), box});
    }
  }
  for (auto& ranges : box_cuts_)
    std::sort(ranges.begin(), ranges.end(), [](const BoxCuts& a, const BoxCuts& b) { return a.begin < b.begin; });
}

void Restrictions::read_weights(const Knowledge& knowledge) {
  weights_ = knowledge.weights.empty() ? std::vector<double>(features_, 1.0) : knowledge.weights;
  if (weights_.size() != features_)
    throw InputError("knowledge: " + std::to_string(weights_.size()) + " weights for " + std::to_string(features_) +
                     " columns");
  for (const double weight : weights_)
    if (!(weight > 0.0 && weight < infinity)) throw InputError("knowledge: weights must be positive and finite");
  // A column has fewer than 2^63 rules, each of which may count with its column's weight.
  if (!(std::accumulate(weights_.begin(), weights_.end(), 0.0) * 0x1p63 < infinity))
    throw InputError("knowledge: the weights are too large to be summed");
  weighted_ = std::adjacent_find(weights_.begin(), weights_.end(), std::not_equal_to<>()) != weights_.end();
}

std::uint64_t Restrictions::boxes_left(std::uint64_t boxes, const Rule& rule) const {
  if (boxes == 0) return 0;
  std::uint64_t left = 0;
  for (const BoxCuts& cuts : box_cuts_[rule.feature])
    if (rule.cut >= cuts.end) left |= boxes & cuts.box;
  return left;
}

bool Restrictions::may_lie_at(std::uint32_t depth, std::uint32_t feature) const {
  if (depth >= depth_[feature]) return false;
  return std::all_of(only_.begin(), only_.end(),
                     [&](const OnlyAt& only) { return only.depth != depth || only.allowed[feature]; });
}

bool Restrictions::may_follow(std::span<const std::uint32_t> above, std::uint32_t feature) const {
  for (const std::uint32_t other : not_below_[feature])
    if (std::find(above.begin(), above.end(), other) != above.end()) return false;
  for (std::size_t word = 0; word < group_words_; ++word) {
    std::uint64_t common = groups_[feature * group_words_ + word];
    for (const std::uint32_t other : above) common &= groups_[other * group_words_ + word];
    if (common != 0) return true;
  }
  return group_words_ == 0;
}

std::vector<std::uint64_t> Restrictions::traits(std::span<const std::uint32_t> above) const {
  std::vector<std::uint64_t> words(group_words_, ~std::uint64_t{0});
  for (std::size_t word = 0; word < group_words_; ++word)
    for (const std::uint32_t other : above) words[word] &= groups_[other * group_words_ + word];
  words.resize(group_words_ + (features_ + 63) / 64);
  for (std::size_t feature = 0; feature < features_; ++feature)
    for (const std::uint32_t other : not_below_[feature])
      if (std::find(above.begin(), above.end(), other) != above.end())
        words[group_words_ + feature / 64] |= std::uint64_t{1} << feature % 64;
  return words;
}

Freedom Restrictions::restricted(const Situation& situation, std::uint32_t feature) const {
  if (!may_lie_at(situation.depth, feature) || (situation.boxes & ~sides_[feature]) != 0) return Freedom::none;
  if (look_above_ && !may_follow(situation.above, feature)) return Freedom::none;
  return situation.boxes == 0 ? Freedom::all : Freedom::some;
}

bool Restrictions::allows(const Situation& situation, const Rule& rule) const {
  const Freedom left = freedom(situation, rule.feature);
  return left == Freedom::some ? !cuts_a_box(situation.boxes, rule) : left == Freedom::all;
}

bool Restrictions::cuts_a_box(std::uint64_t boxes, const Rule& rule) const {
  const auto is_cut = [&](const BoxCuts& cuts) {
    return (boxes & cuts.box) != 0 && rule.cut >= cuts.begin && rule.cut < cuts.end;
  };
  const auto& ranges = box_cuts_[rule.feature];
  return std::any_of(ranges.begin(), ranges.end(), is_cut);
}

/// Calls `visit` with the ranges of cuts, ascending, that remain of begin … end−1 without those that cut a box, until
/// it returns false.
template <class Visit>
void Restrictions::for_each_range(std::uint32_t begin, std::uint32_t end, std::uint32_t feature, std::uint64_t boxes,
                                  Visit visit) const {
  for (const BoxCuts& cuts : box_cuts_[feature]) {
    if ((boxes & cuts.box) == 0) continue;
    const std::uint32_t stop = std::min(cuts.begin, end);
    if (begin < stop && !visit(begin, stop)) return;
    begin = std::max(begin, cuts.end);
  }
  if (begin < end) visit(begin, end);
}

std::uint64_t Restrictions::count_rules(const ColumnRules& rules, std::uint32_t feature, std::uint64_t boxes) const {
  std::uint64_t count = 0;
  const auto add = [&](std::uint32_t begin, std::uint32_t end) {
    count += end - begin;
    return true;
  };
  for_each_range(rules.right_begin, rules.right_end, feature, boxes, add);
  for_each_range(rules.left_begin, rules.left_end, feature, boxes, add);
  return count;
}

Rule Restrictions::nth_rule(const ColumnRules& rules, std::uint32_t feature, std::uint64_t boxes,
                            std::uint64_t n) const {
  Rule rule{.feature = feature};
  bool found = false;
  const auto seek = [&](std::uint32_t begin, std::uint32_t end) {
    found = n < end - begin;
    if (found)
      rule.cut = begin + static_cast<std::uint32_t>(n);
    else
      n -= end - begin;
    return !found;
  };
  for_each_range(rules.right_begin, rules.right_end, feature, boxes, seek);
  if (!found) {
    rule.missing_left = true;
    for_each_range(rules.left_begin, rules.left_end, feature, boxes, seek);
  }
  return rule;
}

}  // namespace baytree
