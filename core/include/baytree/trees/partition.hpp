#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "baytree/trees/tree.hpp"

namespace baytree {

/// Calls `f` with a predicate row -> goes left, specialised for the column's width and the rule's form.
template <class F>
decltype(auto) with_test(const Column& column, const Rule& rule, F&& f) {
  return with_codes(column, [&](const auto* codes) -> decltype(auto) {
    if (column.categorical)
      return f([codes, subset = rule.subset](Row row) { return (subset >> codes[row] & 1) != 0; });
    const std::uint32_t cut = rule.cut;
    if (!rule.missing_left)
      return f([codes, cut](Row row) { return codes[row] <= cut; });  // the missing code is the largest
    return f(
        [codes, cut, missing = column.missing_code()](Row row) { return codes[row] <= cut || codes[row] == missing; });
  });
}

/// Copies the rows that go left to the front of `to` and the others behind them, both in their old order, and returns
/// how many went left. Keeping the order makes the rows of a node ascending whatever moves led to it, so that sums over
/// them have the same bits. `from` and `to` may be the same.
template <class Test>
Row partition_rows(std::span<const Row> from, Row* to, std::vector<Row>& spare, Test goes_left) {
  if (spare.size() < from.size()) spare.resize(from.size());
  Row left = 0, right = 0;
  for (const Row row : from) {
    const bool is_left = goes_left(row);
    to[left] = row;
    spare[right] = row;
    left += is_left;
    right += !is_left;
  }
  std::copy(spare.begin(), spare.begin() + right, to + left);
  return left;
}

/// The m-th smallest and m-th largest key of the rows, for 1 ≤ m ≤ number of rows.
struct Extremes {
  std::uint32_t low, high;
};

template <class Key>
Extremes extremes(std::span<const Row> rows, Row m, std::vector<std::uint32_t>& spare, Key key) {
  constexpr Row few = 64;
  if (m > few) {
    spare.clear();
    for (const Row row : rows) spare.push_back(key(row));
    const auto low = spare.begin() + (m - 1), high = spare.end() - m;
    std::nth_element(spare.begin(), low, spare.end());
    const std::uint32_t smallest = *low;
    std::nth_element(spare.begin(), high, spare.end());
    return {smallest, *high};
  }
  // Sorted lists of the m smallest and m largest so far; after the first rows a newcomer seldom enters.
  std::uint32_t low[few], high[few];
  for (Row i = 0; i < m; ++i) low[i] = high[i] = key(rows[i]);
  std::sort(low, low + m);
  std::sort(high, high + m, std::greater<>());
  for (Row i = m; i < rows.size(); ++i) {
    const std::uint32_t value = key(rows[i]);
    if (value < low[m - 1]) {
      Row place = m - 1;
      for (; place > 0 && low[place - 1] > value; --place) low[place] = low[place - 1];
      low[place] = value;
    }
    if (value > high[m - 1]) {
      Row place = m - 1;
      for (; place > 0 && high[place - 1] < value; --place) high[place] = high[place - 1];
      high[place] = value;
    }
  }
  return {low[m - 1], high[m - 1]};
}

}  // namespace baytree
