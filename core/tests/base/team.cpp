#include "baytree/base/team.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "baytree/base/error.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;

TEST_CASE("rounds") {
  // Each item once a round, whatever the threads; an error of the first item that has one is thrown on.
  for (unsigned threads : {1u, 2u, 5u}) {
    std::vector<int> calls(4);
    int rounds = 0;
    in_rounds(calls.size(), threads, [&](std::size_t i) { ++calls[i]; }, [&] { return ++rounds < 50; });
    CHECK((rounds == 50 && std::all_of(calls.begin(), calls.end(), [](int n) { return n == 50; })));
    std::string said;
    try {
      in_rounds(
          4, threads,
          [](std::size_t i) {
            if (i > 1) throw InputError(std::to_string(i));
          },
          [] { return true; });
    } catch (const InputError& error) {
      said = error.what();
    }
    CHECK(said == "2");
  }
}

TEST_CASE("every item is done once, however many there are") {
  for (unsigned threads : {1u, 2u, 5u}) {
    Team team(threads);
    CHECK(team.threads() == threads);
    for (std::size_t items : {0, 1, 2, 7, 100}) {
      std::vector<int> calls(items);
      for (int round = 0; round < 20; ++round) {
        team.share(items, [&](std::size_t item) { ++calls[item]; });
        team.deal_out(items, [&](std::size_t item) { ++calls[item]; });
      }
      CHECK(std::all_of(calls.begin(), calls.end(), [](int n) { return n == 40; }));
    }
  }
}

}  // namespace
