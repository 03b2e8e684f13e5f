#include "baytree/trees/admissible.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "baytree/trees/partition.hpp"

namespace baytree {
namespace {

// ---- numeric columns
// ------------------------------------------------------------------------------------------------- With the missing
// code behind all observed ones, a rule with missing values right cuts the order 0 … observed−1, missing; one with
// missing values left cuts the order missing, 0 … observed−1. A cut is admissible between the min_leaf-th smallest and
// the min_leaf-th largest key.

struct Range {
  std::uint32_t begin = 0, end = 0;
};

ColumnRules rules_in(Range right, Range left) {
  ColumnRules rules;
  if (right.begin < right.end) {
    rules.right_begin = right.begin;
    rules.right_end = right.end;
  }
  if (left.begin < left.end) {
    rules.left_begin = left.begin;
    rules.left_end = left.end;
  }
  rules.count = (rules.right_end - rules.right_begin) + (rules.left_end - rules.left_begin);
  return rules;
}

ColumnRules numeric_rules(const Column& column, std::span<const Row> rows, Row min_leaf, AdmissibleBuffers& buffers) {
  return with_codes(column, [&](const auto* codes) {
    const Extremes last =
        extremes(rows, min_leaf, buffers.keys, [codes](Row row) -> std::uint32_t { return codes[row]; });
    if (!column.has_missing) return rules_in({last.low, last.high}, {});
    const std::uint32_t missing = column.missing_code();
    const Extremes first = extremes(rows, min_leaf, buffers.keys,
                                    [codes, missing](Row row) { return codes[row] == missing ? 0u : codes[row] + 1u; });
    // Key cut 0 would send missing values alone to the left: the mirror of "is it missing?", which is counted on the
    // right.
    return rules_in({last.low, last.high}, {std::max(first.low, 1u) - 1, std::max(first.high, 1u) - 1});
  });
}

/// The cuts of a numeric column at a node whose rows are a set. The rows left of a cut grow with it, so the first one
/// with enough of them, and the first that leaves too few, are found by halving.
class SetCuts {
 public:
  /// Of the first `cuts` cuts; `besides` more rows go left, whatever the cut.
  SetCuts(std::uint32_t feature, const NodeRows& rows, Row min_leaf, std::uint32_t cuts, Row besides)
      : rows_(rows), feature_(feature), min_leaf_(min_leaf), cuts_(cuts), besides_(besides) {}

  /// The admissible ones.
  Range admissible() const {
    Range enough{0, cuts_}, few{0, cuts_};  // where the first cut that has, or leaves, so many is; or it is their end
    while (enough.begin < enough.end || few.begin < few.end) {
      const std::uint32_t cut = middle(enough.begin < enough.end ? enough : few);
      const Row left = left_rows(cut);
      narrow(enough, cut, has_enough(left));
      narrow(few, cut, leaves_few(left));
    }
    return {enough.begin, few.begin};
  }

  /// Whether there are any.
  bool any() const {
    for (Range open{0, cuts_}; open.begin < open.end;) {
      const std::uint32_t cut = middle(open);
      const Row left = left_rows(cut);
      if (has_enough(left) && !leaves_few(left)) return true;
      narrow(open, cut, leaves_few(left));
    }
    return false;
  }

 private:
  static std::uint32_t middle(const Range& range) { return range.begin + (range.end - range.begin) / 2; }
  static void narrow(Range& range, std::uint32_t cut, bool is_behind) {
    range.end = is_behind ? std::min(range.end, cut) : range.end;
    range.begin = is_behind ? range.begin : std::max(range.begin, cut + 1);
  }
  Row left_rows(std::uint32_t cut) const { return besides_ + rows_.count(rows_.sets().at_most(feature_, cut)); }
  bool has_enough(Row left) const { return left >= min_leaf_; }
  bool leaves_few(Row left) const { return rows_.size() - left < min_leaf_; }

