#include "baytree/slp/syntax/parser.hpp"

#include <algorithm>

#include "baytree/slp/syntax/operators.hpp"

namespace baytree::slp {
namespace {

/// The sentence cannot be read; the problem has been reported.
struct Unreadable {};

// Whoever walks a term recurses as deep as it nests; each level costs stack, under the sanitizers some kilobytes.
// Conjunctions and lists are walked by loops.
constexpr std::size_t deepest_nesting = 400;

struct Read {
  TermId term;
  int priority;
};

class Parser {
 public:
  Parser(std::string_view source, Source& out, Problems& problems)
      : lexer_(source, problems), out_(out), problems_(problems), common_(out.symbols) {
    advance();
  }

  void parse_all() {
    while (token_.kind != TokenKind::end_of_file) {
      sentence_ = {};
      depth_ = 0;
      try {
        sentence_.term = term(highest_priority).term;
        if (token_.kind != TokenKind::end)
          fail(token_.place, "expected an operator or the full stop of the clause before " + describe(token_));
        advance();
        out_.sentences.push_back(sentence_);
      } catch (const Unreadable&) {
        while (token_.kind != TokenKind::end && token_.kind != TokenKind::end_of_file) advance();
        if (token_.kind == TokenKind::end) advance();
      }
    }
  }

 private:
  void advance() {
    token_ = lexer_.next();
    // `::` and `##` are other spellings of `:`.
    if (token_.kind == TokenKind::atom && (token_.text == "::" || token_.text == "##")) token_.text = ":";
  }

  [[noreturn]] void fail(Place place, std::string message) {
    problems_.push_back({Problem::Severity::error, place, std::move(message)});
    throw Unreadable{};
  }

  static std::string describe(const Token& token) {
    switch (token.kind) {
      case TokenKind::end:
        return "the full stop";
      case TokenKind::end_of_file:
        return "the end of the file";
      case TokenKind::open:
      case TokenKind::open_call:
        return "(";
      default:
        return token.text.empty() ? "this" : "'" + token.text + "'";
    }
  }

  bool starts_term() const {
    switch (token_.kind) {
      case TokenKind::close:
      case TokenKind::close_list:
      case TokenKind::close_braces:
      case TokenKind::comma:
      case TokenKind::bar:
      case TokenKind::end:
      case TokenKind::end_of_file:
        return false;
      case TokenKind::atom:
        return !infix_operator(token_.text) || prefix_operator(token_.text);
      default:
        return true;
    }
  }

  Read term(int most) {
    if (++depth_ > deepest_nesting) fail(token_.place, "this is nested too deeply");
    Read left = primary(most);
    while (const auto found = infix_here()) {
      if (found->priority > most) break;
      if (left.priority > found->left)
        fail(token_.place, "'" + token_.text + "' does not bind this tightly; use parentheses");
      left = {binds_right(*found) ? right_chain(left.term, *found) : left_step(left.term, *found), found->priority};
    }
    --depth_;
    return left;
  }

  std::optional<Operator> infix_here() const {
    const bool is_name =
        token_.kind == TokenKind::atom || token_.kind == TokenKind::comma || token_.kind == TokenKind::bar;
    return is_name ? infix_operator(token_.text) : std::nullopt;
  }

  static bool binds_right(const Operator& found) { return found.right == found.priority; }

  TermId left_step(TermId left, const Operator& found) {
    const Place place = token_.place;
    const Symbol name = out_.symbols.intern(token_.text);
    advance();
    const TermId args[] = {left, term(found.right).term};
    return compound(name, args, place);
  }

  /// a, b, c, … by a loop: a body may have more goals than the stack has room for.
  TermId right_chain(TermId left, const Operator& found) {
    struct Link {
      TermId operand;
      Symbol name;
      Place place;
    };
    std::vector<Link> links;
    TermId last = left;
    for (auto next = infix_here(); next && next->priority == found.priority && binds_right(*next);
         next = infix_here()) {
      links.push_back({last, out_.symbols.intern(token_.text), token_.place});
      if (token_.kind != TokenKind::comma && links.size() > deepest_nesting)
        fail(token_.place, "this is nested too deeply");
      advance();
      last = term(found.priority - 1).term;
      // An operator as strong that does not bind to the right, as ** beside ^, ends the chain.
      if (const auto end = infix_here(); end && end->priority == found.priority && !binds_right(*end)) {
        last = left_step(last, *end);
        break;
      }
    }
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
      const TermId args[] = {link->operand, last};
      last = compound(link->name, args, link->place);
    }
    return last;
  }

