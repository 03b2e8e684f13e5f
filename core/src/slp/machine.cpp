#include "baytree/slp/machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace baytree::slp {
namespace {

constexpr std::uint32_t most_nested = 64;  // guards inside guards, which recurse
constexpr std::size_t most_output = std::size_t{1} << 20;
constexpr std::size_t spare_cells = 1 << 14, spare_memory = 1 << 18;  // what may be left over before a proof is laid down anew

/// Which goal a call is, whatever was chosen elsewhere: a hash of the calls that lead to it (the finaliser of SplitMix64).
std::uint64_t address_of_call(std::uint64_t caller, std::uint32_t pc) {
  std::uint64_t x = caller + 0x9e3779b97f4a7c15u * (pc + 1u);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

std::size_t count_choices(std::span<const Event> events) {
  return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [](const Event& event) { return event.is_choice; }));
}

}  // namespace

Machine::Machine(std::shared_ptr<const Code> code, Semantics semantics, Data* data, Limits limits)
    : code_(std::move(code)),
      instructions_(code_->instructions.data()),
      constants_(code_->constants.data()),
      clauses_(code_->clauses.data()),
      predicates_(code_->predicates.data()),
      semantics_(semantics),
      data_(data),
      limits_(limits),
      store_(code_->symbols, code_->functors, code_->begin, limits.memory / sizeof(std::uint64_t), limits.steps),
      context_(store_, data_, output_),
      first_node_(data ? data->mark() : 0),
      known_menus_(code_->predicates.size()) {}

// ---- runs ----------------------------------------------------------------------------------------------------------------

void Machine::clear() {
  store_.clear();
  if (data_) data_->rewind(first_node_);
  events_.clear();
  choices_ = 0;
}

void Machine::begin_run(Guide guide, Chance* chance) {
  guide_ = guide;
  chance_ = chance;
  alternatives_.clear();
  floor_ = committed_ = nested_ = trial_frame_ = stop_scope_ = last_scope_ = 0;
  weights_.clear();
  ids_.clear();
  run_events_.clear();
  collected_.clear();
  gathers_.clear();
  tried_.clear();
  guide_next_ = 0;
  redrawing_ = false;
  log_kept_ratio_ = 0.0;
  store_.restart_count();
}

/// Lays down the first frame and the goal, and proves it.
bool Machine::run_goal() {
  store_.reserve(64 + code_->goal_variables.size());
  frame_ = store_.top();
  store_.push({two(frame_, 0)});  // behind the goal: halt
  store_.push({0});
  store_.push({0});
  store_.push({two(0xffff'ffff, 0xffff'ffff)});
  answer_ = store_.top();
  for (std::size_t i = 0; i < code_->goal_variables.size(); ++i) arguments_[i] = store_.push_variable();
  goal_ = {.arguments = static_cast<std::uint8_t>(code_->goal_variables.size()), .target = code_->goal, .frame = frame_, .pc = 0, .scope = 1};
  return (enter() || backtrack()) && run();
}

/// Closes the last event.
void Machine::end_run() {
  if (!run_events_.empty()) run_events_.back().trail_end = static_cast<std::uint32_t>(store_.trail.size());
}

/// Turns what went wrong into an error that says where.
template <class Work>
bool Machine::guarded(Work work) {
  try {
    return work();
  } catch (const Trouble& trouble) {
    stop_with(trouble.message);
  } catch (const InputError& error) {  // of the table
    stop_with(error.what());
  } catch (const std::bad_alloc&) {
    stop_with("there is not enough memory");
  }
}

bool Machine::prove(Chance& chance) {
  clear();
  begin_run(Guide::fresh, &chance);
  const bool proved = guarded([&] { return run_goal(); });
  end_run();
  if (!proved) return false;
  events_.swap(run_events_);
  choices_ = count_choices(events_);
  live_cells_ = store_.top();
  live_memory_ = data_ ? data_->memory() : 0;
  return true;
}

