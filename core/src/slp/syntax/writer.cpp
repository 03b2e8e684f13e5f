#include <charconv>
#include <string>

#include "baytree/slp/syntax/characters.hpp"
#include "baytree/slp/syntax/operators.hpp"
#include "baytree/slp/syntax/parser.hpp"

namespace baytree::slp {
namespace {

bool is_plain_atom(const std::string& name) {
  if (name == "[]" || name == "{}" || name == "!" || name == ";") return true;
  const auto is_name = [](char c) { return is_lower(c) || is_upper(c) || is_digit(c); };
  if (name.empty()) return false;
  if (is_lower(name[0])) {
    for (const char c : name)
      if (!is_name(c)) return false;
    return true;
  }
  for (const char c : name)
    if (!is_sign(c)) return false;
  return name != "." && name.find("/*") == std::string::npos;
}

std::string quoted(const std::string& name) {
  std::string text = "'";
  for (const char c : name) {
    if (c == '\'' || c == '\\')
      text += '\\', text += c;
    else if (c == '\n')
      text += "\\n";
    else if (c == '\0')
      text += "\\0";
    else
      text += c;
  }
  return text + "'";
}

std::string atom_text(const std::string& name) { return is_plain_atom(name) ? name : quoted(name); }

/// A quoted name is never taken for an operator.
std::string functor_text(const std::string& name) {
  const bool special = name == "[]" || name == "{}" || infix_operator(name) || prefix_operator(name);
  return special ? quoted(name) : atom_text(name);
}

std::string real_text(double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, result.ptr);
  // A real keeps a point, so that it is read back as one.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (const auto exponent = text.find('e'); exponent != std::string::npos && text.find('.') == std::string::npos)
    text.insert(exponent, ".0");
  return text;
}

class Writer {
 public:
  Writer(const Source& source, std::span<const Symbol> variables, Style style)
      : source_(source),
        variables_(variables),
        comma_(style == Style::spaced ? ", " : ","),
        close_(style != Style::spaced),
        plain_(style == Style::plain) {}

  void write(TermId id, int most) {
    const Term& term = source_.terms[id];
    switch (term.kind) {
      case Kind::variable:
        text += source_.symbols.name(variables_[term.variable]);
        return;
      case Kind::integer:
        text += std::to_string(term.integer);
        return;
      case Kind::real:
        text += real_text(term.real);
        return;
      case Kind::atom:
        // An operator standing alone as an operand would be read as one.
        if (plain_)
          text += name(term);
        else if (infix_operator(name(term)) || prefix_operator(name(term)))
          text += "(" + atom_text(name(term)) + ")";
        else
          text += atom_text(name(term));
        return;
      case Kind::compound:
        compound(id, term, most);
        return;
    }
  }

  std::string text;

 private:
  const std::string& name(const Term& term) const { return source_.symbols.name(term.name); }

  void compound(TermId id, const Term& term, int most) {
    if (name(term) == "[|]" && term.arity == 2) return list(id);
    if (name(term) == "{}" && term.arity == 1) {
      text += "{";
      write(source_.terms.argument(id, 0), highest_priority);
      text += "}";
      return;
    }
    if (const auto found = infix_operator(name(term)); found && term.arity == 2) {
      parenthesised(found->priority > most, [&] {
        if (name(term) == ",") return conjunction(id, *found);
        write(source_.terms.argument(id, 0), found->left);
        infix(name(term));
        const std::size_t right = text.size();
        write(source_.terms.argument(id, 1), found->right);
        // Two signs side by side would be read as one.
        if (close_ && text.size() > right && text[right - 1] != ' ' && (is_sign(text[right]) || text[right] == '('))
          text.insert(right, " ");
      });
      return;
    }
    if (const auto found = prefix_operator(name(term)); found && term.arity == 1) {
      parenthesised(found->priority > most, [&] {
        text += name(term) + " ";
        write(source_.terms.argument(id, 0), found->right);
      });
      return;
    }
    text += (plain_ ? name(term) : functor_text(name(term))) + "(";
    for (std::uint32_t i = 0; i < term.arity; ++i) {
      if (i > 0) text += comma_;
      write(source_.terms.argument(id, i), argument_priority);
    }
    text += ")";
  }

  void infix(const std::string& sign) {
    const bool needs_space =
        !close_ || !is_sign(sign[0]) || (!text.empty() && is_sign(text.back())) || sign == ":-" || sign == "->";
    text += needs_space ? " " + sign + " " : sign;
  }

  void conjunction(TermId id, const Operator& comma) {
    for (; source_.terms[id].arity == 2 && name(source_.terms[id]) == ","; id = source_.terms.argument(id, 1)) {
      write(source_.terms.argument(id, 0), comma.left);
      text += comma_;
    }
    write(id, comma.right);
  }

  template <class F>
  void parenthesised(bool needed, F inside) {
    if (needed) text += "(";
    inside();
    if (needed) text += ")";
  }

  void list(TermId id) {
    const char* separator = "[";
    for (; source_.terms[id].kind == Kind::compound && name(source_.terms[id]) == "[|]" && source_.terms[id].arity == 2;
         id = source_.terms.argument(id, 1)) {
      text += separator;
      write(source_.terms.argument(id, 0), argument_priority);
      separator = comma_;
    }
    if (source_.terms[id].kind != Kind::atom || name(source_.terms[id]) != "[]") {
      text += close_ ? "|" : " | ";
      write(id, argument_priority);
    }
    text += "]";
  }

  const Source& source_;
  std::span<const Symbol> variables_;
  const char* comma_;
  bool close_, plain_;
};

}  // namespace

std::string write(const Source& source, TermId term, std::span<const Symbol> variables, Style style) {
  Writer writer(source, variables, style);
  writer.write(term, highest_priority);
  return std::move(writer.text);
}

}  // namespace baytree::slp
