#pragma once

#include <map>
#include <string>

#include "base/arrays.hpp"
#include "baytree/trees/forest.hpp"

namespace baytree::python {

/// A design and the arrays its codes lie in.
struct BoundDesign {
  Design design;
  std::vector<nb::object> owners;
};

/// A forest as a dictionary of arrays, in and out.
Arrays forest_to_dict(Forest forest);
ForestView forest_view(const Arrays& arrays);

/// What a file of a family binds: it says `const FamilyBinding bound{"NAME", bind};`, and module.cpp calls all such
/// functions, in the order of their names, after those of what families share.
struct FamilyBinding {
  using Bind = void (*)(nb::module_&);
  FamilyBinding(const char* name, Bind bind) { all().emplace(name, bind); }
  static std::map<std::string, Bind>& all();
};

// Of each file that binds what families share.
void bind_best_fit(nb::module_& module);
void bind_design(nb::module_& module);
void bind_faults(nb::module_& module);
void bind_grow_tree(nb::module_& module);
void bind_interruption(nb::module_& module);
void bind_knowledge(nb::module_& module);
void bind_program(nb::module_& module);
void bind_proof_chain(nb::module_& module);
void bind_prover(nb::module_& module);
void bind_source(nb::module_& module);
void bind_stream(nb::module_& module);
void bind_tempering(nb::module_& module);

}  // namespace baytree::python