void Machine::prove_until_success(Chance& chance, std::uint64_t attempts) {
  for (std::uint64_t i = 0; i < attempts; ++i)
    if (prove(chance))
      return;
    else if (semantics_ == Semantics::backtrack)
      throw InputError(code_->file + ": the goal fails: no choice leads to a proof of it");
  throw InputError(
      code_->file + ": the goal failed " + std::to_string(attempts) +
      " times in a row; the condition is too rare to be met by chance, or impossible. Write it into the rules, so that choices that break it are not made");
}

void Machine::follow(const std::vector<Event>& events) {
  std::vector<Event> guide;
  for (const Event& event : events)
    if (event.is_choice) guide.push_back(event);
  clear();
  begin_run(Guide::recorded, nullptr);
  guide_events_.swap(guide);
  const bool proved = guarded([&] { return run_goal(); });
  end_run();
  if (!proved || guide_next_ != guide_events_.size()) throw InputError(code_->file + ": these are not the choices of a proof of this program");
  events_.swap(run_events_);
  choices_ = guide_events_.size();
  live_cells_ = store_.top();
  live_memory_ = data_ ? data_->memory() : 0;
}

/// Lays the proof down anew where too much was left over from earlier ones.
void Machine::compact() {
  const bool is_full = store_.top() > 4 * live_cells_ + spare_cells || (data_ && data_->memory() > 4 * live_memory_ + spare_memory);
  if (is_full) follow(std::vector<Event>(events_));
}

std::size_t Machine::end_of(std::size_t k, Extent extent) const {
  if (extent == Extent::to_the_end) return events_.size();
  const std::uint32_t scope = events_[k].scope;
  std::size_t end = k + 1;
  while (end < events_.size() && (events_[end].is_choice || events_[end].scope >= scope)) ++end;
  return end;
}

bool Machine::prove_again(std::size_t k, Extent extent, Guide guide, Chance& chance) {
  compact();
  replaced_begin_ = k;
  replaced_end_ = end_of(k, extent);
  begin_run(guide, &chance);
  unbound_.clear();
  for (std::size_t i = replaced_begin_; i < replaced_end_; ++i)
    for (std::uint32_t t = events_[i].trail_begin; t < events_[i].trail_end; ++t) {
      const Address variable = store_.trail[t];
      unbound_.emplace_back(variable, store_.at(variable));
      store_.set(variable, Cell::reference(variable));
    }
  kept_top_ = store_.boundary = store_.top();
  kept_trail_ = store_.trail.size();
  kept_nodes_ = data_ ? data_->mark() : 0;
  const Event& event = events_[k];
  goal_ = {.is_draw = event.is_draw,
           .arguments = event.arguments,
           .labels = event.labels,
           .target = event.target,
           .saved = event.saved,
           .frame = event.frame,
           .pc = event.pc,
           .scope = event.scope,
           .address = event.address};
  if (extent == Extent::scope) stop_scope_ = event.scope;
  if (guide == Guide::matched) {
    guide_events_.clear();
    for (std::size_t i = k + 1; i < events_.size(); ++i)
      if (events_[i].is_choice) guide_events_.push_back(events_[i]);
    redrawing_ = true;
    redraw_frame_ = event.frame;
    redraw_pc_ = event.pc;
  }
  load_arguments();
  bool proved = false;
  try {
    proved = guarded([&] {
      store_.reserve(0);
      return ((goal_.is_draw ? draw(0) : enter()) || backtrack()) && run();
    });
  } catch (...) {
    discard();
    throw;
  }
  end_run();
  if (!proved) return false;
  const std::span<const Event> replaced(events_.data() + replaced_begin_, replaced_end_ - replaced_begin_);
  choices_after_ = choices_ - count_choices(replaced) + count_choices(run_events_);
  return true;
}

