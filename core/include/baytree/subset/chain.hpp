#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "baytree/base/numeric.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/subset/coefficients.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::subset {

// To add a proposal: a value of `Proposal`, its case in `Chain::turn`, its value in bindings/subset and a fault
// (testing/fault).

/// How a chain over subsets moves; each leaves the posterior as it is.
enum class Proposal {
  gibbs,       // every free unit in turn is drawn given the others
  random,      // so are as many units chosen at random
  metropolis,  // as often a random unit is proposed to enter or leave, or one of the model to be exchanged for another
  informed,    // a unit is chosen by how much better the model is with it flipped (Zanella 2020)
  replace  // a unit leaves, and another, or itself, enters in its place by the probability of the model it would make
};

/// How many turns of a proposal an iteration makes; a fraction is the probability of one more.
struct ProposalShare {
  Proposal proposal;
  double number;
};

/// What a chain recorded. A model that stayed the same is stored once: `state` counts the models stored since the chain
/// began.
struct Draws {
  std::vector<Unit> unit;              // of each stored model, ascending
  std::vector<std::int64_t> begin{0};  // where the units of each stored model begin, and one more
  std::vector<std::int64_t> state;     // one a draw, as are the next two
  std::vector<double> log_likelihood, log_prior;
  std::vector<double> mean;                 // of the coefficients given each stored model
  CoefficientDraws given;                   // the model, one a draw
  std::vector<double> rung_log_likelihood;  // of a tempered chain: of every rung, the cold one first
};

/// What a chain needs to go on exactly where it stopped. The factor's last bits depend on how the model was reached, so
/// the flips since it was last made anew are part of it.
struct Position {
  std::uint64_t stream = 0;
  std::vector<Unit> base, flips;  // the model from which the factor was made, and the units flipped since
  std::vector<std::uint64_t> turns, accepted;
};

/// A chain over subsets of units with target P(γ) · P(y|γ)^power, coefficients and σ² integrated out.
class Chain {
 public:
  using Record = Draws;

  /// Starts with a few units drawn at random.
  Chain(const Problem& problem, std::vector<ProposalShare> shares, double power, Stream stream);

  /// One iteration; true where the model changed.
  bool step();
  /// The prior has no simpler draw than a step of the chain, which at power 0 forgets at once.
  void restart() { step(); }
  /// Exchanges the models of two chains of one problem; each keeps its power, its stream and its counts.
  friend void exchange(Chain& a, Chain& b);

  double log_likelihood() const { return log_likelihood_; }
  double log_prior() const { return log_prior_; }
  double power() const { return power_; }
  void set_power(double power) {
    power_ = power;
    weighed_ = false;
  }
  std::vector<Unit> model() const;
  const std::vector<std::uint64_t>& turns() const { return turns_; }
  const std::vector<std::uint64_t>& accepted() const { return accepted_; }
  void store(Draws& draws) const;
  /// Adds a draw of the coefficients given the model.
  void note(Draws& draws) { draw_coefficients(*problem_, factor_, stream_, draws.given); }

  Position position() const { return {stream_.position(), base_, flips_, turns_, accepted_}; }
  /// Throws InputError where the model does not exist.
  void restore(const Position& position);

 private:
  struct Weighed {
    double log_likelihood, log_prior;
  };
  static constexpr std::size_t flips_between_factors = 64;

  /// The model with this unit flipped; −∞ prior where it does not exist.
  Weighed flipped(Unit unit) const;
  double log_prior_with(Unit unit, bool in) const;
  /// log of the target's ratio, of another model to the present one.
  double gain(const Weighed& other) const {
    return other.log_prior == -infinity
               ? -infinity
               : power_ * (other.log_likelihood - log_likelihood_) + other.log_prior - log_prior_;
  }
  void flip(Unit unit);
  void apply(Unit unit);
  void toggle(Unit unit);
  void refactor();
  void assess();
  bool satisfied(Unit unit) const;
  std::size_t broken_after(Unit unit) const;
  Unit member(std::size_t rank) const { return members_[rank]; }
  Unit outsider(std::size_t rank) const;

  void turn(std::size_t share);
  bool update(Unit unit, Fault fault);
  bool metropolis();
  bool informed();
  bool replace();
  /// Weights of all free units as to be flipped, into `weights_`; their sum. After an accepted flip they are known
  /// already.
  double weigh_flips();

  const Problem* problem_;
  std::vector<ProposalShare> shares_;
  double power_;
  Stream stream_;
  Factor factor_;
  std::vector<std::uint8_t> in_;                // of each unit
  std::vector<std::uint32_t> present_parents_;  // of each unit
  std::vector<Unit> members_;                   // the free units of the model, ascending
  std::size_t broken_ = 0;                      // units of the model that lack parents
  double log_odds_ = 0.0;                       // of the members, summed
  std::vector<Unit> base_, flips_;
  double log_likelihood_ = 0.0, log_prior_ = 0.0;
  std::vector<std::uint64_t> turns_, accepted_;
  std::vector<double> weights_;
  bool weighed_ = false;  // whether the weights are those of the flips of the present model, whose sum is the next
  double sum_of_weights_ = 0.0;
};

}  // namespace baytree::subset
