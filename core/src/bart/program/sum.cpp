#include "baytree/bart/program/sum.hpp"

#include <functional>

#include "baytree/bart/hard/pass.hpp"
#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"

namespace baytree::bart {
namespace {

/// Adds to the residuals of every leaf's rows, or takes from them, its value. The tree must have been read.
template <class Change>
void change_rows(const Derivation<TargetLeaf>& derivation, std::span<const float> values, std::span<float> residual,
                 Change change) {
  std::size_t leaf = 0;
  for (const DerivedTree::Entry& entry : derivation.tree.entries()) {
    if (!entry.is_leaf) continue;
    const float value = values[leaf++];
    for (const Row row : derivation.table.rows(entry.node)) residual[row] = change(residual[row], value);
  }
}

[[noreturn]] void refuse() {
  throw InputError("a program derives these trees: they go by their proofs, and by its own weights of columns");
}

}  // namespace

ProgramSum::ProgramSum(const Design& design, const TreeProgram& program, std::size_t trees, const Leaf& leaf,
                       std::vector<ProposalShare> proposals, Stream& stream)
    : TreeSum(std::move(proposals)), leaf_(design.rows, leaf), trees_(trees) {
  if (trees < 1) throw InputError("trees must be 1 or more");
  if (this->proposals().size() != 1 || this->proposals()[0].proposal != Proposal::subtree)
    throw InputError("proposals: the trees of a program are redrawn by subtree alone");
  for (Tree& tree : trees_) {
    tree.derivation = std::make_unique<Derived>(design, program, leaf_, 1.0, most_leaves);
    tree.derivation->stream = &stream;
    tree.derivation->draw();
    read(tree);
    tree.values.assign(tree.nodes.size() / 2 + 1, 0.0f);
    if (tree.derivation->values) tree.derivation->restore_values({tree.values.begin(), tree.values.end()});
  }
}

/// Its rules and numbers of rows.
void ProgramSum::read(Tree& tree) {
  tree.derivation->tree.read();
  const Nodes& nodes = tree.derivation->tree.nodes();
  if (same_tree(tree.nodes, nodes)) return;
  tree.nodes = nodes;
  tree.changed = true;
}

void ProgramSum::sweep(const Target& target, Stream& stream, Team&) {
  leaf_.aim_at(target);
  for (Tree& tree : trees_) {
    heed_interruption();
    visit(tree, target.residual, stream);
  }
}

void ProgramSum::visit(Tree& tree, std::span<float> residual, Stream& stream) {
  Derived& derivation = *tree.derivation;
  derivation.stream = &stream;
  derivation.tree.read();
  change_rows(derivation, tree.values, residual, std::plus<>());
  derivation.renew();
  for (int times = proposals()[0].times(stream); times > 0; --times) {
    ++turns[0];
    accepted[0] += derivation.move();
  }
  read(tree);
  draw_values(tree, stream);
  change_rows(derivation, tree.values, residual, std::minus<>());
}

void ProgramSum::draw_values(Tree& tree, Stream& stream) const {
  Derived& derivation = *tree.derivation;
  tree.values.clear();
  if (!derivation.values) {
    for (const DerivedTree::Entry& entry : derivation.tree.entries())
      if (entry.is_leaf)
        tree.values.push_back(static_cast<float>(leaf_.draw_value(derivation.table.rows(entry.node), stream)));
    return;
  }
  // A value given the others is normal, restricted to the cone: what lies outside it is drawn again a few times, and
  // else the value stays.
  constexpr int tries = 10;
  for (std::size_t leaf = 0; leaf < derivation.leaves.size(); ++leaf)
    for (int i = 0; i < tries && !derivation.refresh_value(leaf); ++i) {
    }
  for (const double value : derivation.values->values()) tree.values.push_back(static_cast<float>(value));
}

void ProgramSum::restore(std::size_t t, const std::vector<slp::Event>& choices, const Nodes& pattern,
                         std::vector<float> values, std::span<float> residual) {
  Tree& tree = trees_[t];
  Derived& derivation = *tree.derivation;
  derivation.tree.read();
  change_rows(derivation, tree.values, residual, std::plus<>());
  derivation.follow(choices);
  read(tree);
  if (!same_tree(tree.nodes, pattern) || values.size() != pattern.size() / 2 + 1)
    throw InputError("chain: a tree is not the one that its proof derives, or has not a value for each leaf");
  for (const float value : values)
    if (!leaf_.leaf().allows(value)) throw InputError("chain: a leaf value is not on the grid, or no number");
  if (derivation.values) derivation.restore_values({values.begin(), values.end()});
  tree.values = std::move(values);
  change_rows(derivation, tree.values, residual, std::minus<>());
  tree.changed = true;
}

void ProgramSum::restore(std::size_t, const Nodes&, std::vector<float>, std::span<float>) { refuse(); }
void ProgramSum::set_log_weights(std::vector<double>) { refuse(); }
void ProgramSum::for_each_split(std::size_t, const std::function<void(const Node&, const std::vector<bool>&)>&) {
  refuse();
}

}  // namespace baytree::bart
