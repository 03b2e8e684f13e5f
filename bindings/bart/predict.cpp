#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <string>

#include "base/bindings.hpp"
#include "baytree/bart/predict/class_probabilities.hpp"
#include "baytree/bart/predict/predictor.hpp"
#include "baytree/bart/predict/shap.hpp"
#include "baytree/base/error.hpp"

namespace baytree::python {
namespace {

/// Draws of sums and the arrays they lie in.
struct BoundSumDraws {
  BoundSumDraws(const Array<std::int32_t>& trees, const Array<float>& leaf_values,
                const std::optional<Array<float>>& widths, std::size_t outputs)
      : tree_index(trees), values(leaf_values), bandwidths(widths) {
    if (tree_index.ndim() != 2) throw InputError("tree_index: give a row of trees for each draw");
    draws = {span_of(tree_index), tree_index.shape(1), outputs, span_of(values),
             bandwidths ? span_of(*bandwidths) : std::span<const float>()};
  }

  Array<std::int32_t> tree_index;
  Array<float> values;
  std::optional<Array<float>> bandwidths;
  bart::StoredDraws draws;
};

/// Checks the arguments, makes room for `per_row()` numbers a row and lets `fill` write them.
template <class T, class PerRow, class Fill>
NumpyArray predicted(const bart::Predictor& predictor, const Array<std::uint32_t>& codes,
                     const bart::StoredDraws& draws, PerRow per_row, Fill fill) {
  if (codes.ndim() != 2) throw InputError("codes: give a row of codes for each row of the table");
  const std::size_t rows = codes.shape(0);
  std::vector<T> out;
  {
    nb::gil_scoped_release release;
    predictor.check(draws, span_of(codes), rows);
    const std::size_t numbers = per_row();
    if (numbers > 0 && rows > out.max_size() / numbers)
      throw InputError("predict: " + std::to_string(rows) + " rows times " + std::to_string(numbers) +
                       " numbers are too many; take fewer rows at once");
    out.resize(rows * numbers);
    fill(rows, std::span<T>(out));
  }
  return to_numpy(std::move(out));
}

void bind(nb::module_& module) {
  module.def(
      "class_probabilities",
      [](const Array<double>& means) {
        if (means.ndim() != 2 || means.shape(1) == 0) throw InputError("means: give a row of means, one of each class");
        std::vector<double> out(means.size());
        {
          nb::gil_scoped_release release;
          bart::class_probabilities(span_of(means), means.shape(1), out);
        }
        return to_numpy(std::move(out));
      },
      nb::arg("means").noconvert(),
      "The probability of each of several normal variables of variance 1 to be the largest, row by row.");

  nb::class_<BoundSumDraws>(module, "SumDraws")
      .def(nb::init<const Array<std::int32_t>&, const Array<float>&, const std::optional<Array<float>>&, std::size_t>(),
           nb::arg("tree_index").noconvert(), nb::arg("values").noconvert(),
           nb::arg("bandwidths").noconvert().none() = nb::none(), nb::arg("outputs") = 1);

  nb::class_<bart::Predictor>(module, "SumPredictor")
      .def(
          "__init__",
          [](bart::Predictor* self, const BoundDesign& columns, const Arrays& forest, Simd widest) {
            new (self) bart::Predictor(forest_view(forest), columns.design.columns, widest);
          },
          nb::arg("columns"), nb::arg("forest"), nb::arg("widest") = Simd::avx512)
      .def_prop_ro("simd", &bart::Predictor::simd)
      .def(
          "sums",
          [](const bart::Predictor& self, const Array<std::uint32_t>& codes, const BoundSumDraws& bound) {
            const bart::StoredDraws& draws = bound.draws;
            return predicted<float>(
                self, codes, draws, [&] { return draws.sums(); },
                [&](std::size_t rows, std::span<float> out) { self.sums(draws, span_of(codes), rows, out); });
          },
          nb::arg("codes").noconvert(), nb::arg("draws"))
      .def(
          "mean",
          [](const bart::Predictor& self, const Array<std::uint32_t>& codes, const BoundSumDraws& bound) {
            const bart::StoredDraws& draws = bound.draws;
            return predicted<double>(
                self, codes, draws, [&] { return draws.outputs; },
                [&](std::size_t rows, std::span<double> out) { self.mean(draws, span_of(codes), rows, out); });
          },
          nb::arg("codes").noconvert(), nb::arg("draws"))
      .def(
          "shapley",
          [](const bart::Predictor& self, const Array<std::uint32_t>& codes, const BoundSumDraws& bound) {
            const bart::StoredDraws& draws = bound.draws;
            std::vector<double> expected;
            NumpyArray values = predicted<double>(
                self, codes, draws, [&] { return draws.sums() * self.trees().columns(); },
                [&](std::size_t rows, std::span<double> out) {
                  expected.resize(draws.sums());
                  bart::shapley_values(self, draws, span_of(codes), rows, out, expected);
                });
            return std::make_pair(values, to_numpy(std::move(expected)));
          },
          nb::arg("codes").noconvert(), nb::arg("draws"));
}

const FamilyBinding bound{"bart, prediction", bind};

}  // namespace
}  // namespace baytree::python
