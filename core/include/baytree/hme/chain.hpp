#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/hme/experts.hpp"

namespace baytree::hme {

/// What a chain recorded, one after the other: parameters, and numbers of each draw.
struct Draws {
  Parameters parameters;
  std::vector<double> log_mixture;     // log P(y | parameters), the decisions summed out
  std::vector<double> log_likelihood;  // log P(y | decisions, parameters)
  std::vector<double> log_prior;
  std::vector<std::int64_t> state;
  std::vector<double> rung_log_likelihood;  // of a tempered chain: of every rung, the cold one first
};

/// What a chain needs to go on exactly where it stopped.
struct Position {
  std::uint64_t stream = 0, steps = 0;
  Parameters parameters;
  std::vector<Leaf> leaf;  // of each row
};

/// A chain over the parameters of a hierarchical mixture of experts and the decisions, which leaf each row has, with
/// target p(parameters) · P(decisions | parameters) · P(y | decisions, parameters)^power. Given the decisions, gates
/// are logit models and experts regressions of their own; given the parameters, rows are independent: so a step draws
/// experts, gates and decisions in turn, each from its distribution given the others.
class Chain {
 public:
  using Record = Draws;

  /// Starts at a draw of the prior.
  Chain(const Problem& problem, double power, Stream stream);

  /// One iteration. It always moves.
  bool step();
  /// An independent draw of the prior.
  void restart();
  /// Puts the parameters here, and draws the decisions.
  void begin(Parameters parameters);
  /// Exchanges the parameters and decisions of two chains of one problem; each keeps its power and its stream.
  friend void exchange(Chain& a, Chain& b);

  const Problem& problem() const { return *problem_; }
  /// Given the decisions: what the power is of.
  double log_likelihood() const { return log_likelihood_; }
  /// Of the parameters, as a density of coefficients and variances.
  double log_prior() const { return hme::log_prior(*problem_, parameters_); }
  double power() const { return power_; }
  void set_power(double power) { power_ = power; }
  std::uint64_t steps() const { return steps_; }
  void store(Draws& draws) const;

  Position position() const { return {stream_.position(), steps_, parameters_, leaf_}; }
  /// Throws InputError where it is of another problem.
  void restore(const Position& position);

 private:
  void draw_gates();
  /// Reads all rows for what the parameters say of them; with `redraw` each has its leaf drawn anew.
  void read_rows(bool redraw);
  void gather_weights();
  void weigh_leaves(Row row);
  void sort_rows();

  const Problem* problem_;
  double power_;
  Stream stream_;
  ExpertDraw experts_;
  LogitDraw gates_;
  Parameters parameters_;
  std::vector<Leaf> leaf_;          // of each row
  std::vector<Row> order_;          // all rows, those of each leaf together and ascending
  std::vector<std::size_t> begin_;  // where the rows of each leaf begin there, and one more
  double log_likelihood_ = 0.0, log_mixture_ = 0.0;
  std::uint64_t steps_ = 0;
  std::vector<double> weights_;                 // columns × linear predictors, those of gates first
  std::vector<double> predictors_;              // of one row
  std::vector<double> log_path_, log_density_;  // of one row, by leaf
  std::vector<double> joint_;
  std::vector<double> log_variance_;   // of each expert, summed over its outputs
  std::vector<std::uint32_t> branch_;  // of some rows at one node
};

}  // namespace baytree::hme
