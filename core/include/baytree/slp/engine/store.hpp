#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "baytree/slp/engine/cell.hpp"
#include "baytree/slp/engine/held.hpp"
#include "baytree/slp/program/number.hpp"
#include "baytree/slp/syntax/parser.hpp"

namespace baytree::slp {

/// Numbers for functors, given once.
class Functors {
 public:
  std::uint32_t intern(Functor functor);
  const Functor& operator[](std::uint32_t number) const { return functors_[number]; }

 private:
  std::vector<Functor> functors_;
  std::map<std::pair<Symbol, std::uint32_t>, std::uint32_t> numbers_;
};

/// Terms as cells on one growing array, with a trail of the bindings that may have to be undone. Everything walks with
/// a stack of its own: a term may be as deep as memory allows.
class Store {
 public:
  /// `begin` is what every run starts with: the constants of a program. The nodes of `data` count as memory.
  Store(Symbols symbols, Functors functors, std::vector<std::uint64_t> begin, std::size_t max_memory,
        std::uint64_t max_steps, const Data* data);

  // ---- memory
  Budget budget;
  Address top() const { return top_; }
  /// Forgets all cells from `to` on; the bindings of older variables must have been undone.
  void shrink(Address to) { top_ = to; }
  /// Room for `cells` more, with a margin for the next clause.
  void reserve(std::size_t cells) {
    if (top_ + cells + margin > cells_.room()) grow(cells);
  }
  static constexpr std::size_t margin = 4096;
  void clear();
  /// The same, and gives back what was taken.
  void drop();

  // ---- work
  /// Counts one step of work, a call or a visit to a part of a term: whatever does not end, terms that contain
  /// themselves included, ends here.
  void spend(std::uint64_t steps = 1) {
    if ((steps_ += steps) > look_up_at_) look_up();
  }
  void restart_count() {
    steps_ = look_up_at_ = 0;
    look_up();
  }

  Cell at(Address address) const { return {cells_[address]}; }
  void set(Address address, Cell cell) { cells_[address] = cell.bits; }
  Address push(Cell cell) {
    cells_[top_] = cell.bits;
    return top_++;
  }
  Cell push_variable() {
    const Address address = top_++;
    cells_[address] = Cell::reference(address).bits;
    return {cells_[address]};
  }

  // ---- bindings
  Cell deref(Cell cell) const {
    while (cell.is(Tag::reference)) {
      const Cell next = at(cell.address());
      if (next == cell) return cell;
      cell = next;
    }
    return cell;
  }
  void bind(Cell variable, Cell value) {
    set(variable.address(), value);
    if (variable.address() < boundary) trail.push_back(variable.address());
  }
  bool unify(Cell a, Cell b) {
    a = deref(a);
    b = deref(b);
    if (a == b) return true;
    if (a.is(Tag::reference) && !b.is(Tag::reference)) {
      bind(a, b);
      return true;
    }
    if (b.is(Tag::reference) && !a.is(Tag::reference)) {
      bind(b, a);
      return true;
    }
    return unify_all(a, b);
  }
  /// Whether two terms unify; leaves them as they are.
  bool can_unify(Cell a, Cell b);
  /// Undoes the bindings behind `to`.
  void undo(std::size_t to) {
    for (; trail.size() > to; trail.pop_back()) set(trail.back(), Cell::reference(trail.back()));
  }
  /// Variables below this address are older than the last point of return: their bindings are trailed.
  Address boundary = 0;
  Held<Address> trail;

  // ---- terms
  Symbols symbols;
  Functors functors;

  const Functor& functor(Cell structure) const {
    return functors[static_cast<std::uint32_t>(cells_[structure.address()])];
  }
  std::uint32_t functor_number(Cell structure) const { return static_cast<std::uint32_t>(cells_[structure.address()]); }
  Cell argument(Cell structure, std::uint32_t i) const { return deref(at(structure.address() + 1 + i)); }
  bool is_structure(Cell cell, std::uint32_t functor) const {
    return cell.is(Tag::structure) && functor_number(cell) == functor;
  }

  double real(Cell cell) const;
  Cell number(Number value);
  Number number_of(Cell cell) const {
    return cell.is(Tag::integer) ? Number::whole(cell.integer()) : Number::of(real(cell));
  }
  /// The value of an arithmetic term; throws Trouble where it has none.
  Number evaluate(Cell expression);

  Cell make_structure(std::uint32_t functor, std::span<const Cell> arguments);
  Cell make_list(std::span<const Cell> items);
  /// Appends the items of a proper list; false where it is none.
  bool list_items(Cell list, Held<Cell>& items);

  bool is_ground(Cell term);
  /// The standard order of terms: variables, numbers by value, atoms by name, nodes, then structures by arity, name and
  /// arguments.
  int compare(Cell a, Cell b);

  /// A term by itself, independent of the store's bindings to come; `load` makes it again with new variables.
  struct Copy {
    Held<std::uint64_t> cells;
    std::uint64_t root = 0;
  };
  Copy copy(Cell term);
  Cell load(const Copy& copy);

  /// Terms as text, with `_1`, `_2`, … for variables; what is deeper than 1,000 or beyond so many parts is written
  /// `...`. With no number of parts all is written, or Trouble thrown. Without quotes where `plain`.
  std::vector<std::string> texts(std::span<const Cell> terms, std::optional<std::size_t> most_parts = 10'000,
                                 bool plain = false) const;
  std::string text(Cell term) const;

  std::uint32_t list_functor, pair_functor;
  Cell nil;

 private:
  void grow(std::size_t cells);
  bool unify_all(Cell a, Cell b);
  /// Throws where there are too many steps, or a person interrupts.
  void look_up();
  TermId to_terms(Cell term, Source& source, std::optional<std::size_t> most_parts) const;

  std::vector<std::uint64_t> begin_;
  Cells cells_;
  std::uint64_t steps_ = 0, look_up_at_ = 0, max_steps_;
  Address top_ = 0;
  Held<std::pair<Cell, Cell>> pending_;
};

}  // namespace baytree::slp
