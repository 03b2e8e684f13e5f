#include "base/bindings.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::python {

/// A build without BAYTREE_FAULTS has no such module.
void bind_faults([[maybe_unused]] nb::module_& module) {
#ifdef BAYTREE_FAULTS
  nb::module_ inside = module.def_submodule("testing", "Deliberate faults of the samplers, for the tests.");
  nb::enum_<Fault> fault(inside, "Fault");
  fault.value("none", Fault::none);
#define BAYTREE_NAME(name) fault.value(#name, Fault::name);
  BAYTREE_EVERY_FAULT(BAYTREE_NAME)
#undef BAYTREE_NAME
  inside.def(
      "inject", [](Fault now) { return testing::injected.exchange(now); }, nb::arg("fault"),
      "Has the whole process make this fault, and returns the one that it made before.");
#endif
}

}  // namespace baytree::python
