#include <algorithm>
#include <bit>

#include "baytree/slp/engine/code.hpp"
#include "baytree/slp/engine/library.hpp"
#include "baytree/slp/syntax/spelling.hpp"

namespace baytree::slp {
namespace {

constexpr std::uint32_t few_clauses = 4;  // up to here a look at each is faster than a table
constexpr std::uint32_t most_temporaries = 1000, most_arguments = 200, most_cells = 3500, most_values = 64;

std::optional<Comparison> comparison_named(std::string_view name) {
  if (name == "=:=") return Comparison::equal;
  if (name == "=\\=") return Comparison::unequal;
  if (name == "<") return Comparison::less;
  if (name == ">") return Comparison::greater;
  if (name == "=<") return Comparison::at_most;
  if (name == ">=") return Comparison::at_least;
  return std::nullopt;
}

class Compiler {
 public:
  Compiler(const Reading& reading, const std::unordered_set<TermId>& pure, Code& code, Problems& problems)
      : program_(reading.program),
        terms_(reading.program.source.terms),
        pure_(pure),
        code_(code),
        problems_(problems),
        lines_(reading.program_lines) {
    code_.symbols = program_.source.symbols;
    // Arguments are older than the terms that have them.
    ground_.resize(terms_.nodes.size());
    for (TermId id = 0; id < terms_.nodes.size(); ++id) {
      bool ground = terms_[id].kind != Kind::variable;
      for (std::uint32_t i = 0; i < terms_[id].arity; ++i) ground = ground && ground_[terms_.argument(id, i)];
      ground_[id] = ground;
    }
  }

  void run() {
    emit({}, {.op = Op::halt});
    for (const auto& [indicator, predicate] : program_.predicates) {
      numbers_.emplace(indicator, static_cast<std::uint32_t>(code_.predicates.size()));
      const Clause& first = program_.clauses[predicate.clauses[0]];
      code_.predicates.push_back(
          {.name = indicator.first, .arity = indicator.second, .is_users = terms_[first.head].place.line <= lines_});
    }
    for (const auto& [indicator, predicate] : program_.predicates) {
      const std::uint32_t number = numbers_.at(indicator);
      for (const std::size_t clause : predicate.clauses) compile_clause(number, program_.clauses[clause]);
      index(code_.predicates[number]);
      find_open_argument(code_.predicates[number]);
    }
  }

 private:
  struct Variable {
    std::uint32_t uses = 0;
    bool known = false;  // its slot has a value
    std::uint16_t slot = 0;
    bool has_slot = false;
  };

  const std::string& name(TermId term) const { return program_.source.symbols.name(terms_[term].name); }
  bool is(TermId term, std::string_view text, std::uint32_t arity) const {
    return terms_[term].kind == Kind::compound && terms_[term].arity == arity && name(term) == text;
  }
  void report(TermId term, std::string message) {
    problems_.push_back({Problem::Severity::error, terms_.start(term), std::move(message)});
  }

  std::uint32_t emit(Place place, Instruction instruction) {
    code_.instructions.push_back(instruction);
    code_.places.push_back(place);
    return static_cast<std::uint32_t>(code_.instructions.size() - 1);
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(code_.instructions.size()); }
  void patch(std::uint32_t at) { code_.instructions[at].b = here(); }

  std::uint16_t new_temporary() {
    if (temporaries_ >= most_temporaries) too_large_ = true;
    return static_cast<std::uint16_t>(temporary | (temporaries_++ % most_temporaries));
  }

  // ---- constants
  // -------------------------------------------------------------------------------------------------------

  Cell atomic_cell(TermId id) {
    const Term& term = terms_[id];
    switch (term.kind) {
      case Kind::integer:
        if (term.integer > largest_integer || term.integer < -largest_integer)
          report(id, "the whole number " + std::to_string(term.integer) + " is too large; at most " +
                         std::to_string(largest_integer) + " can be used");
        return Cell::integer(term.integer);
      case Kind::real:
        code_.begin.push_back(std::bit_cast<std::uint64_t>(term.real));
        return Cell::real(static_cast<Address>(code_.begin.size() - 1));
      default:
        return Cell::atom(term.name);
    }
  }

  /// The chain of last arguments from a compound term on: lists and conjunctions of any length are walked by a loop.
  std::vector<TermId> spine(TermId id) const {
    std::vector<TermId> chain;
    for (; terms_[id].kind == Kind::compound; id = terms_.argument(id, terms_[id].arity - 1)) chain.push_back(id);
    return chain;
  }

