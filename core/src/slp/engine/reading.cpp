#include "baytree/slp/engine/reading.hpp"

#include <algorithm>

#include "baytree/slp/engine/library.hpp"
#include "baytree/slp/program/builtins.hpp"
#include "baytree/slp/syntax/characters.hpp"

namespace baytree::slp {
namespace {

/// What ships with the language is compiled as such, whatever a program says of it.
void refuse_redefinition(const Reading& reading, Problems& problems) {
  const Program& program = reading.program;
  for (const auto& [indicator, predicate] : program.predicates) {
    const std::string& name = program.source.symbols.name(indicator.first);
    const Meaning meaning = meaning_of(name, indicator.second);
    const Place place = program.source.terms.start(program.clauses[predicate.clauses[0]].head);
    if (place.line > reading.program_lines ||
        (name[0] != '$' && (meaning == Meaning::ordinary || meaning == Meaning::constraint)))
      continue;
    problems.push_back({Problem::Severity::error, place,
                        program.name(indicator) + " is built in and cannot be defined; choose another name"});
  }
}

}  // namespace

Reading read_with_goal(std::string_view text, std::string_view goal, Problems& problems) {
  Reading reading;
  // A full stop behind it is what a person may be used to.
  while (!goal.empty() && (goal.back() == ' ' || goal.back() == '\n')) goal.remove_suffix(1);
  if (goal.size() > 1 && goal.back() == '.' && !is_sign(goal[goal.size() - 2])) goal.remove_suffix(1);
  reading.program_lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  // Read by itself first, so that a clause without its full stop does not run on into the goal.
  parse(text, problems);
  // The goal too, for its variables and so that a full stop inside it cannot add clauses.
  Problems alone;
  const Source source = parse(std::string(goal) + "\n.", alone);
  for (const Problem& problem : alone)
    problems.push_back(
        {problem.severity, {reading.program_lines + 1 + problem.place.line, problem.place.column}, problem.message});
  if (problems.empty() && source.sentences.size() != 1)
    problems.push_back(
        {Problem::Severity::error, {reading.program_lines + 2, 1}, "the goal must be one goal, such as  cart(T)"});
  if (!problems.empty()) return reading;
  std::string head;
  for (const Symbol symbol : source.sentences[0].variables) {
    const std::string& name = source.symbols.name(symbol);
    if (name[0] == '_') continue;
    head += (head.empty() ? "" : ", ") + name;
    reading.goal_variables.push_back(name);
  }
  std::string whole(text);
  whole += "\n'$goal'" + (head.empty() ? "" : "(" + head + ")") + " :-";
  // On lines of its own, so that the columns of its problems are those its author sees.
  whole += "\n" + std::string(goal) + "\n.\n" + std::string(prelude());
  reading.program = read_program(whole, problems);
  refuse_redefinition(reading, problems);
  return reading;
}

}  // namespace baytree::slp
