#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baytree/cart/chain.hpp"
#include "baytree/mcmc/derivation.hpp"

namespace baytree::cart {

/// A chain over the trees that a logic program derives, leaf parameters integrated out: target P(proof) · P(y|T)^power.
/// The state is a proof; its tree's leaves are nodes of the table, so the log marginal of a leaf that stays is computed
/// once.
template <class Leaf>
class ProgramChain {
 public:
  using Record = Draws;

  /// Starts from a draw of the prior.
  ProgramChain(const Design& design, const TreeProgram& program, const Leaf& leaf, double power, Stream stream)
      : leaf_(leaf), derivation_(std::make_unique<Derivation<Leaf>>(design, program, leaf, power)), stream_(stream) {
    derivation_->stream = &stream_;
    derivation_->draw();
    derivation_->walk.start();
    derivation_->start_values();
  }
  ProgramChain(const ProgramChain&) = delete;

  /// One step; true where the proof or a value changed.
  bool step() {
    const bool moved = derivation_->move();
    return (derivation_->values && derivation_->refresh_value(stream_.below(derivation_->leaves.size()))) || moved;
  }

  /// Goes to a new draw of the prior. Where trees must be monotone, or proofs seldom succeed, it takes a step instead,
  /// which leaves the prior as it is, too.
  void restart() {
    if (!derivation_->values) {
      const std::vector<slp::Event> here(events().begin(), events().end());
      slp::StreamChance chance(stream_);
      for (std::uint64_t attempt = 0; attempt < few_attempts; ++attempt)
        if (derivation_->machine.prove(chance)) {
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
  const slp::Mixture& mixture() const { return derivation_->walk.mixture(); }
  const Nodes& nodes() {
    derivation_->tree.read();
    return derivation_->tree.nodes();
  }
  /// One a leaf where trees must be monotone, else none.
  std::vector<double> values() const {
    return derivation_->values ? derivation_->values->values() : std::vector<double>();
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
    if (derivation_->values) derivation_->values->append_means(draws.value);
  }
  void note_best(Draws& best) { keep_best(*this, best); }

  std::span<const slp::Event> events() const { return derivation_->machine.events(); }
  Position position() const { return {stream_.position(), mixture().turns, mixture().accepted}; }

  /// Goes to the proof with these choices; throws InputError where the program has none.
  void restore(const std::vector<slp::Event>& choices) {
    derivation_->follow(choices);
    derivation_->walk.start();
    derivation_->start_values();
  }
  void restore_values(std::vector<double> values) {
    if (!derivation_->values) throw InputError("chain: leaf values, but nothing need be monotone");
    derivation_->restore_values(std::move(values));
  }
  void restore(const Position& position) {
    slp::Mixture& mixture = derivation_->walk.mixture();
    if (position.turns.size() != mixture.components.size() || position.accepted.size() != position.turns.size())
      throw InputError("chain: the saved state belongs to another mixture of proposals");
    stream_.seek(position.stream);
    mixture.turns = position.turns;
    mixture.accepted = position.accepted;
  }
  std::string take_output() { return derivation_->machine.take_output(); }

 private:
  static constexpr std::uint64_t few_attempts = 100;

  const Leaf& leaf_;
  std::unique_ptr<Derivation<Leaf>> derivation_;
  Stream stream_;
};

}  // namespace baytree::cart
