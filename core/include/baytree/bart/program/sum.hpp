#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "baytree/bart/program/leaf.hpp"
#include "baytree/mcmc/derivation.hpp"

namespace baytree::bart {

/// A sum of trees that a program derives, each by a proof of its own. A visit forms the residuals without the tree,
/// lets its proof walk with leaf values integrated out, and draws the values. This needs proofs of which a part can be
/// redrawn alone.
class ProgramSum final : public TreeSum {
 public:
  /// Each tree starts from a draw of the prior with values of 0.
  ProgramSum(const Design& design, const TreeProgram& program, std::size_t trees, const Leaf& leaf,
             std::vector<ProposalShare> proposals, Stream& stream);

  std::size_t size() const override { return trees_.size(); }
  const Nodes& nodes(std::size_t t) const override { return trees_[t].nodes; }
  const std::vector<float>& values(std::size_t t) const override { return trees_[t].values; }
  bool changed(std::size_t t) const override { return trees_[t].changed; }
  bool take_changed(std::size_t t) override { return std::exchange(trees_[t].changed, false); }
  /// The choices of a tree's proof, among others.
  std::span<const slp::Event> events(std::size_t t) const { return trees_[t].derivation->machine.events(); }

  void sweep(const Target& target, Stream& stream, Team& team) override;
  /// Puts tree `t` where these choices lead; throws InputError where that is another tree than the pattern. The
  /// residual follows.
  void restore(std::size_t t, const std::vector<slp::Event>& choices, const Nodes& pattern, std::vector<float> values,
               std::span<float> residual);

  void set_leaf_sd(double sd) override { leaf_.set_leaf(leaf_.leaf().with_sd(sd)); }

  // A tree may have many proofs, and a program chooses columns by its own weights: these throw InputError.
  void restore(std::size_t t, const Nodes& pattern, std::vector<float> values, std::span<float> residual) override;
  void set_log_weights(std::vector<double> log_weights) override;
  void for_each_split(std::size_t t, const std::function<void(const Node&, const std::vector<bool>&)>& visit) override;

 private:
  using Derived = Derivation<TargetLeaf>;
  struct Tree {
    std::unique_ptr<Derived> derivation;
    Nodes nodes;
    std::vector<float> values;
    bool changed = true;
  };

  void visit(Tree& tree, std::span<float> residual, Stream& stream);
  void draw_values(Tree& tree, Stream& stream) const;
  static void read(Tree& tree);

  TargetLeaf leaf_;
  std::vector<Tree> trees_;
};

}  // namespace baytree::bart
