#include <algorithm>
#include <cmath>

#include "baytree/slp/engine/machine.hpp"

// How the machine goes from goal to goal: the loop over instructions, clauses and their heads, labels and arithmetic.
namespace baytree::slp {
namespace {

constexpr std::uint32_t most_nested = 64;  // guards inside guards, which recurse
constexpr std::size_t most_output = std::size_t{1} << 20;

/// Which goal a call is, whatever was chosen elsewhere: a hash of the calls that lead to it (the finaliser of
/// SplitMix64).
std::uint64_t address_of_call(std::uint64_t caller, std::uint32_t pc) {
  std::uint64_t x = caller + 0x9e3779b97f4a7c15u * (pc + 1u);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace

// ---- the loop
// ------------------------------------------------------------------------------------------------------------

bool Machine::run() {
  // Kept in registers; the members are right whenever something else may look at them.
  std::uint32_t pc = pc_;
  Address frame = frame_;
  const auto store = [&] {
    pc_ = pc;
    frame_ = frame;
  };
  const auto load = [&] {
    pc = pc_;
    frame = frame_;
  };
  for (;;) {
    const Instruction instruction = instructions_[pc++];
    bool holds = true;
    switch (instruction.op) {
      case Op::put_value:
        arguments_[instruction.b] = slot(instruction.a, frame);
        continue;
      case Op::put_constant:
        arguments_[instruction.a] = constants_[instruction.b];
        continue;
      case Op::put_structure:
        arguments_[instruction.a] = Cell::structure(store_.push({instruction.b}));
        continue;
      case Op::build:
        set_slot(instruction.a, frame, Cell::structure(store_.push({instruction.b})));
        continue;
      case Op::arg_value:
        store_.push(slot(instruction.a, frame));
        continue;
      case Op::arg_constant:
        store_.push(constants_[instruction.b]);
        continue;

      case Op::call:
      case Op::execute:
        store();
        prepare_call(instruction, instruction.op == Op::execute);
        holds = enter();
        load();
        break;
      case Op::proceed: {
        const bool has_frame = instruction.a != 0;
        returns_to(has_frame ? high(frame) : goal_.frame, has_frame ? low(frame) : goal_.pc);
        load();
        continue;
      }
      case Op::builtin:
        store();
        store_.spend();
        holds = call_builtin(instruction.b, context_, arguments_.data());
        if (output_.size() > most_output) output_.resize(most_output);
        store_.reserve(0);
        break;
      case Op::random: {
        const auto arity = arity_of(static_cast<Draw>(instruction.b));
        goal_ = {.is_draw = true,
                 .arguments = static_cast<std::uint8_t>(arity),
                 .target = instruction.b,
                 .frame = frame,
                 .pc = pc,
                 .scope = scope_of(frame) + instruction.pure,
                 .address = address_of_call(store_.at(frame + 2).bits, pc - 1),
                 .caller = traced_ ? static_cast<std::int64_t>(static_cast<std::int32_t>(low(frame + 3))) : -1};
        store();
        store_.spend();
        holds = draw(0);
        load();
        break;
      }
      case Op::count: {
        const Expression& sum = code_->expressions[instruction.b];
        const Cell term = store_.deref(slot(sum[0].place, frame));
        if (term.is(Tag::integer) && std::abs(term.integer()) < largest_integer / 2) {
          holds = store_.unify(slot(instruction.a, frame), Cell::integer(term.integer() + sum[1].number.integer));
          break;
        }
        [[fallthrough]];
      }
      case Op::is:
        store();
        holds =
            store_.unify(slot(instruction.a, frame), store_.number(evaluate(code_->expressions[instruction.b], frame)));
        break;
      case Op::compare: {
        store();
        const Number x = evaluate(code_->expressions[instruction.b], frame),
                     y = evaluate(code_->expressions[instruction.b + 1], frame);
        const int order = compare(x, y);
        switch (static_cast<Comparison>(instruction.a)) {
          case Comparison::equal:
            holds = order == 0;
            break;
          case Comparison::unequal:
            holds = order != 0;
            break;
          case Comparison::less:
            holds = order < 0;
            break;
          case Comparison::greater:
            holds = order > 0;
            break;
          case Comparison::at_most:
            holds = order <= 0;
            break;
          case Comparison::at_least:
            holds = order >= 0;
            break;
        }
        break;
      }

      case Op::fail:
        holds = false;
        break;
      case Op::jump:
        pc = instruction.b;
        continue;
      case Op::alternative: {
        Alternative& alternative = push_alternative(Alternative::Kind::code, {.frame = frame, .pc = instruction.b});
        if (instruction.pure) --alternative.committed;
        continue;
      }
      case Op::mark:
        set_slot(instruction.a, frame, Cell::integer(static_cast<std::int64_t>(alternatives_.size())));
        ++committed_;
        continue;
      case Op::cut:
        alternatives_.resize(
            std::min(alternatives_.size(), static_cast<std::size_t>(slot(instruction.a, frame).integer())));
        --committed_;
        continue;
      case Op::gather:
        push_alternative(Alternative::Kind::gather, {.frame = frame, .pc = instruction.b});
        gathers_.push_back(static_cast<std::uint32_t>(collected_.size()));
        ++committed_;
        continue;
      case Op::collect:
        store();
        collected_.push_back(store_.copy(arguments_[0]));
        holds = false;
        break;
      case Op::gathered: {
        store();
        items_.clear();
        const std::uint32_t first = gathers_.back();
        for (std::size_t i = first; i < collected_.size(); ++i) items_.push_back(store_.load(collected_[i]));
        collected_.erase(collected_.begin() + first, collected_.end());
        gathers_.pop_back();
        const Cell list = store_.make_list(items_);
        arguments_[0] = list;
        continue;
      }
      case Op::guard_begin:
        if (skip_guard_) pc = instruction.b;
        continue;
      case Op::guard_end:
        if (nested_ > 0 && frame == trial_frame_) return true;
        continue;
      case Op::halt:
        return true;
      default:
        stop_with("the program's code is damaged");
    }
    if (!holds) {
      if (!backtrack()) return false;
      load();
    }
  }
}

/// Goes on behind a proved goal, or to the end of the run where this was what it had to prove.
void Machine::returns_to(Address frame, std::uint32_t pc) {
  store_.reserve(0);
  frame_ = frame;
  pc_ = pc;
  const std::uint32_t scope = scope_of(frame);
  if (last_scope_ > scope && nested_ == 0) {
    if (scope < stop_scope_)
      pc_ = 0;
    else
      push_event({.scope = scope});
  }
  if (redrawing_ && frame == redraw_frame_ && pc == redraw_pc_) redrawing_ = false;
}

void Machine::prepare_call(const Instruction& instruction, bool is_last) {
  store_.spend();
  const CompiledPredicate& predicate = predicates_[instruction.b];
  goal_.is_draw = false;
  goal_.arguments = static_cast<std::uint8_t>(predicate.arity + instruction.a);
  goal_.labels = static_cast<std::uint8_t>(instruction.a);
  goal_.target = instruction.b;
  goal_.saved = 0;
  goal_.frame = is_last ? high(frame_) : frame_;
  goal_.pc = is_last ? low(frame_) : pc_;
  goal_.scope = scope_of(frame_) + instruction.pure;
  goal_.address = address_of_call(store_.at(frame_ + 2).bits, pc_ - 1);
  if (traced_) goal_.caller = static_cast<std::int32_t>(low(frame_ + 3));
}

// ---- arithmetic
// ----------------------------------------------------------------------------------------------------------

/// The value of an expression, `operand(place)` being that of a variable; nothing where it has none.
template <class Operand>
const Number* Machine::compute(const Expression& expression, Operand operand) {
  Number* top = values_.data();
  for (const Step& step : expression) {
    switch (step.kind) {
      case Step::Kind::number:
        *top++ = step.number;
        break;
      case Step::Kind::function: {
        const std::uint32_t arity = arity_of(step.function);
        if (arity == 0) ++top;
        if (arity == 2) --top;
        if (!apply_to(step.function, top[-1], *top)) return nullptr;
        break;
      }
      default: {
        const Cell cell = store_.deref(operand(step.place));
        *top++ = cell.is_number() ? store_.number_of(cell) : store_.evaluate(cell);
      }
    }
  }
  return values_.data();
}

// ---- goals
// ---------------------------------------------------------------------------------------------------------------

bool Machine::enter() {
  const CompiledPredicate& predicate = predicates_[goal_.target];
  if (traced_ && predicate.is_users) trace_goal();
  if (predicate.is_labelled) return enter_labelled(0);
  return enter_clauses(candidates(predicate), 0);
}

/// The clauses whose first argument may match.
const std::vector<std::uint32_t>& Machine::candidates(const CompiledPredicate& predicate) {
  if (predicate.by_key.empty() || predicate.arity == 0) return predicate.clauses;
  const Cell first = store_.deref(arguments_[0]);
  if (first.is(Tag::reference)) return predicate.clauses;
  const auto found = predicate.by_key.find(key_of(store_, first));
  return found == predicate.by_key.end() ? predicate.any_key : found->second;
}

bool Machine::enter_clauses(const std::vector<std::uint32_t>& list, std::uint32_t from) {
  const bool has_arguments = predicates_[goal_.target].arity > 0;
  const Cell first = has_arguments ? store_.deref(arguments_[0]) : Cell::reference(0);
  const std::uint64_t key = first.is(Tag::reference) ? 0 : key_of(store_, first);
  const auto next_match = [&](std::uint32_t i) {
    if (first.is(Tag::reference)) return i;
    for (; i < list.size(); ++i)
      if (const auto& other = clauses_[list[i]].key; !other || *other == key) break;
    return i;
  };
  const std::uint32_t here = next_match(from);
  if (here >= list.size()) return false;
  const std::uint32_t next = next_match(here + 1);
  if (next < list.size()) {
    save_arguments();
    Alternative& alternative = push_alternative(Alternative::Kind::clauses, goal_);
    alternative.list = &list;
    alternative.next = next;
  }
  skip_guard_ = false;
  return enter_clause(list[here]);
}

double Machine::label_of(const CompiledClause& clause) {
  if (clause.label_variables == 0 && clause.fixed_label) return *clause.fixed_label;
  const auto where = [&] {
    return std::to_string(clause.label_begin.line) + ", column " + std::to_string(clause.label_begin.column);
  };
  if (clause.label_variables != goal_.labels)
    throw Trouble{"the rule at line " + where() + " has " + std::to_string(clause.label_variables) +
                  (clause.label_variables == 1 ? " label variable, but the goal gives "
                                               : " label variables, but the goal gives ") +
                  std::to_string(goal_.labels) + "; call it as  [E] : goal"};
  for (std::uint32_t i = goal_.arguments - goal_.labels; i < goal_.arguments; ++i)
    if (store_.deref(arguments_[i]).is(Tag::reference))
      throw Trouble{"a label variable of the rule at line " + where() + " has no value when the rule is tried"};
  if (clause.fixed_label) return *clause.fixed_label;
  const Number* const value = compute(clause.label, [&](std::uint16_t place) { return arguments_[place]; });
  if (!value) throw Trouble{"the label at line " + where() + " has no value here"};
  const double label = value->value();
  if (!std::isfinite(label)) throw Trouble{"the label at line " + where() + " is not finite here"};
  return label;
}

bool Machine::enter_labelled(std::size_t tried) {
  const CompiledPredicate& predicate = predicates_[goal_.target];
  Menu menu{.weighted = true};
  Option chosen;
  KnownMenu* const known = known_menu(predicate);
  if (known && !known->ids.empty()) {
    menu.options = known->ids.size();
    menu.total = 1.0;
    menu.weights = known->weights.data();
    menu.ids = known->ids.data();
    if (!choose(menu, tried, chosen)) return false;
  } else {
    // Guards may call labelled predicates in turn: their options lie behind these.
    const std::size_t base = weights_.size();
    find_clauses(predicate, menu);
    menu.options = weights_.size() - base;
    menu.weights = weights_.data() + base;
    menu.ids = ids_.data() + base;
    const bool is_usual = std::isfinite(menu.total) && std::all_of(menu.weights, menu.weights + menu.options,
                                                                   [&](double w) { return w / menu.total > 0.0; });
    if (known && is_usual) {
      *known = {{menu.weights, menu.weights + menu.options}, {menu.ids, menu.ids + menu.options}};
      for (double& weight : known->weights) weight /= menu.total;
    }
    const bool is_chosen = menu.options > 0 && choose(menu, tried, chosen);
    weights_.resize(base);
    ids_.resize(base);
    if (!is_chosen) return false;
  }
  skip_guard_ = !raw_ && !clauses_[chosen.id].guard_binds;
  return enter_clause(static_cast<std::uint32_t>(chosen.id));
}

/// Where the options of the goal at hand are kept, if they may be; empty where they are not found yet.
Machine::KnownMenu* Machine::known_menu(const CompiledPredicate& predicate) {
  if (!predicate.open || raw_ || goal_.labels > 1) return nullptr;
  if (*predicate.open != CompiledClause::always && !store_.deref(arguments_[*predicate.open]).is(Tag::reference))
    return nullptr;
  std::vector<KnownMenu>& menus = known_menus_[goal_.target];
  if (menus.empty()) menus.resize(known_numbers + 1);
  if (goal_.labels == 0) return &menus.back();
  const Cell label = store_.deref(arguments_[goal_.arguments - 1]);
  const bool is_known = label.is(Tag::integer) && label.integer() >= 0 && label.integer() < known_numbers;
  return is_known ? &menus[static_cast<std::size_t>(label.integer())] : nullptr;
}

/// The clauses that unify, pass their guard and have a positive label.
void Machine::find_clauses(const CompiledPredicate& predicate, Menu& menu) {
  const std::vector<std::uint32_t>& list = raw_ ? predicate.clauses : candidates(predicate);
  const Cell first = predicate.arity > 0 ? store_.deref(arguments_[0]) : Cell::reference(0);
  const std::uint64_t key = first.is(Tag::reference) ? 0 : key_of(store_, first);
  for (const std::uint32_t number : list) {
    const CompiledClause& clause = clauses_[number];
    if (!raw_ && clause.key && !first.is(Tag::reference) && *clause.key != key) continue;
    if (!raw_ && !is_applicable(number)) continue;
    const double label = clause.is_labelled ? label_of(clause) : 1.0;
    if (label > 0.0) add_option(menu, number, label);
  }
}

void Machine::add_option(Menu& menu, std::uint64_t id, double weight) {
  ids_.push_back(id);
  weights_.push_back(weight);
  menu.total += weight;
}

/// Whether the clause's head unifies with the goal and its guard holds.
bool Machine::is_applicable(std::uint32_t number) {
  const CompiledClause& clause = clauses_[number];
  const bool unifies =
      clause.pattern == CompiledClause::always ||
      (clause.pattern != CompiledClause::unknown_place && store_.deref(arguments_[clause.pattern]).is(Tag::reference));
  if (unifies && !clause.has_guard) return true;
  if (unifies && clause.test) {
    Cell values[8];
    const std::size_t count = std::min(clause.test->arguments.size(), std::size(values));
    for (std::size_t i = 0; i < count; ++i) values[i] = arguments_[clause.test->arguments[i]];
    return call_builtin(clause.test->builtin, context_, values) == clause.test->expected;
  }
  if (nested_ >= most_nested)
    throw Trouble{"guards call one another more than " + std::to_string(most_nested) + " deep"};
  save_arguments();
  const Goal goal = goal_;
  const Address frame = frame_, top = store_.top(), boundary = store_.boundary, trial = trial_frame_;
  const std::uint32_t pc = pc_, stop = stop_scope_, committed = committed_,
                      traced = traced_ ? static_cast<std::uint32_t>(traced_->size()) : 0;
  const std::size_t trail = store_.trail.size(), floor = floor_;
  const NodeId nodes = data_ ? data_->mark() : 0;
  store_.boundary = top;
  skip_guard_ = false;
  bool holds = enter_clause(number);
  if (holds && clause.has_guard) {
    trial_frame_ = frame_;
    floor_ = alternatives_.size();
    stop_scope_ = 0;
    ++nested_;
    ++committed_;
    holds = run();
    --nested_;
    alternatives_.resize(floor_);
    floor_ = floor;
  }
  store_.undo(trail);
  store_.shrink(top);
  store_.boundary = boundary;
  if (data_) data_->rewind(nodes);
  if (traced_) traced_->resize(traced);
  committed_ = committed;
  stop_scope_ = stop;
  trial_frame_ = trial;
  goal_ = goal;
  frame_ = frame;
  pc_ = pc;
  load_arguments();
  return holds;
}

bool Machine::enter_clause(std::uint32_t number) {
  const CompiledClause& clause = clauses_[number];
  store_.reserve(0);
  Address frame = 0;
  if (clause.has_frame) {
    frame = store_.top();
    const std::uint32_t depth = low(goal_.frame + 1) + 1;
    if (depth > limits_.depth)
      throw Trouble{"more than " + std::to_string(limits_.depth) + " goals wait for one another"};
    store_.push({two(goal_.frame, goal_.pc)});
    store_.push({two(goal_.scope, depth)});
    store_.push({goal_.address});
    store_.push({two(number, static_cast<std::uint32_t>(goal_.caller))});
    store_.shrink(store_.top() + clause.slots);
  }
  if (traced_ && goal_.caller >= 0 && predicates_[clause.predicate].is_users && nested_ == 0)
    (*traced_)[static_cast<std::size_t>(goal_.caller)].place = clause.place;
  frame_ = frame;
  return match_head(clause.entry, frame);
}

/// Unifies the arguments with the head of a clause, up to its guard or body.
bool Machine::match_head(std::uint32_t pc, Address frame) {
  Address next = 0;  // the argument of a structure to be matched
  bool writing = false;
  for (;;) {
    const Instruction instruction = instructions_[pc];
    switch (instruction.op) {
      case Op::get_variable:
        set_slot(instruction.a, frame, arguments_[instruction.b]);
        break;
      case Op::get_value:
        if (!store_.unify(slot(instruction.a, frame), arguments_[instruction.b])) return false;
        break;
      case Op::get_constant: {
        const Cell argument = store_.deref(arguments_[instruction.a]), constant = constants_[instruction.b];
        if (argument.is(Tag::reference))
          store_.bind(argument, constant);
        else if (argument != constant &&
                 (constant.is(Tag::atom) || constant.is(Tag::integer) || !store_.unify(argument, constant)))
          return false;
        break;
      }
      case Op::get_structure:
      case Op::match_structure: {
        const Cell term =
            store_.deref(instruction.op == Op::get_structure ? arguments_[instruction.a] : slot(instruction.a, frame));
        if (term.is(Tag::reference)) {
          const Address address = store_.push({instruction.b});
          store_.bind(term, Cell::structure(address));
          // Its arguments are written behind it, one after another.
          writing = true;
        } else if (store_.is_structure(term, instruction.b)) {
          next = term.address() + 1;
          writing = false;
        } else {
          return false;
        }
        break;
      }
      case Op::unify_variable:
        set_slot(instruction.a, frame, writing ? store_.push_variable() : store_.at(next++));
        break;
      case Op::unify_value:
        if (writing)
          store_.push(slot(instruction.a, frame));
        else if (!store_.unify(slot(instruction.a, frame), store_.at(next++)))
          return false;
        break;
      case Op::unify_constant:
        if (writing)
          store_.push(constants_[instruction.b]);
        else if (!store_.unify(constants_[instruction.b], store_.at(next++)))
          return false;
        break;
      case Op::unify_void:
        if (writing)
          store_.push_variable();
        else
          ++next;
        break;
      case Op::init_variables:
        for (Address at = frame + header + instruction.a; at < frame + header + instruction.b; ++at)
          store_.set(at, Cell::reference(at));
        break;
      default:
        pc_ = pc;
        return true;
    }
    ++pc;
  }
}

Number Machine::evaluate(const Expression& expression, Address frame) {
  const Number* const value = compute(expression, [&](std::uint16_t place) { return slot(place, frame); });
  if (!value)
    throw Trouble{
        "the arithmetic has no value here: division by 0, the root or logarithm of a negative number, or a whole "
        "number that is too large"};
  return *value;
}

}  // namespace baytree::slp
