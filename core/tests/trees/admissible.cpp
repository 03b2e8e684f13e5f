#include "baytree/trees/admissible.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "baytree/trees/partition.hpp"
#include "checks.hpp"
#include "table.hpp"

namespace {

using namespace baytree;

/// A column's admissible rules, counted one by one.
std::uint64_t count_by_trying(const Column& column, std::span<const Row> rows, Row min_leaf) {
  std::vector<Rule> candidates;
  if (column.categorical) {
    for (std::uint64_t subset = 1; subset + 1 < std::uint64_t{1} << column.n_codes(); subset += 2)
      candidates.push_back({.subset = subset});
  } else {
    for (std::uint32_t cut = 0; cut + 1 < column.n_codes(); ++cut) candidates.push_back({.cut = cut});
    for (std::uint32_t cut = 0; column.has_missing && cut + 1 < column.observed; ++cut)
      candidates.push_back({.cut = cut, .missing_left = true});
  }
  std::uint64_t count = 0;
  for (const Rule& rule : candidates) {
    const auto left = with_test(column, rule, [&](auto test) { return std::count_if(rows.begin(), rows.end(), test); });
    count += left >= min_leaf && static_cast<std::int64_t>(rows.size()) - left >= min_leaf;
  }
  return count;
}

TEST_CASE("admissible") {
  const Table table;
  Design with_sets = table.design;
  choose_rows(with_sets, RowForm::sets, Simd::avx512);
  AdmissibleBuffers buffers;
  Stream stream(3, Role::chain, 0);
  for (int repeat = 0; repeat < 60; ++repeat) {
    std::vector<Row> rows;
    for (Row row = 0; row < table.design.rows; ++row)
      if (stream.bernoulli(repeat % 3 == 0 ? 0.05 : 0.5)) rows.push_back(row);
    std::vector<Word> bits(with_sets.sets->words());
    for (const Row row : rows) bits[row / word_bits] |= Word{1} << row % word_bits;
    const NodeRows set(*with_sets.sets, bits.data(), static_cast<Row>(rows.size()));
    for (std::uint32_t j = 0; j < table.design.columns.size(); ++j) {
      const Column& column = table.design.columns[j];
      if (column.n_codes() > 20 && column.categorical) continue;
      for (Row min_leaf : {1u, 2u, 5u, 20u}) {
        const ColumnRules rules = column_rules(column, j, rows, min_leaf, buffers);
        CHECK(rules.count == (rows.size() < 2 * min_leaf ? 0 : count_by_trying(column, rows, min_leaf)));
        CHECK(has_rule(column, j, rows, min_leaf, buffers) == (rules.count > 0));
        const ColumnRules of_set = column_rules(column, j, set, min_leaf, buffers);
        CHECK((of_set.count == rules.count && of_set.right_begin == rules.right_begin &&
               of_set.right_end == rules.right_end && of_set.left_begin == rules.left_begin &&
               of_set.left_end == rules.left_end));
        CHECK(has_rule(column, j, set, min_leaf, buffers) == (rules.count > 0));
        if (rules.count == 0) continue;
        const std::uint64_t n = stream.below(rules.count);
        const Rule rule = nth_rule(column, j, rules, rows, min_leaf, n, buffers);
        CHECK(nth_rule(column, j, rules, set, min_leaf, n, buffers) == rule);
        const auto left =
            with_test(column, rule, [&](auto test) { return std::count_if(rows.begin(), rows.end(), test); });
        CHECK((left >= min_leaf && rows.size() - left >= min_leaf));
      }
    }
  }
}

}  // namespace