  Read primary(int most) {
    const Token token = token_;
    switch (token.kind) {
      case TokenKind::wrong:
        throw Unreadable{};
      case TokenKind::variable:
        advance();
        return {variable(token), 0};
      case TokenKind::integer:
        advance();
        return {out_.terms.add({.kind = Kind::integer, .integer = token.integer, .place = token.place}), 0};
      case TokenKind::real:
        advance();
        return {out_.terms.add({.kind = Kind::real, .real = token.real, .place = token.place}), 0};
      case TokenKind::string:
      case TokenKind::quoted:
        advance();
        return token_.kind == TokenKind::open_call ? call(token) : Read{atom(token), 0};
      case TokenKind::open:
      case TokenKind::open_call: {
        advance();
        const TermId inside = term(highest_priority).term;
        expect(TokenKind::close, ")", token);
        return {inside, 0};
      }
      case TokenKind::open_list:
        advance();
        return {list(token), 0};
      case TokenKind::open_braces: {
        advance();
        const TermId inside = term(highest_priority).term;
        expect(TokenKind::close_braces, "}", token);
        return {compound(common_.braces, {&inside, 1}, token.place), 0};
      }
      case TokenKind::atom:
        advance();
        return token_.kind == TokenKind::open_call ? call(token) : name(token, most);
      default:
        fail(token.place, "a term is missing before " + describe(token));
    }
  }

  TermId compound(Symbol name, std::span<const TermId> args, Place place) {
    const bool is_chain = args.size() == 2 && (name == common_.comma || name == common_.dot);
    std::uint32_t height = 0;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const std::uint32_t below = args[i] < heights_.size() ? heights_[args[i]] : 0;
      height = std::max(height, is_chain && i == 1 ? below : below + 1);
    }
    if (height > deepest_nesting) fail(place, "this is nested too deeply");
    const TermId id = out_.terms.compound(name, args, place);
    heights_.resize(id + 1);
    heights_[id] = height;
    return id;
  }

  TermId atom(const Token& token) {
    return out_.terms.add({.kind = Kind::atom, .name = out_.symbols.intern(token.text), .place = token.place});
  }

  TermId variable(const Token& token) {
    const Symbol name = out_.symbols.intern(token.text);
    auto& names = sentence_.variables;
    const auto known = token.text == "_" ? names.end() : std::find(names.begin(), names.end(), name);
    const auto number = static_cast<std::uint32_t>(known - names.begin());
    if (known == names.end()) {
      names.push_back(name);
      sentence_.uses.push_back(0);
      sentence_.first_use.push_back(token.place);
    }
    ++sentence_.uses[number];
    return out_.terms.add({.kind = Kind::variable, .name = name, .variable = number, .place = token.place});
  }

  /// A name that is not called: a number's sign, a prefix operator, or an atom.
  Read name(const Token& token, int most) {
    if (token.text == "-" && !token_.layout_before &&
        (token_.kind == TokenKind::integer || token_.kind == TokenKind::real)) {
      const Token number = token_;
      advance();
      return {out_.terms.add({.kind = number.kind == TokenKind::integer ? Kind::integer : Kind::real,
                              .integer = -number.integer,
                              .real = -number.real,
                              .place = token.place}),
              0};
    }
    const auto found = prefix_operator(token.text);
    if (found && starts_term()) {
      // As an argument a prefix operator binds no more loosely than its place allows.
      const int priority = std::min(found->priority, most);
      const TermId operand = term(std::min(found->right, most)).term;
      return {compound(out_.symbols.intern(token.text), {&operand, 1}, token.place), priority};
    }
    if (infix_operator(token.text) && starts_term()) fail(token.place, "'" + token.text + "' has nothing on its left");
    return {atom(token), 0};
  }

  Read call(const Token& token) {
    const Token open = token_;
    advance();
    std::vector<TermId> args;
    do {
      if (!args.empty()) advance();
      args.push_back(term(argument_priority).term);
    } while (token_.kind == TokenKind::comma);
    expect(TokenKind::close, ")", open);
    return {compound(out_.symbols.intern(token.text), args, token.place), 0};
  }

  TermId list(const Token& open) {
    if (token_.kind == TokenKind::close_list) {
      advance();
      return out_.terms.add({.kind = Kind::atom, .name = common_.nil, .place = open.place});
    }
    std::vector<TermId> items;
    do {
      if (!items.empty()) advance();
      items.push_back(term(argument_priority).term);
    } while (token_.kind == TokenKind::comma);
    TermId rest;
    if (token_.kind == TokenKind::bar) {
      advance();
      rest = term(argument_priority).term;
    } else {
      rest = out_.terms.add({.kind = Kind::atom, .name = common_.nil, .place = open.place});
    }
    expect(TokenKind::close_list, "]", open);
    for (auto item = items.rbegin(); item != items.rend(); ++item) {
      const TermId args[] = {*item, rest};
      rest = compound(common_.dot, args, out_.terms[*item].place);
    }
    return rest;
  }

  void expect(TokenKind kind, const char* sign, const Token& open) {
    if (token_.kind == TokenKind::wrong) throw Unreadable{};
    if (token_.kind != kind)
      fail(token_.place, std::string("expected ") + sign + " before " + describe(token_) + ", to close what line " +
                             std::to_string(open.place.line) + " opens");
    advance();
  }

  Lexer lexer_;
  Source& out_;
  Problems& problems_;
  CommonSymbols common_;
  Token token_;
  Sentence sentence_;
  std::size_t depth_ = 0;
  std::vector<std::uint32_t> heights_;  // of the terms so far; 0 for those without arguments
};

}  // namespace

Source parse(std::string_view source, Problems& problems) {
  Source out;
  Parser(source, out, problems).parse_all();
  return out;
}

}  // namespace baytree::slp