  const NodeRows& rows_;
  std::uint32_t feature_;
  Row min_leaf_;
  std::uint32_t cuts_;
  Row besides_;
};

/// With missing values right, and left.
SetCuts cuts_right(const Column& column, std::uint32_t feature, const NodeRows& rows, Row min_leaf) {
  return {feature, rows, min_leaf, column.n_codes() - 1, 0};
}
SetCuts cuts_left(const Column& column, std::uint32_t feature, const NodeRows& rows, Row min_leaf) {
  const Row missing = rows.size() - rows.count(rows.sets().at_most(feature, column.observed - 1));
  return {feature, rows, min_leaf, column.observed - 1, missing};
}

ColumnRules numeric_rules_of_set(const Column& column, std::uint32_t feature, const NodeRows& rows, Row min_leaf) {
  const Range right = cuts_right(column, feature, rows, min_leaf).admissible();
  if (!column.has_missing) return rules_in(right, {});
  return rules_in(right, cuts_left(column, feature, rows, min_leaf).admissible());
}

bool has_numeric_rule_of_set(const Column& column, std::uint32_t feature, const NodeRows& rows, Row min_leaf) {
  return cuts_right(column, feature, rows, min_leaf).any() ||
         (column.has_missing && cuts_left(column, feature, rows, min_leaf).any());
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
  std::array<std::uint64_t, max_levels + 1> rows;  // of the first `count` levels
  std::uint32_t count = 0;
};

Levels count_levels(const Column& column, std::uint32_t feature, const NodeRows& rows) {
  Levels levels;
  levels.count = column.n_codes();
  if (rows.is_set()) {
    std::array<Row, max_levels + 1> counts;
    rows.count_each(rows.sets().with_level(feature, 0), levels.count, 1, counts.data());
    std::copy_n(counts.begin(), levels.count, levels.rows.begin());
    return levels;
  }
  std::fill_n(levels.rows.begin(), levels.count, 0);
  with_codes(column, [&](const auto* codes) {
    for (const Row row : rows.list()) ++levels.rows[codes[row]];
  });
  return levels;
}

/// Whether some division of the levels is admissible, where that is known from this level's rows: it and all others
/// divide the rows, unless it has so many that whatever holds it leaves too few.
std::optional<bool> divides(std::uint64_t of_level, Row rows, Row min_leaf) {
  if (of_level < min_leaf) return std::nullopt;
  return rows - of_level >= min_leaf;
}

/// The same of all levels, as far as one of them tells. Of a set each is counted when it is looked at.
std::optional<bool> quick_categorical_rule(const Column& column, std::uint32_t feature, const NodeRows& rows,
                                           Row min_leaf) {
  if (rows.is_set()) {
    for (std::uint32_t level = 0; level < column.n_codes(); ++level)
      if (const auto found = divides(rows.count(rows.sets().with_level(feature, level)), rows.size(), min_leaf))
        return found;
    return std::nullopt;
  }
  const Levels levels = count_levels(column, feature, rows);
  for (std::uint32_t level = 0; level < levels.count; ++level)
    if (const auto found = divides(levels.rows[level], rows.size(), min_leaf)) return found;
  return std::nullopt;
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

std::uint64_t count_subsets(const Levels& levels, Row min_leaf, AdmissibleBuffers& buffers) {
  const LightSubsets light(levels, min_leaf, buffers.light);
  return completions(light, levels, 1, levels.rows[0], 0, min_leaf);
}

std::uint64_t nth_subset(const Levels& levels, Row min_leaf, std::uint64_t n, AdmissibleBuffers& buffers) {
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

ColumnRules column_rules(const Column& column, std::uint32_t feature, const NodeRows& rows, Row min_leaf,
                         AdmissibleBuffers& buffers) {
  if (rows.size() / 2 < min_leaf || column.n_codes() < 2) return {};
  if (column.categorical) return {.count = count_subsets(count_levels(column, feature, rows), min_leaf, buffers)};
  if (rows.is_set()) return numeric_rules_of_set(column, feature, rows, min_leaf);
  return numeric_rules(column, rows.list(), min_leaf, buffers);
}

bool has_rule(const Column& column, std::uint32_t feature, const NodeRows& rows, Row min_leaf,
              AdmissibleBuffers& buffers) {
  if (rows.size() / 2 < min_leaf || column.n_codes() < 2) return false;
  if (column.categorical) {
    if (const auto found = quick_categorical_rule(column, feature, rows, min_leaf)) return *found;
  } else if (rows.is_set()) {
    return has_numeric_rule_of_set(column, feature, rows, min_leaf);
  } else if (with_codes(column, [&](const auto* codes) { return quick_numeric_rule(codes, rows.list(), min_leaf); })) {
    return true;
  }
  return column_rules(column, feature, rows, min_leaf, buffers).count > 0;
}

Rule nth_rule(const Column& column, std::uint32_t feature, const ColumnRules& rules, const NodeRows& rows, Row min_leaf,
              std::uint64_t n, AdmissibleBuffers& buffers) {
  Rule rule{.feature = feature};
  if (column.categorical) {
    rule.subset = nth_subset(count_levels(column, feature, rows), min_leaf, n, buffers);
    return rule;
  }
  const std::uint64_t right = rules.right_end - rules.right_begin;
  rule.missing_left = n >= right;
  rule.cut = static_cast<std::uint32_t>(rule.missing_left ? rules.left_begin + (n - right) : rules.right_begin + n);
  return rule;
}

}  // namespace baytree
