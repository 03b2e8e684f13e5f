#include "baytree/bart/leaf_numbers.hpp"

namespace baytree {
namespace {

// The loops take bare pointers and copies of what they compare with, so that the compiler sees that nothing overlaps.

BAYTREE_CLONES void divide(std::uint8_t* __restrict numbers, std::size_t rows, std::uint8_t leaf, const std::uint8_t* __restrict code, std::uint8_t cut,
                           std::uint8_t left_code) {
  for (std::size_t i = 0; i < rows; ++i) {
    const bool right = (code[i] > cut) & (code[i] != left_code);
    numbers[i] = static_cast<std::uint8_t>(numbers[i] + ((numbers[i] > leaf) | ((numbers[i] == leaf) & right)));
  }
}

BAYTREE_CLONES void merge(std::uint8_t* numbers, std::size_t rows, std::uint8_t leaf) {
  for (std::size_t i = 0; i < rows; ++i) numbers[i] = static_cast<std::uint8_t>(numbers[i] - (numbers[i] > leaf));
}

BAYTREE_CLONES void redivide(std::uint8_t* __restrict numbers, std::size_t rows, std::uint8_t leaf, const std::uint8_t* __restrict code, std::uint8_t cut,
                             std::uint8_t left_code) {
  const std::uint8_t next = static_cast<std::uint8_t>(leaf + 1);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint8_t side = (code[i] > cut) & (code[i] != left_code) ? next : leaf;
    numbers[i] = (numbers[i] == leaf) | (numbers[i] == next) ? side : numbers[i];
  }
}

BAYTREE_CLONES void sides_of_levels(const std::uint8_t* __restrict code, std::size_t rows, std::uint64_t subset, std::uint8_t* __restrict side) {
  for (std::size_t i = 0; i < rows; ++i) side[i] = static_cast<std::uint8_t>(~(subset >> code[i]) & 1);
}

BAYTREE_CLONES void sides_of_cut(const std::uint16_t* __restrict code, std::size_t rows, std::uint16_t cut, std::uint16_t left_code,
                                 std::uint8_t* __restrict side) {
  for (std::size_t i = 0; i < rows; ++i) side[i] = (code[i] > cut) & (code[i] != left_code);
}

}  // namespace

void divide_leaf(LeafNumbers numbers, std::uint8_t leaf, const ByteRule& rule) {
  divide(numbers.data(), numbers.size(), leaf, rule.code, rule.cut, rule.left_code);
}

void merge_leaves(LeafNumbers numbers, std::uint8_t leaf) { merge(numbers.data(), numbers.size(), leaf); }

void divide_again(LeafNumbers numbers, std::uint8_t leaf, const ByteRule& rule) {
  redivide(numbers.data(), numbers.size(), leaf, rule.code, rule.cut, rule.left_code);
}

void add_changes(std::span<float> residual, std::span<const std::uint8_t> numbers, const float* change) {
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] += change[numbers[i]];
}

void rows_of_leaves(std::span<const std::uint8_t> numbers, std::uint8_t first, std::uint8_t second, std::vector<Row>& out) {
  out.resize(numbers.size());
  std::size_t found = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    out[found] = static_cast<Row>(i);
    found += (numbers[i] == first) | (numbers[i] == second);
  }
  out.resize(found);
}

void rows_of_side(std::span<const std::uint8_t> numbers, std::uint8_t first, std::uint8_t second, const ByteRule& rule, bool right, std::vector<Row>& out) {
  out.resize(numbers.size());
  std::size_t found = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    out[found] = static_cast<Row>(i);
    found += ((numbers[i] == first) | (numbers[i] == second)) & (rule.goes_right(i) == right);
  }
  out.resize(found);
}

ByteRule ByteRules::operator()(const Rule& rule) {
  const Column& column = design_.columns[rule.feature];
  const std::size_t rows = design_.rows;
  if (column.categorical) {  // at most 63 levels, so the codes are bytes
    sides_.resize(rows);
    sides_of_levels(std::get<0>(column.codes).data(), rows, rule.subset, sides_.data());
    return {sides_.data(), 0, 0};
  }
  // No code that is above the cut is 0, so 0 as the exception is none.
  const std::uint32_t left_code = rule.missing_left ? column.missing_code() : 0;
  if (const auto* bytes = std::get_if<0>(&column.codes)) return {bytes->data(), static_cast<std::uint8_t>(rule.cut), static_cast<std::uint8_t>(left_code)};
  sides_.resize(rows);
  sides_of_cut(std::get<1>(column.codes).data(), rows, static_cast<std::uint16_t>(rule.cut), static_cast<std::uint16_t>(left_code), sides_.data());
  return {sides_.data(), 0, 0};
}

}  // namespace baytree
