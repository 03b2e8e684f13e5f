#include "baytree/cart/leaf/categorical.hpp"
#include "baytree/cart/leaf/gaussian.hpp"
#include "cart/chain.hpp"

namespace baytree::python {
namespace {

/// Wraps a chain over one leaf model: everything it refers to lives as long as it does (keep_alive).
template <class Leaf>
void bind_chain(nb::module_& module, const char* name) {
  using Bound = Tempered<cart::Chain<Leaf>>;
  nb::class_<Bound>(module, name)
      .def(
          "__init__",
          [](Bound* self, const BoundDesign& design, const Leaf& leaf, GrowTree prior,
             std::vector<Component> components, double power, const Tempering& tempering, std::uint64_t seed,
             std::uint32_t number) {
            const Monotone monotone{prior.knowledge.monotone, power == 0.0};
            const auto make = [&](Stream stream) {
              return std::make_unique<cart::Chain<Leaf>>(design.design, leaf, prior, Mixture(components), power, stream,
                                                         monotone);
            };
            new (self) Bound(tempering, make, seed, number);
          },
          nb::arg("design"), nb::arg("leaf"), nb::arg("prior"), nb::arg("proposal"), nb::arg("power"),
          nb::arg("tempering"), nb::arg("seed"), nb::arg("number"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "restore_tree",
          [](Bound& self, const Arrays& forest, std::size_t rung) {
            cart::Chain<Leaf>& chain = self.rung(rung);
            chain.restore(unpack_tree(forest_view(forest), 0, chain.design().columns));
            self.rungs_moved();
          },
          nb::arg("forest"), nb::arg("rung") = 0);
  bind_chain_steps<Bound>(nb::borrow<nb::class_<Bound>>(module.attr(name)));
}

void bind(nb::module_& module) {
  nb::enum_<Proposal> proposal(module, "Proposal");
#define BAYTREE_NAME(name, propose) proposal.value(#name, Proposal::name);
  BAYTREE_EVERY_PROPOSAL(BAYTREE_NAME)
#undef BAYTREE_NAME
  nb::class_<Component>(module, "Component")
      .def(
          "__init__",
          [](Component* self, Proposal proposal, double weight, std::uint64_t last) {
            new (self) Component{proposal, weight, last};
          },
          nb::arg("proposal"), nb::arg("weight"), nb::arg("last"));

  nb::class_<cart::CategoricalLeaf>(module, "CategoricalLeaf")
      .def(
          "__init__",
          [](cart::CategoricalLeaf* self, const Array<std::int32_t>& response, const Array<double>& weight,
             std::uint32_t classes, double concentration) {
            new (self) cart::CategoricalLeaf(span_of(response), span_of(weight), classes, concentration);
          },
          nb::arg("response").noconvert(), nb::arg("weight").noconvert(), nb::arg("classes"), nb::arg("concentration"),
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  nb::class_<cart::GaussianLeaf>(module, "GaussianLeaf")
      .def(
          "__init__",
          [](cart::GaussianLeaf* self, const Array<double>& response, const Array<double>& weight, double mean,
             double kappa, double nu, double scale) {
            new (self) cart::GaussianLeaf(span_of(response), span_of(weight), {mean, kappa, nu, scale});
          },
          nb::arg("response").noconvert(), nb::arg("weight").noconvert(), nb::arg("mean"), nb::arg("kappa"),
          nb::arg("nu"), nb::arg("scale"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  bind_chain<cart::CategoricalLeaf>(module, "CategoricalChain");
  bind_chain<cart::GaussianLeaf>(module, "GaussianChain");
}

const FamilyBinding bound{"cart", bind};

}  // namespace
}  // namespace baytree::python
