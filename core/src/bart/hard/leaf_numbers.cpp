#include "baytree/bart/hard/leaf_numbers.hpp"

#include <algorithm>
#include <bit>

namespace baytree::bart {
namespace {

// The loops take bare pointers and copies of what they compare with, so that the compiler sees that nothing overlaps.

BAYTREE_CLONES void divide(std::uint8_t* __restrict numbers, std::size_t rows, std::uint8_t leaf,
                           const std::uint8_t* __restrict code, std::uint8_t cut, std::uint8_t left_code) {
  for (std::size_t i = 0; i < rows; ++i) {
    const bool right = (code[i] > cut) & (code[i] != left_code);
    numbers[i] = static_cast<std::uint8_t>(numbers[i] + ((numbers[i] > leaf) | ((numbers[i] == leaf) & right)));
  }
}

BAYTREE_CLONES void merge(std::uint8_t* numbers, std::size_t rows, std::uint8_t leaf) {
  for (std::size_t i = 0; i < rows; ++i) numbers[i] = static_cast<std::uint8_t>(numbers[i] - (numbers[i] > leaf));
}

BAYTREE_CLONES void redivide(std::uint8_t* __restrict numbers, std::size_t rows, std::uint8_t leaf,
                             const std::uint8_t* __restrict code, std::uint8_t cut, std::uint8_t left_code) {
  const std::uint8_t next = static_cast<std::uint8_t>(leaf + 1);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint8_t side = ((code[i] > cut) & (code[i] != left_code)) ? next : leaf;
    numbers[i] = ((numbers[i] == leaf) | (numbers[i] == next)) ? side : numbers[i];
  }
}

BAYTREE_CLONES void sides_of_levels(const std::uint8_t* __restrict code, std::size_t rows, std::uint64_t subset,
                                    std::uint8_t* __restrict side) {
  for (std::size_t i = 0; i < rows; ++i) side[i] = static_cast<std::uint8_t>(~(subset >> code[i]) & 1);
}

BAYTREE_CLONES void sides_of_cut(const std::uint16_t* __restrict code, std::size_t rows, std::uint16_t cut,
                                 std::uint16_t left_code, std::uint8_t* __restrict side) {
  for (std::size_t i = 0; i < rows; ++i) side[i] = (code[i] > cut) & (code[i] != left_code);
}

BAYTREE_CLONES void range_of_codes(const std::uint8_t* __restrict numbers, std::size_t rows, std::uint8_t first,
                                   std::uint8_t second, const std::uint8_t* __restrict code, CodeRange* range) {
  std::uint8_t least = 255, most = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto elsewhere = static_cast<std::uint8_t>(((numbers[i] == first) | (numbers[i] == second)) - 1);
    const auto low = static_cast<std::uint8_t>(code[i] | elsewhere),
               high = static_cast<std::uint8_t>(code[i] & ~elsewhere);
    least = low < least ? low : least;
    most = high > most ? high : most;
  }
  *range = {least, most};
}

// Rows that are looked for are found so many at a time: mostly none of them is one.
constexpr std::size_t at_once = 256;

BAYTREE_CLONES void in_leaves(const std::uint8_t* __restrict numbers, std::size_t rows, std::uint8_t first,
                              std::uint8_t second, std::uint8_t* __restrict hit) {
  for (std::size_t i = 0; i < rows; ++i) hit[i] = (numbers[i] == first) | (numbers[i] == second);
}

BAYTREE_CLONES void on_side(const std::uint8_t* __restrict numbers, std::size_t rows, std::uint8_t first,
                            std::uint8_t second, const std::uint8_t* __restrict code, std::uint8_t cut,
                            std::uint8_t left_code, bool right, std::uint8_t* __restrict hit) {
  const std::uint8_t side = right;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint8_t goes_right = (code[i] > cut) & (code[i] != left_code);
    hit[i] = ((numbers[i] == first) | (numbers[i] == second)) & (goes_right == side);
  }
}

/// Adds the rows that are hit, until there are so many.
void add_hits(const std::uint64_t* hits, std::size_t most, std::size_t begin, std::vector<Row>& out) {
  for (std::size_t word = 0; word < at_once / 8; ++word)
    for (std::uint64_t bytes = hits[word]; bytes != 0 && out.size() < most; bytes &= bytes - 1) {
      const auto byte = static_cast<std::size_t>(std::countr_zero(bytes)) / 8;  // each hit is a byte of value 1
      out.push_back(static_cast<Row>(begin + 8 * word + byte));
    }
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

void rows_of_leaves(std::span<const std::uint8_t> numbers, std::uint8_t first, std::uint8_t second,
                    std::vector<Row>& out) {
  out.clear();
  for (std::size_t begin = 0; begin < numbers.size(); begin += at_once) {
    std::uint64_t hits[at_once / 8] = {};
    in_leaves(numbers.data() + begin, std::min(at_once, numbers.size() - begin), first, second,
              reinterpret_cast<std::uint8_t*>(hits));
    add_hits(hits, numbers.size(), begin, out);
  }
}

void rows_of_side(std::span<const std::uint8_t> numbers, std::uint8_t first, std::uint8_t second, const ByteRule& rule,
                  bool right, std::size_t most, std::vector<Row>& out) {
  out.clear();
  for (std::size_t begin = 0; begin < numbers.size() && out.size() < most; begin += at_once) {
    std::uint64_t hits[at_once / 8] = {};
    const std::size_t rows = std::min(at_once, numbers.size() - begin);
    on_side(numbers.data() + begin, rows, first, second, rule.code + begin, rule.cut, rule.left_code, right,
            reinterpret_cast<std::uint8_t*>(hits));
    add_hits(hits, most, begin, out);
  }
}

CodeRange codes_of_leaves(std::span<const std::uint8_t> numbers, std::uint8_t first, std::uint8_t second,
                          const std::uint8_t* code) {
  CodeRange range;
  range_of_codes(numbers.data(), numbers.size(), first, second, code, &range);
  return range;
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
  if (const auto* bytes = std::get_if<0>(&column.codes))
    return {bytes->data(), static_cast<std::uint8_t>(rule.cut), static_cast<std::uint8_t>(left_code)};
  sides_.resize(rows);
  sides_of_cut(std::get<1>(column.codes).data(), rows, static_cast<std::uint16_t>(rule.cut),
               static_cast<std::uint16_t>(left_code), sides_.data());
  return {sides_.data(), 0, 0};
}

}  // namespace baytree::bart
