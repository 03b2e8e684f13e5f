#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/bart/soft_basis.hpp"
#include "baytree/bart/soft_forest.hpp"
#include "baytree/forest.hpp"
#include "baytree/prior/grow_tree.hpp"
#include "baytree/proposal/mixture.hpp"

namespace baytree {

/// y = Σ over trees of Φμ + ε with ε ~ N(0, σ²/w), leaf values μ ~ N(0, spread²), a bandwidth of each rule that can be soft ~ Exponential(mean `bandwidth`) and
/// σ² ~ νλ/χ²_ν. The spread is given, or half-Cauchy with what is given for its median: a leaf has no row to itself, so what suits hard trees is too little.
struct SoftModel {
  std::size_t trees = 50;
  double spread = 1.0;
  bool learns_spread = false;
  double bandwidth = 0.1;  // 0: every rule is hard
  double sigma = 1.0;      // where the chain starts
  double nu = 3.0;         // 0: σ stays where it starts
  double lambda = 1.0;
  double power = 1.0;         // of the likelihood
  std::size_t proposals = 1;  // of the mixture, a tree and a sweep
  bool wrong = false;         // a saboteur for the tests: bandwidths walk as if on their own scale, not on that of their logarithms
};

/// What a chain recorded. A tree that stayed the same but for its values and bandwidths is stored once: `tree` counts the trees stored since the chain began.
struct SoftDraws {
  Forest forest;
  std::vector<std::int64_t> tree;       // of every tree of every draw
  std::vector<float> value, bandwidth;  // of their leaves and of their splits, in preorder
  std::vector<double> sigma, log_likelihood;
};

/// What besides the trees, their values and their bandwidths a chain needs to go on exactly where it stopped.
struct SoftPosition {
  std::uint64_t stream = 0;                    // words consumed
  std::vector<std::uint64_t> turns, accepted;  // of each component of the mixture, and of the bandwidths
  double sigma = 1.0, spread = 1.0;
  std::uint64_t sweeps = 0, stored_trees = 0;
  std::vector<std::int64_t> stored;  // where each tree is stored, −1 where it is not
};

/// A chain over sums of soft trees by backfitting: each tree in turn takes Metropolis steps given the residuals without it, its leaf values integrated out, and
/// then draws those values. Trees come from the same prior as hard ones, rules being admissible by the rows that they would divide if they were hard.
class SoftChain {
 public:
  /// `weight` is empty or has one weight a row; the response is centred. Starts from trees of one leaf with value 0.
  SoftChain(const Design& design, std::span<const double> response, std::span<const double> weight, GrowTree prior, Mixture mixture, SoftModel model,
            Stream stream);

  /// A sweep over all trees, then the spread and σ; every few sweeps, the values of all trees at once.
  void sweep();
  void advance(std::uint64_t sweeps) {
    for (; sweeps > 0; --sweeps) sweep();
  }
  void draw(std::uint64_t draws, std::uint64_t thin);
  /// The draws since the last call.
  SoftDraws take();

  /// log p(y | trees, values, σ).
  double log_likelihood();
  double sigma() const { return sigma_; }
  std::vector<std::uint64_t> turns() const;
  std::vector<std::uint64_t> accepted() const;

  Forest forest() const;
  std::vector<float> values() const;
  std::vector<float> bandwidths() const;
  /// Goes to these trees; throws InputError where the prior could not have grown them.
  void restore(const ForestView& forest, std::span<const float> values, std::span<const float> bandwidths);
  SoftPosition position() const;
  void restore(const SoftPosition& position);

  /// log p(residuals without a tree | that tree) − log p(residuals without a tree | a tree of value 0), leaf values integrated out.
  double log_marginal(std::size_t tree);

 private:
  bool is_soft(const Rule& rule) const { return model_.bandwidth > 0.0 && may_be_soft(grower_.design().columns[rule.feature], rule); }
  double precision() const { return model_.power / (sigma_ * sigma_); }
  /// Makes the residuals those without the tree, and the tree the one that moves are about; then puts it back.
  void take_out(const SoftTree& tree);
  void put_back(const SoftTree& tree);
  void update(SoftTree& tree);
  void propose_tree(SoftTree& tree);
  void propose_bandwidths(SoftTree& tree);
  bool accepts(const Nodes& nodes, std::size_t at, std::span<const Node> instead, double log_ratio);
  float draw_bandwidth();
  void draw_values();
  void draw_sigma();
  void draw_spread();
  void store();
  double sum_of_squares();
  void clear(SoftTree& tree);
  void plant(const Nodes& pattern, SoftTree& out);

  SoftModel model_;
  Grower grower_;
  Mixture mixture_;
  Stream stream_;
  std::vector<float> weight_, response_, residual_;
  float rounder_;
  double log_weights_ = 0.0;
  double sigma_, spread_;
  std::vector<SoftTree> trees_;
  SoftBasis basis_;
  SoftForest all_;
  SoftLeaves leaves_, candidate_leaves_;
  double log_marginal_ = 0.0;
  Replacement candidate_;
  Nodes altered_;
  std::vector<float> values_, product_;
  std::uint64_t bandwidth_turns_ = 0, bandwidth_accepted_ = 0;
  std::uint64_t sweeps_ = 0, stored_trees_ = 0;
  SoftDraws draws_;
};

}  // namespace baytree
