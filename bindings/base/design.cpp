#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

#include "base/bindings.hpp"
#include "baytree/base/error.hpp"
#include "baytree/data/row_sets.hpp"
#include "baytree/data/vocabulary.hpp"

namespace baytree::python {
namespace {

/// codes is None for a design that only describes columns (for prediction).
void add_column(BoundDesign& bound, const std::optional<NumpyArray>& codes, bool categorical, std::uint32_t observed,
                bool has_missing) {
  if (categorical && observed > max_levels)
    throw InputError("a categorical column has at most " + std::to_string(max_levels) + " levels");
  Column column{.categorical = categorical, .observed = observed, .has_missing = has_missing};
  Array<std::uint8_t> narrow;
  Array<std::uint16_t> wide;
  if (codes && nb::try_cast(*codes, narrow, false))
    column.codes = span_of(narrow);
  else if (codes && nb::try_cast(*codes, wide, false))
    column.codes = span_of(wide);
  else if (codes)
    throw nb::type_error("codes must be a contiguous array of uint8 or uint16, or None");
  bound.design.columns.push_back(column);
  if (codes) bound.owners.push_back(*codes);
}

}  // namespace

void bind_design(nb::module_& module) {
  nb::enum_<RowForm>(module, "RowForm")
      .value("suited", RowForm::suited)
      .value("lists", RowForm::lists)
      .value("sets", RowForm::sets);
  nb::class_<BoundDesign>(module, "Design")
      .def(
          "__init__",
          [](BoundDesign* self, Row rows) {
            new (self) BoundDesign{.design = {.columns = {}, .rows = rows}, .owners = {}};
          },
          nb::arg("rows"))
      .def("add_column", &add_column, nb::arg("codes").none(), nb::arg("categorical"), nb::arg("observed"),
           nb::arg("has_missing"))
      .def("validate", [](const BoundDesign& self) { validate(self.design); })
      .def(
          "choose_rows", [](BoundDesign& self, RowForm form, Simd widest) { choose_rows(self.design, form, widest); },
          nb::arg("form"), nb::arg("widest"));

  nb::class_<Vocabulary>(module, "Vocabulary")
      .def(
          "__init__",
          [](Vocabulary* self, std::vector<std::string> names, std::vector<std::vector<double>> cuts,
             std::vector<std::vector<std::string>> levels) {
            new (self) Vocabulary{std::move(names), std::move(cuts), std::move(levels)};
          },
          nb::arg("names"), nb::arg("cuts"), nb::arg("levels"));
}

}  // namespace baytree::python
