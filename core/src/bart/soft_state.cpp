#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "baytree/bart/soft_chain.hpp"
#include "baytree/bart/soft_gate.hpp"
#include "baytree/error.hpp"

namespace baytree {

Forest SoftChain::forest() const {
  Forest out;
  for (const SoftTree& tree : trees_) out.add(tree.nodes);
  return out;
}

std::vector<float> SoftChain::values() const {
  std::vector<float> out;
  for (const SoftTree& tree : trees_) out.insert(out.end(), tree.values.begin(), tree.values.end());
  return out;
}

std::vector<float> SoftChain::bandwidths() const {
  std::vector<float> out;
  for (const SoftTree& tree : trees_)
    for (const Node& node : tree.nodes)
      if (!node.is_leaf()) out.push_back(node.rule.bandwidth);
  return out;
}

void SoftChain::restore(const ForestView& forest, std::span<const float> values, std::span<const float> bandwidths) {
  const std::vector<Column>& columns = grower_.design().columns;
  const auto is_finite = [](float x) { return std::isfinite(x); };
  if (forest.begin.size() != trees_.size())
    throw InputError("chain: " + std::to_string(forest.begin.size()) + " trees were saved of " + std::to_string(trees_.size()));
  std::vector<SoftTree> trees(trees_.size());
  auto value = values.begin();
  auto bandwidth = bandwidths.begin();
  for (std::size_t t = 0; t < trees.size(); ++t) {
    Nodes pattern = unpack_tree(forest, t, columns);
    const auto splits = static_cast<std::ptrdiff_t>(pattern.size() / 2);
    if (values.end() - value <= splits || bandwidths.end() - bandwidth < splits) throw InputError("chain: a tree has too few values or bandwidths");
    for (Node& node : pattern) {
      if (node.is_leaf()) continue;
      node.rule.bandwidth = *bandwidth++;
      if (is_soft(node.rule) ? !(node.rule.bandwidth > 0.0f && is_finite(node.rule.bandwidth)) : node.rule.bandwidth != 0.0f)
        throw InputError("chain: bandwidth " + std::to_string(node.rule.bandwidth) + " of a rule that is " + (is_soft(node.rule) ? "soft" : "hard"));
    }
    plant(pattern, trees[t]);
    trees[t].values.assign(value, value + splits + 1);
    value += splits + 1;
  }
  if (value != values.end() || bandwidth != bandwidths.end()) throw InputError("chain: more values or bandwidths than the trees have");
  if (!std::all_of(values.begin(), values.end(), is_finite)) throw InputError("chain: values must be finite");
  trees_ = std::move(trees);
  residual_ = response_;
  all_.subtract(trees_, rounder_, residual_.data());
}

/// A tree of these rules and sizes.
void SoftChain::plant(const Nodes& pattern, SoftTree& out) {
  clear(out);
  if (!grower_.plant(out, 0, pattern, candidate_)) throw InputError("tree: a leaf would hold fewer than min_leaf rows, or a constraint forbids a rule");
  if (!grower_.fits(pattern.size())) throw InputError("tree: it has more leaves than it may");
  grower_.assess(out, candidate_);
  splice(out, candidate_);
  for (std::size_t i = 0; i < out.nodes.size(); ++i)
    if (grower_.log_prior(out, i) == -infinity) throw InputError("tree: it has prior probability 0");
}

SoftPosition SoftChain::position() const {
  SoftPosition out{.stream = stream_.position(),
                   .turns = turns(),
                   .accepted = accepted(),
                   .sigma = sigma_,
                   .spread = spread_,
                   .sweeps = sweeps_,
                   .stored_trees = stored_trees_};
  for (const SoftTree& tree : trees_) out.stored.push_back(tree.stored);
  return out;
}

void SoftChain::restore(const SoftPosition& position) {
  const std::size_t components = mixture_.components.size();
  if (position.turns.size() != components + 1 || position.accepted.size() != components + 1 || position.stored.size() != trees_.size())
    throw InputError("chain: the saved state belongs to another mixture of proposals or number of trees");
  const auto positive = [](double x) { return x > 0.0 && x < infinity; };
  if (!positive(position.sigma) || !positive(position.spread)) throw InputError("chain: sigma and the spread must be positive and finite");
  stream_.seek(position.stream);
  std::copy_n(position.turns.begin(), components, mixture_.turns.begin());
  std::copy_n(position.accepted.begin(), components, mixture_.accepted.begin());
  bandwidth_turns_ = position.turns.back();
  bandwidth_accepted_ = position.accepted.back();
  sigma_ = position.sigma;
  spread_ = position.spread;
  sweeps_ = position.sweeps;
  stored_trees_ = position.stored_trees;
  for (std::size_t t = 0; t < trees_.size(); ++t) trees_[t].stored = position.stored[t];
}

}  // namespace baytree
