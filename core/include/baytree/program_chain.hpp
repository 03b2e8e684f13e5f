#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "baytree/chain.hpp"
#include "baytree/leaf_values.hpp"
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
    derivation_->stream = &stream_;
    derivation_->machine.prove_until_success(chance_, most_attempts);
    derivation_->walk.start();
    Monotone monotone{derivation_->table.monotone(), power == 0.0};
    if (monotone.is_any()) derivation_->values.emplace(design, leaf, std::move(monotone));
    derivation_->start_values();
  }
  ProgramChain(const ProgramChain&) = delete;

  /// One step; true where the proof or a value changed.
  bool step() {
    if (!derivation_->values) return derivation_->walk.step(chance_);
    if (derivation_->machine.compact()) derivation_->settle_values();
    const bool moved = derivation_->walk.step(chance_);
    if (moved) {
      derivation_->values->accept();
      derivation_->settle_values();
    }
    return derivation_->refresh_value() || moved;
  }

  /// Goes to a new draw of the prior. Where trees must be monotone, or proofs seldom succeed, it takes a step instead, which leaves the prior as it is, too.
  void restart() {
    if (!derivation_->values) {
      const std::vector<slp::Event> here = events();
      for (std::uint64_t attempt = 0; attempt < few_attempts; ++attempt)
        if (derivation_->machine.prove(chance_)) {
          derivation_->walk.start();
          return;
        }
      restore(here);
    }
    step();
  }

  /// Exchanges the proofs of two chains over the same data; each keeps its power, its stream and its counts.
  friend void exchange(ProgramChain& a, ProgramChain& b) {
    std::swap(a.derivation_, b.derivation_);
    std::swap(a.derivation_->stream, b.derivation_->stream);
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
  const Nodes& nodes() {
    derivation_->tree.read();
    return derivation_->tree.nodes();
  }
  /// One a leaf where trees must be monotone, else none.
  std::vector<double> values() const { return derivation_->values ? derivation_->values->values() : std::vector<double>(); }

  /// Adds the tree and its leaves' statistics to the draws.
  void store(Draws& draws) {
    for (const DerivedTree::Entry& entry : derivation_->tree.read()) {
      if (!entry.is_leaf) continue;
      const std::size_t size = draws.statistics.size();
      draws.statistics.resize(size + leaf_.n_statistics());
      leaf_.statistics(derivation_->table.rows(entry.node), draws.statistics.data() + size);
    }
    draws.forest.add(derivation_->tree.nodes());
    if (derivation_->values) derivation_->values->store(draws);
  }

  const std::vector<slp::Event>& events() const { return derivation_->machine.events(); }
  ChainPosition position() const { return {stream_.position(), mixture().turns, mixture().accepted}; }

  /// Goes to the proof with these choices; throws InputError where the program has none.
  void restore(const std::vector<slp::Event>& choices) {
    derivation_->machine.follow(choices);
    derivation_->walk.start();
    derivation_->start_values();
  }
  void restore_values(std::vector<double> values) {
    if (!derivation_->values) throw InputError("chain: leaf values, but nothing need be monotone");
    derivation_->values->restore(nodes(), std::move(values));
    derivation_->settle_values();
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
  static constexpr std::uint64_t most_attempts = 100'000, few_attempts = 100;

  /// A proof and the tree and the nodes it speaks of, which go together.
  struct Derivation {
    Derivation(NodeTable nodes, const Leaf& leaf, const slp::Prepared& program, slp::Semantics semantics, slp::Limits limits, slp::KernelMixture mixture,
               double power)
        : table(std::move(nodes)),
          machine(program.code, semantics, &table, limits),
          tree(machine, table),
          walk(machine, std::move(mixture), [this, &leaf](slp::Machine&) { return evaluate(leaf); }, power, [this] { return !values || propose_values(); }) {}

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

    void start_values() {
      if (!values) return;
      tree.read();
      values->start(tree.nodes(), table.rows(table.root()), *stream);
      settle_values();
    }

    /// Tells the table the values of the current leaves.
    void settle_values() {
      for (const slp::NodeId node : leaves)
        if (node < table.mark()) table.value(node) = unknown;
      leaves.clear();
      for (const DerivedTree::Entry& entry : tree.read())
        if (entry.is_leaf) leaves.push_back(entry.node);
      current = tree.nodes();
      for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) table.value(leaves[leaf]) = values->values()[leaf];
    }

    /// Values for the leaves of the tree that is proposed, which was read last; whether it is monotone.
    bool propose_values() {
      values->begin();
      for (const DerivedTree::Entry& entry : tree.entries()) {
        if (!entry.is_leaf) continue;
        const double known = table.value(entry.node);
        if (std::isnan(known))
          values->renew(table.rows(entry.node), *stream);
        else
          values->keep(known);
      }
      const Nodes& proposed = tree.nodes();
      return values->is_monotone(proposed, 0, proposed);
    }

    /// Whether it took a new value.
    bool refresh_value() {
      const std::size_t leaf = stream->below(leaves.size());
      if (!values->refresh(current, leaf, table.rows(leaves[leaf]), *stream)) return false;
      table.value(leaves[leaf]) = values->values()[leaf];
      return true;
    }

    NodeTable table;
    slp::Machine machine;
    DerivedTree tree;
    slp::Walk walk;
    typename Leaf::Buffer buffer;
    Stream* stream = nullptr;  // of the chain that has it
    // Where trees must be monotone: the leaf values, and the current tree they belong to.
    std::optional<LeafValues<Leaf>> values;
    std::vector<slp::NodeId> leaves;
    Nodes current;
  };

  const Leaf& leaf_;
  std::unique_ptr<Derivation> derivation_;
  Stream stream_;
  slp::StreamChance chance_;
};

}  // namespace baytree
