#include "base/bindings.hpp"

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

}  // namespace baytree::python
