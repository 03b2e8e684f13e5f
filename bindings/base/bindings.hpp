#pragma once

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

// Of each file that binds something; see module.cpp.
void bind_cart(nb::module_& module);
void bind_design(nb::module_& module);
void bind_faults(nb::module_& module);
void bind_grow_tree(nb::module_& module);
void bind_hmdt(nb::module_& module);
void bind_hme(nb::module_& module);
void bind_knowledge(nb::module_& module);
void bind_predictor(nb::module_& module);
void bind_program(nb::module_& module);
void bind_program_chains(nb::module_& module);
void bind_proof_chain(nb::module_& module);
void bind_prover(nb::module_& module);
void bind_source(nb::module_& module);
void bind_stream(nb::module_& module);
void bind_subset(nb::module_& module);
void bind_sum_chain(nb::module_& module);
void bind_sum_predictor(nb::module_& module);
void bind_tempering(nb::module_& module);

}  // namespace baytree::python
