#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>

#include "baytree/cart/leaf/categorical.hpp"
#include "baytree/cart/leaf/gaussian.hpp"
#include "baytree/cart/program_chain.hpp"
#include "baytree/slp/proofs/proofs.hpp"
#include "chain.hpp"
#include "choices.hpp"

namespace baytree::python {
namespace {

using slp::Cell;
using slp::Machine;
using slp::Tag;

/// Terms as Python objects: atoms are strings, numbers numbers, lists lists, and compounds what `make(name, arguments)` gives.
class Terms {
 public:
  Terms(slp::Store& store, nb::object make) : store_(store), make_(std::move(make)) {}

  nb::object convert(Cell cell) {
    store_.restart_count();
    try {
      return convert(cell, 0);
    } catch (const slp::Trouble&) {
      throw InputError("a term is too large to be handed over, or contains itself");
    }
  }

 private:
  nb::object convert(Cell cell, int depth) {
    if (depth > 5000) throw InputError("a term is nested too deeply to be handed over");
    store_.spend();
    cell = store_.deref(cell);
    switch (cell.tag()) {
      case Tag::reference:
        return nb::str(("_" + std::to_string(cell.address())).c_str());
      case Tag::atom:
        return cell == store_.nil ? nb::object(nb::list()) : text(cell.symbol());
      case Tag::integer:
        return nb::int_(cell.integer());
      case Tag::real:
        return nb::float_(store_.real(cell));
      case Tag::node:
        return make_(nb::str("node"), nb::make_tuple(cell.number()));
      case Tag::structure:
        break;
    }
    if (store_.is_structure(cell, store_.list_functor)) {
      nb::list items;
      for (; store_.is_structure(cell, store_.list_functor); cell = store_.argument(cell, 1)) {
        store_.spend();
        items.append(convert(store_.argument(cell, 0), depth + 1));
      }
      if (cell == store_.nil) return items;
      return make_(nb::str("|"), nb::make_tuple(items, convert(cell, depth + 1)));
    }
    const slp::Functor functor = store_.functor(cell);
    nb::list arguments;
    for (std::uint32_t i = 0; i < functor.arity; ++i) arguments.append(convert(store_.argument(cell, i), depth + 1));
    return make_(text(functor.name), nb::tuple(arguments));
  }

  nb::object text(slp::Symbol symbol) const {
    const std::string& name = store_.symbols.name(symbol);
    return nb::str(name.data(), name.size());
  }

  slp::Store& store_;
  nb::object make_;
};

/// A machine, with a table where there is one, and what turns its terms into objects.
struct Prover {
  Prover(const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits, nb::object make, const BoundDesign* design, Vocabulary vocabulary)
      : table(design ? std::make_unique<NodeTable>(make_table(design->design, std::move(vocabulary), program.reading.program)) : nullptr),
        machine(program.code, semantics, table.get(), limits),
        terms(machine.store(), std::move(make)) {}

  /// The values of the goal's variables.
  nb::tuple answer() {
    nb::list values;
    for (std::size_t i = 0; i < machine.code().goal_variables.size(); ++i) values.append(terms.convert(machine.answer(i)));
    return nb::tuple(values);
  }
  /// The same as text, which tells answers apart.
  std::string text() {
    const auto& names = machine.code().goal_variables;
    std::vector<Cell> values;
    for (std::size_t i = 0; i < names.size(); ++i) values.push_back(machine.answer(i));
    const std::vector<std::string> texts = whole_texts(values);
    if (texts.size() == 1) return texts[0];
    std::string out;
    for (std::size_t i = 0; i < texts.size(); ++i) out += (i > 0 ? ", " : "") + names[i] + " = " + texts[i];
    return out;
  }

  std::vector<std::string> whole_texts(const std::vector<Cell>& values) {
    try {
      return machine.store().texts(values, std::nullopt);
    } catch (const slp::Trouble& trouble) {
      throw InputError(trouble.message);
    }
  }

