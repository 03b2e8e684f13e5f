#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

#include "base/bindings.hpp"
#include "baytree/mcmc/derivation.hpp"
#include "slp/problems.hpp"

namespace baytree::python {

void bind_program(nb::module_& module) {
  nb::enum_<slp::Semantics>(module, "Semantics")
      .value("backtrack", slp::Semantics::backtrack)
      .value("reject", slp::Semantics::reject);
  nb::enum_<slp::Proposal>(module, "ProofProposal")
      .value("sequence", slp::Proposal::sequence)
      .value("subtree", slp::Proposal::subtree)
      .value("address", slp::Proposal::address)
      .value("independent", slp::Proposal::independent)
      .value("cycle", slp::Proposal::cycle);
  nb::class_<slp::Component>(module, "ProofComponent")
      .def(
          "__init__",
          [](slp::Component* self, slp::Proposal proposal, double weight, std::uint64_t last) {
            new (self) slp::Component{proposal, weight, last};
          },
          nb::arg("proposal"), nb::arg("weight"), nb::arg("last"));
  nb::class_<slp::Limits>(module, "Limits")
      .def(
          "__init__",
          [](slp::Limits* self, std::uint64_t steps, std::uint32_t depth, std::size_t memory) {
            new (self) slp::Limits{steps, depth, memory};
          },
          nb::arg("steps"), nb::arg("depth"), nb::arg("memory"));
  nb::class_<slp::Prepared>(module, "Program")
      .def(
          "__init__",
          [](slp::Prepared* self, std::string_view text, std::string_view goal, std::string file) {
            new (self) slp::Prepared(slp::prepare(text, goal, std::move(file)));
          },
          nb::arg("text"), nb::arg("goal"), nb::arg("file"))
      .def_prop_ro("problems", [](const slp::Prepared& self) { return problem_rows(self.problems); })
      .def(
          "problems_with",
          [](const slp::Prepared& self, const Vocabulary& vocabulary) {
            slp::Problems problems;
            Row min_leaf = 0;
            read_knowledge(self.reading.program, vocabulary, min_leaf, problems);
            return problem_rows(problems);
          },
          nb::arg("vocabulary"))
      .def_prop_ro("min_leaf",
                   [](const slp::Prepared& self) {
                     slp::Problems problems;
                     Row min_leaf = 0;
                     read_knowledge(self.reading.program, {}, min_leaf, problems);
                     return min_leaf;
                   })
      .def_prop_ro("goal_variables", [](const slp::Prepared& self) { return self.reading.goal_variables; })
      .def_prop_ro("predicates",
                   [](const slp::Prepared& self) {
                     std::vector<std::string> names;
                     for (const auto& [indicator, predicate] : self.reading.program.predicates)
                       names.push_back(self.reading.program.name(indicator));
                     return names;
                   })
      .def_prop_ro("clauses",
                   [](const slp::Prepared& self) {
                     using Span = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
                     std::vector<std::tuple<std::string, std::uint32_t, std::optional<double>, Span>> rows;
                     for (const slp::CompiledClause& clause : self.code->clauses) {
                       const slp::CompiledPredicate& predicate = self.code->predicates[clause.predicate];
                       rows.emplace_back(
                           self.code->symbols.name(predicate.name) + "/" + std::to_string(predicate.arity),
                           clause.place.line, clause.fixed_label,
                           Span(clause.label_begin.line, clause.label_begin.column, clause.label_end.line,
                                clause.label_end.column));
                     }
                     return rows;
                   })
      .def_prop_ro("is_local", [](const slp::Prepared& self) { return self.analysis.is_local; })
      .def_prop_ro("may_fail", [](const slp::Prepared& self) { return self.analysis.may_fail; })
      .def_prop_ro("failure", [](const slp::Prepared& self) { return self.analysis.failure; })
      .def_prop_ro("random_goals",
                   [](const slp::Prepared& self) {
                     std::vector<std::tuple<std::uint32_t, std::string, bool, std::string>> rows;
                     for (const slp::RandomGoal& goal : self.analysis.random_goals)
                       rows.emplace_back(goal.place.line <= self.reading.program_lines ? goal.place.line : 0, goal.name,
                                         goal.is_pure, goal.reason);
                     return rows;
                   })
      .def(
          "best_proposal",
          [](const slp::Prepared& self, slp::Semantics semantics) {
            return slp::best_proposal(self.analysis, semantics);
          },
          nb::arg("semantics"))
      .def(
          "objection",
          [](const slp::Prepared& self, slp::Proposal proposal, slp::Semantics semantics) {
            return slp::objection(proposal, self.analysis, semantics);
          },
          nb::arg("proposal"), nb::arg("semantics"));
}

}  // namespace baytree::python