void Machine::accept() {
  const auto begin = events_.begin() + static_cast<std::ptrdiff_t>(replaced_begin_);
  const std::size_t old_size = replaced_end_ - replaced_begin_, new_size = run_events_.size();
  if (new_size > old_size)
    events_.insert(begin, new_size - old_size, {});
  else
    events_.erase(begin, begin + static_cast<std::ptrdiff_t>(old_size - new_size));
  std::copy(run_events_.begin(), run_events_.end(), events_.begin() + static_cast<std::ptrdiff_t>(replaced_begin_));
  choices_ = choices_after_;
}

void Machine::discard() {
  store_.undo(kept_trail_);
  for (const auto& [variable, value] : unbound_) store_.set(variable, value);
  store_.shrink(kept_top_);
  if (data_) data_->rewind(kept_nodes_);
}

void Machine::enumerate(const std::function<bool()>& visit) {
  clear();
  begin_run(Guide::every, nullptr);
  guarded([&] {
    for (bool proved = run_goal(); proved; proved = backtrack() && run()) {
      end_run();
      events_ = run_events_;
      choices_ = count_choices(events_);
      if (!visit()) break;
      store_.restart_count();
      for (Alternative& alternative : alternatives_) alternative.succeeded = true;
    }
    return true;
  });
}

void Machine::enumerate_raw(const std::function<bool(bool)>& visit) {
  raw_ = true;
  visit_failure_ = &visit;
  try {
    enumerate([&] { return visit(true); });
  } catch (...) {
    raw_ = false;
    visit_failure_ = nullptr;
    throw;
  }
  raw_ = false;
  visit_failure_ = nullptr;
}

bool Machine::is_same() const {
  std::size_t old = replaced_begin_;
  const auto next_choice = [&] {
    while (old < replaced_end_ && !events_[old].is_choice) ++old;
    return old < replaced_end_ ? &events_[old++] : nullptr;
  };
  for (const Event& event : run_events_) {
    if (!event.is_choice) continue;
    const Event* const before = next_choice();
    if (!before || before->address != event.address || before->chosen != event.chosen) return false;
  }
  return next_choice() == nullptr;
}

bool Machine::took_second_try() const {
  return std::any_of(run_events_.begin(), run_events_.end(), [](const Event& event) { return event.is_second_try; });
}

std::uint32_t Machine::depth_of(std::span<const Event> events) {
  std::uint32_t depth = 1;
  for (const Event& event : events) depth = std::max(depth, event.scope);
  return depth;
}

std::uint32_t Machine::depth_after() const {
  const std::span<const Event> events(events_);
  return std::max({depth_of(events.first(replaced_begin_)), depth_of(run_events_), depth_of(events.subspan(replaced_end_))});
}

double Machine::log_probability() const {
  double sum = 0.0;
  for (const Event& event : events_)
    if (event.is_choice) sum += std::log(event.probability);
  return sum;
}

std::vector<TracedGoal> Machine::trace() {
  std::vector<TracedGoal> traced;
  traced_ = &traced;
  try {
    follow(std::vector<Event>(events_));
  } catch (...) {
    traced_ = nullptr;
    throw;
  }
  traced_ = nullptr;
  std::int64_t choices = 0;
  store_.restart_count();
  guarded([&] {
    for (TracedGoal& goal : traced) {
      goal.proved = text_of(goal.functor, goal.saved);
      if (goal.choice >= 0) goal.choice = choices++;
    }
    return true;
  });
  return traced;
}

// ---- the loop ------------------------------------------------------------------------------------------------------------

