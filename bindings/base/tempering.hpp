#pragma once

#include <nanobind/stl/vector.h>

#include "base/bindings.hpp"
#include "baytree/mcmc/tempering.hpp"

namespace baytree::python {

/// What all chains have in common, whatever they are over: `Bound` is a tempered chain, of one rung or more.
template <class Bound>
void bind_tempered_steps(nb::class_<Bound>& bound) {
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  bound.def("warm_up", &Bound::warm_up, nb::arg("iterations"), nb::arg("threads"), released)
      .def("end_warm_up", &Bound::end_warm_up)
      .def("advance", &Bound::advance, nb::arg("iterations"), nb::arg("threads") = 1, released)
      .def("draw", &Bound::draw, nb::arg("draws"), nb::arg("thin"), nb::arg("threads") = 1, released)
      .def_prop_ro("rungs", &Bound::size)
      .def_prop_ro("log_likelihood", [](Bound& self) { return self.cold().log_likelihood(); })
      .def_prop_ro("log_prior", [](Bound& self) { return self.cold().log_prior(); })
      .def("position", &Bound::position)
      .def(
          "restore_position", [](Bound& self, const TemperingPosition& position) { self.restore(position); },
          nb::arg("position"));
}

/// Where each rung is, of chains whose position is one record, and the way back.
template <class Bound>
void bind_rung_positions(nb::class_<Bound>& bound) {
  using Position = decltype(std::declval<Bound&>().rung(0).position());
  bound
      .def(
          "rung_position", [](Bound& self, std::size_t rung) { return self.rung(rung).position(); },
          nb::arg("rung") = 0)
      .def(
          "restore_rung",
          [](Bound& self, std::size_t rung, const Position& position) {
            self.rung(rung).restore(position);
            self.rungs_moved();
          },
          nb::arg("rung"), nb::arg("position"));
}

}  // namespace baytree::python
