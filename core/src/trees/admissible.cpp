#include "baytree/trees/admissible.hpp"

#include <algorithm>
#include <array>

#include "baytree/trees/partition.hpp"

namespace baytree {
namespace {

// ---- numeric columns
// ------------------------------------------------------------------------------------------------- With the missing
// code behind all observed ones, a rule with missing values right cuts the order 0 … observed−1, missing; one with
// missing values left cuts the order missing, 0 … observed−1. A cut is admissible between the min_leaf-th smallest and
// the min_leaf-th largest key.

ColumnRules numeric_rules(const Column& column, std::span<const Row> rows, Row min_leaf, AdmissibleBuffers& buffers) {
  return with_codes(column, [&](const auto* codes) {
    ColumnRules rules;
    const Extremes last =
        extremes(rows, min_leaf, buffers.keys, [codes](Row row) -> std::uint32_t { return codes[row]; });
    if (last.low < last.high) {
      rules.right_begin = last.low;
      rules.right_end = last.high;
    }
    if (column.has_missing) {
      const std::uint32_t missing = column.missing_code();
      const Extremes first = extremes(rows, min_leaf, buffers.keys, [codes, missing](Row row) {
        return codes[row] == missing ? 0u : codes[row] + 1u;
      });
      // Key cut 0 would send missing values alone to the left: the mirror of "is it missing?", which is counted on the
      // right.
      const std::uint32_t begin = std::max(first.low, 1u);
      if (begin < first.high) {
        rules.left_begin = begin - 1;
        rules.left_end = first.high - 1;
      }
    }
    rules.count = (rules.right_end - rules.right_begin) + (rules.left_end - rules.left_begin);
    return rules;
  });
}

/// Some cut leaves min_leaf rows on both sides; the cut at the middle one of three rows usually shows it within a few
/// rows.
template <class Code>
bool quick_numeric_rule(const Code* codes, std::span<const Row> rows, Row min_leaf) {
  const Code a = codes[rows.front()], b = codes[rows[rows.size() / 2]], c = codes[rows.back()];
  const Code low = std::min({a, b, c}), high = std::max({a, b, c});
  const Code middle = static_cast<Code>(a ^ b ^ c ^ low ^ high);
  const Code cut = middle == high && high > 0 ? static_cast<Code>(high - 1) : middle;
  Row left = 0, right = 0;
  for (const Row row : rows) {
    const bool is_left = codes[row] <= cut;
    left += is_left;
    right += !is_left;
    if (left >= min_leaf && right >= min_leaf) return true;
  }
  return false;
}

// ---- categorical columns
// --------------------------------------------------------------------------------------------- Subsets are counted by
// their complement: a division of the levels is inadmissible where one side is *light*, that is, holds fewer than
// min_leaf rows. Both sides cannot be light in a node of at least 2·min_leaf rows.

struct Levels {
  std::array<std::uint64_t, max_levels + 1> rows{};
  std::uint32_t count = 0;
};

Levels count_levels(const Column& column, std::span<const Row> rows) {
  Levels levels;
  levels.count = column.n_codes();
  with_codes(column, [&](const auto* codes) {
    for (const Row row : rows) ++levels.rows[codes[row]];
  });
  return levels;
}

/// light(level, t): the number of subsets of the levels from `level` on that hold fewer than t rows, for t ≤ min_leaf.
class LightSubsets {
 public:
  LightSubsets(const Levels& levels, Row min_leaf, std::vector<std::uint64_t>& table)
      : table_(table), width_(std::size_t{min_leaf} + 1) {
    table_.assign((levels.count + 1) * width_, 0);
    for (std::size_t t = 1; t < width_; ++t) table_[levels.count * width_ + t] = 1;
    for (std::uint32_t level = levels.count; level-- > 0;)
      for (std::size_t t = 1; t < width_; ++t) {
        const std::uint64_t without = table_[(level + 1) * width_ + t];
        const std::uint64_t rows = levels.rows[level];
        table_[level * width_ + t] = without + (rows < t ? table_[(level + 1) * width_ + t - rows] : 0);
      }
  }

  std::uint64_t operator()(std::uint32_t level, std::int64_t t) const {
    return t <= 0 ? 0 : table_[level * width_ + static_cast<std::size_t>(t)];
  }

 private:
  std::vector<std::uint64_t>& table_;
  std::size_t width_;
};

/// How many ways the levels from `level` on can complete a division that already has `left` and `right` rows.
std::uint64_t completions(const LightSubsets& light, const Levels& levels, std::uint32_t level, std::uint64_t left,
                          std::uint64_t right, Row min_leaf) {
  const auto short_by = [&](std::uint64_t rows) {
    return static_cast<std::int64_t>(min_leaf) - static_cast<std::int64_t>(std::min<std::uint64_t>(rows, min_leaf));
  };
  return (std::uint64_t{1} << (levels.count - level)) - light(level, short_by(left)) - light(level, short_by(right));
}

std::uint64_t count_subsets(const Column& column, std::span<const Row> rows, Row min_leaf, AdmissibleBuffers& buffers) {
  const Levels levels = count_levels(column, rows);
  const LightSubsets light(levels, min_leaf, buffers.light);
  return completions(light, levels, 1, levels.rows[0], 0, min_leaf);
}

std::uint64_t nth_subset(const Column& column, std::span<const Row> rows, Row min_leaf, std::uint64_t n,
                         AdmissibleBuffers& buffers) {
  const Levels levels = count_levels(column, rows);
  const LightSubsets light(levels, min_leaf, buffers.light);
  std::uint64_t subset = 1, left = levels.rows[0], right = 0;
  for (std::uint32_t level = 1; level < levels.count; ++level) {
    const std::uint64_t to_left = completions(light, levels, level + 1, left + levels.rows[level], right, min_leaf);
    if (n < to_left) {
      subset |= std::uint64_t{1} << level;
      left += levels.rows[level];
    } else {
      n -= to_left;
      right += levels.rows[level];
    }
  }
  return subset;
}

}  // namespace

ColumnRules column_rules(const Column& column, std::span<const Row> rows, Row min_leaf, AdmissibleBuffers& buffers) {
  if (rows.size() / 2 < min_leaf || column.n_codes() < 2) return {};
  if (column.categorical) return {.count = count_subsets(column, rows, min_leaf, buffers)};
  return numeric_rules(column, rows, min_leaf, buffers);
}

bool has_rule(const Column& column, std::span<const Row> rows, Row min_leaf, AdmissibleBuffers& buffers) {
  if (rows.size() / 2 < min_leaf || column.n_codes() < 2) return false;
  if (!column.categorical &&
      with_codes(column, [&](const auto* codes) { return quick_numeric_rule(codes, rows, min_leaf); }))
    return true;
  return column_rules(column, rows, min_leaf, buffers).count > 0;
}

Rule nth_rule(const Column& column, std::uint32_t feature, const ColumnRules& rules, std::span<const Row> rows,
              Row min_leaf, std::uint64_t n, AdmissibleBuffers& buffers) {
  Rule rule{.feature = feature};
  if (column.categorical) {
    rule.subset = nth_subset(column, rows, min_leaf, n, buffers);
    return rule;
  }
  const std::uint64_t right = rules.right_end - rules.right_begin;
  rule.missing_left = n >= right;
  rule.cut = static_cast<std::uint32_t>(rule.missing_left ? rules.left_begin + (n - right) : rules.right_begin + n);
  return rule;
}

}  // namespace baytree