  std::unique_ptr<NodeTable> table;
  Machine machine;
  Terms terms;
};

struct ProofChain {
  ProofChain(const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits, nb::object make, std::vector<slp::KernelComponent> kernels,
             nb::object log_likelihood, double power, std::uint64_t seed, std::uint32_t replica)
      : prover(program, semantics, limits, std::move(make), nullptr, {}),
        function(std::move(log_likelihood)),
        walk(
            prover.machine, slp::KernelMixture(std::move(kernels), program.analysis, semantics), [this](Machine&) { return evaluate(); }, power),
        stream(seed, Role::chain, replica),
        chance(stream) {
    prover.machine.prove_until_success(chance, 100'000);
    walk.start();
  }

  double evaluate() { return function.is_none() ? 0.0 : nb::cast<double>(function(*prover.answer())); }

  void advance(std::uint64_t iterations) {
    for (; iterations > 0; --iterations) {
      walk.step(chance);
      if (iterations % 1024 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }

  /// Every outcome of one step from here with its probability; the state stays.
  std::vector<std::tuple<double, std::vector<Choice>>> transitions() {
    const std::vector<slp::Event> here(prover.machine.events());
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
      if (!every.failed()) outcomes.push_back({every.decisions(), every.before_trial(), to_choices(prover.machine.events())});
    } while (every.advance());
    go_back();
    walk.mixture().accepted = accepted;
    // Under `backtrack` every decision of the trial is given that it leads to a success, under `reject` the trial as a whole is.
    const bool each = prover.machine.semantics() == slp::Semantics::backtrack;
    using Beginning = std::vector<std::uint64_t>;
    std::map<Beginning, std::map<std::uint64_t, double>> alive;  // the decisions behind a beginning that lead to a success
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
      const auto [product, behind, beginning] = visit(outcome, [&](const Beginning& b, const auto& decision, bool in_trial) {
        if (each && in_trial) alive[b][decision.chosen] = decision.probability;
        return 1.0;
      });
      success[beginning] += behind;
    }
    std::vector<std::tuple<double, std::vector<Choice>>> out;
    for (Outcome& outcome : outcomes) {
      const auto [product, behind, beginning] = visit(outcome, [&](const Beginning& b, const auto& decision, bool in_trial) {
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
  nb::object function;
  slp::Walk walk;
  Stream stream;
  slp::StreamChance chance;
};

using ProblemRow = std::tuple<bool, std::uint32_t, std::uint32_t, std::string>;

std::vector<ProblemRow> problem_rows(const slp::Problems& problems) {
  std::vector<ProblemRow> rows;
  for (const slp::Problem& problem : problems)
    rows.emplace_back(problem.severity == slp::Problem::Severity::error, problem.place.line, problem.place.column, problem.message);
  return rows;
}

template <class Leaf>
void bind_program_chain(nb::module_& module, const char* name) {
  using Bound = Tempered<cart::ProgramChain<Leaf>>;
  nb::class_<Bound>(module, name)
      .def(
          "__init__",
          [](Bound* self, const BoundDesign& design, const Vocabulary& vocabulary, const Leaf& leaf, const slp::Prepared& program, slp::Semantics semantics,
             slp::Limits limits, const std::vector<slp::KernelComponent>& kernels, double power, const Tempering& tempering, std::uint64_t seed,
             std::uint32_t number) {
            const TreeProgram trees{vocabulary, program, semantics, limits, kernels};
            const auto make = [&](Stream stream) { return std::make_unique<cart::ProgramChain<Leaf>>(design.design, trees, leaf, power, stream); };
            new (self) Bound(tempering, make, seed, number);
          },
          nb::arg("design"), nb::arg("vocabulary"), nb::arg("leaf"), nb::arg("program"), nb::arg("semantics"), nb::arg("limits"), nb::arg("kernels"),
          nb::arg("power"), nb::arg("tempering"), nb::arg("seed"), nb::arg("number"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 4>())
      .def(
          "choices", [](Bound& self, std::size_t rung) { return to_choices(self.rung(rung).events()); }, nb::arg("rung") = 0)
      .def(
          "restore_choices", [](Bound& self, const std::vector<Choice>& choices, std::size_t rung) { self.rung(rung).restore(from_choices(choices)); },
          nb::arg("choices"), nb::arg("rung") = 0)
      .def("take_output", [](Bound& self) { return self.cold().take_output(); });
  bind_chain_steps<Bound>(nb::borrow<nb::class_<Bound>>(module.attr(name)));
}

}  // namespace

void bind_programs(nb::module_& module) {
  nb::enum_<slp::Semantics>(module, "Semantics").value("backtrack", slp::Semantics::backtrack).value("reject", slp::Semantics::reject);
  nb::enum_<slp::Kernel>(module, "Kernel")
      .value("sequence", slp::Kernel::sequence)
      .value("subtree", slp::Kernel::subtree)
      .value("address", slp::Kernel::address)
      .value("independent", slp::Kernel::independent)
      .value("cycle", slp::Kernel::cycle);
  nb::enum_<slp::Mistake>(module, "Mistake")
      .value("none", slp::Mistake::none)
      .value("one", slp::Mistake::one)
      .value("depth", slp::Mistake::depth)
      .value("clipped", slp::Mistake::clipped)
      .value("unaffected", slp::Mistake::unaffected)
      .value("clamped", slp::Mistake::clamped);
  nb::class_<slp::KernelComponent>(module, "KernelComponent")
      .def(
          "__init__",
          [](slp::KernelComponent* self, slp::Kernel kernel, double weight, std::uint64_t last, slp::Mistake mistake) {
            new (self) slp::KernelComponent{kernel, weight, last, mistake};
          },
          nb::arg("kernel"), nb::arg("weight"), nb::arg("last"), nb::arg("mistake"));
  nb::class_<slp::Limits>(module, "Limits")
      .def(
          "__init__", [](slp::Limits* self, std::uint64_t steps, std::uint32_t depth, std::size_t memory) { new (self) slp::Limits{steps, depth, memory}; },
          nb::arg("steps"), nb::arg("depth"), nb::arg("memory"));
  nb::class_<Vocabulary>(module, "Vocabulary")
      .def(
          "__init__",
          [](Vocabulary* self, std::vector<std::string> names, std::vector<std::vector<double>> cuts, std::vector<std::vector<std::string>> levels) {
            new (self) Vocabulary{std::move(names), std::move(cuts), std::move(levels)};
          },
          nb::arg("names"), nb::arg("cuts"), nb::arg("levels"));

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
                     for (const auto& [indicator, predicate] : self.reading.program.predicates) names.push_back(self.reading.program.name(indicator));
                     return names;
                   })
      .def_prop_ro("clauses",
                   [](const slp::Prepared& self) {
                     using Span = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
                     std::vector<std::tuple<std::string, std::uint32_t, std::optional<double>, Span>> rows;
                     for (const slp::CompiledClause& clause : self.code->clauses) {
                       const slp::CompiledPredicate& predicate = self.code->predicates[clause.predicate];
                       rows.emplace_back(self.code->symbols.name(predicate.name) + "/" + std::to_string(predicate.arity), clause.place.line, clause.fixed_label,
                                         Span(clause.label_begin.line, clause.label_begin.column, clause.label_end.line, clause.label_end.column));
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
                       rows.emplace_back(goal.place.line <= self.reading.program_lines ? goal.place.line : 0, goal.name, goal.is_pure, goal.reason);
                     return rows;
                   })
      .def("best_kernel", [](const slp::Prepared& self, slp::Semantics semantics) { return slp::best_kernel(self.analysis, semantics); })
      .def("objection",
           [](const slp::Prepared& self, slp::Kernel kernel, slp::Semantics semantics) { return slp::objection(kernel, self.analysis, semantics); });

  nb::class_<Prover>(module, "Prover")
      .def(
          "__init__",
          [](Prover* self, const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits, nb::object make, const BoundDesign* design,
             Vocabulary vocabulary) { new (self) Prover(program, semantics, limits, std::move(make), design, std::move(vocabulary)); },
          nb::arg("program"), nb::arg("semantics"), nb::arg("limits"), nb::arg("make"), nb::arg("design").none(), nb::arg("vocabulary"), nb::keep_alive<1, 6>())
      .def(
          "sample",
          [](Prover& self, std::uint64_t n, std::uint64_t seed, std::uint64_t attempts) {
            Stream stream(seed, Role::chain, 0);
            slp::StreamChance chance(stream);
            nb::list out;
            for (; n > 0; --n) {
              {
                nb::gil_scoped_release release;
                self.machine.prove_until_success(chance, attempts, Machine::Keep::answer);
              }
              nb::tuple answer = self.answer();
              out.append(nb::make_tuple(answer, self.text()));
              if (n % 1024 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
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
                  if (left-- == 0) throw InputError("monotone: the program's trees are hardly ever monotone; let it derive smaller ones");
                  self.machine.prove_until_success(chance, attempts, Machine::Keep::answer);
                  tree.read();
                } while (!order.is_monotone(tree.nodes(), stream));
                forest.add(tree.nodes());
              }
              if (n % 1024 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
            }
            return forest_to_dict(std::move(forest));
          },
          nb::arg("n"), nb::arg("seed"), nb::arg("attempts"), nb::arg("is_prior"), "As a forest, where the goal's first variable is a tree.")
      .def(
          "count_samples",
          [](Prover& self, std::uint64_t n, std::uint64_t seed) {
            Stream stream(seed, Role::chain, 0);
            slp::StreamChance chance(stream);
            std::uint64_t proved = 0;
            for (; n > 0; --n) proved += self.machine.prove(chance, Machine::Keep::answer);
            return proved;
          },
          nb::arg("n"), nb::arg("seed"), nb::call_guard<nb::gil_scoped_release>(), "How many of n attempts succeed.")
      .def(
          "enumerate",
          [](Prover& self, std::size_t most) {
            std::vector<slp::Path> paths;
            std::size_t choices = 0;
            nb::list answers;
            bool complete = true;
            self.machine.enumerate([&] {
              // What is long without end is not finite.
              choices += self.machine.choices();
              if (paths.size() == most || self.machine.choices() > 1000 || choices > 20 * most) return complete = false;
              paths.push_back(slp::path_of(self.machine.events()));
              nb::tuple answer = self.answer();  // first, as it ends where a term contains itself
              answers.append(nb::make_tuple(answer, self.text(), to_choices(self.machine.events())));
              return true;
            });
            return nb::make_tuple(answers, slp::proof_probabilities(paths, self.machine.semantics()), complete);
          },
          nb::arg("most"))
      .def(
          "derivations",
          [](Prover& self, std::size_t most) {
            std::vector<std::tuple<std::string, bool, std::vector<std::uint64_t>>> out;
            self.machine.enumerate_raw([&](bool succeeded) {
              if (out.size() == most || self.machine.events().size() > 1000)
                throw InputError("there are more than " + std::to_string(most) + " derivations, or derivations of more than 1,000 choices: too many to list");
              if (out.size() % 1024 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
              std::vector<std::uint64_t> clauses;
              for (const slp::Event& event : self.machine.events())
                if (event.is_choice && !event.goal.is_draw) clauses.push_back(event.chosen.id);
              out.emplace_back(succeeded ? self.text() : "", succeeded, std::move(clauses));
              return true;
            });
            return out;
          },
          nb::arg("most"), "Every derivation, with labels chosen among all clauses: (answer, succeeded, clauses chosen).")
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
             using Row = std::tuple<std::int64_t, std::string, std::string, std::uint32_t, std::int64_t, std::uint64_t, double>;
             std::vector<Row> rows;
             for (slp::TracedGoal& goal : self.machine.trace())
               rows.emplace_back(goal.parent, std::move(goal.called), std::move(goal.proved), goal.place.line, goal.choice, goal.options, goal.probability);
             return rows;
           })
      .def("answer", &Prover::answer)
      .def("text", &Prover::text)
      .def_prop_ro("log_probability", [](const Prover& self) { return self.machine.log_probability(); })
      .def("take_output", [](Prover& self) { return self.machine.take_output(); });

  nb::class_<ProofChain>(module, "ProofChain")
      .def(
          "__init__",
          [](ProofChain* self, const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits, nb::object make,
             std::vector<slp::KernelComponent> kernels, nb::object log_likelihood, double power, std::uint64_t seed, std::uint32_t replica) {
            new (self) ProofChain(program, semantics, limits, std::move(make), std::move(kernels), std::move(log_likelihood), power, seed, replica);
          },
          nb::arg("program"), nb::arg("semantics"), nb::arg("limits"), nb::arg("make"), nb::arg("kernels"), nb::arg("log_likelihood").none(), nb::arg("power"),
          nb::arg("seed"), nb::arg("replica"))
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
            if (turns.size() != self.walk.mixture().turns.size()) throw InputError("one number of turns for each kernel");
            self.walk.mixture().turns = std::move(turns);
          })
      .def_prop_ro("accepted", [](ProofChain& self) { return self.walk.mixture().accepted; })
      .def("take_output", [](ProofChain& self) { return self.prover.machine.take_output(); });

  bind_program_chain<cart::CategoricalLeaf>(module, "CategoricalProgramChain");
  bind_program_chain<cart::GaussianLeaf>(module, "GaussianProgramChain");
}

}  // namespace baytree::python
