#include <cstdint>
#include <string>

#include "baytree/base/rng.hpp"
#include "baytree/slp/program/lint.hpp"
#include "checks.hpp"

namespace {

using namespace baytree;

/// Programs, whole and damaged, never crash the reader, and what it read it writes and reads again alike.
TEST_CASE("programs whole and damaged") {
  const std::string text = R"(% figure 2, and every kind of token
1 - 1/D : [D] : cart(leaf).
1/D : [D] : cart(Split-[L,R]) :- NewD is D+1, splt(Split), [NewD] : cart(L), [NewD] : cart(R).
0.4:splt(x1). 0.3::splt(x2). 0.3 ## splt(x3).
p(X, 'quo ted', "text", 0'a, 0'\n, 1.5e-3, -7, - 7, [a,b|T], {x, y}, 2 ^ 3 ^ X) | X > 0, \+ q(T) :- ( q(X) -> true ; fail ), /* ü */ once(q(T)).
q(_). q(Ünï).
)";
  const auto written = [](const slp::Source& source) {
    std::string out;
    for (const slp::Sentence& sentence : source.sentences)
      out += slp::write(source, sentence.term, sentence.variables) + ".\n";
    return out;
  };
  Stream stream(5, Role::chain, 0);
  for (int repeat = 0; repeat < 3000; ++repeat) {
    std::string damaged = text;
    for (std::uint64_t edits = repeat == 0 ? 0 : 1 + stream.below(8); edits > 0 && !damaged.empty(); --edits) {
      const std::size_t at = stream.below(damaged.size());
      switch (stream.below(4)) {
        case 0:
          damaged[at] = static_cast<char>(stream.below(256));
          break;
        case 1:
          damaged.erase(at, 1 + stream.below(20));
          break;
        case 2:
          damaged.insert(at, 1 + stream.below(3), "()[]{}|,.'\"0:-\\"[stream.below(15)]);
          break;
        default:
          damaged.insert(at, damaged.substr(stream.below(damaged.size()), 20));
      }
    }
    slp::Problems problems;
    const slp::Program program = slp::read_program(damaged, problems);
    CHECK((repeat > 0 || problems.empty()));
    if (problems.empty()) slp::lint(program, "");
    const std::string once = written(program.source);
    slp::Problems again;
    CHECK((written(slp::parse(once, again)) == once && again.empty()));
  }
  slp::Problems problems;
  slp::parse(std::string(100000, '(') + "a.", problems);
  slp::parse("p :- " + std::string(100000, '-') + "a.", problems);
  std::string chain = "p :- a";
  for (int i = 0; i < 100000; ++i) chain += ",a";
  CHECK(written(slp::read_program(chain + ".", problems).source).size() > chain.size());
  CHECK(problems.size() == 2);
}

}  // namespace
