#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "baytree/cart/exact/problem.hpp"
#include "baytree/trees/tree.hpp"

namespace baytree::cart::exact {

/// The name of a set of rows: the exclusive or of a name for each pattern. Of up to 128 patterns it is the set itself,
/// a bit for each. Of more, the names of patterns are random, so that among n sets two have one name with probability
/// n²/2¹²⁹ at most, 10⁻²⁴ for ten million.
struct Key {
  std::uint64_t low = 0, high = 0;

  Key& operator^=(const Key& other) {
    low ^= other.low;
    high ^= other.high;
    return *this;
  }
  friend Key operator^(Key a, const Key& b) { return a ^= b; }
  bool operator==(const Key&) const = default;
};

/// A set of patterns, a bit for each.
using Bits = std::vector<std::uint64_t>;

/// Small whole numbers side by side in words, so that one addition adds several of them: how many rows and patterns
/// there are, and their statistics but the last, where the statistics add up to the rows.
class Packing {
 public:
  static constexpr unsigned bits = 21, in_a_word = 3;
  static constexpr double most = (1u << bits) - 1;

  explicit Packing(std::size_t width) : words((width + 1 + in_a_word - 1) / in_a_word), width_(width) {}

  std::size_t words;

  void pack(Row rows, const double* statistics, std::uint64_t* out) const;
  void unpack(const std::uint64_t* in, Row& rows, std::uint32_t& patterns, double* statistics) const;

 private:
  std::uint64_t field(const std::uint64_t* in, std::size_t i) const {
    return in[i / in_a_word] >> bits * (i % in_a_word) & ((std::uint64_t{1} << bits) - 1);
  }
  std::size_t width_;
};

/// The distinct rows. Rows that agree in every column that may be asked about are in one leaf of every tree.
class Patterns {
 public:
  Patterns(const Problem& problem, const std::vector<bool>& usable);

  std::size_t size() const { return rows.size(); }
  std::size_t words() const { return (size() + 63) / 64; }
  std::uint32_t code(std::size_t feature, std::size_t pattern) const { return codes_[feature][pattern]; }
  const std::uint16_t* codes(std::size_t feature) const { return codes_[feature].data(); }
  /// Keeps the patterns that one side of a rule has.
  void keep(Bits& bits, const Rule& rule, bool left) const;

  std::size_t width;               // statistics of a pattern
  std::vector<Row> rows;           // of each pattern, how many
  std::vector<std::uint32_t> of;   // of each row, its pattern
  std::vector<Key> key;            // of each
  std::vector<double> statistics;  // of each, `width` of them

  // Of features with two codes, where the statistics are counts of rows: a pattern names those of them of which it has
  // the rarer code, and all of a set's divisions follow from these.
  static constexpr std::uint32_t no_place = ~std::uint32_t{0};
  Packing packing;
  std::vector<std::uint32_t> place;                // of each feature among them, or none
  std::vector<std::uint32_t> rare;                 // of each of them, the rarer code
  std::vector<std::vector<std::uint32_t>> places;  // of each pattern
  std::vector<std::uint64_t> packed;               // of each pattern, `packing.words` words

 private:
  void find_two_codes();

  const Design& design_;
  std::vector<std::vector<std::uint16_t>> codes_;  // by feature and pattern
  // By feature and code. Numeric: the patterns with this code or a smaller one, last those that miss it; categorical:
  // the patterns of the level.
  std::vector<std::vector<Bits>> at_;
};

}  // namespace baytree::cart::exact
