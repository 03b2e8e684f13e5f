#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "baytree/base/team.hpp"
#include "baytree/priors/grow_tree.hpp"

namespace baytree::bart {

// To add a proposal of sums: a value of `Proposal`, and what it does in the sums that can make it (hard/backfit,
// soft/backfit); a sum that cannot throws InputError. To add a kind of trees: a `TreeSum` in a folder of its own, which
// the chain makes.

/// What may be proposed for a tree of a sum.
enum class Proposal : std::uint8_t { birth_death, change, perturb, bandwidth, subtree };

struct ProposalShare {
  Proposal proposal = Proposal::birth_death;
  double number = 1.0;  // of proposals at each visit of a tree; a fraction is a probability

  /// How often it is proposed at a visit.
  int times(Stream& stream) const {
    const double whole = std::floor(number), fraction = number - whole;
    return static_cast<int>(whole) + (fraction > 0.0 && stream.bernoulli(fraction));
  }
};

struct Prior {
  GrowTree tree;           // by column
  std::size_t trees = 1;   // in the sum
  double bandwidth = 0.0;  // the mean of the bandwidths of rules, which are exponential; 0 where rules are hard
};

/// What the trees are fitted to.
struct Target {
  std::span<float> residual;  // the response without the sum of the trees, or squares divided by the product of their
                              // leaves; kept so
  std::span<const float> weight;  // of each row; none where all weigh 1
  double precision = 1.0;  // of the noise of a row of weight 1, times the power of the likelihood; of squares the power
};

/// The trees of a sum, drawn in turn, each given the others (Chipman, George and McCulloch 2010). The fits of a mean
/// lie on a grid of a power of two, as the residuals must from the start, so coarse that adding them in float is exact.
/// So residuals carry no history of rounding, and can be had again from the trees to the bit.
class TreeSum {
 public:
  explicit TreeSum(std::vector<ProposalShare> proposals);
  virtual ~TreeSum() = default;

  virtual std::size_t size() const = 0;
  virtual const Nodes& nodes(std::size_t t) const = 0;
  /// Of the leaves, from left to right.
  virtual const std::vector<float>& values(std::size_t t) const = 0;

  /// Visits every tree once.
  virtual void sweep(const Target& target, Stream& stream, Team& team) = 0;
  /// Puts tree `t` elsewhere, given by rules and sizes; throws InputError where the prior could not have grown it. The
  /// residual follows.
  virtual void restore(std::size_t t, const Nodes& pattern, std::vector<float> values, std::span<float> residual) = 0;

  /// The standard deviation that leaf values have before any data.
  virtual void set_leaf_sd(double sd) = 0;
  /// How likely each column is to be chosen for a rule, among those that have one.
  virtual void set_log_weights(std::vector<double> log_weights) = 0;
  /// Of each split of tree `t`, calls visit(node, blocked), `blocked` being the columns that have no rule there; empty
  /// where all have one, which is quick to see where most have.
  virtual void for_each_split(std::size_t t,
                              const std::function<void(const Node&, const std::vector<bool>&)>& visit) = 0;

  /// Whether tree `t` has other rules than when they were last taken.
  virtual bool changed(std::size_t t) const = 0;
  virtual bool take_changed(std::size_t t) = 0;

  const std::vector<ProposalShare>& proposals() const { return proposals_; }
  std::vector<std::uint64_t> turns, accepted;  // of each proposal

 private:
  std::vector<ProposalShare> proposals_;
};

}  // namespace baytree::bart
