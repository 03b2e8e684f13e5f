// Feeds programs to all of the engine, for libFuzzer: https://llvm.org/docs/LibFuzzer.html. An input is a program, a
// line `====`, a goal, a line `====`, and letters that stand for options. Whatever the program, the engine must answer
// or throw InputError; everything else, a wrong answer included, is a bug and aborts.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "baytree/base/error.hpp"
#include "baytree/priors/derived_tree.hpp"
#include "baytree/priors/program_knowledge.hpp"
#include "baytree/slp/engine/prepare.hpp"
#include "baytree/slp/program/lint.hpp"
#include "baytree/slp/proofs/proofs.hpp"
#include "baytree/slp/proofs/walk.hpp"

namespace {

using namespace baytree;
using slp::Event;
using slp::Machine;

/// Options: `t` there is a table, `r` the semantics is reject, `m` there is hardly any memory, `l` the chains are long;
/// all of them together seed the random numbers.
struct Input {
  std::string_view program, goal, options;
  bool has(char option) const { return options.find(option) != std::string_view::npos; }
};

// Small, so that an input takes milliseconds.
slp::Limits limits_of(const Input& input) {
  return {.steps = 20'000, .depth = 1'000, .memory = input.has('m') ? std::size_t{40} << 10 : std::size_t{8} << 20};
}
constexpr slp::Limits ample{.steps = 1'000'000, .depth = 100'000, .memory = std::size_t{64} << 20};
constexpr std::size_t most_proofs = 60;
constexpr std::size_t most_parts = 500;

void expect(bool holds, const char* what, const std::string& detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s\n", what, detail.c_str());
  std::abort();
}

/// Random numbers that come to an end: a proposal may try again as long as it likes.
class LimitedChance final : public slp::Chance {
 public:
  LimitedChance(std::uint64_t seed, std::uint64_t most)
      : stream_(seed, Role::chain, 0), chance_(stream_), left_(most) {}

  double uniform() override { return spend().uniform(); }
  std::uint64_t below(std::uint64_t n) override { return spend().below(n); }
  std::size_t pick(std::span<const double> weights, double total) override { return spend().pick(weights, total); }
  bool happens(double probability) override { return chance_.happens(probability); }

 private:
  Chance& spend() {
    if (left_-- == 0) throw InputError("enough random numbers");
    return chance_;
  }

  Stream stream_;
  slp::StreamChance chance_;
  std::uint64_t left_;
};

/// Numeric, missing, constant and categorical columns.
struct Table {
  Table() {
    design.rows = rows;
    numeric("age", 4, false, 7);
    numeric("dose", 3, true, 5);
    categorical("colour", {"red", "green", "blue"}, false, 11);
    categorical("Site", {"north", "south"}, true, 13);
    numeric("same", 1, false, 3);
    validate(design);
  }

  Design design;
  Vocabulary vocabulary;

 private:
  static constexpr Row rows = 24;

  void numeric(const char* name, std::uint32_t observed, bool has_missing, std::uint32_t stride) {
    std::vector<double> cuts;
    for (std::uint32_t code = 0; code + 1 < observed; ++code) cuts.push_back(code + 0.5);
    add(name, std::move(cuts), {}, {.observed = observed, .has_missing = has_missing}, stride);
  }

  void categorical(const char* name, std::vector<std::string> levels, bool has_missing, std::uint32_t stride) {
    const auto observed = static_cast<std::uint32_t>(levels.size());
    add(name, {}, std::move(levels), {.categorical = true, .observed = observed, .has_missing = has_missing}, stride);
  }

  void add(const char* name, std::vector<double> cuts, std::vector<std::string> levels, Column column,
           std::uint32_t stride) {
    vocabulary.names.emplace_back(name);
    vocabulary.cuts.push_back(std::move(cuts));
    vocabulary.levels.push_back(std::move(levels));
    auto& codes = codes_[design.columns.size()];
    for (Row row = 0; row < rows; ++row) codes[row] = static_cast<std::uint8_t>(row * row / stride % column.n_codes());
    column.codes = std::span<const std::uint8_t>(codes);
    design.columns.push_back(column);
  }

  std::array<std::array<std::uint8_t, rows>, 5> codes_;
};

const Table& table() {
  static const Table made;
  return made;
}

std::pair<std::string_view, std::string_view> cut_at_line(std::string_view text) {
  constexpr std::string_view line = "\n====\n";
  const std::size_t at = text.find(line);
  return at == std::string_view::npos ? std::pair(text, std::string_view{})
                                      : std::pair(text.substr(0, at), text.substr(at + line.size()));
}

/// A machine with a table of its own, where there is one.
struct Prover {
  Prover(const slp::Prepared& program, const Input& input, slp::Limits most)
      : nodes(input.has('t')
                  ? std::make_unique<NodeTable>(make_table(table().design, table().vocabulary, program.reading.program))
                  : nullptr),
        machine(program.code, input.has('r') ? slp::Semantics::reject : slp::Semantics::backtrack, nodes.get(), most) {}

  /// The answer, with what a node is in place of its number, which depends on what was tried before.
  std::string text() {
    std::vector<slp::Cell> answers;
    for (std::size_t i = 0; i < machine.code().goal_variables.size(); ++i) answers.push_back(machine.answer(i));
    std::string out;
    for (const std::string& text : machine.store().texts(answers, most_parts)) out += text + ";";
    if (!nodes) return out;
    constexpr std::string_view word = "node(";
    for (std::size_t at = out.find(word); at != std::string::npos; at = out.find(word, at + 1)) {
      char* end = nullptr;
      const auto number = static_cast<slp::NodeId>(std::strtoul(out.c_str() + at + word.size(), &end, 10));
      if (*end != ')' || number >= nodes->mark()) continue;
      const auto begin = at + word.size();
      out.replace(begin, static_cast<std::size_t>(end - out.c_str()) - begin,
                  std::to_string(nodes->node_size(number)) + "@" + std::to_string(nodes->depth(number)));
    }
    return out;
  }

  std::unique_ptr<NodeTable> nodes;
  Machine machine;
};

using Choices = std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, double>>;

Choices choices_of(std::span<const Event> events) {
  Choices choices;
  for (const Event& event : events)
    if (event.is_choice)
      choices.emplace_back(event.goal.address, event.chosen.id, event.chosen.detail, event.options, event.probability);
  return choices;
}

/// What a program gives at first may be no tree, but it must be told apart from one.
void read_tree(Prover& prover) {
  if (!prover.nodes || prover.machine.code().goal_variables.empty()) return;
  try {
    DerivedTree tree(prover.machine, *prover.nodes);
    tree.read();
    expect(!tree.nodes().empty(), "a tree without nodes");
  } catch (const InputError&) {
  }
}

/// Going through the choices of a proof again must give the same proof.
void follow_again(const slp::Prepared& program, const Input& input, Prover& prover) {
  const Choices choices = choices_of(prover.machine.events());
  const std::string text = prover.text();
  Prover other(program, input, ample);
  try {
    other.machine.follow(prover.machine.events());
  } catch (const InputError& error) {
    expect(false, "the choices of a proof cannot be followed", error.what());
  }
  expect(other.text() == text, "following the choices of a proof gives another answer", text + "\n" + other.text());
  expect(choices_of(other.machine.events()) == choices, "following the choices of a proof gives other choices");
  expect(other.machine.choices() == choices.size(), "the choices are miscounted");
}

void trace(Prover& prover) {
  const std::string text = prover.text();
  std::int64_t number = 0;
  for (const slp::TracedGoal& goal : prover.machine.trace())
    expect(goal.parent < number++, "a goal comes before its parent", goal.called);
  expect(prover.text() == text, "tracing a proof changes its answer", text + "\n" + prover.text());
}

/// Choices from a damaged file.
void follow_wrong(const slp::Prepared& program, const Input& input, std::span<const Event> right, std::uint64_t seed) {
  if (right.empty()) return;
  std::vector<Event> events(right.begin(), right.end());
  Stream stream(seed, Role::chain, 1);
  Prover other(program, input, limits_of(input));
  for (int i = 0; i < 3; ++i) {
    Event& event = events[stream.below(events.size())];
    if (stream.bernoulli(0.5)) event.chosen.id = stream.below(1'100);
    if (stream.bernoulli(0.5)) event.chosen.detail = stream.below(~std::uint64_t{0});
    if (stream.bernoulli(0.1)) event.goal.address = stream.below(~std::uint64_t{0});
    try {
      other.machine.follow(events);
    } catch (const InputError&) {
    }
    // What is left may be no proof, but it can be looked at.
    other.text();
    read_tree(other);
  }
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash ^ hash >> 29;
}

void walk(const slp::Prepared& program, const Input& input, slp::Proposal proposal, std::uint64_t seed) {
  Prover prover(program, input, limits_of(input));
  const auto semantics = prover.machine.semantics();
  if (slp::objection(proposal, program.analysis, semantics)) return;
  LimitedChance chance(seed, input.has('l') ? 20'000 : 2'000);
  prover.machine.prove_until_success(chance, 20);
  slp::Mixture mixture({{.proposal = proposal, .last = 2}}, program.analysis, semantics);
  slp::Walk chain(
      prover.machine, std::move(mixture),
      [&](Machine&) { return -0.25 * static_cast<double>(hash_of(prover.text()) % 16); }, 0.5);
  chain.start();
  follow_again(program, input, prover);
  // Only a long chain lays its proof down anew now and then.
  const int steps = input.has('l') ? 1'500 : 12, stride = input.has('l') ? 100 : 1;
  for (int step = 0; step < steps; ++step) {
    const bool look = step % stride == 0;
    const std::string before = look ? prover.text() : "";
    const Choices choices = look ? choices_of(prover.machine.events()) : Choices{};
    bool moved = false;
    try {
      moved = chain.step(chance);
    } catch (const InputError&) {
      // Where the proof could not be laid down anew within the limits, there is none any more.
      if (prover.machine.events().empty() || input.has('l')) return;
    }
    if (!look) continue;
    if (moved) {
      follow_again(program, input, prover);
      read_tree(prover);
    } else {
      expect(prover.text() == before, "a rejected step changes the answer", before + "\n" + prover.text());
      expect(choices_of(prover.machine.events()) == choices, "a rejected step changes the choices");
    }
  }
  follow_wrong(program, input, prover.machine.events(), seed);
}

/// Every proof, as far as there are not too many; those that chance finds must be among them.
void enumerate(const slp::Prepared& program, const Input& input, std::uint64_t seed) {
  Prover prover(program, input, limits_of(input));
  std::vector<slp::Path> paths;
  std::set<Choices> known;
  bool complete = true;
  prover.machine.enumerate([&] {
    if (paths.size() == most_proofs) return complete = false;
    known.insert(choices_of(prover.machine.events()));
    paths.push_back(slp::path_of(prover.machine.events()));
    prover.text();
    return true;
  });
  expect(known.size() == paths.size(), "a proof is found twice");
  const std::vector<double> probabilities = slp::proof_probabilities(paths, prover.machine.semantics());
  double sum = 0.0;
  for (const double probability : probabilities) {
    expect(probability >= 0.0 && probability <= 1.0 + 1e-9, "a probability is none", std::to_string(probability));
    sum += probability;
  }
  if (!paths.empty()) expect(std::abs(sum - 1.0) < 1e-6, "the probabilities do not sum to 1", std::to_string(sum));
  if (!complete) return;
  LimitedChance chance(seed, 2'000);
  for (int i = 0; i < 3; ++i)
    if (prover.machine.prove(chance))
      expect(known.contains(choices_of(prover.machine.events())), "a proof was not enumerated", prover.text());
}

void enumerate_raw(const slp::Prepared& program, const Input& input) {
  Prover prover(program, input, limits_of(input));
  std::size_t visited = 0;
  prover.machine.enumerate_raw([&](bool succeeded) {
    if (succeeded) prover.text();
    if (++visited > most_proofs) throw InputError("enough derivations");
    return true;
  });
}

void prove(const slp::Prepared& program, const Input& input, std::uint64_t seed) {
  Prover prover(program, input, limits_of(input));
  LimitedChance chance(seed, 2'000);
  const bool proved = prover.machine.prove(chance);
  expect(proved || program.analysis.may_fail, "the goal fails, which it was said not to");
  prover.machine.take_output();
  if (!proved) return;
  read_tree(prover);
  follow_again(program, input, prover);
  trace(prover);
}

void run(const Input& input) {
  slp::Problems problems;
  slp::lint(slp::read_program(input.program, problems), input.has('t') ? "cart/1" : "");
  const slp::Prepared program = slp::prepare(input.program, input.goal, "program");
  if (!program.code) return;
  const std::uint64_t seed = hash_of(input.options);
  const auto attempt = [](auto work) {
    try {
      work();
    } catch (const InputError&) {
    }
  };
  attempt([&] { prove(program, input, seed); });
  attempt([&] { enumerate(program, input, seed); });
  attempt([&] { enumerate_raw(program, input); });
  for (const slp::Proposal proposal : {slp::Proposal::sequence, slp::Proposal::subtree, slp::Proposal::address,
                                       slp::Proposal::independent, slp::Proposal::cycle})
    attempt([&] { walk(program, input, proposal, seed + 1); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto [program, rest] = cut_at_line(text);
  const auto [goal, options] = cut_at_line(rest);
  run({program, goal, options.substr(0, 8)});
  return 0;
}
