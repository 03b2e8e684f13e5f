#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include "base/bindings.hpp"
#include "baytree/base/error.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/base/simd.hpp"

namespace baytree::python {

void bind_stream(nb::module_& module) {
  module.def("philox", &philox, nb::arg("counter"), nb::arg("key"), "One block of Philox4x32-10.");
  nb::class_<Stream>(module, "Stream")
      .def(
          "__init__",
          [](Stream* self, std::uint64_t seed, std::uint32_t replica) {
            new (self) Stream(seed, Role::chain, replica);
          },
          nb::arg("seed"), nb::arg("replica"))
      .def("next32", &Stream::next32)
      .def("uniform", &Stream::uniform)
      .def(
          "below",
          [](Stream& self, std::uint64_t n) {
            if (n == 0) throw InputError("below needs n > 0");
            return self.below(n);
          },
          nb::arg("n"))
      .def("normal", &Stream::normal)
      .def("normal_above", &Stream::normal_above, nb::arg("low"))
      .def("log_gamma", &Stream::log_gamma, nb::arg("shape"))
      .def("logit_beta", &Stream::logit_beta, nb::arg("a"), nb::arg("b"))
      .def("student", &Stream::student, nb::arg("freedom"))
      .def("seek", &Stream::seek, nb::arg("position"))
      .def_prop_ro("position", &Stream::position);

  nb::enum_<Simd>(module, "Simd").value("plain", Simd::plain).value("avx2", Simd::avx2).value("avx512", Simd::avx512);
}

}  // namespace baytree::python
