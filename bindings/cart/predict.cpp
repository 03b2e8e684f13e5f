#include "base/bindings.hpp"
#include "baytree/trees/predictor.hpp"

namespace baytree::python {

Arrays forest_to_dict(Forest forest) {
  Arrays out;
  out["feature"] = to_numpy(std::move(forest.feature));
  out["cut"] = to_numpy(std::move(forest.cut));
  out["subset"] = to_numpy(std::move(forest.subset));
  out["missing_left"] = to_numpy(std::move(forest.missing_left));
  out["rows"] = to_numpy(std::move(forest.rows));
  out["begin"] = to_numpy(std::move(forest.begin));
  return out;
}

ForestView forest_view(const Arrays& arrays) {
  return {span_of(nb::cast<Array<std::int32_t>>(arrays["feature"], false)),
          span_of(nb::cast<Array<std::uint32_t>>(arrays["cut"], false)),
          span_of(nb::cast<Array<std::uint64_t>>(arrays["subset"], false)),
          span_of(nb::cast<Array<std::uint8_t>>(arrays["missing_left"], false)),
          span_of(nb::cast<Array<std::uint32_t>>(arrays["rows"], false)),
          span_of(nb::cast<Array<std::uint64_t>>(arrays["begin"], false))};
}

void bind_predictor(nb::module_& module) {
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

}  // namespace baytree::python
