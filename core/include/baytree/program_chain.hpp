#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "baytree/chain.hpp"
#include "baytree/prior/derived_tree.hpp"
#include "baytree/prior/program_knowledge.hpp"
#include "baytree/slp/prepare.hpp"
#include "baytree/slp/walk.hpp"

namespace baytree {

/// A chain over the trees that a logic program derives, leaf parameters integrated out: target P(proof) · P(y|T)^power. The state is a proof; its tree's leaves
/// are nodes of the table, so the log marginal of a leaf that stays is computed once. Where trees must be monotone, the leaf values are part of the state: see
/// `LeafValues`. A leaf is kept by a proposal if its node is a leaf of both trees, so that the way back keeps it as well; the table knows the values of the
/// current leaves, and of no other nodes.
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
            machine_, slp::KernelMixture(std::move(kernels), program.analysis, semantics), [this](slp::Machine&) { return evaluate(); }, power,
            [this] { return !values_ || propose_values(); }),
        stream_(seed, Role::chain, replica),
        chance_(stream_) {
    if (leaf.rows() != design.rows) throw InputError("the response and the columns have different numbers of rows");
    if (program.code->goal_variables.empty()) throw InputError("the goal must have a variable for the tree, as in  cart(T)");
    machine_.prove_until_success(chance_, most_attempts);
    walk_.start();
    Monotone monotone{table_.monotone(), power == 0.0};
    if (monotone.is_any()) values_.emplace(design, leaf, std::move(monotone));
    start_values();
  }
  ProgramChain(const ProgramChain&) = delete;

  void advance(std::uint64_t iterations) {
    for (; iterations > 0; --iterations) {
      if (values_ && machine_.compact()) settle_values();
      if (walk_.step(chance_)) {
        stored_ = false;
        if (values_) {
          values_->accept();
          settle_values();
        }
      }
      if (values_) refresh_value();
    }
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
  const Nodes& nodes() {
    tree_.read();
    return tree_.nodes();
  }
  /// One a leaf where trees must be monotone, else none.
  std::vector<double> values() const { return values_ ? values_->values() : std::vector<double>(); }

  /// The draws recorded since the last call.
  Draws take() { return std::exchange(draws_, {}); }

  const std::vector<slp::Event>& events() const { return machine_.events(); }
  ChainPosition position() { return {stream_.position(), stored_trees_, stored_, walk_.mixture().turns, walk_.mixture().accepted}; }

  /// Goes to the proof with these choices; throws InputError where the program has none.
  void restore(const std::vector<slp::Event>& choices) {
    machine_.follow(choices);
    walk_.start();
    start_values();
  }
  void restore_values(std::vector<double> values) {
    if (!values_) throw InputError("chain: leaf values, but nothing need be monotone");
    values_->restore(nodes(), std::move(values));
    settle_values();
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

  void start_values() {
    if (!values_) return;
    values_->start(nodes(), table_.rows(table_.root()), stream_);
    settle_values();
  }

  /// Tells the table the values of the current leaves.
  void settle_values() {
    for (const slp::NodeId node : leaves_)
      if (node < table_.mark()) table_.value(node) = unknown;
    leaves_.clear();
    for (const DerivedTree::Entry& entry : tree_.read())
      if (entry.is_leaf) leaves_.push_back(entry.node);
    current_ = tree_.nodes();
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) table_.value(leaves_[leaf]) = values_->values()[leaf];
  }

  /// Values for the leaves of the tree that is proposed, which was read last; whether it is monotone.
  bool propose_values() {
    values_->begin();
    for (const DerivedTree::Entry& entry : tree_.entries()) {
      if (!entry.is_leaf) continue;
      const double known = table_.value(entry.node);
      if (std::isnan(known))
        values_->renew(table_.rows(entry.node), stream_);
      else
        values_->keep(known);
    }
    const Nodes& proposed = tree_.nodes();
    return values_->is_monotone(proposed, 0, proposed);
  }

  void refresh_value() {
    const std::size_t leaf = stream_.below(leaves_.size());
    if (!values_->refresh(current_, leaf, table_.rows(leaves_[leaf]), stream_)) return;
    table_.value(leaves_[leaf]) = values_->values()[leaf];
    stored_ = false;
  }

  void record() {
    if (!stored_) {
      for (const DerivedTree::Entry& entry : tree_.read()) {
        if (!entry.is_leaf) continue;
        const std::size_t size = draws_.statistics.size();
        draws_.statistics.resize(size + leaf_.n_statistics());
        leaf_.statistics(table_.rows(entry.node), draws_.statistics.data() + size);
      }
      if (values_)
        for (const double value : values_->values()) draws_.value.push_back(Leaf::mean_of(value));
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
  std::optional<LeafValues<Leaf>> values_;
  // The current tree, where it must be monotone.
  std::vector<slp::NodeId> leaves_;
  Nodes current_;
  Draws draws_;
  std::uint64_t stored_trees_ = 0;
  bool stored_ = false;
};

}  // namespace baytree