  /// A ground term, laid down once.
  Cell ground_cell(TermId id) {
    if (terms_[id].kind != Kind::compound) return atomic_cell(id);
    const std::vector<TermId> chain = spine(id);
    Cell last = atomic_cell(terms_.argument(chain.back(), terms_[chain.back()].arity - 1));
    for (std::size_t i = chain.size(); i-- > 0;) {
      const Term& term = terms_[chain[i]];
      std::vector<Cell> arguments;
      for (std::uint32_t j = 0; j + 1 < term.arity; ++j) arguments.push_back(ground_cell(terms_.argument(chain[i], j)));
      const auto address = static_cast<Address>(code_.begin.size());
      code_.begin.push_back(code_.functors.intern({term.name, term.arity}));
      for (const Cell argument : arguments) code_.begin.push_back(argument.bits);
      code_.begin.push_back(last.bits);
      last = Cell::structure(address);
    }
    return last;
  }

  std::uint32_t constant(TermId id) {
    code_.constants.push_back(ground_cell(id));
    return static_cast<std::uint32_t>(code_.constants.size() - 1);
  }

  // ---- clauses
  // ---------------------------------------------------------------------------------------------------------

  void count_uses(TermId root) {
    std::vector<TermId> pending{root};
    while (!pending.empty()) {
      const TermId id = pending.back();
      pending.pop_back();
      const Term& term = terms_[id];
      if (term.kind == Kind::variable) ++variables_[term.variable].uses;
      for (std::uint32_t i = term.arity; i-- > 0;) pending.push_back(terms_.argument(id, i));
    }
  }

  void compile_clause(std::uint32_t number, const Clause& clause) {
    CompiledPredicate& predicate = code_.predicates[number];
    const auto id = static_cast<std::uint32_t>(code_.clauses.size());
    predicate.clauses.push_back(id);
    predicate.is_labelled = predicate.is_labelled || clause.is_labelled();
    code_.clauses.emplace_back();
    CompiledClause out{
        .predicate = number, .entry = here(), .is_labelled = clause.is_labelled(), .place = terms_.start(clause.head)};
    out.has_frame = clause.body || clause.guard;
    out.has_guard = clause.guard.has_value();
    variables_.assign(program_.sentence(clause).variables.size(), {});
    count_uses(clause.head);
    for (const TermId variable : clause.label_variables) count_uses(variable);
    if (clause.guard) count_uses(*clause.guard);
    if (clause.body) count_uses(*clause.body);
    names_ = program_.sentence(clause).variables;
    slots_ = 0;
    has_frame_ = out.has_frame;
    cells_ = 0;
    too_large_ = false;
    compile_label(clause, out);
    compile_head(clause, out);
    if (clause.guard) {
      out.guard_binds = !only_tests(*clause.guard);
      out.test = simple_test(clause);
      init_body_variables(clause);
      const std::uint32_t begin = emit(out.place, {.op = Op::guard_begin});
      const std::uint16_t mark = new_slot();
      emit(out.place, {.op = Op::mark, .a = mark});
      compile_body(*clause.guard, false);
      emit(out.place, {.op = Op::cut, .a = mark});
      emit(out.place, {.op = Op::guard_end});
      patch(begin);
    } else {
      init_body_variables(clause);
    }
    const bool ended = clause.body && compile_body(*clause.body, true);
    if (!ended) emit(out.place, {.op = Op::proceed, .a = out.has_frame});
    out.slots = slots_;
    cells_ += slots_;
    if (too_large_ || cells_ > most_cells) report(clause.head, "this clause is too large; divide it into several");
    code_.clauses[id] = std::move(out);
  }

  std::uint16_t new_slot() {
    if (!has_frame_) return new_temporary();
    if (slots_ >= most_cells) too_large_ = true;
    return static_cast<std::uint16_t>(slots_++);
  }

  std::uint16_t slot_of(std::uint32_t variable) {
    Variable& v = variables_[variable];
    if (!v.has_slot) {
      v.slot = new_slot();
      v.has_slot = true;
    }
    return v.slot;
  }

