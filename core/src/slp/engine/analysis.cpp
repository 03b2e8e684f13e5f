#include "baytree/slp/engine/analysis.hpp"

#include <algorithm>
#include <set>

#include "baytree/slp/engine/library.hpp"
#include "baytree/slp/program/arithmetic.hpp"

namespace baytree::slp {
namespace {

/// What is known of a variable at a point of a clause.
enum class State : std::uint8_t { fresh, ground, any };

/// How a predicate uses an argument, over all its calls: it is given a ground term, an unbound variable, or sometimes
/// something else.
enum class Mode : std::uint8_t { uncalled, in, out, mixed };

struct Argument {
  Mode mode = Mode::uncalled;
  bool grounds = true;  // of `out`: it is ground when the goal is proved
  std::string reader;   // of `out`: who else reads it; empty where nobody does
};

struct Info {
  std::vector<Argument> arguments;
  bool is_random = false;  // makes choices, itself or by what it calls
};

/// Built-ins that give ground terms where these arguments are ground; −1 ends the list.
struct Source {
  std::string_view name;
  std::uint32_t arity;
  int arguments[3];
};
constexpr Source sources[] = {
    {"msort", 2, {0, -1, -1}},          {"sum_list", 2, {0, -1, -1}},
    {"max_list", 2, {0, -1, -1}},       {"min_list", 2, {0, -1, -1}},
    {"length", 2, {0, -1, -1}},         {"member", 2, {1, -1, -1}},
    {"nth0", 3, {1, -1, -1}},           {"nth1", 3, {1, -1, -1}},
    {"functor", 3, {0, -1, -1}},        {"arg", 3, {1, -1, -1}},
    {"between", 3, {0, 1, -1}},         {"uniform", 2, {0, -1, -1}},
    {"choose", 2, {0, -1, -1}},         {"random", 1, {-1, -1, -1}},
    {"root", 1, {-1, -1, -1}},          {"node_size", 2, {0, -1, -1}},
    {"depth", 2, {0, -1, -1}},          {"min_leaf", 1, {-1, -1, -1}},
    {"feature", 1, {-1, -1, -1}},       {"type", 2, {-1, -1, -1}},
    {"region", 3, {0, 1, -1}},          {"admissible", 3, {0, -1, -1}},
    {"split_node", 4, {0, 1, -1}},      {"split", 5, {0, -1, -1}},
    {"choose_feature", 2, {0, -1, -1}},
};

class Analyser {
 public:
  explicit Analyser(const Reading& reading)
      : program_(reading.program), terms_(reading.program.source.terms), lines_(reading.program_lines) {
    for (const auto& [indicator, predicate] : program_.predicates) info_[indicator].arguments.resize(indicator.second);
    goal_ = Indicator{0, 0};
    for (const auto& [indicator, predicate] : program_.predicates)
      if (program_.source.symbols.name(indicator.first) == "$goal") goal_ = indicator;
  }

  Analysis run() {
    find_random();
    for (Argument& argument : info_.at(goal_).arguments) argument.mode = Mode::out;
    do {
      changed_ = false;
      for (const auto& [indicator, predicate] : program_.predicates)
        if (is_reached(indicator))
          for (const std::size_t clause : predicate.clauses) walk_clause(indicator, program_.clauses[clause]);
    } while (changed_);
    final_ = true;
    for (const auto& [indicator, predicate] : program_.predicates)
      if (is_reached(indicator))
        for (const std::size_t clause : predicate.clauses) walk_clause(indicator, program_.clauses[clause]);
    std::sort(out_.random_goals.begin(), out_.random_goals.end(),
              [](const RandomGoal& a, const RandomGoal& b) { return a.place < b.place; });
    find_failure();
    return std::move(out_);
  }

 private:
  const std::string& name(TermId term) const { return program_.source.symbols.name(terms_[term].name); }
  bool is(TermId term, std::string_view text, std::uint32_t arity) const {
    return terms_[term].kind == Kind::compound && terms_[term].arity == arity && name(term) == text;
  }
  bool is_defined(TermId goal) const { return program_.predicates.contains(program_.indicator(goal)); }
  /// Whether it is written by the author of the program; what ships with the language is known by the tables above.
  bool is_users(Indicator indicator) const {
    return terms_[program_.clauses[program_.predicates.at(indicator).clauses[0]].head].place.line <= lines_ ||
           indicator == goal_;
  }
  std::string text_of(Indicator indicator) const { return indicator == goal_ ? "the goal" : program_.name(indicator); }
  std::string place_text(TermId term) const {
    const Place place = terms_.start(term);
    return place.line <= lines_ ? "line " + std::to_string(place.line) : "the goal";
  }