bool Machine::run() {
  for (;;) {
    const Instruction instruction = instructions_[pc_++];
    bool holds = true;
    switch (instruction.op) {
      case Op::put_value:
        arguments_[instruction.b] = slot(instruction.a, frame_);
        continue;
      case Op::put_constant:
        arguments_[instruction.a] = constants_[instruction.b];
        continue;
      case Op::put_structure:
        arguments_[instruction.a] = Cell::structure(store_.push({instruction.b}));
        continue;
      case Op::build:
        set_slot(instruction.a, frame_, Cell::structure(store_.push({instruction.b})));
        continue;
      case Op::arg_value:
        store_.push(slot(instruction.a, frame_));
        continue;
      case Op::arg_constant:
        store_.push(constants_[instruction.b]);
        continue;

      case Op::call:
      case Op::execute:
        prepare_call(instruction, instruction.op == Op::execute);
        holds = enter();
        break;
      case Op::proceed: {
        const bool has_frame = instruction.a != 0;
        const Address frame = has_frame ? high(frame_) : goal_.frame;
        const std::uint32_t pc = has_frame ? low(frame_) : goal_.pc;
        returns_to(frame, pc);
        continue;
      }
      case Op::builtin:
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
                 .frame = frame_,
                 .pc = pc_,
                 .scope = scope_of(frame_) + instruction.pure,
                 .address = address_of_call(store_.at(frame_ + 2).bits, pc_ - 1),
                 .caller = traced_ ? static_cast<std::int64_t>(static_cast<std::int32_t>(low(frame_ + 3))) : -1};
        store_.spend();
        holds = draw(0);
        break;
      }
      case Op::count: {
        const Expression& sum = code_->expressions[instruction.b];
        const Cell term = store_.deref(slot(sum[0].place, frame_));
        if (term.is(Tag::integer) && std::abs(term.integer()) < largest_integer / 2) {
          holds = store_.unify(slot(instruction.a, frame_), Cell::integer(term.integer() + sum[1].number.integer));
          break;
        }
        [[fallthrough]];
      }
      case Op::is:
        holds = store_.unify(slot(instruction.a, frame_), store_.number(evaluate(code_->expressions[instruction.b], frame_)));
        break;
      case Op::compare: {
        const Number x = evaluate(code_->expressions[instruction.b], frame_), y = evaluate(code_->expressions[instruction.b + 1], frame_);
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
        pc_ = instruction.b;
        continue;
      case Op::alternative: {
        Alternative& alternative = push_alternative(Alternative::Kind::code, {.frame = frame_, .pc = instruction.b});
        if (instruction.pure) --alternative.committed;
        continue;
      }
      case Op::mark:
        set_slot(instruction.a, frame_, Cell::integer(static_cast<std::int64_t>(alternatives_.size())));
        ++committed_;
        continue;
      case Op::cut:
        alternatives_.resize(std::min(alternatives_.size(), static_cast<std::size_t>(slot(instruction.a, frame_).integer())));
        --committed_;
        continue;
      case Op::gather:
        push_alternative(Alternative::Kind::gather, {.frame = frame_, .pc = instruction.b});
        gathers_.push_back(static_cast<std::uint32_t>(collected_.size()));
        ++committed_;
        continue;
      case Op::collect:
        collected_.push_back(store_.copy(arguments_[0]));
        holds = false;
        break;
      case Op::gathered: {
        items_.clear();
        const std::uint32_t first = gathers_.back();
        for (std::size_t i = first; i < collected_.size(); ++i) items_.push_back(store_.load(collected_[i]));
        collected_.resize(first);
        gathers_.pop_back();
        const Cell list = store_.make_list(items_);
        arguments_[0] = list;
        continue;
      }
      case Op::guard_begin:
        if (skip_guard_) pc_ = instruction.b;
        continue;
      case Op::guard_end:
        if (nested_ > 0 && frame_ == trial_frame_) return true;
        continue;
      case Op::halt:
        return true;
      default:
        stop_with("the program's code is damaged");
    }
    if (!holds && !backtrack()) return false;
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
      push_event(scope);
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

// ---- arithmetic ----------------------------------------------------------------------------------------------------------

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

// ---- goals ---------------------------------------------------------------------------------------------------------------

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
  if (clause.fixed_label) return *clause.fixed_label;
  if (clause.label_variables != goal_.labels)
    throw Trouble{"the rule at line " + std::to_string(clause.place.line) + " has " + std::to_string(clause.label_variables) +
                  " label variable(s), but the goal gives " + std::to_string(goal_.labels) + "; call it as  [E] : goal"};
  for (std::uint32_t i = goal_.arguments - goal_.labels; i < goal_.arguments; ++i)
    if (store_.deref(arguments_[i]).is(Tag::reference))
      throw Trouble{"a label variable of the rule at line " + std::to_string(clause.place.line) + " has no value when the rule is tried"};
  const Number* const value = compute(clause.label, [&](std::uint16_t place) { return arguments_[place]; });
  if (!value) throw Trouble{"the label at line " + std::to_string(clause.place.line) + " has no value here"};
  const double label = value->value();
  if (!std::isfinite(label)) throw Trouble{"the label at line " + std::to_string(clause.place.line) + " is not finite here"};
  return label;
}