  void compile_label(const Clause& clause, CompiledClause& out) {
    if (!clause.label) return;
    out.label_begin = terms_.start(*clause.label);
    out.label_end = clause.label_end;
    out.label_variables = static_cast<std::uint32_t>(clause.label_variables.size());
    const std::uint32_t arity = terms_[clause.head].arity;
    for (const TermId variable : clause.label_variables)
      if (terms_[variable].kind != Kind::variable)
        return report(variable, "a label's variables must be variables; give the value in the head or the body");
    const auto place_of = [&](std::uint32_t variable) -> Step {
      for (std::size_t i = 0; i < clause.label_variables.size(); ++i)
        if (terms_[clause.label_variables[i]].variable == variable)
          return {.kind = Step::Kind::argument, .place = static_cast<std::uint16_t>(arity + i)};
      return {};
    };
    compile_expression(*clause.label, out.label, place_of);
    if (needed_values(out.label) > most_values) too_large_ = true;
    const bool fixed = std::all_of(out.label.begin(), out.label.end(),
                                   [](const Step& step) { return step.kind != Step::Kind::argument; });
    if (!fixed) return;
    std::vector<Number> values;
    for (const Step& step : out.label) {
      if (step.kind == Step::Kind::number) {
        values.push_back(step.number);
        continue;
      }
      const std::uint32_t n = arity_of(step.function);
      if (values.size() < n) return;  // reported before
      const Number y = n == 2 ? values.back() : Number{}, x = n == 0 ? Number{} : values[values.size() - n];
      values.resize(values.size() - n);
      const auto value = apply(step.function, x, y);
      if (!value) return report(*clause.label, "the label has no value");
      values.push_back(*value);
    }
    if (values.size() == 1) out.fixed_label = values[0].value();
  }

  template <class PlaceOf>
  void compile_expression(TermId id, Expression& out, PlaceOf place_of) {
    const Term& term = terms_[id];
    switch (term.kind) {
      case Kind::variable:
        out.push_back(place_of(term.variable));
        return;
      case Kind::integer:
        atomic_cell(id);
        out.push_back({.kind = Step::Kind::number, .number = Number::whole(term.integer)});
        return;
      case Kind::real:
        out.push_back({.kind = Step::Kind::number, .number = Number::of(term.real)});
        return;
      case Kind::atom:
      case Kind::compound:
        break;
    }
    const auto function = function_named(name(id), term.arity);
    if (!function) return report(id, write(program_.source, id, names_) + " is no arithmetic");
    // Sums of many terms lean to the left: walk them by a loop.
    std::vector<TermId> chain{id};
    while (terms_[chain.back()].arity == 2 && terms_[terms_.argument(chain.back(), 0)].arity == 2) {
      const TermId left = terms_.argument(chain.back(), 0);
      if (!function_named(name(left), 2)) break;
      chain.push_back(left);
    }
    for (std::size_t i = chain.size(); i-- > 0;) {
      const Term& node = terms_[chain[i]];
      const bool left_is_done = i + 1 < chain.size();
      for (std::uint32_t j = left_is_done ? 1 : 0; j < node.arity; ++j)
        compile_expression(terms_.argument(chain[i], j), out, place_of);
      out.push_back({.kind = Step::Kind::function, .function = *function_named(name(chain[i]), node.arity)});
    }
  }

  void compile_head(const Clause& clause, CompiledClause& out) {
    temporaries_ = 0;
    std::vector<TermId> arguments;
    for (std::uint32_t i = 0; i < terms_[clause.head].arity; ++i) arguments.push_back(terms_.argument(clause.head, i));
    arguments.insert(arguments.end(), clause.label_variables.begin(), clause.label_variables.end());
    set_key_and_pattern(arguments, out);
    if (arguments.size() > most_arguments) {
      too_large_ = true;
      return;
    }
    std::vector<std::pair<std::uint16_t, TermId>> open;  // structures inside structures
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
      const TermId argument = arguments[i];
      const Term& term = terms_[argument];
      const Place place = term.place;
      if (term.kind == Kind::variable) {
        Variable& variable = variables_[term.variable];
        if (variable.uses == 1) continue;
        const std::uint16_t slot = slot_of(term.variable);
        emit(place, {.op = variable.known ? Op::get_value : Op::get_variable, .a = slot, .b = i});
        variable.known = true;
      } else if (ground_[argument]) {
        emit(place, {.op = Op::get_constant, .a = static_cast<std::uint16_t>(i), .b = constant(argument)});
      } else {
        emit(place, {.op = Op::get_structure, .a = static_cast<std::uint16_t>(i), .b = functor(term)});
        compile_parts(argument, open);
      }
    }
    while (!open.empty()) {
      const auto [slot, term] = open.back();
      open.pop_back();
      emit(terms_[term].place, {.op = Op::match_structure, .a = slot, .b = functor(terms_[term])});
      compile_parts(term, open);
    }
  }

