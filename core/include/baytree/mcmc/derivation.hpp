#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baytree/mcmc/leaf_values.hpp"
#include "baytree/priors/derived_tree.hpp"
#include "baytree/priors/program_knowledge.hpp"
#include "baytree/slp/engine/prepare.hpp"
#include "baytree/slp/proofs/walk.hpp"

namespace baytree {

/// How a program derives trees, and how its proofs are walked over.
struct TreeProgram {
  Vocabulary vocabulary;
  const slp::Prepared& program;
  slp::Semantics semantics = slp::Semantics::backtrack;
  slp::Limits limits = {};
  std::vector<slp::Component> proposals;
};

/// A walk over the proofs of a program: the current one, its tree and the nodes it speaks of, which go together. The
/// target is P(proof) · P(y|T)^power, leaf parameters integrated out. The tree's leaves are nodes of the table, so the
/// log marginal of a leaf that stays is computed once.
template <class Leaf>
struct Derivation {
  /// Has no proof yet. Trees of more leaves than `most` are impossible, too.
  Derivation(const Design& design, const TreeProgram& from, const Leaf& leaf, double power,
             std::size_t most = std::numeric_limits<std::size_t>::max())
      : room(most),
        table(make_table(design, from.vocabulary, from.program.reading.program)),
        machine(from.program.code, from.semantics, &table, from.limits),
        tree(machine, table),
        walk(
            machine, slp::Mixture(from.proposals, from.program.analysis, from.semantics),
            [this, &leaf](slp::Machine&) { return evaluate(leaf); }, power,
            [this] { return fits() && (!values || propose_values()); }) {
    if (leaf.rows() != design.rows) throw InputError("the response and the columns have different numbers of rows");
    if (from.program.code->goal_variables.empty())
      throw InputError("the goal must have a variable for the tree, as in  cart(T)");
    Monotone monotone{table.monotone(), power == 0.0};
    if (monotone.is_any()) values.emplace(design, leaf, std::move(monotone));
  }
  Derivation(const Derivation&) = delete;

  /// Goes to a draw of the prior.
  void draw() {
    constexpr std::uint64_t most_attempts = 100'000, most_trees = 1000;
    slp::StreamChance chance(*stream);
    for (std::uint64_t attempt = 0; attempt < most_trees; ++attempt) {
      machine.prove_until_success(chance, most_attempts);
      tree.read();
      if (fits()) return;
    }
    throw InputError(machine.code().file + ": its trees hardly ever have " + std::to_string(room) +
                     " leaves or fewer; let it derive smaller ones");
  }

  /// Goes to the proof with these choices; throws InputError where the program has none.
  void follow(const std::vector<slp::Event>& choices) {
    machine.follow(choices);
    tree.read();
    if (!fits()) throw InputError("chain: a tree has more than " + std::to_string(room) + " leaves");
  }

  /// Proposes another proof; whether it is the current one now.
  bool move() {
    slp::StreamChance chance(*stream);
    if (!values) return walk.step(chance);
    if (machine.compact()) settle_values();
    const bool moved = walk.step(chance);
    if (moved) {
      values->accept();
      settle_values();
    }
    return moved;
  }

  /// To be called when the leaf model has another response: what is known of leaves is forgotten, and the proof is
  /// evaluated anew.
  void renew() {
    table.forget_marginals();
    walk.start();
  }

  // ---- where trees must be monotone ----

  /// Starts with one value for all leaves.
  void start_values() {
    if (!values) return;
    tree.read();
    values->start(tree.nodes(), table.rows(table.root()), *stream);
    settle_values();
  }
  void restore_values(std::vector<double> given) {
    tree.read();
    values->restore(tree.nodes(), std::move(given));
    settle_values();
  }
  /// Draws the value of a leaf anew; whether it took it.
  bool refresh_value(std::size_t leaf) {
    if (!values->refresh(current, leaf, table.rows(leaves[leaf]), *stream)) return false;
    table.value(leaves[leaf]) = values->values()[leaf];
    return true;
  }

  std::size_t room;  // the most leaves of a tree
  NodeTable table;
  slp::Machine machine;
  DerivedTree tree;
  slp::Walk walk;
  Stream* stream = nullptr;  // of whoever has it
  // Where trees must be monotone: the leaf values, and the current tree they belong to.
  std::optional<LeafValues<Leaf>> values;
  std::vector<slp::NodeId> leaves;
  Nodes current;

 private:
  /// Of the tree that was read last.
  bool fits() const { return tree.entries().size() / 2 < room; }

  double evaluate(const Leaf& leaf) {
    double sum = 0.0;
    for (const DerivedTree::Entry& entry : tree.read()) {
      if (!entry.is_leaf) continue;
      double& known = table.log_marginal(entry.node);
      if (std::isnan(known)) known = leaf.log_marginal(table.rows(entry.node), buffer_);
      sum += known;
    }
    return sum;
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

  typename Leaf::Buffer buffer_;
};

}  // namespace baytree
