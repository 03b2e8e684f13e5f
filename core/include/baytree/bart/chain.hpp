#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "baytree/bart/ensemble/leaf.hpp"
#include "baytree/bart/ensemble/leaf_spread.hpp"
#include "baytree/bart/ensemble/record.hpp"
#include "baytree/bart/ensemble/sparse.hpp"
#include "baytree/bart/ensemble/tree_sum.hpp"
#include "baytree/bart/latent.hpp"
#include "baytree/bart/noise.hpp"
#include "baytree/bart/program/sum.hpp"
#include "baytree/base/simd.hpp"

namespace baytree::bart {

struct Model {
  Prior prior;
  LeafPrior leaf;
  std::vector<ProposalShare> proposals;
  VariancePrior noise;             // of numbers: of the variance, or of each of the factors that make it up
  std::size_t variance_trees = 0;  // whose leaves are these factors; none where the variance is one number
  bool student = false;            // of Student's t distribution, or normal
  double power = 1.0;              // of the likelihood
  std::uint32_t grow_sweeps = 0;   // over trees that are grown to the data, for a start
  bool sparse = false;             // the column weights are learned, one set for all trees
  std::uint32_t even_sweeps = 0;   // for a start with sparse weights: sweeps before any is learned
  double unit = 1.0;               // what the response was divided by, for its log-likelihood
};

/// What is to be explained. Numbers come without their centre and offset, in a unit in which they are about 1.
struct Response {
  std::span<const double> numbers;        // none with classes
  std::span<const std::int32_t> classes;  // none with numbers
  std::uint32_t n_classes = 0;
  std::span<const double> weight;  // of each row; none where all weigh 1; whole numbers with classes
  std::vector<double> centre;      // with classes: of each sum
  std::span<const double> offset;  // with two classes: of each row
};

/// What a chain over sums of trees recorded.
struct Draws {
  TreeDraws mean, variance;
  std::vector<double> sigma;  // of each draw, as are the next
  std::vector<double> freedom;
  std::vector<double> log_likelihood;
  std::vector<double> leaf_sd;  // where it is learned: of each draw
  std::vector<double> log_weight,
      concentration;  // where column weights are learned: of every column, and one, of each draw
};

/// Where a chain is besides its trees.
struct Position {
  std::uint64_t stream = 0;
  double sigma = 1.0;
  double freedom = 1.0;             // where noise is Student's
  double leaf_sd = 1.0;             // where it is learned
  std::vector<double> log_weights;  // where column weights are learned
  double concentration = 1.0;
  std::vector<std::uint64_t> turns, accepted;
  std::uint64_t stored_trees = 0;
  std::vector<std::int32_t> stored;  // of each tree, its place among them; −1 where it is not stored
  std::uint64_t variance_stored_trees = 0;
  std::vector<std::int32_t> variance_stored;
  std::vector<std::vector<slp::Event>> proofs;  // of each tree, where a program derives it: the choices of its proof
};

/// A chain over sums of trees: one sum for numbers or two classes, one for each of several classes. An iteration visits
/// every tree of every sum, and then draws what else there is, the trees of a variance included.
class Chain {
 public:
  /// Where a program derives the trees, only their number is taken from the model's prior.
  Chain(const Design& design, const Response& response, const Model& model, Stream stream, Simd simd,
        const TreeProgram* program = nullptr);
  Chain(const Chain&) = delete;

  void warm_up(std::uint64_t iterations, unsigned threads) { run(iterations, 0, threads); }
  /// Storing begins anew, as do the counts.
  void end_warm_up();
  void advance(std::uint64_t iterations, unsigned threads) { run(iterations, 0, threads); }
  /// Records after every `thin` iterations, `draws` times.
  void draw(std::uint64_t draws, std::uint64_t thin, unsigned threads) { run(draws * thin, thin, threads); }

  Draws take();

  bool has_sigma() const { return noise_ && noise_->has_sigma(); }
  bool has_freedom() const { return noise_ && noise_->freedom(); }
  bool has_variance() const { return variance_.has_value(); }
  bool learns_leaf_sd() const { return spread_.has_value(); }
  bool sparse() const { return sparse_.has_value(); }
  bool soft() const { return soft_; }
  double log_likelihood() const;
  std::vector<std::uint64_t> turns() const { return total(&TreeSum::turns); }
  std::vector<std::uint64_t> accepted() const { return total(&TreeSum::accepted); }

  /// All trees, sum after sum and those of the variance last, the values of their leaves and, where they are soft, the
  /// bandwidths of their splits.
  Forest trees() const;
  std::vector<float> values() const;
  std::vector<float> bandwidths() const;
  Position position() const;
  /// Throws InputError where the trees cannot come from the prior.
  void restore(const ForestView& forest, std::span<const float> values, std::span<const float> bandwidths,
               const Position& position);

 private:
  void run(std::uint64_t iterations, std::uint64_t thin, unsigned threads);
  Target target(std::size_t sum);
  std::span<const std::unique_ptr<TreeSum>> means() const { return std::span(sums_).first(residual_.size()); }
  void grow(std::uint32_t sweeps, const GrowTree& prior);
  void iterate(Team& team);
  void sweep(Team& team);
  void record();
  std::vector<std::uint64_t> total(std::vector<std::uint64_t> TreeSum::* counts) const;

  const Design& design_;
  double power_, log_unit_;
  Stream stream_;
  std::vector<std::unique_ptr<TreeSum>> sums_;  // that of the log variance last
  std::vector<ProgramSum*> derived_;            // the same sums, where a program derives their trees
  bool soft_;
  std::vector<float> weight_;
  std::vector<std::vector<float>> residual_;  // of each sum
  std::vector<std::vector<float>> latent_;    // of each sum, with classes
  std::optional<Latent> classes_;
  std::optional<Noise> noise_;  // of numbers
  std::optional<LeafSpread> spread_;
  std::optional<SparseWeights> sparse_;

  std::optional<TreeRecord> mean_, variance_;
  Draws draws_;
};

}  // namespace baytree::bart
