#include "baytree/slp/program/program.hpp"

namespace baytree::slp {
namespace {

class Reader {
 public:
  Reader(Program& program, Problems& problems)
      : program_(program), problems_(problems), common_(program.source.symbols) {}

  void read(std::size_t sentence) {
    Clause clause{.sentence = sentence};
    TermId term = program_.source.sentences[sentence].term;
    if (terms().is(term, common_.neck, 1)) return report(term, "directives do nothing here; remove it");
    if (terms().is(term, common_.neck, 2)) {
      clause.body = terms().argument(term, 1);
      term = terms().argument(term, 0);
      if (!check_body(*clause.body)) return;
    }
    if (terms().is(term, common_.bar, 2)) {
      clause.guard = terms().argument(term, 1);
      term = terms().argument(term, 0);
      if (!check_body(*clause.guard)) return;
    }
    if (terms().is(term, common_.colon, 2)) {
      clause.label = terms().argument(term, 0);
      clause.label_end = terms()[term].place;
      term = terms().argument(term, 1);
      if (terms().is(term, common_.colon, 2)) {
        const auto items = list_items(program_.source, terms().argument(term, 0));
        if (!items)
          return report(terms().argument(term, 0), "the label's variables must be a list, as in  1/D : [D] : goal");
        clause.label_variables = *items;
        term = terms().argument(term, 1);
      }
      if (!check_label(clause)) return;
    }
    clause.head = term;
    if (!is_callable(term))
      return report(term, "the head of a clause must be a name with arguments, not a number, a variable or a list");
    Predicate& predicate = program_.predicates[program_.indicator(term)];
    predicate.indicator = program_.indicator(term);
    predicate.clauses.push_back(program_.clauses.size());
    program_.clauses.push_back(std::move(clause));
  }

 private:
  const Terms& terms() const { return program_.source.terms; }

  void report(TermId term, std::string message) {
    problems_.push_back({Problem::Severity::error, terms().start(term), std::move(message)});
  }

  bool is_callable(TermId term) const {
    const Term& node = terms()[term];
    if (node.kind != Kind::atom && node.kind != Kind::compound) return false;
    for (const Symbol reserved : {common_.nil, common_.dot, common_.comma, common_.semicolon, common_.arrow,
                                  common_.neck, common_.bar, common_.colon, common_.braces})
      if (node.name == reserved) return false;
    return true;
  }

  /// A label is arithmetic: numbers, variables, operators and functions; it may use only the variables it names.
  bool check_label(const Clause& clause) {
    for (const TermId variable : clause.label_variables)
      if (terms()[variable].kind == Kind::atom) {
        report(variable, "a label's variables begin with a capital letter");
        return false;
      }
    return check_arithmetic(*clause.label, clause);
  }

  bool check_arithmetic(TermId term, const Clause& clause) {
    const Term& node = terms()[term];
    if (node.kind == Kind::variable) {
      for (const TermId known : clause.label_variables)
        if (terms()[known].kind == Kind::variable && terms()[known].variable == node.variable) return true;
      const std::string& name = program_.source.symbols.name(node.name);
      report(term, "the label uses " + name + ", which must be listed:  " + "Label : [" + name + "] : goal");
      return false;
    }
    for (std::uint32_t i = 0; i < node.arity; ++i)
      if (!check_arithmetic(terms().argument(term, i), clause)) return false;
    return true;
  }

  bool check_body(TermId body) {
    for (const TermId goal : goals_of(program_, body)) {
      if (terms().is(goal, common_.colon, 2) && !list_items(program_.source, terms().argument(goal, 0))) {
        report(goal, "a goal with label variables is written  [E] : goal");
        return false;
      }
      const TermId called = as_call(program_, goal).goal;
      if (terms()[called].kind != Kind::variable && !is_callable(called)) {
        report(called, "this is no goal: a goal is a name with arguments");
        return false;
      }
    }
    return true;
  }

  Program& program_;
  Problems& problems_;
  CommonSymbols common_;
};

void collect_goals(const Program& program, TermId body, std::vector<TermId>& goals) {
  const Terms& terms = program.source.terms;
  for (; terms[body].arity == 2 && program.source.symbols.name(terms[body].name) == ","; body = terms.argument(body, 1))
    collect_goals(program, terms.argument(body, 0), goals);
  const Term& node = terms[body];
  if (node.kind == Kind::compound) {
    const std::string& name = program.source.symbols.name(node.name);
    const bool control =
        (node.arity == 2 && (name == ";" || name == "->" || name == "|")) || (node.arity == 1 && name == "\\+");
    if (control) {
      for (std::uint32_t i = 0; i < node.arity; ++i) collect_goals(program, terms.argument(body, i), goals);
      return;
    }
    goals.push_back(body);
    if (name == "once" && node.arity == 1) collect_goals(program, terms.argument(body, 0), goals);
    if (name == "findall" && node.arity == 3) collect_goals(program, terms.argument(body, 1), goals);
    return;
  }
  goals.push_back(body);
}

}  // namespace

std::string Program::name(Indicator indicator) const {
  return source.symbols.name(indicator.first) + "/" + std::to_string(indicator.second);
}

Indicator Program::indicator(TermId callable) const {
  return {source.terms[callable].name, source.terms[callable].arity};
}

std::optional<std::vector<TermId>> list_items(const Source& source, TermId term) {
  std::vector<TermId> items;
  for (;; term = source.terms.argument(term, 1)) {
    const Term& node = source.terms[term];
    const std::string& name = source.symbols.name(node.name);
    if (node.kind == Kind::atom && name == "[]") return items;
    if (node.kind != Kind::compound || name != "[|]" || node.arity != 2) return std::nullopt;
    items.push_back(source.terms.argument(term, 0));
  }
}

Call as_call(const Program& program, TermId goal) {
  const Terms& terms = program.source.terms;
  const Term& node = terms[goal];
  if (node.kind == Kind::compound && node.arity == 2 && program.source.symbols.name(node.name) == ":")
    if (auto items = list_items(program.source, terms.argument(goal, 0)))
      return {terms.argument(goal, 1), std::move(*items)};
  return {goal, {}};
}

std::vector<TermId> goals_of(const Program& program, TermId body) {
  std::vector<TermId> goals;
  collect_goals(program, body, goals);
  return goals;
}

Program read_program(std::string_view text, Problems& problems) {
  Program program{.source = parse(text, problems)};
  Reader reader(program, problems);
  for (std::size_t sentence = 0; sentence < program.source.sentences.size(); ++sentence) reader.read(sentence);
  return program;
}

}  // namespace baytree::slp
