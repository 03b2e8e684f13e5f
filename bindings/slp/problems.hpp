#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "baytree/slp/syntax/problem.hpp"

namespace baytree::python {

/// A problem of a program: whether it is an error, line, column, message.
using ProblemRow = std::tuple<bool, std::uint32_t, std::uint32_t, std::string>;

inline std::vector<ProblemRow> problem_rows(const slp::Problems& problems) {
  std::vector<ProblemRow> rows;
  for (const slp::Problem& problem : problems)
    rows.emplace_back(problem.severity == slp::Problem::Severity::error, problem.place.line, problem.place.column,
                      problem.message);
  return rows;
}

}  // namespace baytree::python
