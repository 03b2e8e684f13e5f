#include <algorithm>
#include <bit>
#include <cmath>

#include "baytree/slp/engine/machine.hpp"

// How the machine chooses: by chance, as another proof did, or each option in turn.
namespace baytree::slp {
namespace {

constexpr const char* in_condition =
    "a random choice inside a condition, a guard, \\+, once or findall; make the choice before, and test what it gave";

}  // namespace

// ---- choices
// -------------------------------------------------------------------------------------------------------------

void Machine::push_event(const Event& event) {
  const auto trail = static_cast<std::uint32_t>(store_.trail.size());
  if (!run_events_.empty()) run_events_.back().trail_end = trail;
  run_events_.push_back(event);
  run_events_.back().trail_begin = trail;
  last_scope_ = event.scope;
  store_.boundary = store_.top();
}

/// The choice that the guiding proof made here, if any.
std::optional<std::size_t> Machine::matching_event() {
  const std::size_t n = guide_events_.size();
  if (guide_ == Guide::recorded) {
    if (guide_next_ < n && guide_events_[guide_next_].goal.address == goal_.address) return guide_next_++;
    return std::nullopt;
  }
  // Mostly the next one.
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = (guide_next_ + i) % n;
    if (guide_events_[at].goal.address != goal_.address) continue;
    guide_next_ = at + 1;
    return at;
  }
  return std::nullopt;
}

/// Chooses among the options of the goal at hand, `tried` of which were tried before, and records the choice. False
/// where none is left, or where the proof that guides this one cannot be followed. One option is no choice.
bool Machine::choose(const Menu& menu, std::size_t tried, Option& chosen) {
  is_second_try_ = false;
  if (menu.options == 1) {
    if (tried == 0) chosen = identify(menu, 0);
    return tried == 0;
  }
  if (committed_ > 0) throw Trouble{in_condition};
  if (!std::isfinite(menu.total)) throw Trouble{"the weights of a choice are too large to be summed"};
  std::optional<std::uint64_t> index;
  const Event* kept = nullptr;
  if (guide_ == Guide::recorded || (guide_ == Guide::matched && !redrawing_)) {
    const auto match = matching_event();
    if (match) {
      kept = &guide_events_[*match];
      index = find_option(menu, kept->chosen);
    }
    if (match ? !index : guide_ == Guide::recorded) {
      // A kept choice that has become impossible is the end, not a reason to search elsewhere.
      if (guide_ == Guide::matched) alternatives_.clear();
      return false;
    }
  }
  if (!kept) index = untried(menu, tried);
  if (!index) return false;
  chosen = kept ? kept->chosen : menu.weighted ? Option{menu.ids[*index], 0} : identify(menu, *index);
  double probability = menu.weighted ? menu.weights[*index] : 1.0 / static_cast<double>(menu.options);
  if (menu.weighted && menu.total != 1.0) probability /= menu.total;
  if (!(probability > 0.0))
    throw Trouble{"the labels or weights here are too large to be added, or too different in size"};
  if (kept) log_kept_ratio_ += std::log(probability) - std::log(kept->probability);
  record(chosen, menu.options, probability, tried, *index);
  return true;
}

void Machine::record(const Option& chosen, std::uint64_t options, double probability, std::size_t tried,
                     std::uint64_t index) {
  const bool may_return =
      guide_ == Guide::every || (semantics_ == Semantics::backtrack && guide_ == Guide::fresh && code_->may_fail);
  if (keep_ == Keep::proof || may_return) save_arguments();
  if (traced_ && goal_.caller >= 0) {
    TracedGoal& traced = (*traced_)[static_cast<std::size_t>(goal_.caller)];
    traced.options = options;
    traced.probability = probability;
    traced.choice = 0;
  }
  if (semantics_ == Semantics::reject || guide_ == Guide::matched) {
    // What was left to search before a random choice is not searched any more: a failure from here on is one of the
    // choice.
    while (!alternatives_.empty() && alternatives_.back().kind != Alternative::Kind::random) alternatives_.pop_back();
  }
  if (may_return) {
    const auto begin = static_cast<std::uint32_t>(tried_.size() - tried);
    tried_.push_back(index);
    Alternative& alternative = push_alternative(Alternative::Kind::random, goal_);
    alternative.tried = begin;
    alternative.next = static_cast<std::uint32_t>(tried + 1);
  }
  if (keep_ == Keep::proof)
    push_event({.is_choice = true,
                .is_second_try = is_second_try_,
                .scope = goal_.scope,
                .goal = goal_,
                .chosen = chosen,
                .options = options,
                .probability = probability});
}

