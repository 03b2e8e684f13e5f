#include "baytree/slp/program/lint.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include "baytree/slp/program/arithmetic.hpp"
#include "baytree/slp/program/builtins.hpp"
#include "baytree/slp/syntax/spelling.hpp"

namespace baytree::slp {
namespace {

// Sums of printed decimals are off by rounding.
constexpr double label_tolerance = 1e-6;

std::string number_text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

class Linter {
 public:
  explicit Linter(const Program& program) : program_(program) {
    for (const auto& [indicator, predicate] : program.predicates)
      for (const std::size_t clause : predicate.clauses) collect_calls(indicator, program.clauses[clause]);
  }

  Problems run(std::string_view goal) {
    for (const auto& [indicator, predicate] : program_.predicates) {
      check_redefinition(predicate);
      check_labels(predicate);
      check_left_recursion(predicate);
    }
    for (const Clause& clause : program_.clauses) check_singletons(clause);
    check_undefined();
    check_reached(goal);
    check_constraint_names();
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const Problem& a, const Problem& b) { return a.place < b.place; });
    return std::move(problems_);
  }

 private:
  const Source& source() const { return program_.source; }
  Place place(TermId term) const { return source().terms.start(term); }
  Place place(const Predicate& predicate) const { return place(program_.clauses[predicate.clauses[0]].head); }
  void warn(Place where, std::string message) {
    problems_.push_back({Problem::Severity::warning, where, std::move(message)});
  }
  Meaning meaning(Indicator indicator) const {
    return meaning_of(source().symbols.name(indicator.first), indicator.second);
  }

  void collect_calls(Indicator caller, const Clause& clause) {
    for (const auto& part : {clause.guard, clause.body}) {
      if (!part) continue;
      for (const TermId goal : goals_of(program_, *part)) {
        const TermId called = as_call(program_, goal).goal;
        if (source().terms[called].kind == Kind::variable) {
          problems_.push_back(
              {Problem::Severity::error, place(called), "a variable cannot be called; write the goal itself"});
          continue;
        }
        calls_[caller].insert(program_.indicator(called));
        first_call_.try_emplace(program_.indicator(called), place(called));
      }
    }
  }

  void check_redefinition(const Predicate& predicate) {
    const Meaning known = meaning(predicate.indicator);
    if (known != Meaning::ordinary && known != Meaning::constraint)
      problems_.push_back(
          {Problem::Severity::error, place(predicate),
           program_.name(predicate.indicator) + " is built in and cannot be defined; choose another name"});
  }

  void check_labels(const Predicate& predicate) {
    std::vector<const Clause*> labelled;
    const Clause* unlabelled = nullptr;
    for (const std::size_t number : predicate.clauses) {
      const Clause& clause = program_.clauses[number];
      if (clause.is_labelled())
        labelled.push_back(&clause);
      else if (!unlabelled)
        unlabelled = &clause;
    }
    if (labelled.empty()) return;
    const std::string name = program_.name(predicate.indicator);
    if (unlabelled)
      warn(place(unlabelled->head), name + " has clauses with labels and this one without; label all of them or none");
    // Depths, sizes and counts are 0 or more; a variable that is itself a label is a probability.
    const bool is_probability = std::any_of(labelled.begin(), labelled.end(), [&](const Clause* clause) {
      return source().terms[*clause->label].kind == Kind::variable;
    });
    const Interval variables{0.0, is_probability ? 1.0 : std::numeric_limits<double>::infinity()};
    for (const Clause* clause : labelled) check_sign(*clause, variables);
    if (!unlabelled) check_sum(name, labelled);
  }

  void check_sign(const Clause& clause, Interval variables) {
    const auto range = bounds(source(), *clause.label, variables);
    const std::string text = write(source(), *clause.label, program_.sentence(clause).variables);
    if (!range) {
      problems_.push_back({Problem::Severity::error, place(*clause.label), "the label " + text + " is not arithmetic"});
    } else if (range->high < 0.0 || (range->low == range->high && range->low < 0.0)) {
      problems_.push_back({Problem::Severity::error, place(*clause.label), "the label " + text + " is negative"});
    } else if (range->low < 0.0) {
      warn(place(*clause.label), "the label " + text + " can be negative, and then the clause is left out");
    } else if (range->high == 0.0) {
      warn(place(*clause.label), "the label is 0: this clause is never used");
    }
  }

