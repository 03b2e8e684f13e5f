#include "baytree/slp/engine/machine.hpp"

#include <algorithm>
#include <cmath>

namespace baytree::slp {
namespace {

constexpr std::size_t spare_cells = 1 << 14,
                      spare_memory = 1 << 18;  // what may be left over before a proof is laid down anew

std::size_t count_choices(std::span<const Event> events) {
  return static_cast<std::size_t>(
      std::count_if(events.begin(), events.end(), [](const Event& event) { return event.is_choice; }));
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
      store_(code_->symbols, code_->functors, code_->begin, limits.memory, limits.steps, data),
      context_(store_, data_, output_),
      first_node_(data ? data->mark() : 0),
      alternatives_(store_.budget),
      run_events_(store_.budget),
      collected_(store_.budget),
      gathers_(store_.budget),
      tried_(store_.budget),
      known_menus_(code_->predicates.size()),
      weights_(store_.budget),
      ids_(store_.budget),
      items_(store_.budget),
      guide_events_(store_.budget),
      events_(store_.budget),
      unbound_(store_.budget) {}

/// What an earlier proof took is not held against this one.
void Machine::clear() {
  constexpr std::size_t little = 1 << 22;
  if (store_.budget.taken() > little) {
    drop(alternatives_, run_events_, collected_, gathers_, tried_, weights_, ids_, items_, guide_events_, events_,
         unbound_);
    store_.drop();
  }
  store_.clear();
  if (data_) data_->rewind(first_node_);
  events_.clear();
  choices_ = 0;
}

void Machine::begin_run(Guide guide, Chance* chance) {
  guide_ = guide;
  keep_ = Keep::proof;
  chance_ = chance;
  draws_again_ = chance && chance->draws_again();
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
  goal_ = {.arguments = static_cast<std::uint8_t>(code_->goal_variables.size()),
           .target = code_->goal,
           .frame = frame_,
           .pc = 0,
           .scope = 1};
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

bool Machine::prove(Chance& chance, Keep keep) {
  clear();
  begin_run(Guide::fresh, &chance);
  keep_ = keep;
  const bool proved = guarded([&] { return run_goal(); });
  end_run();
  if (!proved) return false;
  events_.swap(run_events_);
  choices_ = count_choices(events_);
  live_cells_ = store_.top();
  live_memory_ = data_ ? data_->memory() : 0;
  return true;
}

void Machine::prove_until_success(Chance& chance, std::uint64_t attempts, Keep keep) {
  for (std::uint64_t i = 0; i < attempts; ++i)
    if (prove(chance, keep))
      return;
    else if (semantics_ == Semantics::backtrack)
      throw InputError(code_->file + ": the goal fails: no choice leads to a proof of it");
  throw InputError(code_->file + ": the goal failed " + std::to_string(attempts) +
                   " times in a row; the condition is too rare to be met by chance, or impossible. Write it into the "
                   "rules, so that choices that break it are not made");
}

void Machine::follow(std::span<const Event> events) {
  const std::vector<Event> before(events_.begin(), events_.end());
  try {
    lay_down(events);
  } catch (const InputError&) {
    if (!before.empty()) lay_down(before);  // so that the machine stays at a proof
    throw;
  }
}

void Machine::lay_down(std::span<const Event> events) {
  std::vector<Event> guide;
  for (const Event& event : events)
    if (event.is_choice) guide.push_back(event);
  clear();
  begin_run(Guide::recorded, nullptr);
  const bool proved = guarded([&] {
    guide_events_.assign(guide.begin(), guide.end());
    return run_goal();
  });
  end_run();
  if (!proved || guide_next_ != guide_events_.size())
    throw InputError(code_->file + ": these are not the choices of a proof of this program");
  events_.swap(run_events_);
  choices_ = guide_events_.size();
  live_cells_ = store_.top();
  live_memory_ = data_ ? data_->memory() : 0;
}

bool Machine::compact() {
  const bool is_full =
      store_.top() > 4 * live_cells_ + spare_cells || (data_ && data_->memory() > 4 * live_memory_ + spare_memory);
  if (is_full) lay_down(events_);
  return is_full;
}

std::size_t Machine::end_of(std::size_t k, Extent extent) const {
  if (extent == Extent::to_the_end) return events_.size();
  const std::uint32_t scope = events_[k].scope;
  std::size_t end = k + 1;
  while (end < events_.size() && (events_[end].is_choice || events_[end].scope >= scope)) ++end;
  return end;
}

/// Undoes the bindings that the range to be replaced made.
void Machine::unbind_replaced() {
  for (std::size_t i = replaced_begin_; i < replaced_end_; ++i)
    for (std::uint32_t t = events_[i].trail_begin; t < events_[i].trail_end; ++t) {
      const Address variable = store_.trail[t];
      unbound_.emplace_back(variable, store_.at(variable));
      store_.set(variable, Cell::reference(variable));
    }
}

/// Lets the choices behind choice k guide the run.
void Machine::guide_by_rest(std::size_t k) {
  guide_events_.clear();
  for (std::size_t i = k + 1; i < events_.size(); ++i)
    if (events_[i].is_choice) guide_events_.push_back(events_[i]);
  redrawing_ = true;
  redraw_frame_ = goal_.frame;
  redraw_pc_ = goal_.pc;
}

bool Machine::prove_again(std::size_t k, Extent extent, Guide guide, Chance& chance) {
  compact();
  replaced_begin_ = k;
  replaced_end_ = end_of(k, extent);
  begin_run(guide, &chance);
  unbound_.clear();
  kept_top_ = store_.boundary = store_.top();
  kept_trail_ = store_.trail.size();
  kept_nodes_ = data_ ? data_->mark() : 0;
  const Event& event = events_[k];
  goal_ = event.goal;
  frame_ = event.goal.frame;
  if (extent == Extent::scope) stop_scope_ = event.scope;
  bool proved = false;
  try {
    proved = guarded([&] {
      unbind_replaced();
      if (guide == Guide::matched) guide_by_rest(k);
      load_arguments();
      store_.reserve(0);
      if (!((goal_.is_draw ? draw(0) : enter()) || backtrack()) || !run()) return false;
      const std::size_t needed = events_.size() + run_events_.size();  // so that `accept` finds room
      if (needed > events_.capacity()) events_.reserve(std::max(needed, 2 * events_.capacity()));
      return true;
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
    if (!before || before->goal.address != event.goal.address || before->chosen != event.chosen) return false;
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
  return std::max(
      {depth_of(events.first(replaced_begin_)), depth_of(run_events_), depth_of(events.subspan(replaced_end_))});
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
    follow(events_);
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

// ---- failure
// -------------------------------------------------------------------------------------------------------------

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
                           .redrawing = redrawing_,
                           .nodes = data_ ? data_->mark() : 0});
  store_.boundary = store_.top();
  return alternatives_.back();
}

/// Returns to the last alternative; false where there is none.
bool Machine::backtrack() {
  const bool derivation_failed = alternatives_.empty() || (alternatives_.back().kind == Alternative::Kind::random &&
                                                           !alternatives_.back().succeeded);
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
    redrawing_ = alternative.redrawing;
    goal_ = alternative.goal;
    frame_ = goal_.frame;  // the one at hand is gone, and an error must not look at it
    if (kind == Alternative::Kind::code || kind == Alternative::Kind::gather) {
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
      text += "\n  " + std::string(shown == 1 ? "while proving " : "called by ") + describe(clause.predicate) + " (" +
              place_text(clause.place) + ")";
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
  traced_->push_back(
      {.parent = goal_.caller, .called = text_of(functor, goal_.saved), .functor = functor, .saved = goal_.saved});
  goal_.caller = static_cast<std::int64_t>(traced_->size() - 1);
}

}  // namespace baytree::slp
