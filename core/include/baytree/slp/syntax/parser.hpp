#pragma once

#include <string_view>
#include <vector>

#include "baytree/slp/syntax/lexer.hpp"
#include "baytree/slp/syntax/term.hpp"

namespace baytree::slp {

/// One sentence of a source text, as a term, with the names of its variables in the order of their numbers.
struct Sentence {
  TermId term = 0;
  std::vector<Symbol> variables;    // `_` for one that is not named
  std::vector<std::uint32_t> uses;  // how often each occurs
  std::vector<Place> first_use;
};

/// A source text as terms.
struct Source {
  Symbols symbols;
  Terms terms;
  std::vector<Sentence> sentences;
};

/// Reads Prolog terms with the operators of stochastic logic programs: `:`, `::` and `##` (one operator, 550 xfy) and
/// `|` between head and guard (1100 xfy). A sentence that cannot be read is reported and left out, and reading goes on
/// behind its full stop, so that all problems of a text are found at once.
Source parse(std::string_view source, Problems& problems);

/// How a term is written: with spaces around operators, without those that nothing needs (x1-[leaf,leaf]), or so and
/// without quotes.
enum class Style : std::uint8_t { spaced, close, plain };

/// A term as text that `parse` reads back unless it is plain; operators are written as such.
std::string write(const Source& source, TermId term, std::span<const Symbol> variables, Style style = Style::spaced);

}  // namespace baytree::slp