  std::uint32_t functor(const Term& term) {
    cells_ += term.arity + 1;
    return code_.functors.intern({term.name, term.arity});
  }

  void compile_parts(TermId id, std::vector<std::pair<std::uint16_t, TermId>>& open) {
    for (std::uint32_t i = 0; i < terms_[id].arity; ++i) {
      const TermId part = terms_.argument(id, i);
      const Term& term = terms_[part];
      if (term.kind == Kind::variable) {
        Variable& variable = variables_[term.variable];
        if (variable.uses == 1) {
          emit(term.place, {.op = Op::unify_void});
          continue;
        }
        const std::uint16_t slot = slot_of(term.variable);
        emit(term.place, {.op = variable.known ? Op::unify_value : Op::unify_variable, .a = slot});
        variable.known = true;
      } else if (ground_[part]) {
        emit(term.place, {.op = Op::unify_constant, .b = constant(part)});
      } else {
        const std::uint16_t slot = new_temporary();
        emit(term.place, {.op = Op::unify_variable, .a = slot});
        open.emplace_back(slot, part);
      }
    }
  }

  void set_key_and_pattern(const std::vector<TermId>& arguments, CompiledClause& out) {
    if (!arguments.empty()) {
      const Term& first = terms_[arguments[0]];
      if (first.kind == Kind::atom) out.key = Cell::atom(first.name).bits;
      if (first.kind == Kind::integer) out.key = Cell::integer(first.integer).bits;
      if (first.kind == Kind::compound)
        out.key = Cell::make(Tag::structure, code_.functors.intern({first.name, first.arity})).bits;
      if (first.kind == Kind::real) out.key = Cell::make(Tag::real, 0).bits;
    }
    std::uint32_t patterns = 0, place = CompiledClause::always;
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
      if (terms_[arguments[i]].kind != Kind::variable) {
        ++patterns;
        place = i;
      }
    }
    // A variable inside of the pattern takes whatever value it has elsewhere; only one that is two arguments can make
    // the head fail.
    std::vector<std::uint32_t> seen;
    bool repeated = false;
    for (const TermId argument : arguments) {
      if (terms_[argument].kind != Kind::variable) continue;
      repeated = repeated || std::find(seen.begin(), seen.end(), terms_[argument].variable) != seen.end();
      seen.push_back(terms_[argument].variable);
    }
    if (patterns <= 1 && !repeated) out.pattern = place;
  }

  /// Variables that the body brings in are new ones from the start, so that a frame never changes but by bindings.
  void init_body_variables(const Clause& clause) {
    if (!has_frame_) return;
    const auto first = static_cast<std::uint16_t>(slots_);
    for (std::uint32_t variable = 0; variable < variables_.size(); ++variable) {
      Variable& v = variables_[variable];
      if (v.known || v.uses == 0 || v.has_slot) continue;
      slot_of(variable);
      v.known = true;
    }
    if (slots_ > first) emit(terms_.start(clause.head), {.op = Op::init_variables, .a = first, .b = slots_});
  }

  // ---- goals
  // -----------------------------------------------------------------------------------------------------------

