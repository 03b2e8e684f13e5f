#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "baytree/chain.hpp"
#include "baytree/prior/derived_tree.hpp"
#include "baytree/prior/program_knowledge.hpp"
#include "baytree/slp/prepare.hpp"
#include "baytree/slp/walk.hpp"

namespace baytree {

/// A chain over the trees that a logic program derives, leaf parameters integrated out: target P(proof) · P(y|T)^power. The state is a proof; its tree's leaves
/// are nodes of the table, so the log marginal of a leaf that stays is computed once.
template <class Leaf>
class ProgramChain {
 public:
  /// Starts from a draw of the prior.
  ProgramChain(const Design& design, Vocabulary vocabulary, const Leaf& leaf, const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits,
               std::vector<slp::KernelComponent> kernels, double power, Stream stream)
      : leaf_(leaf),
        derivation_(std::make_unique<Derivation>(make_table(design, std::move(vocabulary), program.reading.program), leaf, program, semantics, limits,
                                                 slp::KernelMixture(std::move(kernels), program.analysis, semantics), power)),
        stream_(stream),
        chance_(stream_) {
    if (leaf.rows() != design.rows) throw InputError("the response and the columns have different numbers of rows");
    if (program.code->goal_variables.empty()) throw InputError("the goal must have a variable for the tree, as in  cart(T)");
    restart();
  }
  ProgramChain(const ProgramChain&) = delete;

  /// One step; true where the proof changed.
  bool step() { return derivation_->walk.step(chance_); }

  /// Goes to a new draw of the prior.
  void restart() {
    derivation_->machine.prove_until_success(chance_, most_attempts);
    derivation_->walk.start();
  }

  /// Exchanges the proofs of two chains over the same data; each keeps its power, its stream and its counts.
  friend void exchange(ProgramChain& a, ProgramChain& b) {
    std::swap(a.derivation_, b.derivation_);
    slp::Walk &first = a.derivation_->walk, &second = b.derivation_->walk;
    std::swap(first.mixture().turns, second.mixture().turns);
    std::swap(first.mixture().accepted, second.mixture().accepted);
    const double power = first.power();
    first.set_power(second.power());
    second.set_power(power);
  }

  double log_likelihood() const { return derivation_->walk.log_likelihood(); }
  double log_prior() const { return derivation_->machine.log_probability(); }
  double power() const { return derivation_->walk.power(); }
  void set_power(double power) { derivation_->walk.set_power(power); }
  const slp::KernelMixture& mixture() const { return derivation_->walk.mixture(); }
  Nodes nodes() {
    derivation_->tree.read();
    return derivation_->tree.nodes();
  }

  /// Adds the tree and its leaves' statistics to the draws.
  void store(Draws& draws) {
    for (const DerivedTree::Entry& entry : derivation_->tree.read()) {
      if (!entry.is_leaf) continue;
      const std::size_t size = draws.statistics.size();
      draws.statistics.resize(size + leaf_.n_statistics());
      leaf_.statistics(derivation_->table.rows(entry.node), draws.statistics.data() + size);
    }
    draws.forest.add(derivation_->tree.nodes());
  }

  const std::vector<slp::Event>& events() const { return derivation_->machine.events(); }
  ChainPosition position() const { return {stream_.position(), mixture().turns, mixture().accepted}; }

  /// Goes to the proof with these choices; throws InputError where the program has none.
  void restore(const std::vector<slp::Event>& choices) {
    derivation_->machine.follow(choices);
    derivation_->walk.start();
  }
  void restore(const ChainPosition& position) {
    slp::KernelMixture& mixture = derivation_->walk.mixture();
    if (position.turns.size() != mixture.components.size() || position.accepted.size() != position.turns.size())
      throw InputError("chain: the saved state belongs to another mixture of proposals");
    stream_.seek(position.stream);
    mixture.turns = position.turns;
    mixture.accepted = position.accepted;
  }
  std::string take_output() { return derivation_->machine.take_output(); }

 private:
  static constexpr std::uint64_t most_attempts = 100'000;

  /// A proof and the tree and the nodes it speaks of, which go together.
  struct Derivation {
    Derivation(NodeTable nodes, const Leaf& leaf, const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits, slp::KernelMixture mixture,
               double power)
        : table(std::move(nodes)),
          machine(program.code, semantics, &table, limits),
          tree(machine, table),
          walk(machine, std::move(mixture), [this, &leaf](slp::Machine&) { return evaluate(leaf); }, power) {}

    double evaluate(const Leaf& leaf) {
      double sum = 0.0;
      for (const DerivedTree::Entry& entry : tree.read()) {
        if (!entry.is_leaf) continue;
        double& known = table.log_marginal(entry.node);
        if (std::isnan(known)) known = leaf.log_marginal(table.rows(entry.node), buffer);
        sum += known;
      }
      return sum;
    }

    NodeTable table;
    slp::Machine machine;
    DerivedTree tree;
    slp::Walk walk;
    typename Leaf::Buffer buffer;
  };

  const Leaf& leaf_;
  std::unique_ptr<Derivation> derivation_;
  Stream stream_;
  slp::StreamChance chance_;
};

}  // namespace baytree
