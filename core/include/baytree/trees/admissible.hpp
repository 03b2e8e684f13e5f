#pragma once

#include <cstdint>
#include <vector>

#include "baytree/trees/node_rows.hpp"
#include "baytree/trees/tree.hpp"

namespace baytree {

/// Buffers of the searches below, so that a chain allocates nothing while it runs.
struct AdmissibleBuffers {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint64_t> light;
};

/// The admissible rules of one column at one node: those that leave at least `min_leaf` rows on both sides.
struct ColumnRules {
  std::uint64_t count = 0;
  // numeric: the admissible cuts are contiguous, for missing values right and for missing values left
  std::uint32_t right_begin = 0, right_end = 0, left_begin = 0, left_end = 0;
};

ColumnRules column_rules(const Column& column, std::uint32_t feature, const NodeRows& rows, Row min_leaf,
                         AdmissibleBuffers& buffers);

/// Whether `column_rules` would count any; looks only at as many rows as it takes to know.
bool has_rule(const Column& column, std::uint32_t feature, const NodeRows& rows, Row min_leaf,
              AdmissibleBuffers& buffers);

/// The n-th of the column's admissible rules, n < rules.count; `rules` is what `column_rules` gave for the same rows.
/// Cuts ascend, those with missing values right first; level sets are in the order of their levels, a set with the
/// first level where two differ before the one without it.
Rule nth_rule(const Column& column, std::uint32_t feature, const ColumnRules& rules, const NodeRows& rows, Row min_leaf,
              std::uint64_t n, AdmissibleBuffers& buffers);

}  // namespace baytree