  /// Compiles a body; true where it ended with a call that needs no return.
  bool compile_body(TermId body, bool is_end) {
    for (; is(body, ",", 2); body = terms_.argument(body, 1)) compile_body(terms_.argument(body, 0), false);
    const Place place = terms_.start(body);
    if (is(body, ";", 2) || is(body, "|", 2)) {
      const TermId left = terms_.argument(body, 0), right = terms_.argument(body, 1);
      if (is(left, "->", 2))
        return compile_condition(terms_.argument(left, 0), terms_.argument(left, 1), right, place, is_end);
      const std::uint32_t alternative = emit(place, {.op = Op::alternative});
      const bool left_ended = compile_body(left, is_end);
      const std::uint32_t jump = left_ended ? 0 : emit(place, {.op = Op::jump});
      patch(alternative);
      const bool right_ended = compile_body(right, is_end);
      if (!left_ended) patch(jump);
      return left_ended && right_ended;
    }
    if (is(body, "->", 2))
      return compile_condition(terms_.argument(body, 0), terms_.argument(body, 1), std::nullopt, place, is_end);
    if (is(body, "\\+", 1)) {
      const std::uint16_t mark = new_slot();
      emit(place, {.op = Op::mark, .a = mark});
      const std::uint32_t alternative = emit(place, {.op = Op::alternative, .pure = true});
      compile_body(terms_.argument(body, 0), false);
      emit(place, {.op = Op::cut, .a = mark});
      emit(place, {.op = Op::fail});
      patch(alternative);
    } else if (is(body, "once", 1)) {
      const std::uint16_t mark = new_slot();
      emit(place, {.op = Op::mark, .a = mark});
      compile_body(terms_.argument(body, 0), false);
      emit(place, {.op = Op::cut, .a = mark});
    } else if (is(body, "findall", 3)) {
      const std::uint32_t gather = emit(place, {.op = Op::gather});
      compile_body(terms_.argument(body, 1), false);
      temporaries_ = 0;
      put(terms_.argument(body, 0), 0);
      emit(place, {.op = Op::collect});
      patch(gather);
      temporaries_ = 0;
      put(terms_.argument(body, 2), 1);
      emit(place, {.op = Op::gathered});
      emit(place, {.op = Op::builtin, .b = *builtin_named("=", 2)});
    } else {
      return compile_goal(body, place, is_end);
    }
    return false;
  }

  bool compile_condition(TermId condition, TermId then, std::optional<TermId> otherwise, Place place, bool is_end) {
    const std::uint16_t mark = new_slot();
    emit(place, {.op = Op::mark, .a = mark});
    const std::uint32_t alternative = emit(place, {.op = Op::alternative, .pure = true});
    compile_body(condition, false);
    emit(place, {.op = Op::cut, .a = mark});
    const bool then_ended = compile_body(then, is_end);
    const std::uint32_t jump = then_ended ? 0 : emit(place, {.op = Op::jump});
    patch(alternative);
    bool otherwise_ended = true;
    if (otherwise)
      otherwise_ended = compile_body(*otherwise, is_end);
    else
      emit(place, {.op = Op::fail});
    if (!then_ended) patch(jump);
    return then_ended && otherwise_ended;
  }

  bool compile_goal(TermId goal, Place place, bool is_end) {
    const Call call = as_call(program_, goal);
    const Term& term = terms_[call.goal];
    temporaries_ = 0;
    if (term.kind == Kind::variable) {
      report(call.goal, "a variable cannot be called; write the goal itself");
      return false;
    }
    const std::string& called = name(call.goal);
    if (term.arity == 0 && called == "true") return false;
    if (term.arity == 0 && (called == "fail" || called == "false")) {
      emit(place, {.op = Op::fail});
      return false;
    }
    if (term.arity == 2) {
      if (const auto comparison = comparison_named(called)) {
        const auto first = new_expression(terms_.argument(call.goal, 0));
        new_expression(terms_.argument(call.goal, 1));
        emit(place, {.op = Op::compare, .a = static_cast<std::uint16_t>(*comparison), .b = first});
        return false;
      }
      const TermId left = terms_.argument(call.goal, 0);
      if (called == "is" && terms_[left].kind == Kind::variable) {
        const std::uint32_t expression = new_expression(terms_.argument(call.goal, 1));
        emit(place, {.op = is_count(code_.expressions[expression]) ? Op::count : Op::is,
                     .a = slot_of(terms_[left].variable),
                     .b = expression});
        return false;
      }
    }
    if (term.arity + call.label_arguments.size() > most_arguments) {
      too_large_ = true;
      return false;
    }
    for (std::uint32_t i = 0; i < term.arity; ++i) put(terms_.argument(call.goal, i), i);
    for (std::uint32_t i = 0; i < call.label_arguments.size(); ++i) put(call.label_arguments[i], term.arity + i);
    const bool pure = pure_.contains(goal);
    const auto labels = static_cast<std::uint16_t>(call.label_arguments.size());
    if (const auto defined = numbers_.find(program_.indicator(call.goal)); defined != numbers_.end()) {
      emit(place, {.op = is_end ? Op::execute : Op::call, .pure = pure, .a = labels, .b = defined->second});
      return is_end;
    }
    if (!call.label_arguments.empty()) report(goal, called + " is built in and has no label");
    if (const auto draw = draw_named(called, term.arity))
      emit(place, {.op = Op::random, .pure = pure, .b = static_cast<std::uint32_t>(*draw)});
    else if (const auto builtin = builtin_named(called, term.arity))
      emit(place, {.op = Op::builtin, .b = *builtin});
    else if (meaning_of(called, term.arity) == Meaning::constraint)
      emit(place, {.op = Op::fail});  // no fact says so
    else
      report(call.goal,
             called + "/" + std::to_string(term.arity) + " is not defined" + guess(program_.indicator(call.goal)));
    return false;
  }