bool Machine::enter_labelled(std::size_t tried) {
  const CompiledPredicate& predicate = predicates_[goal_.target];
  Menu menu{.weighted = true};
  Option chosen;
  KnownMenu* const known = known_menu(predicate);
  if (known && !known->ids.empty()) {
    menu.options = known->ids.size();
    menu.total = known->total;
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
    if (known) *known = {{menu.weights, menu.weights + menu.options}, {menu.ids, menu.ids + menu.options}, menu.total};
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
  if (*predicate.open != CompiledClause::always && !store_.deref(arguments_[*predicate.open]).is(Tag::reference)) return nullptr;
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
  const bool unifies = clause.pattern == CompiledClause::always ||
                       (clause.pattern != CompiledClause::unknown_place && store_.deref(arguments_[clause.pattern]).is(Tag::reference));
  if (unifies && !clause.has_guard) return true;
  if (unifies && clause.test) {
    Cell values[8];
    const std::size_t count = std::min(clause.test->arguments.size(), std::size(values));
    for (std::size_t i = 0; i < count; ++i) values[i] = arguments_[clause.test->arguments[i]];
    return call_builtin(clause.test->builtin, context_, values) == clause.test->expected;
  }
  if (nested_ >= most_nested) throw Trouble{"guards call one another more than " + std::to_string(most_nested) + " deep"};
  save_arguments();
  const Goal goal = goal_;
  const Address frame = frame_, top = store_.top(), boundary = store_.boundary, trial = trial_frame_;
  const std::uint32_t pc = pc_, stop = stop_scope_, committed = committed_, traced = traced_ ? static_cast<std::uint32_t>(traced_->size()) : 0;
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
    if (depth > limits_.depth) throw Trouble{"more than " + std::to_string(limits_.depth) + " goals wait for one another"};
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
        else if (argument != constant && (constant.is(Tag::atom) || constant.is(Tag::integer) || !store_.unify(argument, constant)))
          return false;
        break;
      }
      case Op::get_structure:
      case Op::match_structure: {
        const Cell term = store_.deref(instruction.op == Op::get_structure ? arguments_[instruction.a] : slot(instruction.a, frame));
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
        for (Address at = frame + header + instruction.a; at < frame + header + instruction.b; ++at) store_.set(at, Cell::reference(at));
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
  if (!value) throw Trouble{"the arithmetic has no value here: division by 0, the root or logarithm of a negative number, or a whole number that is too large"};
  return *value;
}

// ---- choices -------------------------------------------------------------------------------------------------------------

Event& Machine::push_event(std::uint32_t scope) {
  const auto trail = static_cast<std::uint32_t>(store_.trail.size());
  if (!run_events_.empty()) run_events_.back().trail_end = trail;
  Event& event = run_events_.emplace_back();
  event.scope = last_scope_ = scope;
  event.trail_begin = trail;
  store_.boundary = store_.top();
  return event;
}

/// The choice that the guiding proof made here, if any.
std::optional<std::size_t> Machine::matching_event() {
  const std::size_t n = guide_events_.size();
  if (guide_ == Guide::recorded) {
    if (guide_next_ < n && guide_events_[guide_next_].address == goal_.address) return guide_next_++;
    return std::nullopt;
  }
  // Mostly the next one.
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = (guide_next_ + i) % n;
    if (guide_events_[at].address != goal_.address) continue;
    guide_next_ = at + 1;
    return at;
  }
  return std::nullopt;
}

