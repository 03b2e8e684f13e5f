#include "slp/prover.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "baytree/knowledge/monotone.hpp"
#include "baytree/priors/derived_tree.hpp"
#include "baytree/slp/proofs/proofs.hpp"
#include "slp/choices.hpp"

namespace baytree::python {

void bind_prover(nb::module_& module) {
  nb::class_<Prover>(module, "Prover")
      .def(
          "__init__",
          [](Prover* self, const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits, MakeTerm make,
             const BoundDesign* design, Vocabulary vocabulary) {
            new (self) Prover(program, semantics, limits, std::move(make), design, std::move(vocabulary));
          },
          nb::arg("program"), nb::arg("semantics"), nb::arg("limits"), nb::arg("make"), nb::arg("design").none(),
          nb::arg("vocabulary"), nb::keep_alive<1, 6>())
      .def(
          "sample",
          [](Prover& self, std::uint64_t n, std::uint64_t seed, std::uint64_t attempts) {
            Stream stream(seed, Role::chain, 0);
            slp::StreamChance chance(stream);
            std::vector<std::pair<Answer, std::string>> out;
            for (; n > 0; --n) {
              {
                nb::gil_scoped_release release;
                self.machine.prove_until_success(chance, attempts, slp::Machine::Keep::answer);
              }
              Answer answer = self.answer();
              out.emplace_back(answer, self.text());
            }
            return out;
          },
          nb::arg("n"), nb::arg("seed"), nb::arg("attempts"))
      .def(
          "sample_trees",
          [](Prover& self, std::uint64_t n, std::uint64_t seed, std::uint64_t attempts, bool is_prior) {
            if (!self.table) throw InputError("trees are drawn for a table; give one");
            Stream stream(seed, Role::chain, 0);
            slp::StreamChance chance(stream);
            DerivedTree tree(self.machine, *self.table);
            RandomOrder order(self.table->design(), is_prior ? self.table->monotone() : std::vector<int>());
            Forest forest;
            for (; n > 0; --n) {
              {
                nb::gil_scoped_release release;
                std::uint64_t left = attempts;
                do {
                  if (left-- == 0)
                    throw InputError(
                        "monotone: the program's trees are hardly ever monotone; let it derive smaller ones");
                  self.machine.prove_until_success(chance, attempts, slp::Machine::Keep::answer);
                  tree.read();
                } while (!order.is_monotone(tree.nodes(), stream));
                forest.add(tree.nodes());
              }
            }
            return forest_to_dict(std::move(forest));
          },
          nb::arg("n"), nb::arg("seed"), nb::arg("attempts"), nb::arg("is_prior"),
          "As a forest, where the goal's first variable is a tree.")
      .def(
          "count_samples",
          [](Prover& self, std::uint64_t n, std::uint64_t seed) {
            Stream stream(seed, Role::chain, 0);
            slp::StreamChance chance(stream);
            std::uint64_t proved = 0;
            for (; n > 0; --n) proved += self.machine.prove(chance, slp::Machine::Keep::answer);
            return proved;
          },
          nb::arg("n"), nb::arg("seed"), nb::call_guard<nb::gil_scoped_release>(), "How many of n attempts succeed.")
      .def(
          "enumerate",
          [](Prover& self, std::size_t most) {
            std::vector<slp::Path> paths;
            std::size_t choices = 0;
            std::vector<std::tuple<Answer, std::string, std::vector<Choice>>> answers;
            bool complete = true;
            self.machine.enumerate([&] {
              // What is long without end is not finite.
              choices += self.machine.choices();
              if (paths.size() == most || self.machine.choices() > 1000 || choices > 20 * most) return complete = false;
              paths.push_back(slp::path_of(self.machine.events()));
              Answer answer = self.answer();  // first, as it ends where a term contains itself
              answers.emplace_back(answer, self.text(), to_choices(self.machine.events()));
              return true;
            });
            return std::make_tuple(std::move(answers), slp::proof_probabilities(paths, self.machine.semantics()),
                                   complete);
          },
          nb::arg("most"))
      .def(
          "derivations",
          [](Prover& self, std::size_t most) {
            std::vector<std::tuple<std::string, bool, std::vector<std::uint64_t>>> out;
            self.machine.enumerate_raw([&](bool succeeded) {
              if (out.size() == most || self.machine.events().size() > 1000)
                throw InputError("there are more than " + std::to_string(most) +
                                 " derivations, or derivations of more than 1,000 choices: too many to list");
              std::vector<std::uint64_t> clauses;
              for (const slp::Event& event : self.machine.events())
                if (event.is_choice && !event.goal.is_draw) clauses.push_back(event.chosen.id);
              out.emplace_back(succeeded ? self.text() : "", succeeded, std::move(clauses));
              return true;
            });
            return out;
          },
          nb::arg("most"),
          "Every derivation, with labels chosen among all clauses: (answer, succeeded, clauses chosen).")
      .def(
          "prove",
          [](Prover& self, std::uint64_t seed) {
            Stream stream(seed, Role::chain, 0);
            slp::StreamChance chance(stream);
            self.machine.prove_until_success(chance, 100'000);
          },
          nb::arg("seed"))
      .def("trace",
           [](Prover& self) {
             using Row =
                 std::tuple<std::int64_t, std::string, std::string, std::uint32_t, std::int64_t, std::uint64_t, double>;
             std::vector<Row> rows;
             for (slp::TracedGoal& goal : self.machine.trace())
               rows.emplace_back(goal.parent, std::move(goal.called), std::move(goal.proved), goal.place.line,
                                 goal.choice, goal.options, goal.probability);
             return rows;
           })
      .def("answer", &Prover::answer)
      .def("text", &Prover::text)
      .def_prop_ro("log_probability", [](const Prover& self) { return self.machine.log_probability(); })
      .def("take_output", [](Prover& self) { return self.machine.take_output(); });
}

}  // namespace baytree::python
