#include "baytree/trees/best_fit.hpp"

#include "base/bindings.hpp"
#include "baytree/base/error.hpp"

namespace baytree::python {
namespace {

Record best_fits(const BoundDesign& bound, const Array<double>& weight, const Array<double>& values,
                 std::uint32_t leaves, std::uint64_t budget) {
  const Row rows = bound.design.rows;
  if (rows == 0 || weight.size() != rows || values.size() == 0 || values.size() % rows != 0)
    throw InputError("each row needs a weight, and as many values as the others");
  Forest forest;
  std::vector<double> low, high;
  std::uint64_t looks = 0;
  {
    nb::gil_scoped_release release;
    BestFits fits(bound.design, {span_of(weight), span_of(values), values.size() / rows}, leaves, budget);
    for (std::uint32_t most = 1; most <= leaves; ++most) forest.add(fits.tree(most));
    low = fits.low();
    high = fits.high();
    looks = fits.looks();
  }
  Record out;
  out["forest"] = forest_to_dict(std::move(forest));
  out["low"] = to_numpy(std::move(low));
  out["high"] = to_numpy(std::move(high));
  out["looks"] = looks;
  return out;
}

}  // namespace

void bind_best_fit(nb::module_& module) {
  module.def(
      "best_fits", &best_fits, nb::arg("design"), nb::arg("weight").noconvert(), nb::arg("values").noconvert(),
      nb::arg("leaves"), nb::arg("budget"),
      "The trees of at most 1, 2, … leaves that fit values of the rows best, and what any tree leaves at least.");
}

}  // namespace baytree::python
