#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "baytree/slp/syntax/problem.hpp"

namespace baytree::slp {

enum class TokenKind : std::uint8_t {
  atom,    // a name or a run of signs
  quoted,  // a quoted atom: never an operator
  variable,
  integer,
  real,
  string,        // "text": an atom
  open,          // (
  open_call,     // ( right behind a name
  close,         // )
  open_list,     // [
  close_list,    // ]
  open_braces,   // {
  close_braces,  // }
  comma,
  bar,
  end,  // the full stop of a clause
  end_of_file,
  wrong,  // a problem was reported
};

struct Token {
  TokenKind kind = TokenKind::end_of_file;
  std::string text;
  std::int64_t integer = 0;
  double real = 0.0;
  Place place;
  bool layout_before = false;  // white space or a comment came before it
};

/// Cuts a source text into tokens. It never fails: what cannot be read is reported and becomes a `wrong` token.
class Lexer {
 public:
  Lexer(std::string_view source, Problems& problems) : source_(source), problems_(problems) {}

  Token next();

 private:
  bool skip_layout();
  bool done() const { return at_ >= source_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  void advance(std::size_t count = 1);
  Token report(Token token, std::string message);
  Token number(Token token);
  Token character_code(Token token);
  Token quoted(Token token);
  bool escape(std::string& text);

  std::string_view source_;
  Problems& problems_;
  std::size_t at_ = 0;
  Place place_;
};

}  // namespace baytree::slp
