#pragma once

#include <cstdint>

#include "baytree/slp/syntax/term.hpp"

namespace baytree::slp {

/// A place in the store.
using Address = std::uint32_t;

enum class Tag : std::uint8_t {
  reference,  // a variable; unbound where it refers to itself
  atom,       // a symbol
  integer,    // a whole number of at most 61 bits
  real,       // where the store keeps a double
  structure,  // where the store keeps a functor and then the arguments
  node,       // a set of rows
};

/// A term in one word: three bits say what it is, the others hold it or where it lies.
struct Cell {
  std::uint64_t bits = 0;

  static constexpr Cell make(Tag tag, std::uint64_t payload) {
    return {payload << 3 | static_cast<std::uint64_t>(tag)};
  }
  static constexpr Cell reference(Address address) { return make(Tag::reference, address); }
  static constexpr Cell atom(Symbol symbol) { return make(Tag::atom, symbol); }
  static constexpr Cell integer(std::int64_t value) { return make(Tag::integer, static_cast<std::uint64_t>(value)); }
  static constexpr Cell real(Address address) { return make(Tag::real, address); }
  static constexpr Cell structure(Address address) { return make(Tag::structure, address); }
  static constexpr Cell node(std::uint32_t number) { return make(Tag::node, number); }

  constexpr Tag tag() const { return static_cast<Tag>(bits & 7); }
  constexpr bool is(Tag tag_) const { return tag() == tag_; }
  constexpr Address address() const { return static_cast<Address>(bits >> 3); }
  constexpr Symbol symbol() const { return static_cast<Symbol>(bits >> 3); }
  constexpr std::uint32_t number() const { return static_cast<std::uint32_t>(bits >> 3); }
  constexpr std::int64_t integer() const { return static_cast<std::int64_t>(bits) >> 3; }
  constexpr bool is_number() const { return is(Tag::integer) || is(Tag::real); }
  constexpr bool is_atomic() const { return !is(Tag::reference) && !is(Tag::structure); }

  constexpr bool operator==(const Cell&) const = default;
};

/// A name with a number of arguments.
struct Functor {
  Symbol name = 0;
  std::uint32_t arity = 0;

  bool operator==(const Functor&) const = default;
};

}  // namespace baytree::slp
