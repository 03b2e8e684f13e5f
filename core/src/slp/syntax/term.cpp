#include "baytree/slp/syntax/term.hpp"

#include <algorithm>

namespace baytree::slp {

Symbol Symbols::intern(std::string_view name) {
  const auto [place, is_new] = numbers_.try_emplace(std::string(name), static_cast<Symbol>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return place->second;
}

TermId Terms::add(Term term) {
  nodes.push_back(term);
  return static_cast<TermId>(nodes.size() - 1);
}

TermId Terms::compound(Symbol name, std::span<const TermId> args, Place place) {
  const auto first = static_cast<std::uint32_t>(arguments.size());
  arguments.insert(arguments.end(), args.begin(), args.end());
  return add({.kind = Kind::compound,
              .name = name,
              .arity = static_cast<std::uint32_t>(args.size()),
              .first = first,
              .place = place});
}

bool Terms::is(TermId id, Symbol name, std::uint32_t arity) const {
  const Term& term = nodes[id];
  return arity == 0 ? term.kind == Kind::atom && term.name == name
                    : term.kind == Kind::compound && term.name == name && term.arity == arity;
}

Place Terms::start(TermId id) const {
  Place place = nodes[id].place;
  while (nodes[id].arity > 0) {
    id = argument(id, 0);
    place = std::min(place, nodes[id].place);
  }
  return place;
}

CommonSymbols::CommonSymbols(Symbols& symbols)
    : nil(symbols.intern("[]")),
      dot(symbols.intern("[|]")),
      comma(symbols.intern(",")),
      bar(symbols.intern("|")),
      neck(symbols.intern(":-")),
      colon(symbols.intern(":")),
      braces(symbols.intern("{}")),
      semicolon(symbols.intern(";")),
      arrow(symbols.intern("->")) {}

}  // namespace baytree::slp
