#include "baytree/base/rng.hpp"

#include <cstdint>
#include <vector>

#include "checks.hpp"

namespace {

using namespace baytree;

TEST_CASE("philox") {
  // The vectors published with Random123.
  CHECK((philox({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  CHECK((philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
         PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  CHECK((philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
         PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_CASE("stream") {
  Stream stream(1, Role::chain, 2);
  std::vector<std::uint32_t> words(200);
  for (auto& word : words) word = stream.next32();
  CHECK(stream.position() == words.size());
  for (std::size_t position : {0u, 1u, 63u, 64u, 65u, 199u}) {
    stream.seek(position);
    CHECK(stream.position() == position);
    CHECK(stream.next32() == words[position]);
  }
  for (int i = 0; i < 1000; ++i) CHECK(stream.below((std::uint64_t{1} << 40) + 1) <= std::uint64_t{1} << 40);
}

}  // namespace