/// The next option to take, given those at the end of `tried_`.
std::optional<std::uint64_t> Machine::untried(const Menu& menu, std::size_t tried) {
  if (guide_ == Guide::every) return tried < menu.options ? std::optional<std::uint64_t>(tried) : std::nullopt;
  const std::span<const double> weights(menu.weights, menu.weighted ? menu.options : 0);
  if (tried == 0 && (draws_again_ || !took_second_try()))
    return menu.weighted ? chance_->pick(weights, menu.total) : chance_->below(menu.options);
  if (tried >= menu.options) return std::nullopt;
  const std::span<const std::uint64_t> used(tried_.data() + tried_.size() - tried, tried);
  if (!draws_again_) {
    is_second_try_ = true;
    std::uint64_t first = 0;
    while (std::find(used.begin(), used.end(), first) != used.end()) ++first;
    return first;
  }
  if (menu.weighted) {
    Held<double> left(weights.begin(), weights.end(), store_.budget);
    for (const std::uint64_t i : used) left[i] = 0.0;
    double total = 0.0;
    for (const double weight : left) total += weight;
    return chance_->pick(left, total);
  }
  Held<std::uint64_t> sorted(used.begin(), used.end(), store_.budget);
  std::sort(sorted.begin(), sorted.end());
  std::uint64_t index = chance_->below(menu.options - tried);
  for (const std::uint64_t i : sorted) index += index >= i;
  return index;
}

/// What the option is, whatever the others are.
Option Machine::identify(const Menu& menu, std::uint64_t index) {
  if (menu.weighted) return {menu.ids[index], 0};
  if (!menu.rules) return {index, 0};
  std::uint32_t feature = menu.feature.value_or(0);
  if (!menu.feature)
    for (std::uint64_t here = data_->count_rules(menu.node, feature); index >= here;
         here = data_->count_rules(menu.node, feature)) {
      index -= here;
      ++feature;
    }
  const Question question = menu.question ? *menu.question : data_->rule(menu.node, feature, index);
  return {std::uint64_t{feature} << 8 | static_cast<std::uint64_t>(question.kind),
          question.kind == Question::Kind::levels ? question.levels : std::bit_cast<std::uint64_t>(question.cut)};
}

namespace {

std::uint32_t feature_of(const Option& option) { return static_cast<std::uint32_t>(option.id >> 8); }

Question question_of(const Option& option) {
  Question question{.kind = static_cast<Question::Kind>(option.id & 0xff)};
  if (question.kind == Question::Kind::levels)
    question.levels = option.detail;
  else
    question.cut = std::bit_cast<double>(option.detail);
  return question;
}

}  // namespace

std::optional<std::uint64_t> Machine::find_option(const Menu& menu, const Option& option) {
  if (menu.weighted) {
    for (std::uint64_t i = 0; i < menu.options; ++i)
      if (menu.ids[i] == option.id) return i;
    return std::nullopt;
  }
  if (!menu.rules) return option.id < menu.options ? std::optional(option.id) : std::nullopt;
  if ((option.id & 0xff) > static_cast<std::uint64_t>(Question::Kind::levels)) return std::nullopt;
  const std::uint32_t feature = feature_of(option);
  if (feature >= data_->features() || (menu.feature && *menu.feature != feature)) return std::nullopt;
  if (!data_->is_admissible(menu.node, feature, question_of(option))) return std::nullopt;
  return 0;
}

// ---- built-in choices
// ----------------------------------------------------------------------------------------------------

/// Makes a built-in choice, binds what it gives, and goes on behind it.
bool Machine::draw(std::size_t tried) {
  if (traced_ && tried == 0) trace_goal();
  const auto kind = static_cast<Draw>(goal_.target);
  if (kind == Draw::random) return draw_number(tried);
  const std::size_t base = weights_.size();
  Menu menu;
  bool possible = false;
  switch (kind) {
    case Draw::uniform:
    case Draw::choose:
      possible = list_menu(menu, kind == Draw::choose);
      break;
    case Draw::choose_feature:
      possible = feature_menu(menu);
      break;
    default:
      possible = split_menu(menu);
  }
  if (menu.weighted) {
    menu.options = weights_.size() - base;
    menu.weights = weights_.data() + base;
    menu.ids = ids_.data() + base;
  }
  Option chosen;
  const bool is_chosen = possible && menu.options > 0 && choose(menu, tried, chosen);
  weights_.resize(base);
  ids_.resize(base);
  if (!is_chosen) return false;
  store_.reserve(64);
  if (!bind_draw(chosen)) return false;
  returns_to(goal_.frame, goal_.pc);
  return true;
}

