#include "base/tempering.hpp"

namespace baytree::python {

void bind_tempering(nb::module_& module) {
  nb::class_<Tempering>(module, "Tempering")
      .def(
          "__init__",
          [](Tempering* self, Ladder ladder, std::uint64_t swap_every, bool any_pair, bool adapts) {
            new (self) Tempering{std::move(ladder), swap_every, any_pair, adapts};
          },
          nb::arg("ladder"), nb::arg("swap_every"), nb::arg("any_pair"), nb::arg("adapts"));
  nb::class_<TemperingPosition>(module, "TemperingPosition")
      .def(nb::init<>())
      .def_rw("iterations", &TemperingPosition::iterations)
      .def_rw("phases", &TemperingPosition::phases)
      .def_rw("stream", &TemperingPosition::stream)
      .def_rw("stored_trees", &TemperingPosition::stored_trees)
      .def_rw("stored", &TemperingPosition::stored)
      .def_rw("ladder", &TemperingPosition::ladder)
      .def_rw("walker", &TemperingPosition::walker)
      .def_rw("heading", &TemperingPosition::heading)
      .def_rw("tried", &TemperingPosition::tried)
      .def_rw("accepted", &TemperingPosition::accepted)
      .def_rw("round_trips", &TemperingPosition::round_trips)
      .def_rw("round_phases", &TemperingPosition::round_phases)
      .def_rw("round_length", &TemperingPosition::round_length)
      .def_rw("rejection", &TemperingPosition::rejection)
      .def_rw("log_likelihood", &TemperingPosition::log_likelihood);
}

}  // namespace baytree::python
