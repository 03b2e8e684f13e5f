#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "baytree/slp/lint.hpp"
#include "bindings.hpp"

namespace baytree::python {
namespace {

using Row = std::tuple<bool, std::uint32_t, std::uint32_t, std::string>;

void append(std::vector<Row>& rows, const slp::Problems& problems) {
  for (const slp::Problem& problem : problems)
    rows.emplace_back(problem.severity == slp::Problem::Severity::error, problem.place.line, problem.place.column, problem.message);
}

}  // namespace

void bind_slp(nb::module_& module) {
  module.def(
      "check_program",
      [](std::string_view text, std::string_view goal) {
        slp::Problems problems;
        const slp::Program program = slp::read_program(text, problems);
        std::vector<Row> rows;
        append(rows, problems);
        // Beside clauses that could not be read, what seems undefined may only be unread.
        if (problems.empty()) append(rows, slp::lint(program, goal));
        return rows;
      },
      nb::arg("text"), nb::arg("goal"), "The problems of a program: (is an error, line, column, message).");
  module.def(
      "write_program",
      [](std::string_view text) {
        slp::Problems problems;
        const slp::Source source = slp::parse(text, problems);
        std::string out;
        for (const slp::Sentence& sentence : source.sentences) out += slp::write(source, sentence.term, sentence.variables) + ".\n";
        return out;
      },
      nb::arg("text"), "The clauses that could be read, one a line, with operators written out in full.");
}

}  // namespace baytree::python
