#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace baytree::slp {

/// Where something stands in a source text; both count from 1, columns in characters.
struct Place {
  std::uint32_t line = 1, column = 1;

  auto operator<=>(const Place&) const = default;
};

using Symbol = std::uint32_t;

/// Names as numbers: equal names have equal numbers.
class Symbols {
 public:
  Symbol intern(std::string_view name);
  const std::string& name(Symbol symbol) const { return names_[symbol]; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, Symbol> numbers_;
};

enum class Kind : std::uint8_t { variable, atom, integer, real, compound };

using TermId = std::uint32_t;

/// One node of a parsed term. A variable's name is unique within its clause; `_` is a new variable each time.
struct Term {
  Kind kind = Kind::atom;
  Symbol name = 0;             // of a variable, an atom or a compound
  std::uint32_t variable = 0;  // a variable's number within its clause
  std::uint32_t arity = 0;     // of a compound
  std::uint32_t first = 0;     // a compound's first argument in `Terms::arguments`
  std::int64_t integer = 0;
  double real = 0.0;
  Place place;
};

/// All terms of a program.
struct Terms {
  std::vector<Term> nodes;
  std::vector<TermId> arguments;

  TermId add(Term term);
  TermId compound(Symbol name, std::span<const TermId> args, Place place);
  const Term& operator[](TermId id) const { return nodes[id]; }
  TermId argument(TermId id, std::uint32_t i) const { return arguments[nodes[id].first + i]; }
  bool is(TermId id, Symbol name, std::uint32_t arity) const;
  /// Where the text of a term begins; an infix operator's own place is behind its left operand.
  Place start(TermId id) const;
};

/// The names the syntax itself uses.
struct CommonSymbols {
  explicit CommonSymbols(Symbols& symbols);
  Symbol nil, dot, comma, bar, neck, colon, braces, semicolon, arrow;
};

}  // namespace baytree::slp
