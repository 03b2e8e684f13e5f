#pragma once

#include "arrays.hpp"
#include "baytree/trees/forest.hpp"

namespace baytree::python {

/// A design and the arrays its codes lie in.
struct BoundDesign {
  Design design;
  std::vector<nb::object> owners;
};

/// A forest as a dictionary of arrays, in and out.
nb::dict forest_to_dict(Forest forest);
ForestView forest_view(const nb::dict& arrays);

void bind_bart(nb::module_& module);
void bind_cart(nb::module_& module);
void bind_hme(nb::module_& module);
void bind_hmm(nb::module_& module);
void bind_knowledge(nb::module_& module);
void bind_predict(nb::module_& module);
void bind_programs(nb::module_& module);
void bind_slp(nb::module_& module);
void bind_subset(nb::module_& module);
void bind_sums(nb::module_& module);

}  // namespace baytree::python
