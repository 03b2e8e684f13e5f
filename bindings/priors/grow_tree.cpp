#include "baytree/priors/grow_tree.hpp"

#include <nanobind/stl/vector.h>

#include "base/bindings.hpp"

namespace baytree::python {

void bind_grow_tree(nb::module_& module) {
  nb::class_<GrowTree>(module, "GrowTree")
      .def(
          "__init__",
          [](GrowTree* self, double alpha, double beta, Row min_leaf, bool by_column, const Knowledge& knowledge,
             std::vector<std::vector<double>> cuts) {
            new (self) GrowTree{alpha, beta, min_leaf, by_column, knowledge, std::move(cuts)};
          },
          nb::arg("alpha"), nb::arg("beta"), nb::arg("min_leaf"), nb::arg("by_column"), nb::arg("knowledge"),
          nb::arg("cuts"));
  module.def(
      "grow_trees",
      [](const BoundDesign& design, GrowTree prior, std::uint64_t n, std::uint64_t seed) {
        Grower grower(design.design, prior);
        Stream stream(seed, Role::chain, 0);
        return forest_to_dict([&] {
          nb::gil_scoped_release release;
          return grow_trees(grower, n, stream);
        }());
      },
      nb::arg("design"), nb::arg("prior"), nb::arg("n"), nb::arg("seed"));
}

}  // namespace baytree::python
