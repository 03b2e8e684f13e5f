#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/bart/hard/pass.hpp"
#include "baytree/data/design.hpp"
#include "baytree/trees/tree.hpp"

namespace baytree::bart {

/// Of every row, the number of its leaf among the leaves of one tree, from left to right.
using LeafNumbers = std::span<std::uint8_t>;

/// Leaf `leaf` becomes two, of which the right one takes the next number; the leaves behind it move up.
void divide_leaf(LeafNumbers numbers, std::uint8_t leaf, const ByteRule& rule);
/// Leaf `leaf` and the next one become one; those behind them move down.
void merge_leaves(LeafNumbers numbers, std::uint8_t leaf);
/// The rows of leaf `leaf` and the next one are divided anew.
void divide_again(LeafNumbers numbers, std::uint8_t leaf, const ByteRule& rule);

/// Adds its leaf's change to every row's residual.
void add_changes(std::span<float> residual, std::span<const std::uint8_t> numbers, const float* change);

/// The rows of two leaves, or of one given twice, ascending.
void rows_of_leaves(std::span<const std::uint8_t> numbers, std::uint8_t first, std::uint8_t second,
                    std::vector<Row>& out);
/// Those of them that go left, or right, but only so many.
void rows_of_side(std::span<const std::uint8_t> numbers, std::uint8_t first, std::uint8_t second, const ByteRule& rule,
                  bool right, std::size_t most, std::vector<Row>& out);

/// The smallest and the largest of the codes that the rows of two leaves have, or of one given twice.
struct CodeRange {
  std::uint8_t least = 255, most = 0;
};
CodeRange codes_of_leaves(std::span<const std::uint8_t> numbers, std::uint8_t first, std::uint8_t second,
                          const std::uint8_t* code);

/// Rules as bytes. Where a column's codes are no bytes, or a level set is asked about, every row's side is written
/// down.
class ByteRules {
 public:
  explicit ByteRules(const Design& design) : design_(design) {}

  /// Good until the next call.
  ByteRule operator()(const Rule& rule);

 private:
  const Design& design_;
  std::vector<std::uint8_t> sides_;
};

}  // namespace baytree::bart
