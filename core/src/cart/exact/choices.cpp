#include "baytree/cart/exact/choices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::cart::exact {
namespace {

std::vector<bool> usable(const Restrictions& restrictions, std::size_t features) {
  std::vector<bool> found(features);
  for (std::uint32_t feature = 0; feature < features; ++feature) found[feature] = restrictions.depth_limit(feature) > 0;
  return found;
}

}  // namespace

std::uint32_t Setting::limit_of(const GrowTree& prior, const Restrictions& restrictions, const Design& design) {
  if (prior.alpha == 0.0) return 0;
  std::uint32_t limit = 0;
  for (std::uint32_t feature = 0; feature < design.columns.size(); ++feature)
    limit = std::max(limit, restrictions.depth_limit(feature));
  // Each split leaves min_leaf rows aside.
  return std::min(limit, design.rows / std::max(prior.min_leaf, Row{1}));
}

Setting::Setting(const Problem& given)
    : problem(given),
      restrictions(given.prior.knowledge, given.design, given.prior.cuts),
      limit(limit_of(given.prior, restrictions, given.design)),
      contexts(restrictions, given.design.columns.size(), limit),
      patterns(given, usable(restrictions, given.design.columns.size())) {
  for (std::uint32_t depth = 0; depth <= limit; ++depth) {
    split.push_back(given.prior.alpha * std::pow(1.0 + depth, -given.prior.beta));
    log_split.push_back(std::log(split.back()));
    log_leaf.push_back(std::log1p(-split.back()));
  }
  for (std::uint32_t feature = 0; feature < given.design.columns.size(); ++feature) {
    weight.push_back(restrictions.weight(feature));
    log_weight.push_back(std::log(weight.back()));
  }
}

Choices::Choices(const Setting& setting, const Memo& memo, const std::vector<double>& values)
    : setting_(setting),
      memo_(memo),
      values_(values),
      divider_(setting.problem, setting.patterns, memo, setting.restrictions),
      rules_(setting.weight.size()),
      log_feature_(setting.weight.size()) {}

void Choices::take(const RowSet& set) {
  set_ = &set;
  divider_.take(set);
  leaf_ = setting_.leaf(divider_.statistics(divider_.whole()), divider_.whole().rows);
  freedom_.clear();
  for (std::uint32_t depth = set.first(); depth <= set.last() && depth < setting_.limit; ++depth)
    freedom_.push_back(setting_.contexts.freedom(set.context, depth));
  divider_.divide(freedom_, setting_.contexts.boxes(set.context));
  like_.clear();
  if (setting_.may_store_children(divider_.whole(), set.first())) find_alike();
}

void Choices::weigh_rules() {
  std::fill(rules_.begin(), rules_.end(), 0.0);
  log_rules_.clear();
  for (const Division& division : divisions()) {
    rules_[division.feature] += division.rules;
    log_rules_.push_back(testing::is_injected(Fault::exact_alike) || division.rules == 1.0 ? 0.0
                                                                                           : std::log(division.rules));
  }
  const bool by_column = setting_.problem.prior.by_column;
  for (std::size_t feature = 0; feature < rules_.size(); ++feature)
    log_feature_[feature] =
        setting_.log_weight[feature] - (by_column && rules_[feature] > 1.0 ? std::log(rules_[feature]) : 0.0);
}

std::uint32_t Choices::context_of(const Division& division, bool left) const {
  const std::uint64_t boxes = setting_.contexts.boxes(set_->context);
  return setting_.contexts.below(set_->context, division.feature,
                                 left ? division.boxes_left : boxes & ~division.boxes_left);
}

/// Features often divide few rows alike. In one context what is looked up for one division holds for the others.
void Choices::find_alike() {
  like_.resize(divisions().size());
  std::iota(like_.begin(), like_.end(), 0u);
  if (!setting_.contexts.single()) return;
  const std::size_t places = std::bit_ceil(2 * like_.size() + 1);
  named_.assign(places, Memo::none);
  const auto name = [](const Division& division) {
    const Key &left = division.left.key, &right = division.right.key;
    return std::tie(left.high, left.low) < std::tie(right.high, right.low) ? left : right;
  };
  for (std::uint32_t i = 0; i < like_.size(); ++i) {
    const Key key = name(divisions()[i]);
    std::size_t place = Memo::hash(key, 0) >> 32 & (places - 1);
    while (named_[place] != Memo::none && !(name(divisions()[named_[place]]) == key))
      place = (place + 1) & (places - 1);
    if (named_[place] == Memo::none) named_[place] = i;
    like_[i] = named_[place];
  }
}

void Choices::find_children() {
  weigh_rules();
  children_.assign(2 * divisions().size(), {});
  each_stored([&](std::size_t i, const Side& side, bool left) {
    const std::uint32_t found = memo_.find(side.key, context_of(divisions()[i], left), side.rows);
    if (found == Memo::none) throw InputError("exact: a set of rows was not stored");
    const RowSet& set = memo_[found];
    const std::uint32_t values = set.begin - set.first();
    children_[2 * i + (left ? 0 : 1)] = {&set, set.leaf, values};
    prefetch(values_.data() + set.begin);
  });
  for (std::size_t i = 0; i < divisions().size(); ++i) {
    const Division& division = divisions()[i];
    Child &left = children_[2 * i], &right = children_[2 * i + 1];
    if (const std::size_t first = like_.empty() ? i : like_[i]; first != i) {
      const bool turned = !(divisions()[first].left.key == division.left.key);
      left = children_[2 * first + (turned ? 1 : 0)];
      right = children_[2 * first + (turned ? 0 : 1)];
      continue;
    }
    if (left.set == nullptr) left.leaf = setting_.leaf(divider_.statistics(division.left), division.left.rows);
    if (right.set == nullptr) right.leaf = setting_.leaf(divider_.statistics(division.right), division.right.rows);
  }
}

void Choices::go_to(std::uint32_t depth) {
  depth_ = depth;
  prior_depth_ = std::min(depth + (testing::is_injected(Fault::exact_depth) ? 1 : 0), setting_.limit);
  double total = 0.0;
  if (depth < setting_.limit) {
    free_ = freedom_[depth - set_->first()];
    for (std::size_t feature = 0; feature < rules_.size(); ++feature)
      if (rules_[feature] > 0.0 && free_[feature] != Freedom::none)
        total += setting_.weight[feature] * (setting_.problem.prior.by_column ? 1.0 : rules_[feature]);
  }
  splittable_ = total > 0.0;
  log_total_ = std::log(total);
}

}  // namespace baytree::cart::exact
