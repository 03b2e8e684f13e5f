#pragma once

#include <cstddef>
#include <cstdint>

#include "baytree/base/simd.hpp"

namespace baytree {

/// Sets of small numbers are arrays of words, number i bit i mod 64 of word i / 64; bits beyond the last number are 0.
using Word = std::uint64_t;
inline constexpr std::size_t word_bits = 64;
constexpr std::size_t words_for(std::size_t numbers) { return (numbers + word_bits - 1) / word_bits; }

/// What is asked of sets of so many words most often, in the widest registers there are.
struct SetKernels {
  /// How many numbers are in both sets.
  std::uint32_t (*count)(const Word* a, const Word* b, std::size_t words);
  /// The same for a set and each of n others, the first words of which lie `stride` words apart: side by side they take
  /// little longer than one.
  void (*count_each)(const Word* set, const Word* others, std::size_t n, std::size_t stride, std::size_t words,
                     std::uint32_t* out);
  /// Divides a set into what is in the other set, `inside`, and what is not; returns how many are in it.
  std::uint32_t (*divide)(const Word* set, const Word* other, Word* inside, Word* outside, std::size_t words);
};

SetKernels set_kernels(Simd widest);

}  // namespace baytree
