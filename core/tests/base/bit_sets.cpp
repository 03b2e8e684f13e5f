#include "baytree/base/bit_sets.hpp"

#include <bit>
#include <vector>

#include "baytree/base/rng.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;

TEST_CASE("kernels of sets of all widths") {
  Stream stream(3, Role::chain, 0);
  for (std::size_t words : {0u, 1u, 2u, 7u, 8u, 9u, 12u, 64u, 79u}) {
    std::vector<Word> a(words), b(words), both(words), rest(words);
    std::uint32_t expected = 0;
    for (std::size_t i = 0; i < words; ++i) {
      a[i] = stream.next64();
      b[i] = stream.next64() & stream.next64();
      both[i] = a[i] & b[i];
      rest[i] = a[i] & ~b[i];
      expected += static_cast<std::uint32_t>(std::popcount(both[i]));
    }
    for (Simd simd : {Simd::plain, Simd::avx2, Simd::avx512}) {
      const SetKernels kernels = set_kernels(simd);
      CHECK(kernels.count(a.data(), b.data(), words) == expected);
      std::vector<Word> three(a);
      three.insert(three.end(), b.begin(), b.end());
      three.insert(three.end(), b.begin(), b.end());
      std::uint32_t counts[2];
      kernels.count_each(a.data(), three.data() + words, 2, words, words, counts);
      CHECK((counts[0] == expected && counts[1] == expected));
      std::vector<Word> inside(words), outside(words);
      CHECK(kernels.divide(a.data(), b.data(), inside.data(), outside.data(), words) == expected);
      CHECK((inside == both && outside == rest));
    }
  }
}

}  // namespace
