#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "baytree/chain.hpp"
#include "baytree/leaf/categorical.hpp"
#include "baytree/leaf/gaussian.hpp"
#include "bindings.hpp"

namespace baytree::python {
namespace {

/// Wraps a chain over one leaf model: everything it refers to lives as long as it does (keep_alive).
template <class Leaf>
void bind_chain(nb::module_& module, const char* name) {
  using Bound = Chain<Leaf>;
  nb::class_<Bound>(module, name)
      .def(
          "__init__",
          [](Bound* self, const BoundDesign& design, const Leaf& leaf, GrowTree prior, std::vector<Component> components, double power, std::uint64_t seed,
             std::uint32_t replica) { new (self) Bound(design.design, leaf, prior, Mixture(std::move(components)), power, seed, replica); },
          nb::arg("design"), nb::arg("leaf"), nb::arg("prior"), nb::arg("proposal"), nb::arg("power"), nb::arg("seed"), nb::arg("replica"),
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("advance", &Bound::advance, nb::arg("iterations"), nb::call_guard<nb::gil_scoped_release>())
      .def("draw", &Bound::draw, nb::arg("draws"), nb::arg("thin"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("log_likelihood", &Bound::log_likelihood)
      .def_prop_ro("log_prior", &Bound::log_prior)
      .def_prop_ro("turns", [](const Bound& self) { return self.mixture().turns; })
      .def_prop_ro("accepted", [](const Bound& self) { return self.mixture().accepted; })
      .def("take",
           [](Bound& self) {
             Draws draws = self.take();
             nb::dict out;
             out["statistics"] = to_numpy(std::move(draws.statistics));
             out["tree"] = to_numpy(std::move(draws.tree));
             out["log_likelihood"] = to_numpy(std::move(draws.log_likelihood));
             out["log_prior"] = to_numpy(std::move(draws.log_prior));
             return std::make_tuple(forest_to_dict(std::move(draws.forest)), out);
           })
      .def("tree",
           [](const Bound& self) {
             Forest forest;
             forest.add(self.nodes());
             return forest_to_dict(std::move(forest));
           })
      .def("position",
           [](const Bound& self) {
             const ChainPosition p = self.position();
             return std::make_tuple(p.stream, p.stored_trees, p.stored, p.turns, p.accepted);
           })
      .def(
          "restore_tree", [](Bound& self, const nb::dict& forest) { self.restore(unpack_tree(forest_view(forest), 0, self.design().columns)); },
          nb::arg("forest"))
      .def(
          "restore_position",
          [](Bound& self, std::uint64_t stream, std::uint64_t stored_trees, bool stored, std::vector<std::uint64_t> turns,
             std::vector<std::uint64_t> accepted) { self.restore(ChainPosition{stream, stored_trees, stored, std::move(turns), std::move(accepted)}); },
          nb::arg("stream"), nb::arg("stored_trees"), nb::arg("stored"), nb::arg("turns"), nb::arg("accepted"));
}

}  // namespace

void bind_cart(nb::module_& module) {
  nb::class_<GrowTree>(module, "GrowTree")
      .def(
          "__init__", [](GrowTree* self, double alpha, double beta, Row min_leaf, bool by_column) { new (self) GrowTree{alpha, beta, min_leaf, by_column}; },
          nb::arg("alpha"), nb::arg("beta"), nb::arg("min_leaf"), nb::arg("by_column"));
  nb::enum_<Proposal>(module, "Proposal")
      .value("uc", Proposal::uc)
      .value("q0", Proposal::q0)
      .value("cycle", Proposal::cycle)
      .value("birth_death", Proposal::birth_death)
      .value("change", Proposal::change)
      .value("swap", Proposal::swap);
  nb::class_<Component>(module, "Component")
      .def(
          "__init__",
          [](Component* self, Proposal proposal, double weight, std::uint64_t last, bool wrong) { new (self) Component{proposal, weight, last, wrong}; },
          nb::arg("proposal"), nb::arg("weight"), nb::arg("last"), nb::arg("wrong"));

  nb::class_<CategoricalLeaf>(module, "CategoricalLeaf")
      .def(
          "__init__",
          [](CategoricalLeaf* self, const Array<std::int32_t>& response, const Array<double>& weight, std::uint32_t classes, double concentration) {
            new (self) CategoricalLeaf(span_of(response), span_of(weight), classes, concentration);
          },
          nb::arg("response").noconvert(), nb::arg("weight").noconvert(), nb::arg("classes"), nb::arg("concentration"), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>());
  nb::class_<GaussianLeaf>(module, "GaussianLeaf")
      .def(
          "__init__",
          [](GaussianLeaf* self, const Array<double>& response, const Array<double>& weight, double mean, double kappa, double nu, double scale) {
            new (self) GaussianLeaf(span_of(response), span_of(weight), {mean, kappa, nu, scale});
          },
          nb::arg("response").noconvert(), nb::arg("weight").noconvert(), nb::arg("mean"), nb::arg("kappa"), nb::arg("nu"), nb::arg("scale"),
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  bind_chain<CategoricalLeaf>(module, "CategoricalChain");
  bind_chain<GaussianLeaf>(module, "GaussianChain");
}

}  // namespace baytree::python
