#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baytree/base/error.hpp"
#include "baytree/cart/draws.hpp"
#include "baytree/mcmc/leaf_values.hpp"
#include "baytree/mcmc/proposals/mixture.hpp"
#include "baytree/mcmc/proposals/rule_weights.hpp"
#include "baytree/priors/grow_tree.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::cart {

/// What besides the tree a chain needs to go on exactly where it stopped.
struct Position {
  std::uint64_t stream = 0;                    // words consumed
  std::vector<std::uint64_t> turns, accepted;  // of each component of the mixture
};

/// A Metropolis–Hastings chain over trees with target P(T) · P(y|T)^power, leaf parameters integrated out. Where trees
/// must be monotone, the leaf values are part of its state: see `LeafValues`.
template <class Leaf>
class Chain {
 public:
  using Record = Draws;

  /// Starts from a draw of the prior.
  Chain(const Design& design, const Leaf& leaf, GrowTree prior, Mixture mixture, double power, Stream stream,
        Monotone monotone = {})
      : leaf_(leaf),
        grower_(design, std::move(prior)),
        mixture_(std::move(mixture)),
        rule_weights_(leaf.sweep()),
        power_(power),
        stream_(stream) {
    if (leaf.rows() != design.rows) throw InputError("the response and the columns have different numbers of rows");
    if (!(power >= 0.0 && power < infinity)) throw InputError("power must be 0 or more");
    clear();
    grower_.grow(tree_, stream_, candidate_);
    evaluate_leaves();
    accept();
    if (monotone.is_any()) values_.emplace(design, leaf, std::move(monotone));
    start_values();
  }

  /// One step; true where the tree or a value changed.
  bool step() {
    const bool moved = move();
    return (values_ && refresh_value()) || moved;
  }

  /// Goes to a new draw of the prior. Where trees must be monotone it stays unless the values drawn with the tree are;
  /// where trees of the prior seldom fit, it takes a step instead, which leaves the prior as it is, too.
  void restart() {
    constexpr std::uint64_t few = 100;
    if (!grower_.grow(tree_, stream_, candidate_, few)) {
      step();
      return;
    }
    evaluate_leaves();
    if (values_ && !propose_values()) return;
    accept();
    if (values_) values_->accept();
  }

  /// Exchanges the trees of two chains over the same data; each keeps its power, its stream and its counts.
  friend void exchange(Chain& a, Chain& b) {
    std::swap(a.tree_, b.tree_);
    std::swap(a.log_likelihood_, b.log_likelihood_);
    if (a.values_) a.values_->exchange(*b.values_);
  }

