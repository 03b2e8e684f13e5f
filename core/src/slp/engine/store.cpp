#include "baytree/slp/engine/store.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "baytree/base/interruption.hpp"

namespace baytree::slp {

std::uint32_t Functors::intern(Functor functor) {
  const auto [place, is_new] =
      numbers_.try_emplace({functor.name, functor.arity}, static_cast<std::uint32_t>(functors_.size()));
  if (is_new) functors_.push_back(functor);
  return place->second;
}

Store::Store(Symbols names, Functors known, std::vector<std::uint64_t> begin, std::size_t max_memory,
             std::uint64_t max_steps, const Data* data)
    : budget(max_memory, (begin.size() + 2 * margin) * sizeof(std::uint64_t), data),
      trail(budget),
      symbols(std::move(names)),
      functors(std::move(known)),
      begin_(std::move(begin)),
      cells_(budget),
      max_steps_(max_steps),
      pending_(budget) {
  list_functor = functors.intern({symbols.intern("[|]"), 2});
  pair_functor = functors.intern({symbols.intern("-"), 2});
  nil = Cell::atom(symbols.intern("[]"));
  clear();
}

void Store::clear() {
  trail.clear();
  top_ = 0;
  reserve(begin_.size());
  std::copy(begin_.begin(), begin_.end(), cells_.data());
  top_ = boundary = static_cast<Address>(begin_.size());
}

void Store::drop() {
  slp::drop(trail, pending_);
  cells_.drop();
  clear();
}

/// To twice as many, but so that as much is left for all else.
void Store::grow(std::size_t cells) {
  constexpr std::size_t most = 0xffff'ffff;  // addresses
  const std::size_t needed = top_ + cells + margin, left = budget.left() / sizeof(std::uint64_t);
  if (needed > most) throw Trouble{"the program needs more memory than there are addresses"};
  cells_.grow(std::min(most, std::max(needed, cells_.room() + std::min(cells_.room(), left / 2))));
}

void Store::look_up() {
  constexpr std::uint64_t seldom = 1 << 14;
  heed_interruption();
  if (steps_ > max_steps_)
    throw Trouble{"the program took more than the " + std::to_string(max_steps_) + " steps it may take"};
  look_up_at_ = std::min(max_steps_, steps_ + seldom);
}

bool Store::unify_all(Cell first, Cell second) {
  pending_.assign(1, {first, second});
  while (!pending_.empty()) {
    spend();
    const Cell a = deref(pending_.back().first), b = deref(pending_.back().second);
    pending_.pop_back();
    if (a == b) continue;
    if (a.is(Tag::reference) && b.is(Tag::reference)) {
      // The younger refers to the older, so that no reference outlives what it refers to.
      if (a.address() < b.address())
        bind(b, a);
      else
        bind(a, b);
    } else if (a.is(Tag::reference)) {
      bind(a, b);
    } else if (b.is(Tag::reference)) {
      bind(b, a);
    } else if (a.is(Tag::structure) && b.is(Tag::structure)) {
      if (functor_number(a) != functor_number(b)) return false;
      for (std::uint32_t i = functor(a).arity; i-- > 0;)
        pending_.emplace_back(at(a.address() + 1 + i), at(b.address() + 1 + i));
    } else if (!(a.is(Tag::real) && b.is(Tag::real) && cells_[a.address()] == cells_[b.address()])) {
      return false;
    }
  }
  return true;
}

bool Store::can_unify(Cell a, Cell b) {
  const std::size_t kept = trail.size();
  const Address kept_boundary = boundary;
  boundary = top_;  // so that every binding is trailed
  const bool unifies = unify(a, b);
  undo(kept);
  boundary = kept_boundary;
  return unifies;
}

double Store::real(Cell cell) const { return std::bit_cast<double>(cells_[cell.address()]); }

Cell Store::number(Number value) {
  if (value.is_integer) return Cell::integer(value.integer);
  reserve(1);
  return Cell::real(push({std::bit_cast<std::uint64_t>(value.real)}));
}

Number Store::evaluate(Cell expression) {
  // A stack of terms to come and of functions to apply to what they gave.
  struct Step {
    Cell term;
    std::optional<Function> function;
  };
  Held<Step> steps({{expression, {}}}, budget);
  Held<Number> values(budget);
  while (!steps.empty()) {
    spend();
    const Step step = steps.back();
    steps.pop_back();
    if (step.function) {
      const std::uint32_t arity = arity_of(*step.function);
      const Number y = arity == 2 ? values.back() : Number{}, x = arity == 0 ? Number{} : values[values.size() - arity];
      values.resize(values.size() - arity);
      const auto value = apply(*step.function, x, y);
      if (!value)
        throw Trouble{
            "the arithmetic has no value here: division by 0, the root or logarithm of a negative number, or a whole "
            "number that is too large"};
      values.push_back(*value);
      continue;
    }
    const Cell term = deref(step.term);
    switch (term.tag()) {
      case Tag::reference:
        throw Trouble{"a variable of the arithmetic has no value yet"};
      case Tag::integer:
      case Tag::real:
        values.push_back(number_of(term));
        break;
      case Tag::node:
        throw Trouble{"a node is no number"};
      case Tag::atom:
      case Tag::structure: {
        const Functor name = term.is(Tag::atom) ? Functor{term.symbol(), 0} : functor(term);
        const auto function = function_named(symbols.name(name.name), name.arity);
        if (!function) throw Trouble{text(term) + " is no arithmetic"};
        steps.push_back({term, function});
        for (std::uint32_t i = name.arity; i-- > 0;) steps.push_back({argument(term, i), {}});
        break;
      }
    }
  }
  return values.back();
}

Cell Store::make_structure(std::uint32_t functor_id, std::span<const Cell> arguments) {
  reserve(arguments.size() + 1);
  const Address address = push({functor_id});
  for (const Cell argument : arguments) push(argument);
  return Cell::structure(address);
}

Cell Store::make_list(std::span<const Cell> items) {
  reserve(3 * items.size());
  Cell list = nil;
  for (std::size_t i = items.size(); i-- > 0;) {
    const Address address = push({list_functor});
    push(items[i]);
    push(list);
    list = Cell::structure(address);
  }
  return list;
}

bool Store::list_items(Cell list, Held<Cell>& items) {
  for (list = deref(list); is_structure(list, list_functor); list = argument(list, 1)) {
    spend();
    items.push_back(argument(list, 0));
  }
  return list == nil;
}

bool Store::is_ground(Cell term) {
  term = deref(term);
  if (!term.is(Tag::structure)) return !term.is(Tag::reference);
  Held<Cell> pending({term}, budget);
  while (!pending.empty()) {
    spend();
    const Cell next = deref(pending.back());
    pending.pop_back();
    if (next.is(Tag::reference)) return false;
    if (next.is(Tag::structure))
      for (std::uint32_t i = functor(next).arity; i-- > 0;) pending.push_back(at(next.address() + 1 + i));
  }
  return true;
}

int Store::compare(Cell first, Cell second) {
  const auto rank = [](Cell cell) {
    switch (cell.tag()) {
      case Tag::reference:
        return 0;
      case Tag::integer:
      case Tag::real:
        return 1;
      case Tag::atom:
        return 2;
      case Tag::node:
        return 3;
      default:
        return 4;
    }
  };
  const auto order = [](auto x, auto y) { return (x > y) - (x < y); };
  Held<std::pair<Cell, Cell>> pending({{first, second}}, budget);
  while (!pending.empty()) {
    spend();
    const Cell a = deref(pending.back().first), b = deref(pending.back().second);
    pending.pop_back();
    if (a == b) continue;
    int result = order(rank(a), rank(b));
    if (result == 0) {
      switch (rank(a)) {
        case 1:
          result = slp::compare(number_of(a), number_of(b));
          // 1.0 stands before 1, and −0.0 before 0.0.
          if (result == 0) result = order(a.is(Tag::integer), b.is(Tag::integer));
          if (result == 0) result = order(std::signbit(number_of(b).value()), std::signbit(number_of(a).value()));
          break;
        case 2:
          result = order(symbols.name(a.symbol()).compare(symbols.name(b.symbol())), 0);
          break;
        case 4: {
          const Functor &f = functor(a), &g = functor(b);
          result = order(f.arity, g.arity);
          if (result == 0) result = order(symbols.name(f.name).compare(symbols.name(g.name)), 0);
          if (result == 0)
            for (std::uint32_t i = f.arity; i-- > 0;)
              pending.emplace_back(at(a.address() + 1 + i), at(b.address() + 1 + i));
          break;
        }
        default:
          result = order(a.bits, b.bits);
      }
    }
    if (result != 0) return result;
  }
  return 0;
}

Store::Copy Store::copy(Cell term) {
  Copy out{Held<std::uint64_t>(budget)};
  // variables and structures already copied
  std::unordered_map<std::uint64_t, std::uint64_t, std::hash<std::uint64_t>, std::equal_to<>,
                     Counted<std::pair<const std::uint64_t, std::uint64_t>>>
      made(budget);
  // Cells of `out` that still hold a cell of the store.
  Held<std::uint64_t> open(budget);
  const auto place = [&](Cell cell) -> std::uint64_t {
    cell = deref(cell);
    if (cell.is(Tag::atom) || cell.is(Tag::integer) || cell.is(Tag::node)) return cell.bits;
    const auto [entry, is_new] = made.try_emplace(cell.bits, 0);
    if (is_new) {
      const auto at_ = static_cast<Address>(out.cells.size());
      entry->second = Cell::make(cell.tag(), at_).bits;
      if (cell.is(Tag::reference)) {
        out.cells.push_back(entry->second);
      } else if (cell.is(Tag::real)) {
        out.cells.push_back(cells_[cell.address()]);
      } else {
        const std::uint32_t arity = functor(cell).arity;
        out.cells.push_back(functor_number(cell));
        for (std::uint32_t i = 0; i < arity; ++i) {
          open.push_back(out.cells.size());
          out.cells.push_back(at(cell.address() + 1 + i).bits);
        }
      }
    }
    return entry->second;
  };
  out.root = place(term);
  while (!open.empty()) {
    spend();
    const std::uint64_t at_ = open.back();
    open.pop_back();
    const std::uint64_t bits = place({out.cells[at_]});
    out.cells[at_] = bits;
  }
  return out;
}

Cell Store::load(const Copy& copy) {
  reserve(copy.cells.size());
  const Address base = top_;
  const auto moved = [base](Cell cell) {
    return cell.is(Tag::atom) || cell.is(Tag::integer) || cell.is(Tag::node)
               ? cell
               : Cell::make(cell.tag(), std::uint64_t{cell.address()} + base);
  };
  std::copy(copy.cells.begin(), copy.cells.end(), cells_.data() + base);
  top_ += static_cast<Address>(copy.cells.size());
  // Which cells are terms and which functors or doubles is known only from those that refer to them.
  Held<Cell> pending({moved({copy.root})}, budget);
  Held<bool> seen(copy.cells.size(), budget);
  while (!pending.empty()) {
    const Cell cell = pending.back();
    pending.pop_back();
    if (cell.is_atomic() || seen[cell.address() - base]) continue;
    seen[cell.address() - base] = true;
    if (cell.is(Tag::reference)) {
      set(cell.address(), cell);
      continue;
    }
    for (std::uint32_t i = functor(cell).arity; i-- > 0;) {
      const Address at_ = cell.address() + 1 + i;
      set(at_, moved(at(at_)));
      pending.push_back(at(at_));
    }
  }
  return moved({copy.root});
}

namespace {

constexpr int max_text_depth = 1000, max_whole_depth = 5000;
constexpr std::size_t most_whole_parts = 4'000'000;
constexpr std::size_t bytes_of_a_part = 4 * sizeof(Term);  // while a vector grows, and as text

}  // namespace

TermId Store::to_terms(Cell term, Source& source, std::optional<std::size_t> most_parts) const {
  struct Walk {
    const Store& store;
    Source& source;
    std::optional<std::size_t> most_parts;

    bool is_full() const {
      const std::size_t parts = source.terms.nodes.size();
      if (!most_parts && (parts > most_whole_parts || parts * bytes_of_a_part > store.budget.left()))
        throw Trouble{"a term has too many parts to be written, or contains itself"};
      return most_parts && source.terms.nodes.size() > *most_parts;
    }

    TermId name(Kind kind, std::string_view text) {
      return source.terms.add({.kind = kind, .name = source.symbols.intern(text)});
    }

    TermId make(Cell cell, int depth) {
      cell = store.deref(cell);
      switch (cell.tag()) {
        case Tag::reference:
          return name(Kind::variable, "_" + std::to_string(cell.address()));
        case Tag::atom:
          return name(Kind::atom, store.symbols.name(cell.symbol()));
        case Tag::integer:
          return source.terms.add({.kind = Kind::integer, .integer = cell.integer()});
        case Tag::real:
          return source.terms.add({.kind = Kind::real, .real = store.real(cell)});
        case Tag::node: {
          const TermId number = source.terms.add({.kind = Kind::integer, .integer = cell.number()});
          return source.terms.compound(source.symbols.intern("node"), {&number, 1}, {});
        }
        case Tag::structure:
          break;
      }
      if (depth == 0 && !most_parts)
        throw Trouble{"a term is nested more than " + std::to_string(max_whole_depth) + " deep"};
      if (depth == 0 || is_full()) return name(Kind::atom, "...");
      if (store.is_structure(cell, store.list_functor)) return list(cell, depth);
      const Functor& functor = store.functor(cell);
      std::vector<TermId> arguments;
      for (std::uint32_t i = 0; i < functor.arity; ++i) arguments.push_back(make(store.argument(cell, i), depth - 1));
      return source.terms.compound(source.symbols.intern(store.symbols.name(functor.name)), arguments, {});
    }

    TermId list(Cell cell, int depth) {
      std::vector<TermId> items;
      for (; store.is_structure(cell, store.list_functor) && !is_full(); cell = store.argument(cell, 1))
        items.push_back(make(store.argument(cell, 0), depth - 1));
      TermId tail = make(cell, depth - 1);
      const Symbol dot = source.symbols.intern("[|]");
      for (std::size_t i = items.size(); i-- > 0;) {
        const TermId pair[] = {items[i], tail};
        tail = source.terms.compound(dot, pair, {});
      }
      return tail;
    }
  };
  return Walk{*this, source, most_parts}.make(term, most_parts ? max_text_depth : max_whole_depth);
}

std::vector<std::string> Store::texts(std::span<const Cell> terms, std::optional<std::size_t> most_parts,
                                      bool plain) const {
  Source source;
  std::vector<TermId> roots;
  for (const Cell term : terms) roots.push_back(to_terms(term, source, most_parts));
  std::unordered_map<Symbol, std::uint32_t> numbers;
  std::vector<Symbol> names;
  for (Term& node : source.terms.nodes) {
    if (node.kind != Kind::variable) continue;
    const auto [known, is_new] = numbers.try_emplace(node.name, static_cast<std::uint32_t>(names.size()));
    if (is_new) names.push_back(source.symbols.intern("_" + std::to_string(names.size() + 1)));
    node.variable = known->second;
  }
  std::vector<std::string> texts;
  for (const TermId root : roots) texts.push_back(write(source, root, names, plain ? Style::plain : Style::close));
  return texts;
}

std::string Store::text(Cell term) const { return std::move(texts({&term, 1})[0]); }

}  // namespace baytree::slp
