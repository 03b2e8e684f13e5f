#include "baytree/hme/chain.hpp"

#include <nanobind/stl/vector.h>

#include "base/tempering.hpp"
#include "baytree/base/error.hpp"
#include "baytree/hme/polya_gamma.hpp"

namespace baytree::python {
namespace {

hme::Parameters parameters_of(const Array<double>& gates, const Array<double>& coefficients,
                              const Array<double>& variance) {
  const auto copied = [](const Array<double>& array) {
    return std::vector<double>(array.data(), array.data() + array.size());
  };
  return {copied(gates), copied(coefficients), copied(variance)};
}

void bind(nb::module_& module) {
  using hme::ExpertKind;
  module.def("polya_gamma", &hme::polya_gamma, nb::arg("tilt"), nb::arg("stream"),
             "A Pólya–Gamma variable of shape 1.");
  nb::enum_<ExpertKind>(module, "ExpertKind")
      .value("linear", ExpertKind::linear)
      .value("constant", ExpertKind::constant)
      .value("classes", ExpertKind::classes);

  nb::class_<hme::Problem>(module, "HMEProblem")
      .def(
          "__init__",
          [](hme::Problem* self, const Array<double>& inputs, const Array<double>& outputs, std::size_t depth,
             std::size_t branching, ExpertKind experts, double gate_sd, double sd, double nu,
             std::vector<double> lambda) {
            if (inputs.ndim() != 2 || outputs.ndim() != 2)
              throw InputError("inputs and outputs: give a row of numbers for each row");
            hme::Problem problem{.inputs = span_of(inputs),
                                 .outputs = span_of(outputs),
                                 .columns = inputs.shape(1),
                                 .n_outputs = outputs.shape(1),
                                 .depth = depth,
                                 .branching = branching,
                                 .experts = experts,
                                 .gate_sd = gate_sd,
                                 .sd = sd,
                                 .nu = nu,
                                 .lambda = std::move(lambda)};
            problem.prepare();
            new (self) hme::Problem(std::move(problem));
          },
          nb::arg("inputs").noconvert(), nb::arg("outputs").noconvert(), nb::arg("depth"), nb::arg("branching"),
          nb::arg("experts"), nb::arg("gate_sd"), nb::arg("sd"), nb::arg("nu"), nb::arg("scale"),
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());

  nb::class_<hme::Position>(module, "HMEPosition")
      .def(nb::init<>())
      .def_rw("stream", &hme::Position::stream)
      .def_rw("steps", &hme::Position::steps)
      .def_rw("leaf", &hme::Position::leaf)
      .def_prop_rw(
          "gates", [](const hme::Position& self) { return self.parameters.gates; },
          [](hme::Position& self, std::vector<double> gates) { self.parameters.gates = std::move(gates); })
      .def_prop_rw(
          "coefficients", [](const hme::Position& self) { return self.parameters.coefficients; },
          [](hme::Position& self, std::vector<double> coefficients) {
            self.parameters.coefficients = std::move(coefficients);
          })
      .def_prop_rw(
          "variance", [](const hme::Position& self) { return self.parameters.variance; },
          [](hme::Position& self, std::vector<double> variance) { self.parameters.variance = std::move(variance); });

  using Bound = Tempered<hme::Chain>;
  nb::class_<Bound> bound(module, "HMEChain");
  bound
      .def(
          "__init__",
          [](Bound* self, const hme::Problem& problem, double power, const Tempering& tempering, std::uint64_t seed,
             std::uint32_t number) {
            const auto make = [&](Stream stream) { return std::make_unique<hme::Chain>(problem, power, stream); };
            new (self) Bound(tempering, make, seed, number);
          },
          nb::arg("problem"), nb::arg("power"), nb::arg("tempering"), nb::arg("seed"), nb::arg("number"),
          nb::keep_alive<1, 2>())
      .def_prop_ro("turns", [](Bound& self) { return std::vector<std::uint64_t>{self.cold().steps()}; })
      .def_prop_ro("accepted", [](Bound& self) { return std::vector<std::uint64_t>{self.cold().steps()}; })
      .def(
          "begin",
          [](Bound& self, const Array<double>& gates, const Array<double>& coefficients,
             const Array<double>& variance) {
            for (std::size_t rung = 0; rung < self.size(); ++rung)
              self.rung(rung).begin(parameters_of(gates, coefficients, variance));
            self.rungs_moved();
          },
          nb::arg("gates").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("variance").noconvert())
      .def("take", [](Bound& self) {
        hme::Draws draws = self.take();
        Arrays out;
        const std::size_t rows = draws.log_mixture.size();
        const hme::Problem& problem = self.cold().problem();
        const auto put = [&](const char* name, std::vector<double> values, std::size_t numbers) {
          out[name] = to_numpy(std::move(values)).attr("reshape")(rows, numbers);
        };
        put("gates", std::move(draws.parameters.gates), problem.gate_numbers());
        put("coefficients", std::move(draws.parameters.coefficients), problem.expert_numbers());
        if (!problem.for_classes()) put("variance", std::move(draws.parameters.variance), problem.variances());
        out["log_likelihood"] = to_numpy(std::move(draws.log_mixture));
        out["log_prior"] = to_numpy(std::move(draws.log_prior));
        if (self.size() > 1) out["rung_log_likelihood"] = to_numpy(std::move(draws.rung_log_likelihood));
        return out;
      });
  bind_rung_positions(bound);
  bind_tempered_steps(bound);
}

const FamilyBinding bound{"hme", bind};

}  // namespace
}  // namespace baytree::python
