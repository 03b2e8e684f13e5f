#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/bindings.hpp"
#include "baytree/knowledge/restrictions.hpp"

namespace baytree::python {
namespace {

using Feature = std::uint32_t;
using Features = std::vector<Feature>;
using Side = std::tuple<Feature, double, double>;

/// Lists of tuples as Python has them, as the core names their parts.
template <class To, class From>
std::vector<To> named(const std::vector<From>& items) {
  std::vector<To> out;
  for (const From& item : items) out.push_back(std::apply([](const auto&... parts) { return To{parts...}; }, item));
  return out;
}

std::vector<Box> boxes_of(const std::vector<std::vector<Side>>& boxes) {
  std::vector<Box> out;
  for (const auto& sides : boxes) out.push_back({named<Box::Side>(sides)});
  return out;
}

}  // namespace

void bind_knowledge(nb::module_& module) {
  nb::class_<Knowledge>(module, "Knowledge")
      .def(
          "__init__",
          [](Knowledge* self, std::optional<std::uint32_t> max_depth, std::optional<std::uint64_t> max_leaves,
             Features forbidden, const std::vector<std::pair<Feature, std::uint32_t>>& below_depth,
             const std::vector<std::pair<Feature, Feature>>& below_feature,
             const std::vector<std::pair<std::uint32_t, Features>>& only, std::vector<Features> interacting,
             const std::vector<std::vector<Side>>& boxes, std::vector<double> weights,
             std::vector<std::int32_t> monotone) {
            new (self) Knowledge{.max_depth = max_depth,
                                 .forbidden = std::move(forbidden),
                                 .below_depth = named<Knowledge::BelowDepth>(below_depth),
                                 .below_feature = named<Knowledge::BelowFeature>(below_feature),
                                 .only = named<Knowledge::Only>(only),
                                 .interacting = std::move(interacting),
                                 .boxes = boxes_of(boxes),
                                 .weights = std::move(weights),
                                 .max_leaves = max_leaves,
                                 .monotone = std::move(monotone)};
          },
          nb::kw_only(), nb::arg("max_depth") = nb::none(), nb::arg("max_leaves") = nb::none(),
          nb::arg("forbidden") = Features(), nb::arg("below_depth") = nb::list(), nb::arg("below_feature") = nb::list(),
          nb::arg("only") = nb::list(), nb::arg("interacting") = nb::list(), nb::arg("boxes") = nb::list(),
          nb::arg("weights") = nb::list(), nb::arg("monotone") = nb::list());
}

}  // namespace baytree::python