/// A number between 0 and 1. There is always another one to try.
bool Machine::draw_number(std::size_t tried) {
  if (!store_.deref(arguments_[0]).is(Tag::reference))
    throw Trouble{"random(U) draws a number: U must be a variable without a value"};
  if (guide_ == Guide::every) throw Trouble{"random/1 has no finite list of outcomes, so they cannot be enumerated"};
  if (committed_ > 0) throw Trouble{in_condition};
  const Event* kept = nullptr;
  if (guide_ == Guide::recorded || (guide_ == Guide::matched && !redrawing_)) {
    const auto match = matching_event();
    if (!match && guide_ == Guide::recorded) return false;
    if (match) kept = &guide_events_[*match];
  }
  const double number = kept ? std::bit_cast<double>(kept->chosen.detail) : chance_->uniform();
  is_second_try_ = false;
  record({0, std::bit_cast<std::uint64_t>(number)}, 0, 1.0, tried, 0);
  if (!store_.unify(arguments_[0], store_.number(Number::of(number)))) return false;
  returns_to(goal_.frame, goal_.pc);
  return true;
}

/// uniform(List, X) and choose(List, X): the items that X can be.
bool Machine::list_menu(Menu& menu, bool weighted) {
  items_.clear();
  if (!store_.list_items(arguments_[0], items_))
    throw Trouble{std::string(weighted ? "choose" : "uniform") + " needs a list of known length, not " +
                  store_.text(arguments_[0])};
  const bool is_open = store_.deref(arguments_[1]).is(Tag::reference);
  if (!weighted && is_open) {
    menu.options = items_.size();
    return true;
  }
  menu.weighted = true;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    double weight = 1.0;
    if (weighted) {
      if (!store_.is_structure(items_[i], store_.pair_functor))
        throw Trouble{"choose needs a list of Weight-Item, but an item is " + store_.text(items_[i])};
      weight = store_.evaluate(store_.argument(items_[i], 0)).value();
      if (!(weight >= 0.0) || !std::isfinite(weight))
        throw Trouble{"the weight of " + store_.text(items_[i]) + " is not a finite number of 0 or more"};
    }
    if (weight == 0.0) continue;
    if (!is_open && !store_.can_unify(arguments_[1], weighted ? store_.argument(items_[i], 1) : items_[i])) continue;
    add_option(menu, i, weight);
  }
  return true;
}

/// choose_feature(N, F): the features that have an admissible rule, by their weights.
bool Machine::feature_menu(Menu& menu) {
  const NodeId node = context_.node_of(arguments_[0]);
  const Cell wanted = store_.deref(arguments_[1]);
  menu.weighted = true;
  context_.table().usable(node, usable_);
  for (std::uint32_t feature = 0; feature < usable_.size(); ++feature) {
    if (!(usable_[feature] > 0.0) || (!wanted.is(Tag::reference) && context_.feature_of(wanted) != feature)) continue;
    add_option(menu, feature, usable_[feature]);
  }
  return true;
}

/// split(N, F, V, L, R): the admissible rules of a node, of one feature where F is known.
bool Machine::split_menu(Menu& menu) {
  Data& data = context_.table();
  menu.rules = true;
  menu.node = context_.node_of(arguments_[0]);
  const Cell feature = store_.deref(arguments_[1]), value = store_.deref(arguments_[2]);
  if (!feature.is(Tag::reference)) menu.feature = context_.feature_of(feature);
  if (!value.is(Tag::reference)) {
    if (!menu.feature) throw Trouble{"split(N, F, V, L, R): with V given, F must be given too"};
    menu.question = context_.question_of(*menu.feature, value);
    menu.options = menu.question && data.is_admissible(menu.node, *menu.feature, *menu.question) ? 1 : 0;
    return true;
  }
  if (menu.feature) {
    menu.options = data.count_rules(menu.node, *menu.feature);
    return true;
  }
  for (std::uint32_t f = 0; f < data.features(); ++f) {
    const std::uint64_t rules = data.count_rules(menu.node, f);
    menu.options += rules;
    if (menu.options < rules) throw Trouble{"there are too many rules; choose the feature first"};
  }
  return true;
}

bool Machine::bind_draw(const Option& chosen) {
  const auto is_given = [&](std::size_t i) { return !store_.deref(arguments_[i]).is(Tag::reference); };
  switch (static_cast<Draw>(goal_.target)) {
    case Draw::uniform:
      return store_.unify(arguments_[1], items_[chosen.id]);
    case Draw::choose:
      return store_.unify(arguments_[1], store_.argument(items_[chosen.id], 1));
    case Draw::choose_feature:
      // A feature that was given may have been called by another name.
      return is_given(1) || store_.unify(arguments_[1], context_.feature_atom(static_cast<std::uint32_t>(chosen.id)));
    default: {
      const std::uint32_t feature = feature_of(chosen);
      const Question question = question_of(chosen);
      const auto [left, right] = context_.split(context_.node_of(arguments_[0]), feature, question);
      return (is_given(1) || store_.unify(arguments_[1], context_.feature_atom(feature))) &&
             store_.unify(arguments_[2], context_.question_term(feature, question)) &&
             store_.unify(arguments_[3], Cell::node(left)) && store_.unify(arguments_[4], Cell::node(right));
    }
  }
}

}  // namespace baytree::slp
