#include "baytree/slp/syntax/lexer.hpp"

#include <charconv>
#include <cmath>
#if !defined(__cpp_lib_to_chars)
#include <locale>
#include <sstream>
#endif

#include "baytree/slp/syntax/characters.hpp"

namespace baytree::slp {
namespace {

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool continues_name(char c) { return is_digit(c) || is_lower(c) || is_upper(c) || is_beyond_ascii(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// False where the number is too large or too small.
bool read_real(std::string_view text, double& real) {
#if defined(__cpp_lib_to_chars)
  return std::from_chars(text.data(), text.data() + text.size(), real).ec == std::errc();
#else
  // Apple's library reads whole numbers alone in that way.
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  return static_cast<bool>(stream >> real);
#endif
}

}  // namespace

void Lexer::advance(std::size_t count) {
  for (; count > 0 && !done(); --count, ++at_) {
    if (source_[at_] == '\n')
      place_ = {place_.line + 1, 1};
    else if (!continues_character(source_[at_]))
      ++place_.column;
  }
}

Token Lexer::report(Token token, std::string message) {
  problems_.push_back({Problem::Severity::error, token.place, std::move(message)});
  token.kind = TokenKind::wrong;
  return token;
}

/// Skips white space and comments; true if there was any.
bool Lexer::skip_layout() {
  const std::size_t began = at_;
  while (!done()) {
    if (is_space(peek())) {
      advance();
    } else if (peek() == '%') {
      while (!done() && peek() != '\n') advance();
    } else if (peek() == '/' && peek(1) == '*') {
      const Place place = place_;
      const std::size_t end = source_.find("*/", at_ + 2);
      if (end == std::string_view::npos) {
        problems_.push_back({Problem::Severity::error, place, "this comment is never closed; end it with */"});
        advance(source_.size() - at_);
      } else {
        advance(end + 2 - at_);
      }
    } else {
      break;
    }
  }
  return at_ > began;
}

Token Lexer::next() {
  Token token;
  token.layout_before = skip_layout();
  token.place = place_;
  if (done()) return token;
  const char c = peek();
  const std::size_t began = at_;
  const auto take = [&](TokenKind kind) {
    token.kind = kind;
    token.text = source_.substr(began, at_ - began);
    return token;
  };
  const auto single = [&](TokenKind kind) {
    advance();
    return take(kind);
  };
  if (is_digit(c)) return number(token);
  if (is_upper(c) || is_lower(c) || is_beyond_ascii(c)) {
    while (continues_name(peek())) advance();
    return take(is_upper(c) ? TokenKind::variable : TokenKind::atom);
  }
  switch (c) {
    case '(':
      return single(token.layout_before ? TokenKind::open : TokenKind::open_call);
    case ')':
      return single(TokenKind::close);
    case '[':
      return single(TokenKind::open_list);
    case ']':
      return single(TokenKind::close_list);
    case '{':
      return single(TokenKind::open_braces);
    case '}':
      return single(TokenKind::close_braces);
    case ',':
      return single(TokenKind::comma);
    case '|':
      return single(TokenKind::bar);
    case '!':
    case ';':
      return single(TokenKind::atom);
    case '\'':
    case '"':
      return quoted(token);
    default:
      break;
  }
  if (c == '.' && (at_ + 1 >= source_.size() || is_space(peek(1)) || peek(1) == '%')) return single(TokenKind::end);
  if (is_sign(c)) {
    while (is_sign(peek())) advance();
    return take(TokenKind::atom);
  }
  advance();
  return report(token, "this character means nothing here");
}

Token Lexer::number(Token token) {
  if (peek() == '0' && peek(1) == '\'' && peek(2) != '\0') return character_code(token);
  const std::size_t began = at_;
  while (is_digit(peek())) advance();
  bool is_real = false;
  if (peek() == '.' && is_digit(peek(1))) {
    is_real = true;
    advance();
    while (is_digit(peek())) advance();
  }
  const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
  if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) {
    is_real = true;
    advance(sign);
    while (is_digit(peek())) advance();
  }
  token.text = source_.substr(began, at_ - began);
  const char *first = token.text.data(), *last = first + token.text.size();
  if (is_real) {
    token.kind = TokenKind::real;
    if (!read_real(token.text, token.real) || !std::isfinite(token.real))
      return report(token, token.text + " is too large or too small a number");
  } else {
    token.kind = TokenKind::integer;
    if (std::from_chars(first, last, token.integer).ec != std::errc())
      return report(token, token.text + " is too large a whole number; write it with a decimal point");
  }
  return token;
}

/// 0'c is the number of the character c.
Token Lexer::character_code(Token token) {
  advance(2);
  std::string character;
  if (peek() == '\\') {
    if (!escape(character)) return report(token, "unknown character behind \\");
  } else {
    const std::size_t began = at_;
    advance();
    while (!done() && continues_character(peek())) advance();
    character = source_.substr(began, at_ - began);
  }
  token.kind = TokenKind::integer;
  // The first byte of UTF-8 says how many follow; each of those carries six bits.
  const auto lead = static_cast<unsigned char>(character[0]);
  std::int64_t code = lead < 0x80 ? lead : lead >= 0xF0 ? lead & 0x07 : lead >= 0xE0 ? lead & 0x0F : lead & 0x1F;
  for (std::size_t i = 1; i < character.size(); ++i)
    code = code << 6 | (static_cast<unsigned char>(character[i]) & 0x3F);
  token.integer = code;
  return token;
}

/// Reads what follows a backslash; false where it is no escape.
bool Lexer::escape(std::string& text) {
  advance();
  const char c = peek();
  const std::string_view names = "nrt0abfv\\'\"`", values = std::string_view("\n\r\t\0\a\b\f\v\\'\"`", 12);
  if (c == '\n') {  // a line that goes on
    advance();
    return true;
  }
  const std::size_t found = c == '\0' ? std::string_view::npos : names.find(c);
  if (found == std::string_view::npos) return false;
  text += values[found];
  advance();
  return true;
}

Token Lexer::quoted(Token token) {
  const char quote = peek();
  advance();
  for (;;) {
    if (done() || peek() == '\n')
      return report(token, std::string("this quotation is never closed; end it with ") + quote);
    const char c = peek();
    if (c == quote && peek(1) == quote) {
      token.text += quote;
      advance(2);
    } else if (c == quote) {
      advance();
      break;
    } else if (c == '\\') {
      const Place place = place_;
      if (!escape(token.text))
        problems_.push_back(
            {Problem::Severity::error, place, "unknown character behind \\; a backslash itself is written \\\\"});
    } else {
      token.text += c;
      advance();
    }
  }
  token.kind = quote == '\'' ? TokenKind::quoted : TokenKind::string;
  return token;
}

}  // namespace baytree::slp