  /// The labels of clauses that compete must sum to 1: over the whole predicate or, where the first argument tells
  /// clauses apart, over each of its values. Checked where no clause has a guard, at some values of the label
  /// variables.
  void check_sum(const std::string& name, const std::vector<const Clause*>& labelled) {
    for (const double trial : {1.0, 2.0, 5.0}) {
      double sum = 0.0;
      std::map<std::string, double> by_first_argument;
      for (const Clause* clause : labelled) {
        const auto label = label_at(*clause, trial);
        if (clause->guard || !label) return;
        sum += *label;
        by_first_argument[first_argument(*clause)] += *label;
      }
      const auto is_one = [](double total) { return std::abs(total - 1.0) <= label_tolerance; };
      const bool each_is_one =
          !by_first_argument.contains("") && std::all_of(by_first_argument.begin(), by_first_argument.end(),
                                                         [&](const auto& entry) { return is_one(entry.second); });
      if (is_one(sum) || each_is_one) continue;
      const std::string where =
          labelled[0]->label_variables.empty() ? "" : " where its variables are " + number_text(trial);
      warn(place(labelled[0]->head), "the labels of " + name + " sum to " + number_text(sum) + where +
                                         ", not to 1; they are divided by their sum");
      return;
    }
  }

  /// A clause's label with its first variable at `trial`, the next one more, and so on; nothing where it has no value.
  std::optional<double> label_at(const Clause& clause, double trial) const {
    std::vector<double> values(program_.sentence(clause).variables.size(), 0.0);
    for (std::size_t i = 0; i < clause.label_variables.size(); ++i) {
      const Term& variable = source().terms[clause.label_variables[i]];
      if (variable.kind != Kind::variable) return std::nullopt;
      values[variable.variable] = trial + static_cast<double>(i);
    }
    return evaluate(source(), *clause.label, values);
  }

  /// The first argument of the head where it is a constant, else nothing.
  std::string first_argument(const Clause& clause) const {
    if (source().terms[clause.head].arity == 0) return "";
    const TermId argument = source().terms.argument(clause.head, 0);
    const Kind kind = source().terms[argument].kind;
    return kind == Kind::atom || kind == Kind::integer ? write(source(), argument, {}) : "";
  }

  void check_singletons(const Clause& clause) {
    const Sentence& sentence = program_.sentence(clause);
    for (std::size_t i = 0; i < sentence.variables.size(); ++i) {
      const std::string& name = source().symbols.name(sentence.variables[i]);
      if (sentence.uses[i] == 1 && name[0] != '_')
        warn(sentence.first_use[i], "variable " + name + " occurs only once; is it misspelt? If not, write _" + name);
    }
  }

  void check_undefined() {
    std::vector<std::string> names = known_names();
    for (const auto& [indicator, predicate] : program_.predicates) names.push_back(program_.name(indicator));
    for (const auto& [indicator, where] : first_call_) {
      if (program_.predicates.contains(indicator) || meaning(indicator) != Meaning::ordinary) continue;
      const std::string name = program_.name(indicator);
      const std::string hint = suggestion(name, names, source().symbols.name(indicator.first).size());
      problems_.push_back({Problem::Severity::error, where, name + " is not defined" + hint});
    }
  }

  /// Facts that nothing calls and whose name is nearly that of a constraint.
  void check_constraint_names() {
    std::vector<std::string> constraints;
    for (const std::string& name : known_names())
      if (const auto slash = name.rfind('/');
          meaning_of(name.substr(0, slash), static_cast<std::uint32_t>(name[slash + 1] - '0')) == Meaning::constraint)
        constraints.push_back(name);
    for (const auto& [indicator, predicate] : program_.predicates) {
      const bool are_facts = std::all_of(predicate.clauses.begin(), predicate.clauses.end(),
                                         [&](std::size_t clause) { return !program_.clauses[clause].body; });
      if (!are_facts || first_call_.contains(indicator) || meaning(indicator) != Meaning::ordinary) continue;
      const std::string hint =
          suggestion(program_.name(indicator), constraints, source().symbols.name(indicator.first).size());
      if (!hint.empty()) warn(place(predicate), "nothing uses " + program_.name(indicator) + hint);
    }
  }

