#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bindings.hpp"
#include "baytree/base/error.hpp"
#include "baytree/priors/program_knowledge.hpp"
#include "baytree/slp/engine/machine.hpp"
#include "baytree/slp/engine/prepare.hpp"

namespace baytree::python {

/// The values of a goal's variables, and what makes a compound term of a name and arguments.
class Answer : public nb::tuple {
 public:
  NB_OBJECT_DEFAULT(Answer, nb::tuple, "tuple[typing.Any, ...]", PyTuple_Check)
};
class MakeTerm : public nb::callable {
 public:
  NB_OBJECT(MakeTerm, nb::callable, "collections.abc.Callable[[str, tuple[typing.Any, ...]], typing.Any]",
            PyCallable_Check)
};

/// Terms as Python objects: atoms are strings, numbers numbers, lists lists, and compounds what `make(name, arguments)`
/// gives.
class Terms {
 public:
  Terms(slp::Store& store, MakeTerm make) : store_(store), make_(std::move(make)) {}

  nb::object convert(slp::Cell cell) {
    store_.restart_count();
    try {
      return convert(cell, 0);
    } catch (const slp::Trouble&) {
      throw InputError("a term is too large to be handed over, or contains itself");
    }
  }

 private:
  nb::object convert(slp::Cell cell, int depth) {
    if (depth > 5000) throw InputError("a term is nested too deeply to be handed over");
    store_.spend();
    cell = store_.deref(cell);
    switch (cell.tag()) {
      case slp::Tag::reference:
        return nb::str(("_" + std::to_string(cell.address())).c_str());
      case slp::Tag::atom:
        return cell == store_.nil ? nb::object(nb::list()) : text(cell.symbol());
      case slp::Tag::integer:
        return nb::int_(cell.integer());
      case slp::Tag::real:
        return nb::float_(store_.real(cell));
      case slp::Tag::node:
        return make_(nb::str("node"), nb::make_tuple(cell.number()));
      case slp::Tag::structure:
        break;
    }
    if (store_.is_structure(cell, store_.list_functor)) {
      nb::list items;
      for (; store_.is_structure(cell, store_.list_functor); cell = store_.argument(cell, 1)) {
        store_.spend();
        items.append(convert(store_.argument(cell, 0), depth + 1));
      }
      if (cell == store_.nil) return items;
      return make_(nb::str("|"), nb::make_tuple(items, convert(cell, depth + 1)));
    }
    const slp::Functor functor = store_.functor(cell);
    nb::list arguments;
    for (std::uint32_t i = 0; i < functor.arity; ++i) arguments.append(convert(store_.argument(cell, i), depth + 1));
    return make_(text(functor.name), nb::tuple(arguments));
  }

  nb::object text(slp::Symbol symbol) const {
    const std::string& name = store_.symbols.name(symbol);
    return nb::str(name.data(), name.size());
  }

  slp::Store& store_;
  MakeTerm make_;
};

/// A machine, with a table where there is one, and what turns its terms into objects.
struct Prover {
  Prover(const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits, MakeTerm make,
         const BoundDesign* design, Vocabulary vocabulary)
      : table(design ? std::make_unique<NodeTable>(
                           make_table(design->design, std::move(vocabulary), program.reading.program))
                     : nullptr),
        machine(program.code, semantics, table.get(), limits),
        terms(machine.store(), std::move(make)) {}

  /// The values of the goal's variables.
  Answer answer() {
    nb::list values;
    for (std::size_t i = 0; i < machine.code().goal_variables.size(); ++i)
      values.append(terms.convert(machine.answer(i)));
    return nb::borrow<Answer>(nb::tuple(values));
  }
  /// The same as text, which tells answers apart.
  std::string text() {
    const auto& names = machine.code().goal_variables;
    std::vector<slp::Cell> values;
    for (std::size_t i = 0; i < names.size(); ++i) values.push_back(machine.answer(i));
    const std::vector<std::string> texts = whole_texts(values);
    if (texts.size() == 1) return texts[0];
    std::string out;
    for (std::size_t i = 0; i < texts.size(); ++i) out += (i > 0 ? ", " : "") + names[i] + " = " + texts[i];
    return out;
  }

  std::vector<std::string> whole_texts(const std::vector<slp::Cell>& values) {
    try {
      return machine.store().texts(values, std::nullopt);
    } catch (const slp::Trouble& trouble) {
      throw InputError(trouble.message);
    }
  }

  std::unique_ptr<NodeTable> table;
  slp::Machine machine;
  Terms terms;
};

}  // namespace baytree::python
