#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "baytree/base/error.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/base/simd.hpp"
#include "baytree/data/design.hpp"
#include "bindings.hpp"

namespace baytree::python {
namespace {

/// codes is None for a design that only describes columns (for prediction).
void add_column(BoundDesign& bound, const nb::object& codes, bool categorical, std::uint32_t observed, bool has_missing) {
  if (categorical && observed > max_levels) throw InputError("a categorical column has at most " + std::to_string(max_levels) + " levels");
  Column column{.categorical = categorical, .observed = observed, .has_missing = has_missing};
  Array<std::uint8_t> narrow;
  Array<std::uint16_t> wide;
  if (nb::try_cast(codes, narrow, false))
    column.codes = span_of(narrow);
  else if (nb::try_cast(codes, wide, false))
    column.codes = span_of(wide);
  else if (!codes.is_none())
    throw nb::type_error("codes must be a contiguous array of uint8 or uint16, or None");
  bound.design.columns.push_back(column);
  bound.owners.push_back(codes);
}

}  // namespace
}  // namespace baytree::python

NB_MODULE(_core, module) {
  using namespace baytree;
  using namespace baytree::python;
  module.doc() = "The native core: chains over trees, over subsets of columns and over mixtures of experts, prediction with many trees, hidden Markov chains.";

  // baytree.errors defines the exception; it is looked up when thrown, so that the core can be imported first.
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const InputError& error) {
      nb::object type = nb::module_::import_("baytree.errors").attr("InputError");
      PyErr_SetString(type.ptr(), error.what());
    }
  });

  nb::class_<BoundDesign>(module, "Design")
      .def(
          "__init__", [](BoundDesign* self, Row rows) { new (self) BoundDesign{.design = {.columns = {}, .rows = rows}, .owners = {}}; }, nb::arg("rows"))
      .def("add_column", &add_column, nb::arg("codes").none(), nb::arg("categorical"), nb::arg("observed"), nb::arg("has_missing"))
      .def("validate", [](const BoundDesign& self) { validate(self.design); });

  module.def("philox", &philox, nb::arg("counter"), nb::arg("key"), "One block of Philox4x32-10.");
  nb::class_<Stream>(module, "Stream")
      .def(
          "__init__", [](Stream* self, std::uint64_t seed, std::uint32_t replica) { new (self) Stream(seed, Role::chain, replica); }, nb::arg("seed"),
          nb::arg("replica"))
      .def("next32", &Stream::next32)
      .def("uniform", &Stream::uniform)
      .def("below",
           [](Stream& self, std::uint64_t n) {
             if (n == 0) throw InputError("below needs n > 0");
             return self.below(n);
           })
      .def("normal", &Stream::normal)
      .def("normal_above", &Stream::normal_above, nb::arg("low"))
      .def("log_gamma", &Stream::log_gamma, nb::arg("shape"))
      .def("logit_beta", &Stream::logit_beta, nb::arg("a"), nb::arg("b"))
      .def("student", &Stream::student, nb::arg("freedom"))
      .def("seek", &Stream::seek)
      .def_prop_ro("position", &Stream::position);

  nb::enum_<Simd>(module, "Simd").value("plain", Simd::plain).value("avx2", Simd::avx2).value("avx512", Simd::avx512);
  bind_knowledge(module);
  bind_cart(module);
  bind_predict(module);
  bind_sums(module);
  bind_slp(module);
  bind_programs(module);
  bind_bart(module);
  bind_subset(module);
  bind_hme(module);
  bind_hmm(module);
}