/// Chooses among the options of the goal at hand, `tried` of which were tried before, and records the choice. False where none is left, or where the proof that
/// guides this one cannot be followed. One option is no choice.
bool Machine::choose(const Menu& menu, std::size_t tried, Option& chosen) {
  is_second_try_ = false;
  if (menu.options == 1) {
    if (tried == 0) chosen = identify(menu, 0);
    return tried == 0;
  }
  std::optional<std::uint64_t> index;
  const Event* kept = nullptr;
  if (guide_ == Guide::recorded || (guide_ == Guide::matched && !redrawing_)) {
    const auto match = matching_event();
    if (match) {
      kept = &guide_events_[*match];
      index = find_option(menu, kept->chosen);
    }
    if (match ? !index : guide_ == Guide::recorded) return false;
  }
  if (!kept) index = untried(menu, tried);
  if (!index) return false;
  chosen = kept ? kept->chosen : menu.weighted ? Option{menu.ids[*index], 0} : identify(menu, *index);
  const double probability = menu.weighted ? menu.weights[*index] / menu.total : 1.0 / static_cast<double>(menu.options);
  if (!(probability > 0.0)) throw Trouble{"the labels or weights here are too large to be added, or too different in size"};
  if (kept) log_kept_ratio_ += std::log(probability) - std::log(kept->probability);
  record(chosen, menu.options, probability, tried, *index);
  return true;
}

void Machine::record(const Option& chosen, std::uint64_t options, double probability, std::size_t tried, std::uint64_t index) {
  if (committed_ > 0) throw Trouble{"a random choice inside a condition, a guard, \\+, once or findall; make the choice before, and test what it gave"};
  save_arguments();
  if (traced_ && goal_.caller >= 0) {
    TracedGoal& traced = (*traced_)[static_cast<std::size_t>(goal_.caller)];
    traced.options = options;
    traced.probability = probability;
    traced.choice = 0;
  }
  if (semantics_ == Semantics::reject || guide_ == Guide::matched) {
    // What was left to search before a random choice is not searched any more: a failure from here on is one of the choice.
    while (!alternatives_.empty() && alternatives_.back().kind != Alternative::Kind::random) alternatives_.pop_back();
  }
  if (guide_ == Guide::every || (semantics_ == Semantics::backtrack && guide_ == Guide::fresh)) {
    const auto begin = static_cast<std::uint32_t>(tried_.size() - tried);
    tried_.push_back(index);
    Alternative& alternative = push_alternative(Alternative::Kind::random, goal_);
    alternative.tried = begin;
    alternative.next = static_cast<std::uint32_t>(tried + 1);
  }
  Event& event = push_event(goal_.scope);
  event.is_choice = true;
  event.is_draw = goal_.is_draw;
  event.is_second_try = is_second_try_;
  event.arguments = goal_.arguments;
  event.labels = goal_.labels;
  event.target = goal_.target;
  event.saved = goal_.saved;
  event.frame = goal_.frame;
  event.pc = goal_.pc;
  event.address = goal_.address;
  event.chosen = chosen;
  event.options = options;
  event.probability = probability;
}

