#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baytree/slp/syntax/parser.hpp"

namespace baytree::slp {

/// `Label : [Vars] : Head | Guard :- Body.`, every part but the head optional.
struct Clause {
  std::optional<TermId> label;
  Place label_end;  // where the sign behind it stands
  std::vector<TermId> label_variables;
  TermId head = 0;
  std::optional<TermId> guard;
  std::optional<TermId> body;
  std::size_t sentence = 0;  // names and uses of its variables

  bool is_labelled() const { return label.has_value(); }
};

/// A predicate's name and number of arguments.
using Indicator = std::pair<Symbol, std::uint32_t>;

struct Predicate {
  Indicator indicator;
  std::vector<std::size_t> clauses;
};

/// A goal as it is called: `[E] : goal` calls goal with the label variables E.
struct Call {
  TermId goal = 0;
  std::vector<TermId> label_arguments;
};

struct Program {
  Source source;
  std::vector<Clause> clauses;
  std::map<Indicator, Predicate> predicates;

  std::string name(Indicator indicator) const;
  const Sentence& sentence(const Clause& clause) const { return source.sentences[clause.sentence]; }
  Indicator indicator(TermId callable) const;
};

/// Reads a program, reporting what is wrong with its syntax or with the form of its clauses.
Program read_program(std::string_view text, Problems& problems);

/// The items of a list, or nothing where the term is no proper list.
std::optional<std::vector<TermId>> list_items(const Source& source, TermId term);

/// Takes `[E] : goal` apart.
Call as_call(const Program& program, TermId goal);

/// The goals of a body in order, those inside `,`, `;`, `->` and `\+` and the goals of `once` and `findall` included.
std::vector<TermId> goals_of(const Program& program, TermId body);

}  // namespace baytree::slp
