#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "baytree/slp/proofs/walk.hpp"
#include "slp/choices.hpp"
#include "slp/prover.hpp"

namespace baytree::python {
namespace {

class LogLikelihood : public nb::callable {
 public:
  NB_OBJECT(LogLikelihood, nb::callable, "collections.abc.Callable[..., float]", PyCallable_Check)
};

struct ProofChain {
  ProofChain(const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits, MakeTerm make,
             std::vector<slp::Component> proposals, std::optional<LogLikelihood> log_likelihood, double power,
             std::uint64_t seed, std::uint32_t replica)
      : prover(program, semantics, limits, std::move(make), nullptr, {}),
        function(std::move(log_likelihood)),
        walk(
            prover.machine, slp::Mixture(std::move(proposals), program.analysis, semantics),
            [this](slp::Machine&) { return evaluate(); }, power),
        stream(seed, Role::chain, replica),
        chance(stream) {
    prover.machine.prove_until_success(chance, 100'000);
    walk.start();
  }

  double evaluate() { return function ? nb::cast<double>((*function)(*prover.answer())) : 0.0; }

  void advance(std::uint64_t iterations) {
    for (; iterations > 0; --iterations) walk.step(chance);
  }

  /// Every outcome of one step from here with its probability; the state stays.
  std::vector<std::tuple<double, std::vector<Choice>>> transitions() {
    const std::span<const slp::Event> now = prover.machine.events();
    const std::vector<slp::Event> here(now.begin(), now.end());
    const std::vector<std::uint64_t> turns = walk.mixture().turns, accepted = walk.mixture().accepted;
    const auto go_back = [&] {
      prover.machine.follow(here);
      walk.start();
      walk.mixture().turns = turns;
    };
    struct Outcome {
      std::vector<slp::EveryChance::Decision> decisions;
      std::size_t before;  // how many of them before the trial
      std::vector<Choice> choices;
    };
    std::vector<Outcome> outcomes;
    slp::EveryChance every;
    do {
      go_back();
      walk.step(every);
      if (!every.failed())
        outcomes.push_back({every.decisions(), every.before_trial(), to_choices(prover.machine.events())});
    } while (every.advance());
    go_back();
    walk.mixture().accepted = accepted;
    // Under `backtrack` every decision of the trial is given that it leads to a success, under `reject` the trial as a
    // whole is.
    const bool each = prover.machine.semantics() == slp::Semantics::backtrack;
    using Beginning = std::vector<std::uint64_t>;
    std::map<Beginning, std::map<std::uint64_t, double>>
        alive;  // the decisions behind a beginning that lead to a success
    std::map<Beginning, double> success;
    const auto visit = [&](const Outcome& outcome, auto decided) {
      Beginning beginning;
      double product = 1.0, behind = 1.0;
      for (std::size_t i = 0; i < outcome.decisions.size(); ++i) {
        const auto& decision = outcome.decisions[i];
        product *= decided(beginning, decision, i >= outcome.before);
        if (i >= outcome.before) behind *= decision.probability;
        beginning.push_back(decision.chosen);
      }
      beginning.resize(std::min(outcome.before, beginning.size()));
      return std::make_tuple(product, behind, beginning);
    };
    for (const Outcome& outcome : outcomes) {
      const auto [product, behind, beginning] =
          visit(outcome, [&](const Beginning& b, const auto& decision, bool in_trial) {
            if (each && in_trial) alive[b][decision.chosen] = decision.probability;
            return 1.0;
          });
      success[beginning] += behind;
    }
    std::vector<std::tuple<double, std::vector<Choice>>> out;
    for (Outcome& outcome : outcomes) {
      const auto [product, behind, beginning] =
          visit(outcome, [&](const Beginning& b, const auto& decision, bool in_trial) {
            double total = 1.0;
            if (each && in_trial) {
              total = 0.0;
              for (const auto& [chosen, probability] : alive[b]) total += probability;
            }
            return decision.probability / total;
          });
      out.emplace_back(each ? product : product / success[beginning], std::move(outcome.choices));
    }
    return out;
  }

  Prover prover;
  std::optional<LogLikelihood> function;
  slp::Walk walk;
  Stream stream;
  slp::StreamChance chance;
};

}  // namespace

void bind_proof_chain(nb::module_& module) {
  nb::class_<ProofChain>(module, "ProofChain")
      .def(
          "__init__",
          [](ProofChain* self, const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits,
             MakeTerm make, std::vector<slp::Component> proposals, std::optional<LogLikelihood> log_likelihood,
             double power, std::uint64_t seed, std::uint32_t replica) {
            new (self) ProofChain(program, semantics, limits, std::move(make), std::move(proposals),
                                  std::move(log_likelihood), power, seed, replica);
          },
          nb::arg("program"), nb::arg("semantics"), nb::arg("limits"), nb::arg("make"), nb::arg("proposals"),
          nb::arg("log_likelihood").none(), nb::arg("power"), nb::arg("seed"), nb::arg("replica"))
      .def("advance", &ProofChain::advance, nb::arg("iterations"))
      .def("answer", [](ProofChain& self) { return self.prover.answer(); })
      .def("text", [](ProofChain& self) { return self.prover.text(); })
      .def("choices", [](ProofChain& self) { return to_choices(self.prover.machine.events()); })
      .def(
          "restore_choices",
          [](ProofChain& self, const std::vector<Choice>& choices) {
            self.prover.machine.follow(from_choices(choices));
            self.walk.start();
          },
          nb::arg("choices"))
      .def("transitions", &ProofChain::transitions)
      .def_prop_ro("log_likelihood", [](const ProofChain& self) { return self.walk.log_likelihood(); })
      .def_prop_ro("log_prior", [](const ProofChain& self) { return self.prover.machine.log_probability(); })
      .def_prop_rw(
          "turns", [](ProofChain& self) { return self.walk.mixture().turns; },
          [](ProofChain& self, std::vector<std::uint64_t> turns) {
            if (turns.size() != self.walk.mixture().turns.size())
              throw InputError("one number of turns for each proposal");
            self.walk.mixture().turns = std::move(turns);
          })
      .def_prop_ro("accepted", [](ProofChain& self) { return self.walk.mixture().accepted; })
      .def("take_output", [](ProofChain& self) { return self.prover.machine.take_output(); });
}

}  // namespace baytree::python
