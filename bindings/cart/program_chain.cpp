#include "baytree/cart/program_chain.hpp"

#include "baytree/cart/leaf/categorical.hpp"
#include "baytree/cart/leaf/gaussian.hpp"
#include "cart/chain.hpp"
#include "slp/choices.hpp"

namespace baytree::python {
namespace {

template <class Leaf>
void bind_program_chain(nb::module_& module, const char* name) {
  using Bound = Tempered<cart::ProgramChain<Leaf>>;
  nb::class_<Bound>(module, name)
      .def(
          "__init__",
          [](Bound* self, const BoundDesign& design, const Vocabulary& vocabulary, const Leaf& leaf,
             const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits,
             const std::vector<slp::Component>& proposals, double power, const Tempering& tempering, std::uint64_t seed,
             std::uint32_t number) {
            const TreeProgram trees{vocabulary, program, semantics, limits, proposals};
            const auto make = [&](Stream stream) {
              return std::make_unique<cart::ProgramChain<Leaf>>(design.design, trees, leaf, power, stream);
            };
            new (self) Bound(tempering, make, seed, number);
          },
          nb::arg("design"), nb::arg("vocabulary"), nb::arg("leaf"), nb::arg("program"), nb::arg("semantics"),
          nb::arg("limits"), nb::arg("proposals"), nb::arg("power"), nb::arg("tempering"), nb::arg("seed"),
          nb::arg("number"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 4>())
      .def(
          "choices", [](Bound& self, std::size_t rung) { return to_choices(self.rung(rung).events()); },
          nb::arg("rung") = 0)
      .def(
          "restore_choices",
          [](Bound& self, const std::vector<Choice>& choices, std::size_t rung) {
            self.rung(rung).restore(from_choices(choices));
          },
          nb::arg("choices"), nb::arg("rung") = 0)
      .def("take_output", [](Bound& self) { return self.cold().take_output(); });
  bind_chain_steps<Bound>(nb::borrow<nb::class_<Bound>>(module.attr(name)));
}

void bind(nb::module_& module) {
  bind_program_chain<cart::CategoricalLeaf>(module, "CategoricalProgramChain");
  bind_program_chain<cart::GaussianLeaf>(module, "GaussianProgramChain");
}

const FamilyBinding bound{"cart, programs", bind};

}  // namespace
}  // namespace baytree::python
