#include <nanobind/stl/optional.h>

#include "baytree/bart/sum_predictor.hpp"
#include "baytree/error.hpp"
#include "bindings.hpp"

namespace baytree::python {
namespace {

/// Draws of sums and the arrays they lie in.
struct BoundSumDraws {
  BoundSumDraws(const Array<std::int32_t>& trees, const Array<float>& leaf_values, const std::optional<Array<float>>& widths, std::size_t outputs)
      : tree_index(trees), values(leaf_values), bandwidths(widths) {
    if (tree_index.ndim() != 2) throw InputError("tree_index: give a row of trees for each draw");
    draws = {span_of(tree_index), tree_index.shape(1), outputs, span_of(values), bandwidths ? span_of(*bandwidths) : std::span<const float>()};
  }

  Array<std::int32_t> tree_index;
  Array<float> values;
  std::optional<Array<float>> bandwidths;
  SumDraws draws;
};

/// Checks the arguments, makes room for `size(rows)` numbers and lets `fill` write them.
template <class T, class Size, class Fill>
nb::object predicted(const SumPredictor& predictor, const Array<std::uint32_t>& codes, const SumDraws& draws, Size size, Fill fill) {
  if (codes.ndim() != 2) throw InputError("codes: give a row of codes for each row of the table");
  const std::size_t rows = codes.shape(0);
  std::vector<T> out;
  {
    nb::gil_scoped_release release;
    predictor.check(draws, span_of(codes), rows);
    out.resize(size(rows));
    fill(rows, std::span<T>(out));
  }
  return to_numpy(std::move(out));
}

}  // namespace

void bind_sums(nb::module_& module) {
  nb::class_<BoundSumDraws>(module, "SumDraws")
      .def(nb::init<const Array<std::int32_t>&, const Array<float>&, const std::optional<Array<float>>&, std::size_t>(), nb::arg("tree_index").noconvert(),
           nb::arg("values").noconvert(), nb::arg("bandwidths").noconvert().none() = nb::none(), nb::arg("outputs") = 1);

  nb::class_<SumPredictor>(module, "SumPredictor")
      .def(
          "__init__",
          [](SumPredictor* self, const BoundDesign& columns, const nb::dict& forest, Simd widest) {
            new (self) SumPredictor(forest_view(forest), columns.design.columns, widest);
          },
          nb::arg("columns"), nb::arg("forest"), nb::arg("widest") = Simd::avx512)
      .def_prop_ro("simd", &SumPredictor::simd)
      .def(
          "sums",
          [](const SumPredictor& self, const Array<std::uint32_t>& codes, const BoundSumDraws& bound) {
            const SumDraws& draws = bound.draws;
            return predicted<float>(
                self, codes, draws, [&](std::size_t rows) { return draws.sums() * rows; },
                [&](std::size_t rows, std::span<float> out) { self.sums(draws, span_of(codes), rows, out); });
          },
          nb::arg("codes").noconvert(), nb::arg("draws"))
      .def(
          "mean",
          [](const SumPredictor& self, const Array<std::uint32_t>& codes, const BoundSumDraws& bound) {
            const SumDraws& draws = bound.draws;
            return predicted<double>(
                self, codes, draws, [&](std::size_t rows) { return draws.outputs * rows; },
                [&](std::size_t rows, std::span<double> out) { self.mean(draws, span_of(codes), rows, out); });
          },
          nb::arg("codes").noconvert(), nb::arg("draws"));
}

}  // namespace baytree::python
