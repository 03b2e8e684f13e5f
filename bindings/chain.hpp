#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "baytree/chain.hpp"
#include "bindings.hpp"

namespace baytree::python {

/// What chains over trees have in common, whatever their prior.
template <class Bound>
void bind_chain_steps(nb::class_<Bound> bound) {
  bound.def("advance", &Bound::advance, nb::arg("iterations"), nb::call_guard<nb::gil_scoped_release>())
      .def("draw", &Bound::draw, nb::arg("draws"), nb::arg("thin"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("log_likelihood", &Bound::log_likelihood)
      .def_prop_ro("log_prior", [](Bound& self) { return self.log_prior(); })
      .def_prop_ro("turns", [](Bound& self) { return self.mixture().turns; })
      .def_prop_ro("accepted", [](Bound& self) { return self.mixture().accepted; })
      .def("take",
           [](Bound& self) {
             Draws draws = self.take();
             nb::dict out;
             const bool has_values = !self.values().empty();
             out["statistics"] = to_numpy(std::move(draws.statistics));
             if (has_values) out["value"] = to_numpy(std::move(draws.value));
             out["tree"] = to_numpy(std::move(draws.tree));
             out["log_likelihood"] = to_numpy(std::move(draws.log_likelihood));
             out["log_prior"] = to_numpy(std::move(draws.log_prior));
             return std::make_tuple(forest_to_dict(std::move(draws.forest)), out);
           })
      .def("tree",
           [](Bound& self) {
             Forest forest;
             forest.add(self.nodes());
             return forest_to_dict(std::move(forest));
           })
      .def("values", [](Bound& self) { return self.values(); })
      .def(
          "restore_values", [](Bound& self, std::vector<double> values) { self.restore_values(std::move(values)); }, nb::arg("values"))
      .def("position",
           [](Bound& self) {
             const ChainPosition p = self.position();
             return std::make_tuple(p.stream, p.stored_trees, p.stored, p.turns, p.accepted);
           })
      .def(
          "restore_position",
          [](Bound& self, std::uint64_t stream, std::uint64_t stored_trees, bool stored, std::vector<std::uint64_t> turns,
             std::vector<std::uint64_t> accepted) { self.restore(ChainPosition{stream, stored_trees, stored, std::move(turns), std::move(accepted)}); },
          nb::arg("stream"), nb::arg("stored_trees"), nb::arg("stored"), nb::arg("turns"), nb::arg("accepted"));
}

}  // namespace baytree::python
