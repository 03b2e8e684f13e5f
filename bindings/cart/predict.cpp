#include "base/bindings.hpp"
#include "baytree/trees/predictor.hpp"

namespace baytree::python {
namespace {

void bind(nb::module_& module) {
  nb::class_<Predictor>(module, "Predictor")
      .def(
          "__init__",
          [](Predictor* self, const BoundDesign& columns, const Arrays& forest) {
            new (self) Predictor(forest_view(forest), columns.design.columns);
          },
          nb::arg("columns"), nb::arg("forest"))
      .def_prop_ro("trees", &Predictor::trees)
      .def_prop_ro("leaves", &Predictor::leaves)
      .def(
          "apply",
          [](const Predictor& self, const Array<std::uint32_t>& codes) {
            const std::size_t rows = codes.shape(0);
            std::vector<std::int64_t> out(rows * self.trees());
            {
              nb::gil_scoped_release release;
              self.apply(span_of(codes), rows, out);
            }
            return to_numpy(std::move(out));
          },
          nb::arg("codes").noconvert())
      .def(
          "accumulate",
          [](const Predictor& self, const Array<std::uint32_t>& codes, std::size_t first, const Array<double>& weight,
             const Array<double>& values) {
            const std::size_t rows = codes.shape(0), width = values.shape(1);
            std::vector<double> out(rows * width, 0.0);
            {
              nb::gil_scoped_release release;
              self.accumulate(span_of(codes), rows, first, span_of(weight), span_of(values), width, out);
            }
            return to_numpy(std::move(out));
          },
          nb::arg("codes").noconvert(), nb::arg("first"), nb::arg("weight").noconvert(), nb::arg("values").noconvert());
}

const FamilyBinding bound{"cart, prediction", bind};

}  // namespace
}  // namespace baytree::python
