#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace baytree {

using Row = std::uint32_t;

/// One predictor as integer codes. Observed codes are 0 … observed−1; `observed` itself is the missing code, and is
/// among the training rows only if `has_missing`.
struct Column {
  std::variant<std::span<const std::uint8_t>, std::span<const std::uint16_t>> codes;
  bool categorical = false;
  std::uint32_t observed = 0;
  bool has_missing = false;

  std::uint32_t missing_code() const { return observed; }
  std::uint32_t n_codes() const { return observed + (has_missing ? 1 : 0); }
};

/// The levels of a categorical column, its missing code included, are bits of one word.
inline constexpr std::uint32_t max_levels = 63;

class RowSets;

/// The predictors. It does not own the codes: whoever builds it keeps them alive.
struct Design {
  std::vector<Column> columns;
  Row rows = 0;
  std::shared_ptr<const RowSets> sets = nullptr;  // where the rows of nodes are kept as sets: see `choose_rows`
};

/// Throws InputError where a code is out of range, a column has another length, or a categorical column has too many
/// levels.
void validate(const Design& design);

/// Calls `f` with a pointer to the codes in their own width.
template <class F>
decltype(auto) with_codes(const Column& column, F&& f) {
  return std::visit([&](auto codes) -> decltype(auto) { return f(codes.data()); }, column.codes);
}

}  // namespace baytree
