#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "base/bindings.hpp"
#include "baytree/base/error.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/base/simd.hpp"
#include "baytree/data/design.hpp"

namespace baytree::python {

// Made when it is first asked for: what fills it is initialised in no particular order.
std::map<std::string, FamilyBinding::Bind>& FamilyBinding::all() {
  static std::map<std::string, Bind> found;
  return found;
}

}  // namespace baytree::python

NB_MODULE(_core, module) {
  using namespace baytree;
  using namespace baytree::python;
  module.doc() =
      "The native core: chains over trees, over subsets of columns and over mixtures of experts, prediction with many "
      "trees, hidden Markov chains.";

  // baytree.errors defines the exception; it is looked up when thrown, so that the core can be imported first.
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const InputError& error) {
      nb::object type = nb::module_::import_("baytree.errors").attr("InputError");
      PyErr_SetString(type.ptr(), error.what());
    }
  });

  // A class comes before the functions that take it, so that their signatures can name it.
  bind_interruption(module);
  bind_stream(module);
  bind_design(module);
  bind_knowledge(module);
  bind_grow_tree(module);
  bind_best_fit(module);
  bind_tempering(module);
  bind_source(module);
  bind_program(module);
  bind_prover(module);
  bind_proof_chain(module);
  for (const auto& [name, bind] : FamilyBinding::all()) bind(module);
  bind_faults(module);
}