  double log_likelihood() const { return log_likelihood_; }
  double log_prior() {
    double sum = 0.0;
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) sum += grower_.log_prior(tree_, i);
    return sum;
  }
  double power() const { return power_; }
  void set_power(double power) { power_ = power; }
  const Nodes& nodes() const { return tree_.nodes; }
  /// One a leaf where trees must be monotone, else none.
  std::vector<double> values() const { return values_ ? values_->values() : std::vector<double>(); }
  const Design& design() const { return grower_.design(); }
  const Mixture& mixture() const { return mixture_; }

  /// Adds the tree and its leaves' statistics to the draws.
  void store(Draws& draws) const {
    draws.forest.add(tree_.nodes);
    for (const Node& node : tree_.nodes) {
      if (!node.is_leaf()) continue;
      const std::size_t size = draws.statistics.size();
      draws.statistics.resize(size + leaf_.n_statistics());
      leaf_.statistics(rows_of(node), draws.statistics.data() + size);
    }
    if (values_) values_->append_means(draws.value);
  }
  void note_best(Draws& best) { keep_best(*this, best); }

  Position position() const { return {stream_.position(), mixture_.turns, mixture_.accepted}; }

  /// Goes to a tree given by rules and sizes; throws InputError where the prior could not have grown it.
  void restore(const Nodes& pattern) {
    clear();
    if (!grower_.plant(tree_, 0, pattern, candidate_))
      throw InputError("tree: a leaf would hold fewer than min_leaf rows, or a constraint forbids a rule");
    if (!grower_.fits(pattern.size())) throw InputError("tree: it has more leaves than max_leaves allows");
    grower_.assess(tree_, candidate_);
    evaluate_leaves();
    accept();
    start_values();
    if (log_prior() == -infinity) throw InputError("tree: it has prior probability 0");
  }
  void restore_values(std::vector<double> values) {
    if (!values_) throw InputError("chain: leaf values, but nothing need be monotone");
    values_->restore(tree_.nodes, std::move(values));
  }
  void restore(const Position& position) {
    if (position.turns.size() != mixture_.components.size() || position.accepted.size() != position.turns.size())
      throw InputError("chain: the saved state belongs to another mixture of proposals");
    stream_.seek(position.stream);
    mixture_.turns = position.turns;
    mixture_.accepted = position.accepted;
  }

 private:
  NodeRows rows_of(const Node& node) const { return tree_.rows_of(node); }

  /// A single leaf with all rows, not yet evaluated.
  void clear() {
    tree_.rows = candidate_.rows = TreeRows(grower_.design());
    tree_.nodes.assign(1, tree_.rows.root());
    grower_.assess(tree_, 0);
  }

  bool move() {
    ProposalContext context{.tree = tree_,
                            .grower = grower_,
                            .stream = stream_,
                            .replacement = candidate_,
                            .rule_weights = &rule_weights_,
                            .power = power_};
    const std::size_t component = mixture_.choose(stream_);
    const LogRatio log_ratio = mixture_.propose(component, context);
    if (!log_ratio) return false;
    const std::span<const Node> old = subtree(tree_, candidate_.at);
    if (same_tree(old, candidate_.nodes) || !grower_.fits(tree_.nodes.size() - old.size() + candidate_.nodes.size()))
      return false;
    const double change = evaluate_leaves() - leaves_sum(old);
    const double log_acceptance = *log_ratio + power_ * change;
    // Drawn in any case: where a ratio is 1 but for rounding, its sign must not decide how many numbers are drawn.
    if (!(stream_.uniform() < std::exp(log_acceptance))) return false;
    if (values_ && !propose_values()) return false;
    accept();
    if (values_) values_->accept();
    ++mixture_.accepted[component];
    return true;
  }

  void start_values() {
    if (values_) values_->start(tree_.nodes, rows_of(tree_.nodes[0]), stream_);
  }

  /// Values for the candidate's leaves; whether the tree with it is monotone.
  bool propose_values() {
    const Nodes& nodes = tree_.nodes;
    const std::vector<double>& values = values_->values();
    const std::size_t at = candidate_.at;
    std::size_t leaf = 0;
    values_->begin();
    for (std::size_t i = 0; i < at; ++i)
      if (nodes[i].is_leaf()) values_->keep(values[leaf++]);
    for (const Node& node : candidate_.nodes) {
      if (!node.is_leaf()) continue;
      if (testing::is_injected(Fault::stale_values))
        values_->keep(values[leaf]);
      else
        values_->renew(candidate_.rows_of(node), stream_);
    }
    for (leaf += (nodes[at].size + 1) / 2; leaf < values.size(); ++leaf) values_->keep(values[leaf]);
    return testing::is_injected(Fault::unordered_values) || values_->is_monotone(nodes, at, candidate_.nodes);
  }

  /// Whether it took a new value.
  bool refresh_value() {
    const std::size_t leaf = stream_.below(values_->values().size());
    auto node = tree_.nodes.begin();
    for (std::size_t before = leaf;; ++node)
      if (node->is_leaf() && before-- == 0) break;
    return values_->refresh(tree_.nodes, leaf, rows_of(*node), stream_);
  }

  /// The candidate's log marginal likelihood.
  double evaluate_leaves() {
    double sum = 0.0;
    for (Node& node : candidate_.nodes)
      if (node.is_leaf()) sum += node.log_marginal = leaf_.log_marginal(candidate_.rows_of(node), leaf_buffer_);
    return sum;
  }

  static double leaves_sum(std::span<const Node> nodes) {
    double sum = 0.0;
    for (const Node& node : nodes)
      if (node.is_leaf()) sum += node.log_marginal;
    return sum;
  }

  void accept() {
    splice(tree_, candidate_);
    // Summed anew, so that a tree has the same log likelihood to the bit whatever moves led to it.
    log_likelihood_ = leaves_sum(tree_.nodes);
  }

  const Leaf& leaf_;
  Grower grower_;
  Mixture mixture_;
  RuleWeights rule_weights_;
  double power_;
  Stream stream_;
  PartitionedTree tree_;
  Replacement candidate_;
  typename Leaf::Buffer leaf_buffer_;
  std::optional<LeafValues<Leaf>> values_;
  double log_likelihood_ = 0.0;
};

}  // namespace baytree::cart
