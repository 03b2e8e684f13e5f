#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/bindings.hpp"
#include "baytree/slp/program/builtins.hpp"
#include "baytree/slp/program/lint.hpp"
#include "baytree/slp/syntax/characters.hpp"
#include "slp/problems.hpp"

namespace baytree::python {

void bind_source(nb::module_& module) {
  module.def(
      "check_program",
      [](std::string_view text, std::string_view goal) {
        slp::Problems problems;
        const slp::Program program = slp::read_program(text, problems);
        // Beside clauses that could not be read, what seems undefined may only be unread.
        return problem_rows(problems.empty() ? slp::lint(program, goal) : problems);
      },
      nb::arg("text"), nb::arg("goal"), "The problems of a program: (is an error, line, column, message).");
  module.def(
      "head_arguments",
      [](std::string_view goal) -> std::optional<std::tuple<std::string, std::string, std::vector<std::string>>> {
        slp::Problems problems;
        slp::Program program{.source = slp::parse(std::string(goal) + "\n.", problems)};
        if (!problems.empty() || program.source.sentences.size() != 1) return std::nullopt;
        const slp::Sentence& sentence = program.source.sentences[0];
        const auto text = [&](slp::TermId term) { return slp::write(program.source, term, sentence.variables); };
        const slp::Call call = slp::as_call(program, sentence.term);
        const slp::Term& term = program.source.terms[call.goal];
        if (term.kind != slp::Kind::atom && term.kind != slp::Kind::compound) return std::nullopt;
        if (slp::meaning_of(program.source.symbols.name(term.name), term.arity) != slp::Meaning::ordinary)
          return std::nullopt;
        std::string labels;
        for (const slp::TermId label : call.label_arguments) labels += (labels.empty() ? "[" : ", ") + text(label);
        if (!labels.empty()) labels += "] : ";
        std::vector<std::string> arguments;
        for (std::uint32_t i = 0; i < term.arity; ++i)
          arguments.push_back(text(program.source.terms.argument(call.goal, i)));
        program.source.terms.nodes.push_back({.kind = slp::Kind::atom, .name = term.name});
        return std::make_tuple(labels, text(static_cast<slp::TermId>(program.source.terms.nodes.size() - 1)),
                               arguments);
      },
      nb::arg("goal"), "A goal's label, name and arguments as text; None where it is not one goal of a program.");
  module.def(
      "write_program",
      [](std::string_view text) {
        slp::Problems problems;
        const slp::Source source = slp::parse(text, problems);
        std::string out;
        for (const slp::Sentence& sentence : source.sentences) {
          out += slp::write(source, sentence.term, sentence.variables);
          // Behind a sign a full stop would be read as part of it.
          out += slp::is_sign(out.back()) ? " .\n" : ".\n";
        }
        return out;
      },
      nb::arg("text"), "The clauses that could be read, one a line, with operators written out in full.");
}

}  // namespace baytree::python
