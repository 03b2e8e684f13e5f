#pragma once

#include <cmath>
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
               std::vector<slp::KernelComponent> kernels, double power, std::uint64_t seed, std::uint32_t replica)
      : leaf_(leaf),
        table_(make_table(design, std::move(vocabulary), program.reading.program)),
        machine_(program.code, semantics, &table_, limits),
        tree_(machine_, table_),
        walk_(
            machine_, slp::KernelMixture(std::move(kernels), program.analysis, semantics), [this](slp::Machine&) { return evaluate(); }, power),
        stream_(seed, Role::chain, replica),
        chance_(stream_) {
    if (leaf.rows() != design.rows) throw InputError("the response and the columns have different numbers of rows");
    if (program.code->goal_variables.empty()) throw InputError("the goal must have a variable for the tree, as in  cart(T)");
    machine_.prove_until_success(chance_, most_attempts);
    walk_.start();
  }
  ProgramChain(const ProgramChain&) = delete;

  void advance(std::uint64_t iterations) {
    for (; iterations > 0; --iterations)
      if (walk_.step(chance_)) stored_ = false;
  }

  /// Records the state after every `thin` iterations, `draws` times.
  void draw(std::uint64_t draws, std::uint64_t thin) {
    for (; draws > 0; --draws) {
      advance(thin);
      record();
    }
  }

  double log_likelihood() const { return walk_.log_likelihood(); }
  double log_prior() const { return machine_.log_probability(); }
  const slp::KernelMixture& mixture() { return walk_.mixture(); }
  Nodes nodes() {
    tree_.read();
    return tree_.nodes();
  }

  /// The draws recorded since the last call.
  Draws take() { return std::exchange(draws_, {}); }

  const std::vector<slp::Event>& events() const { return machine_.events(); }
  ChainPosition position() { return {stream_.position(), stored_trees_, stored_, walk_.mixture().turns, walk_.mixture().accepted}; }

  /// Goes to the proof with these choices; throws InputError where the program has none.
  void restore(const std::vector<slp::Event>& choices) {
    machine_.follow(choices);
    walk_.start();
  }
  void restore(const ChainPosition& position) {
    slp::KernelMixture& mixture = walk_.mixture();
    if (position.turns.size() != mixture.components.size() || position.accepted.size() != position.turns.size())
      throw InputError("chain: the saved state belongs to another mixture of proposals");
    stream_.seek(position.stream);
    stored_trees_ = position.stored_trees;
    stored_ = position.stored;
    mixture.turns = position.turns;
    mixture.accepted = position.accepted;
  }
  std::string take_output() { return machine_.take_output(); }

 private:
  static constexpr std::uint64_t most_attempts = 100'000;

  double evaluate() {
    double sum = 0.0;
    for (const DerivedTree::Entry& entry : tree_.read()) {
      if (!entry.is_leaf) continue;
      double& known = table_.log_marginal(entry.node);
      if (std::isnan(known)) known = leaf_.log_marginal(table_.rows(entry.node), buffer_);
      sum += known;
    }
    return sum;
  }

  void record() {
    if (!stored_) {
      for (const DerivedTree::Entry& entry : tree_.read()) {
        if (!entry.is_leaf) continue;
        const std::size_t size = draws_.statistics.size();
        draws_.statistics.resize(size + leaf_.n_statistics());
        leaf_.statistics(table_.rows(entry.node), draws_.statistics.data() + size);
      }
      draws_.forest.add(tree_.nodes());
      ++stored_trees_;
      stored_ = true;
    }
    draws_.tree.push_back(static_cast<std::int64_t>(stored_trees_) - 1);
    draws_.log_likelihood.push_back(log_likelihood());
    draws_.log_prior.push_back(log_prior());
  }

  const Leaf& leaf_;
  NodeTable table_;
  slp::Machine machine_;
  DerivedTree tree_;
  slp::Walk walk_;
  Stream stream_;
  slp::StreamChance chance_;
  typename Leaf::Buffer buffer_;
  Draws draws_;
  std::uint64_t stored_trees_ = 0;
  bool stored_ = false;
};

}  // namespace baytree