/// The next option to take, given those at the end of `tried_`.
std::optional<std::uint64_t> Machine::untried(const Menu& menu, std::size_t tried) {
  if (guide_ == Guide::every) return tried < menu.options ? std::optional<std::uint64_t>(tried) : std::nullopt;
  const std::span<const double> weights(menu.weights, menu.weighted ? menu.options : 0);
  if (tried == 0 && (chance_->draws_again() || !took_second_try())) return menu.weighted ? chance_->pick(weights, menu.total) : chance_->below(menu.options);
  if (tried >= menu.options) return std::nullopt;
  const std::span<const std::uint64_t> used(tried_.data() + tried_.size() - tried, tried);
  if (!chance_->draws_again()) {
    is_second_try_ = true;
    std::uint64_t first = 0;
    while (std::find(used.begin(), used.end(), first) != used.end()) ++first;
    return first;
  }
  if (menu.weighted) {
    std::vector<double> left(weights.begin(), weights.end());
    for (const std::uint64_t i : used) left[i] = 0.0;
    double total = 0.0;
    for (const double weight : left) total += weight;
    return chance_->pick(left, total);
  }
  std::vector<std::uint64_t> sorted(used.begin(), used.end());
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
    for (std::uint64_t here = data_->count_rules(menu.node, feature); index >= here; here = data_->count_rules(menu.node, feature)) {
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

// ---- built-in choices ----------------------------------------------------------------------------------------------------

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
  if (!store_.deref(arguments_[0]).is(Tag::reference)) throw Trouble{"random(U) draws a number: U must be a variable without a value"};
  if (guide_ == Guide::every) throw Trouble{"random/1 has no finite list of outcomes, so they cannot be enumerated"};
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
    throw Trouble{std::string(weighted ? "choose" : "uniform") + " needs a list of known length, not " + store_.text(arguments_[0])};
  const bool is_open = store_.deref(arguments_[1]).is(Tag::reference);
  if (!weighted && is_open) {
    menu.options = items_.size();
    return true;
  }
  menu.weighted = true;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    double weight = 1.0;
    if (weighted) {
      if (!store_.is_structure(items_[i], store_.pair_functor)) throw Trouble{"choose needs a list of Weight-Item, but an item is " + store_.text(items_[i])};
      weight = store_.evaluate(store_.argument(items_[i], 0)).value();
      if (!(weight >= 0.0) || !std::isfinite(weight)) throw Trouble{"the weight of " + store_.text(items_[i]) + " is not a finite number of 0 or more"};
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
  for (std::uint32_t f = 0; f < data.features(); ++f)
    if (__builtin_add_overflow(menu.options, data.count_rules(menu.node, f), &menu.options))
      throw Trouble{"there are too many rules; choose the feature first"};
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
      const auto [left, right] = data_->split(context_.node_of(arguments_[0]), feature, question);
      return (is_given(1) || store_.unify(arguments_[1], context_.feature_atom(feature))) &&
             store_.unify(arguments_[2], context_.question_term(feature, question)) && store_.unify(arguments_[3], Cell::node(left)) &&
             store_.unify(arguments_[4], Cell::node(right));
    }
  }
}

// ---- failure -------------------------------------------------------------------------------------------------------------

void Machine::save_arguments() {
  if (goal_.saved != 0 || goal_.arguments == 0) return;
  goal_.saved = store_.top();
  for (std::uint32_t i = 0; i < goal_.arguments; ++i) store_.push(arguments_[i]);
}

void Machine::load_arguments() {
  for (std::uint32_t i = 0; i < goal_.arguments; ++i) arguments_[i] = store_.at(goal_.saved + i);
}

Machine::Alternative& Machine::push_alternative(Alternative::Kind kind, const Goal& goal) {
  alternatives_.push_back({.kind = kind,
                           .goal = goal,
                           .top = store_.top(),
                           .trail = static_cast<std::uint32_t>(store_.trail.size()),
                           .events = static_cast<std::uint32_t>(run_events_.size()),
                           .tried = static_cast<std::uint32_t>(tried_.size()),
                           .traced = traced_ ? static_cast<std::uint32_t>(traced_->size()) : 0,
                           .committed = committed_,
                           .guided = guide_next_,
                           .nodes = data_ ? data_->mark() : 0});
  store_.boundary = store_.top();
  return alternatives_.back();
}

