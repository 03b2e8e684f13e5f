#pragma once

#include <string_view>

namespace baytree::slp {

// ASCII only: the standard library's predicates depend on the locale.
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
inline bool is_upper(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_sign(char c) {
  return c != '\0' && std::string_view("+-*/\\^<>=~:.?@#&$").find(c) != std::string_view::npos;
}

}  // namespace baytree::slp