  std::string guess(Indicator indicator) const {
    std::vector<std::string> names = known_names();
    for (const auto& [known, number] : numbers_) names.push_back(program_.name(known));
    return suggestion(program_.name(indicator), names, program_.source.symbols.name(indicator.first).size());
  }

  /// How many values an expression holds at once.
  static std::uint32_t needed_values(const Expression& steps) {
    std::uint32_t held = 0, most = 0;
    for (const Step& step : steps) {
      held = step.kind == Step::Kind::function ? held + 1 - std::min(held, arity_of(step.function)) : held + 1;
      most = std::max(most, held);
    }
    return most;
  }

  static bool is_count(const Expression& steps) {
    return steps.size() == 3 && steps[0].kind == Step::Kind::slot && steps[1].kind == Step::Kind::number &&
           steps[1].number.is_integer && std::abs(steps[1].number.integer) < 1000 && steps[2].function == Function::add;
  }

  std::uint32_t new_expression(TermId term) {
    Expression expression;
    compile_expression(term, expression, [&](std::uint32_t variable) -> Step {
      return {.kind = Step::Kind::slot, .place = slot_of(variable)};
    });
    if (needed_values(expression) > most_values) too_large_ = true;
    code_.expressions.push_back(std::move(expression));
    return static_cast<std::uint32_t>(code_.expressions.size() - 1);
  }

  /// Loads an argument register.
  void put(TermId id, std::uint32_t argument) {
    const Term& term = terms_[id];
    const auto target = static_cast<std::uint16_t>(argument);
    if (term.kind == Kind::variable) {
      emit(term.place, {.op = Op::put_value, .a = slot_of(term.variable), .b = argument});
    } else if (ground_[id]) {
      emit(term.place, {.op = Op::put_constant, .a = target, .b = constant(id)});
    } else {
      build(id, target, Op::put_structure);
    }
  }

  /// Builds a structure from the inside out.
  void build(TermId id, std::uint16_t target, Op op) {
    std::vector<TermId> chain;
    for (TermId next = id; terms_[next].kind == Kind::compound && !ground_[next];
         next = terms_.argument(next, terms_[next].arity - 1))
      chain.push_back(next);
    const std::uint16_t ends[] = {new_temporary(), new_temporary()};
    const std::uint32_t kept = temporaries_;
    for (std::size_t i = chain.size(); i-- > 0;) {
      const Term& term = terms_[chain[i]];
      temporaries_ = kept;
      std::vector<std::uint16_t> parts(term.arity, 0);
      for (std::uint32_t j = 0; j < term.arity; ++j) {
        const TermId part = terms_.argument(chain[i], j);
        const bool is_next = j + 1 == term.arity && i + 1 < chain.size();
        if (is_next) {
          parts[j] = ends[(i + 1) % 2];
        } else if (terms_[part].kind == Kind::compound && !ground_[part]) {
          parts[j] = new_temporary();
          build(part, parts[j], Op::build);
        }
      }
      const bool is_top = i == 0;
      emit(term.place, {.op = is_top ? op : Op::build, .a = is_top ? target : ends[i % 2], .b = functor(term)});
      for (std::uint32_t j = 0; j < term.arity; ++j) emit_part(terms_.argument(chain[i], j), parts[j]);
    }
    temporaries_ = kept - 2;
  }

  void emit_part(TermId id, std::uint16_t built) {
    const Term& term = terms_[id];
    if (term.kind == Kind::variable)
      emit(term.place, {.op = Op::arg_value, .a = slot_of(term.variable)});
    else if (ground_[id])
      emit(term.place, {.op = Op::arg_constant, .b = constant(id)});
    else
      emit(term.place, {.op = Op::arg_value, .a = built});
  }