/// Returns to the last alternative; false where there is none.
bool Machine::backtrack() {
  const bool derivation_failed = alternatives_.empty() || (alternatives_.back().kind == Alternative::Kind::random && !alternatives_.back().succeeded);
  if (visit_failure_ && nested_ == 0 && derivation_failed) {
    events_ = run_events_;
    (*visit_failure_)(false);
  }
  while (alternatives_.size() > floor_) {
    store_.spend();
    Alternative& alternative = alternatives_.back();
    const Alternative::Kind kind = alternative.kind;
    if (alternative.succeeded && kind != Alternative::Kind::random) {
      alternatives_.pop_back();
      continue;
    }
    store_.undo(alternative.trail);
    store_.shrink(alternative.top);
    store_.boundary = alternative.top;
    run_events_.resize(alternative.events);
    last_scope_ = run_events_.empty() ? 0 : run_events_.back().scope;
    if (traced_) traced_->resize(alternative.traced);
    if (data_) data_->rewind(alternative.nodes);
    committed_ = alternative.committed;
    guide_next_ = alternative.guided;
    goal_ = alternative.goal;
    if (kind == Alternative::Kind::code || kind == Alternative::Kind::gather) {
      frame_ = goal_.frame;
      pc_ = goal_.pc;
      alternatives_.pop_back();
      return true;
    }
    load_arguments();
    if (kind == Alternative::Kind::clauses) {
      const std::vector<std::uint32_t>& list = *alternative.list;
      const std::uint32_t next = alternative.next;
      alternatives_.pop_back();
      if (enter_clauses(list, next)) return true;
      continue;
    }
    const std::size_t tried = alternative.next;
    tried_.resize(alternative.tried + tried);
    alternatives_.pop_back();
    if (goal_.is_draw ? draw(tried) : enter_labelled(tried)) return true;
  }
  return false;
}

void Machine::stop_with(const std::string& message) {
  const auto place_text = [this](Place place) {
    if (place.line <= code_->program_lines) return "line " + std::to_string(place.line);
    return std::string("the goal");
  };
  const Place place = pc_ > 0 && pc_ <= code_->places.size() ? code_->places[pc_ - 1] : Place{};
  std::string text = code_->file;
  if (place.line <= code_->program_lines) text += ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  text += ": " + message;
  const auto describe = [&](std::uint32_t predicate) {
    const CompiledPredicate& p = predicates_[predicate];
    return code_->symbols.name(p.name) + "/" + std::to_string(p.arity);
  };
  std::size_t shown = 0, hidden = 0;
  for (Address frame = frame_; frame != 0 && high(frame + 3) < code_->clauses.size(); frame = high(frame)) {
    const CompiledClause& clause = clauses_[high(frame + 3)];
    if (!predicates_[clause.predicate].is_users) continue;
    if (++shown <= 8)
      text += "\n  " + std::string(shown == 1 ? "while proving " : "called by ") + describe(clause.predicate) + " (" + place_text(clause.place) + ")";
    else
      ++hidden;
  }
  if (hidden > 0) text += "\n  and " + std::to_string(hidden) + " more";
  throw InputError(text);
}

Functor Machine::goal_functor() {
  if (!goal_.is_draw) return {predicates_[goal_.target].name, predicates_[goal_.target].arity};
  const auto draw = static_cast<Draw>(goal_.target);
  return {store_.symbols.intern(name_of(draw)), arity_of(draw)};
}

std::string Machine::text_of(Functor functor, Address saved) {
  if (functor.arity == 0) return store_.text(Cell::atom(functor.name));
  std::vector<Cell> arguments;
  for (std::uint32_t i = 0; i < functor.arity; ++i) arguments.push_back(store_.at(saved + i));
  const Address top = store_.top();
  std::string text = store_.text(store_.make_structure(store_.functors.intern(functor), arguments));
  store_.shrink(top);
  for (std::size_t i = 0; i < text.size(); i += 8) store_.spend();
  return text;
}

/// Notes the goal at hand, for people.
void Machine::trace_goal() {
  save_arguments();
  const Functor functor = goal_functor();
  traced_->push_back({.parent = goal_.caller, .called = text_of(functor, goal_.saved), .functor = functor, .saved = goal_.saved});
  goal_.caller = static_cast<std::int64_t>(traced_->size() - 1);
}

}  // namespace baytree::slp