  void reach(Indicator from, std::set<Indicator>& reached) const {
    std::vector<Indicator> pending{from};
    while (!pending.empty()) {
      const Indicator next = pending.back();
      pending.pop_back();
      if (!reached.insert(next).second) continue;
      if (const auto found = calls_.find(next); found != calls_.end())
        pending.insert(pending.end(), found->second.begin(), found->second.end());
    }
  }

  void check_reached(std::string_view goal) {
    std::set<Indicator> called, reached;
    for (const auto& [caller, callees] : calls_)
      for (const Indicator& callee : callees)
        if (callee != caller) called.insert(callee);
    for (const auto& [indicator, predicate] : program_.predicates)
      if (goal.empty() ? !called.contains(indicator) : program_.name(indicator) == goal) reach(indicator, reached);
    if (!goal.empty() && reached.empty()) {
      problems_.push_back({Problem::Severity::error, {}, "the goal " + std::string(goal) + " is not defined"});
      return;
    }
    for (const auto& [indicator, predicate] : program_.predicates)
      if (!reached.contains(indicator) && meaning(indicator) == Meaning::ordinary)
        warn(place(predicate), program_.name(indicator) + " is never reached");
  }

  /// The first goal that a clause calls.
  std::optional<Indicator> first_goal(const Clause& clause) const {
    if (!clause.body) return std::nullopt;
    const TermId goal = as_call(program_, goals_of(program_, *clause.body).front()).goal;
    if (source().terms[goal].kind == Kind::variable) return std::nullopt;
    return program_.indicator(goal);
  }

  /// Whether the first goal is the predicate itself, called with a part of one of its arguments: that ends when there
  /// are no more parts.
  bool takes_apart(const Clause& clause) const {
    if (!clause.body) return false;
    const Terms& terms = source().terms;
    const TermId goal = as_call(program_, goals_of(program_, *clause.body).front()).goal;
    if (terms[goal].kind != Kind::compound || program_.indicator(goal) != program_.indicator(clause.head)) return false;
    for (std::uint32_t i = 0; i < terms[goal].arity; ++i) {
      const TermId given = terms.argument(goal, i), own = terms.argument(clause.head, i);
      if (terms[given].kind != Kind::variable || terms[own].kind != Kind::compound) continue;
      std::vector<TermId> pending{own};
      while (!pending.empty()) {
        const TermId part = pending.back();
        pending.pop_back();
        if (terms[part].kind == Kind::variable && terms[part].variable == terms[given].variable) return true;
        for (std::uint32_t j = terms[part].arity; j-- > 0;) pending.push_back(terms.argument(part, j));
      }
    }
    return false;
  }

  /// A clause whose first goal leads back to itself through unlabelled predicates alone does not end.
  void check_left_recursion(const Predicate& predicate) {
    for (const std::size_t number : predicate.clauses) {
      const Clause& clause = program_.clauses[number];
      if (clause.is_labelled()) continue;
      std::set<Indicator> seen;
      std::vector<Indicator> pending;
      if (takes_apart(clause)) continue;
      if (const auto first = first_goal(clause)) pending.push_back(*first);
      while (!pending.empty()) {
        const Indicator next = pending.back();
        pending.pop_back();
        if (next == predicate.indicator) {
          warn(place(clause.head),
               program_.name(next) + " calls itself first, with no label to decide otherwise: it may not end");
          return;
        }
        const auto found = program_.predicates.find(next);
        if (found == program_.predicates.end() || !seen.insert(next).second) continue;
        for (const std::size_t other : found->second.clauses)
          if (!program_.clauses[other].is_labelled())
            if (const auto first = first_goal(program_.clauses[other])) pending.push_back(*first);
      }
    }
  }

  const Program& program_;
  Problems problems_;
  std::map<Indicator, std::set<Indicator>> calls_;
  std::map<Indicator, Place> first_call_;
};

}  // namespace

Problems lint(const Program& program, std::string_view goal) { return Linter(program).run(goal); }

}  // namespace baytree::slp