  bool is_reached(Indicator indicator) const {
    if (indicator == goal_) return true;
    return is_users(indicator) && reached_.contains(indicator);
  }

  void find_random() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [indicator, predicate] : program_.predicates) {
        Info& info = info_.at(indicator);
        for (const std::size_t number : predicate.clauses) {
          const Clause& clause = program_.clauses[number];
          bool random = clause.is_labelled() && predicate.clauses.size() > 1;
          if (clause.body)
            for (const TermId goal : goals_of(program_, *clause.body)) {
              const TermId called = as_call(program_, goal).goal;
              if (terms_[called].kind != Kind::variable) random = random || is_random(called);
            }
          if (random && !info.is_random) info.is_random = changed = true;
        }
      }
    }
  }

  bool is_random(TermId goal) const {
    if (is_defined(goal)) return info_.at(program_.indicator(goal)).is_random;
    return draw_named(name(goal), terms_[goal].arity).has_value();
  }

  // ---- states
  // ----------------------------------------------------------------------------------------------------------

  template <class F>
  void each_variable(TermId root, F f) const {
    std::vector<TermId> pending{root};
    while (!pending.empty()) {
      const TermId id = pending.back();
      pending.pop_back();
      if (terms_[id].kind == Kind::variable) f(terms_[id].variable);
      for (std::uint32_t i = terms_[id].arity; i-- > 0;) pending.push_back(terms_.argument(id, i));
    }
  }
  bool is_ground(TermId term) const {
    bool ground = true;
    each_variable(term, [&](std::uint32_t v) { ground = ground && states_[v] == State::ground; });
    return ground;
  }
  bool is_fresh_variable(TermId term) const {
    return terms_[term].kind == Kind::variable && states_[terms_[term].variable] == State::fresh;
  }
  void set_all(TermId term, State state) {
    each_variable(term, [&](std::uint32_t v) {
      if (states_[v] != State::ground) states_[v] = state;
    });
  }
  void raise(Mode& mode, Mode to) {
    const Mode raised = mode == Mode::uncalled || mode == to ? to : Mode::mixed;
    changed_ = changed_ || raised != mode;
    mode = raised;
  }

  // ---- clauses
  // ---------------------------------------------------------------------------------------------------------

  void walk_clause(Indicator indicator, const Clause& clause) {
    here_ = indicator;
    clause_ = &clause;
    states_.assign(program_.sentence(clause).variables.size(), State::fresh);
    const std::uint32_t arity = terms_[clause.head].arity;
    for (const TermId variable : clause.label_variables) set_all(variable, State::ground);
    for (std::uint32_t i = 0; i < arity; ++i)
      if (info_.at(indicator).arguments[i].mode == Mode::in) set_all(terms_.argument(clause.head, i), State::ground);
    for (std::uint32_t i = 0; i < arity; ++i)
      if (info_.at(indicator).arguments[i].mode == Mode::mixed) set_all(terms_.argument(clause.head, i), State::any);
    if (clause.guard) walk(*clause.guard);
    if (clause.body) walk(*clause.body);
    for (std::uint32_t i = 0; i < arity; ++i) {
      Argument& argument = info_.at(indicator).arguments[i];
      if (argument.grounds && !is_ground(terms_.argument(clause.head, i))) {
        argument.grounds = false;
        changed_ = true;
      }
    }
  }

  void walk(TermId body) {
    for (; is(body, ",", 2); body = terms_.argument(body, 1)) walk(terms_.argument(body, 0));
    if (is(body, ";", 2) || is(body, "|", 2)) {
      const std::vector<State> before = states_;
      walk(terms_.argument(body, 0));
      const std::vector<State> left = states_;
      states_ = before;
      walk(terms_.argument(body, 1));
      for (std::size_t v = 0; v < states_.size(); ++v)
        if (states_[v] != left[v]) states_[v] = State::any;
    } else if (is(body, "->", 2)) {
      walk(terms_.argument(body, 0));
      walk(terms_.argument(body, 1));
    } else if (is(body, "\\+", 1)) {
      const std::vector<State> before = states_;
      walk(terms_.argument(body, 0));
      states_ = before;
    } else if (is(body, "once", 1)) {
      walk(terms_.argument(body, 0));
    } else if (is(body, "findall", 3)) {
      const std::vector<State> before = states_;
      walk(terms_.argument(body, 1));
      const bool ground = is_ground(terms_.argument(body, 0));
      states_ = before;
      set_all(terms_.argument(body, 2), ground ? State::ground : State::any);
    } else {
      walk_goal(body);
    }
  }

  void walk_goal(TermId goal) {
    const Call call = as_call(program_, goal);
    const Term& term = terms_[call.goal];
    if (term.kind == Kind::variable) return;
    const Indicator indicator = program_.indicator(call.goal);
    if (is_defined(call.goal) && is_users(indicator)) {
      walk_call(goal, call, indicator);
      return;
    }
    if (is_random(call.goal)) note_random(goal, call.goal, {});
    if (final_ && gives_value(call.goal)) giving_.insert(call.goal);
    walk_builtin(call.goal);
  }

  /// Whether a built-in has nothing to do but to give a value to a variable that has none.
  bool gives_value(TermId goal) const {
    const std::string& called = name(goal);
    const std::uint32_t arity = terms_[goal].arity;
    if (called == "root" && arity == 1) return is_fresh_variable(terms_.argument(goal, 0));
    if (called == "is" && arity == 2) return is_fresh_variable(terms_.argument(goal, 0));
    if (called != "uniform" || arity != 2 || !is_fresh_variable(terms_.argument(goal, 1))) return false;
    const auto items = list_items(program_.source, terms_.argument(goal, 0));
    return items && !items->empty();
  }

  bool stands_twice(TermId goal, std::uint32_t variable) const {
    std::uint32_t uses = 0;
    each_variable(goal, [&](std::uint32_t v) { uses += v == variable; });
    return uses > 1;
  }

  void walk_call(TermId goal, const Call& call, Indicator indicator) {
    if (reached_.insert(indicator).second) changed_ = true;
    Info& info = info_.at(indicator);
    bool inputs_known = true;
    for (const TermId label : call.label_arguments) inputs_known = inputs_known && is_ground(label);
    for (std::uint32_t i = 0; i < indicator.second; ++i) {
      const TermId argument = terms_.argument(call.goal, i);
      if (is_ground(argument)) {
        raise(info.arguments[i].mode, Mode::in);
      } else if (is_fresh_variable(argument) && !stands_twice(goal, terms_[argument].variable)) {
        raise(info.arguments[i].mode, Mode::out);
        if (const std::string reader = reader_of(terms_[argument].variable, goal);
            !reader.empty() && info.arguments[i].reader.empty()) {
          info.arguments[i].reader = reader;
          changed_ = true;
        }
      } else {
        raise(info.arguments[i].mode, Mode::mixed);
        inputs_known = false;
      }
    }
    if (info.is_random)
      note_random(goal, call.goal, inputs_known ? "" : "it is called with terms that have unbound variables in them");
    for (std::uint32_t i = 0; i < indicator.second; ++i)
      set_all(terms_.argument(call.goal, i),
              info.arguments[i].mode != Mode::mixed && info.arguments[i].grounds ? State::ground : State::any);
  }

  void walk_builtin(TermId goal) {
    const std::string& called = name(goal);
    const std::uint32_t arity = terms_[goal].arity;
    const auto argument = [&](std::uint32_t i) { return terms_.argument(goal, i); };
    if (called == "is" && arity == 2) return set_all(argument(0), State::ground);
    if ((called == "=" || called == "=..") && arity == 2)
      return set_all(goal, is_ground(argument(0)) || is_ground(argument(1)) ? State::ground : State::any);
    if (called == "append" && arity == 3)
      return set_all(goal, (is_ground(argument(0)) && is_ground(argument(1))) || is_ground(argument(2)) ? State::ground
                                                                                                        : State::any);
    for (const Source& source : sources)
      if (source.name == called && source.arity == arity) {
        bool known = true;
        for (const int i : source.arguments)
          known = known && (i < 0 || is_ground(argument(static_cast<std::uint32_t>(i))));
        return set_all(goal, known ? State::ground : State::any);
      }
    if (is_defined(goal)) set_all(goal, State::any);  // ships with the language and is in no table
  }

  /// Who besides `goal` reads what it gives to a variable: another goal of the clause or, through the head, a caller.
  /// Empty where nobody does.
  std::string reader_of(std::uint32_t variable, TermId goal) const {
    if (stands_twice(goal, variable)) return "the goal itself, where it stands twice";
    for (const auto& part : {clause_->guard, clause_->body}) {
      if (!part) continue;
      for (const TermId other : goals_of(program_, *part)) {
        if (other == goal) continue;
        bool reads = false;
        each_variable(other, [&](std::uint32_t v) { reads = reads || v == variable; });
        if (reads) {
          const TermId called = as_call(program_, other).goal;
          return name(called) + "/" + std::to_string(terms_[called].arity) + " (" + place_text(other) + ")";
        }
      }
    }
    for (const TermId label : clause_->label_variables)
      if (terms_[label].kind == Kind::variable && terms_[label].variable == variable) return "the label";
    for (std::uint32_t i = 0; i < terms_[clause_->head].arity; ++i) {
      bool in_head = false;
      each_variable(terms_.argument(clause_->head, i), [&](std::uint32_t v) { in_head = in_head || v == variable; });
      if (!in_head) continue;
      const Argument& argument = info_.at(here_).arguments[i];
      if (argument.mode != Mode::out) return "the caller of " + text_of(here_);
      if (!argument.reader.empty()) return argument.reader;
    }
    return {};
  }

  void note_random(TermId goal, TermId called, std::string reason) {
    if (!final_) return;
    for (std::uint32_t i = 0; reason.empty() && i < terms_[called].arity; ++i) {
      const TermId argument = terms_.argument(called, i);
      if (is_ground(argument)) continue;
      if (!is_fresh_variable(argument)) {
        reason = "it is called with terms that have unbound variables in them";
        break;
      }
      const std::uint32_t variable = terms_[argument].variable;
      if (const std::string reader = reader_of(variable, goal); !reader.empty())
        reason =
            program_.source.symbols.name(program_.sentence(*clause_).variables[variable]) + " is read by " + reader;
    }
    RandomGoal note{.place = terms_.start(goal),
                    .name = program_.name(program_.indicator(called)),
                    .is_pure = reason.empty(),
                    .reason = reason};
    if (note.is_pure) {
      out_.pure.insert(goal);
      // The whole program is pure in any case; what counts is a part of it.
      if (here_ != goal_ || has_other_random_goal(goal)) out_.is_local = true;
    }
    out_.random_goals.push_back(std::move(note));
  }

  bool has_other_random_goal(TermId goal) const {
    for (const TermId other : goals_of(program_, *clause_->body)) {
      const TermId called = as_call(program_, other).goal;
      if (other != goal && terms_[called].kind != Kind::variable && is_random(called)) return true;
    }
    return false;
  }

  // ---- failure
  // ---------------------------------------------------------------------------------------------------------

  /// Nothing fails where every predicate that is called has a clause for every case, and no goal is a test.
  void find_failure() {
    out_.may_fail = false;
    for (const auto& [indicator, predicate] : program_.predicates) {
      if (!is_reached(indicator)) continue;
      if (const std::string reason = failure_in(indicator, predicate); !reason.empty()) {
        out_.may_fail = true;
        out_.failure = reason;
        return;
      }
    }
  }

  std::string failure_in(Indicator indicator, const Predicate& predicate) {
    const Clause& first = program_.clauses[predicate.clauses[0]];
    for (const std::size_t number : predicate.clauses) {
      const Clause& clause = program_.clauses[number];
      if (const std::string reason = failure_in_head(indicator, clause);
          !reason.empty() && !(clause.is_labelled() && has_catch_all(predicate)))
        return reason;
      if (!clause.body) continue;
      if (has_negation(*clause.body))
        return "\\+ in " + text_of(indicator) + " (" + place_text(clause.head) + ") may fail";
      for (const TermId goal : goals_of(program_, *clause.body)) {
        const TermId called = as_call(program_, goal).goal;
        if (terms_[called].kind == Kind::variable) return "a variable is called";
        if (is_defined(called) && is_users(program_.indicator(called))) continue;
        const std::string& word = name(called);
        if (word != "true" && word != "write" && word != "format" && word != "nl" && word != "random" &&
            !giving_.contains(called))
          return program_.name(program_.indicator(called)) + " (" + place_text(goal) + ") may fail";
      }
    }
    if (!first.is_labelled())
      return predicate.clauses.size() == 1 ? "" : text_of(indicator) + " is searched, and may fail";
    return has_catch_all(predicate)
               ? ""
               : "all rules of " + text_of(indicator) + " may have a guard that fails or a label of 0";
  }

  bool has_negation(TermId body) const {
    std::vector<TermId> pending{body};
    while (!pending.empty()) {
      const TermId id = pending.back();
      pending.pop_back();
      if (is(id, "\\+", 1)) return true;
      if (is(id, ",", 2) || is(id, ";", 2) || is(id, "|", 2) || is(id, "->", 2))
        for (std::uint32_t i = 0; i < 2; ++i) pending.push_back(terms_.argument(id, i));
    }
    return false;
  }

  std::string failure_in_head(Indicator indicator, const Clause& clause) const {
    if (clause.guard) return text_of(indicator) + " has a guard";
    std::set<std::uint32_t> seen;
    bool repeated = false;
    for (const TermId variable : clause.label_variables)
      each_variable(variable, [&](std::uint32_t v) { repeated = repeated || !seen.insert(v).second; });
    for (std::uint32_t i = 0; i < indicator.second; ++i) {
      const TermId argument = terms_.argument(clause.head, i);
      each_variable(argument, [&](std::uint32_t v) { repeated = repeated || !seen.insert(v).second; });
      if (terms_[argument].kind != Kind::variable && info_.at(indicator).arguments[i].mode != Mode::out)
        return text_of(indicator) + " (" + place_text(clause.head) + ") may not match";
    }
    return repeated ? text_of(indicator) + " (" + place_text(clause.head) + ") may not match" : "";
  }

  /// Whether rules that always match have labels that cannot all be 0: one is a positive number, or two are E and 1 -
  /// E.
  bool has_catch_all(const Predicate& predicate) const {
    std::vector<const Clause*> matching;
    for (const std::size_t number : predicate.clauses) {
      const Clause& clause = program_.clauses[number];
      if (!clause.is_labelled() || !failure_in_head(predicate.indicator, clause).empty()) continue;
      const auto label = clause.label_variables.empty() ? evaluate(program_.source, *clause.label, {}) : std::nullopt;
      if (label && *label > 0.0) return true;
      matching.push_back(&clause);
    }
    for (const Clause* clause : matching)
      for (const Clause* other : matching)
        if (is_rest(*clause, *other)) return true;
    return false;
  }

  /// Whether the label of one clause is 1 less that of the other.
  bool is_rest(const Clause& clause, const Clause& other) const {
    const TermId label = *clause.label;
    if (!is(label, "-", 2) || clause.label_variables.size() != other.label_variables.size()) return false;
    const Term& one = terms_[terms_.argument(label, 0)];
    const bool is_one = (one.kind == Kind::integer && one.integer == 1) || (one.kind == Kind::real && one.real == 1.0);
    return is_one && is_same(terms_.argument(label, 1), clause, *other.label, other);
  }

  bool is_same(TermId a, const Clause& of_a, TermId b, const Clause& of_b) const {
    const Term &x = terms_[a], &y = terms_[b];
    if (x.kind != y.kind) return false;
    const auto place = [&](const Clause& clause, const Term& variable) {
      std::size_t i = 0;
      while (i < clause.label_variables.size() && terms_[clause.label_variables[i]].variable != variable.variable) ++i;
      return i;
    };
    switch (x.kind) {
      case Kind::variable:
        return place(of_a, x) == place(of_b, y);
      case Kind::integer:
        return x.integer == y.integer;
      case Kind::real:
        return x.real == y.real;
      default:
        break;
    }
    if (x.name != y.name || x.arity != y.arity) return false;
    for (std::uint32_t i = 0; i < x.arity; ++i)
      if (!is_same(terms_.argument(a, i), of_a, terms_.argument(b, i), of_b)) return false;
    return true;
  }

  const Program& program_;
  const Terms& terms_;
  std::uint32_t lines_;
  Indicator goal_;
  std::map<Indicator, Info> info_;
  std::set<Indicator> reached_;
  bool changed_ = false, final_ = false;
  std::set<TermId> giving_;  // built-ins that cannot fail
  // of the clause at hand
  Indicator here_;
  const Clause* clause_ = nullptr;
  std::vector<State> states_;
  Analysis out_;
};

}  // namespace

Analysis analyse(const Reading& reading) { return Analyser(reading).run(); }

}  // namespace baytree::slp