  /// Whether a guard binds nothing, so that it need not be proved again for its bindings.
  bool only_tests(TermId guard) const {
    for (; is(guard, ",", 2); guard = terms_.argument(guard, 1))
      if (!only_tests(terms_.argument(guard, 0))) return false;
    const Term& term = terms_[guard];
    if (term.kind == Kind::variable || numbers_.contains(program_.indicator(guard))) return false;
    return is(guard, "\\+", 1) || (term.arity == 2 && comparison_named(name(guard))) ||
           is_test(name(guard), term.arity);
  }

  /// A guard that is one built-in test of variables that are arguments of the head.
  std::optional<CompiledClause::Test> simple_test(const Clause& clause) const {
    const bool is_opposite = is(*clause.guard, "\\+", 1);
    const TermId goal = is_opposite ? terms_.argument(*clause.guard, 0) : *clause.guard;
    if (terms_[goal].kind != Kind::compound || numbers_.contains(program_.indicator(goal))) return std::nullopt;
    const auto builtin = builtin_named(name(goal), terms_[goal].arity);
    if (!builtin || !is_test(name(goal), terms_[goal].arity)) return std::nullopt;
    CompiledClause::Test test{!is_opposite, *builtin, {}};
    for (std::uint32_t i = 0; i < terms_[goal].arity; ++i) {
      const TermId wanted = terms_.argument(goal, i);
      if (terms_[wanted].kind != Kind::variable) return std::nullopt;
      std::uint32_t place = 0;
      for (; place < terms_[clause.head].arity; ++place) {
        const Term& argument = terms_[terms_.argument(clause.head, place)];
        if (argument.kind == Kind::variable && argument.variable == terms_[wanted].variable) break;
      }
      if (place == terms_[clause.head].arity) return std::nullopt;
      test.arguments.push_back(static_cast<std::uint16_t>(place));
    }
    return test;
  }

  /// Finds predicates whose options depend on one label variable alone.
  void find_open_argument(CompiledPredicate& predicate) {
    std::uint32_t open = CompiledClause::always;
    for (const std::uint32_t number : predicate.clauses) {
      const CompiledClause& clause = code_.clauses[number];
      const bool fits =
          clause.pattern == CompiledClause::always || open == CompiledClause::always || clause.pattern == open;
      if (!clause.is_labelled || clause.label_variables > 1 || clause.has_guard ||
          clause.pattern == CompiledClause::unknown_place || !fits)
        return;
      if (clause.pattern != CompiledClause::always) open = clause.pattern;
    }
    predicate.open = open;
  }

  void index(CompiledPredicate& predicate) {
    for (const std::uint32_t clause : predicate.clauses)
      if (!code_.clauses[clause].key) predicate.any_key.push_back(clause);
    if (predicate.clauses.size() <= few_clauses) return;
    std::vector<std::uint32_t> before;  // clauses with a variable there, so far
    for (const std::uint32_t clause : predicate.clauses) {
      if (const auto& key = code_.clauses[clause].key) {
        predicate.by_key.try_emplace(*key, before).first->second.push_back(clause);
        continue;
      }
      before.push_back(clause);
      for (auto& [key, list] : predicate.by_key) list.push_back(clause);
    }
  }

  const Program& program_;
  const Terms& terms_;
  const std::unordered_set<TermId>& pure_;
  Code& code_;
  Problems& problems_;
  std::uint32_t lines_;
  std::map<Indicator, std::uint32_t> numbers_;
  std::vector<bool> ground_;
  std::vector<Symbol> names_;
  // of the clause at hand
  std::vector<Variable> variables_;
  std::uint32_t slots_ = 0, temporaries_ = 0, cells_ = 0;
  bool has_frame_ = false, too_large_ = false;
};

}  // namespace

std::uint64_t key_of(const Store& store, Cell cell) {
  if (cell.is(Tag::structure)) return Cell::make(Tag::structure, store.functor_number(cell)).bits;
  if (cell.is(Tag::real)) return Cell::make(Tag::real, 0).bits;
  return cell.bits;
}

Code compile(const Reading& reading, std::string file, const std::unordered_set<TermId>& pure, Problems& problems) {
  Code code{.file = std::move(file), .goal_variables = reading.goal_variables, .program_lines = reading.program_lines};
  Compiler(reading, pure, code, problems).run();
  const Symbol goal = code.symbols.intern("$goal");
  for (std::uint32_t i = 0; i < code.predicates.size(); ++i)
    if (code.predicates[i].name == goal && code.predicates[i].arity == code.goal_variables.size()) code.goal = i;
  return code;
}

}  // namespace baytree::slp
