#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace baytree::hmdt {

/// Hidden Markov chains, one for each node, that take a step at every row and are seen only together. The decisions of
/// all nodes are a joint state; each joint state has an outcome, and each row a likelihood of every outcome. Rows of a
/// sequence follow each other in time; sequences know nothing of one another.
///
/// A step of the joint state is a product over the nodes, so it is taken one node after the other: O(S · branching ·
/// nodes) for S = branching^nodes joint states, where a matrix would take O(S²).
struct HiddenChains {
  std::size_t nodes = 1, branching = 2, outcomes = 2;
  std::span<const std::uint64_t> begin;  ///< the first row of each sequence, and behind the last one the number of rows
  std::span<const double> log_transition;  ///< (rows, nodes, decision before, decision); on the first row of a sequence
                                           ///< only decision 0 before counts
  std::span<const double> log_evidence;    ///< (rows, outcomes): log P(what is seen | outcome)
  std::span<const std::uint32_t>
      outcome;  ///< of each joint state, of whose digits the first node's is the most significant

  std::size_t rows() const { return begin.back(); }
  std::size_t sequences() const { return begin.size() - 1; }
  std::size_t states() const { return outcome.size(); }

  /// Throws InputError unless all sizes agree and every row has an outcome that is possible.
  void check() const;
};

/// Throws InputError unless every sequence has rows, the `steps` transitions of each row are logarithms of
/// probabilities, and some outcome is possible.
void check_rows(std::span<const std::uint64_t> begin, std::span<const double> log_transition, std::size_t steps,
                std::span<const double> log_evidence, std::size_t outcomes);

/// What is known at each row of what came before it, and of that and the row itself.
struct Filtered {
  std::vector<double> log_likelihood;            ///< (rows): log P(row | the rows before it)
  std::vector<double> outcome_ahead, outcome;    ///< (rows, outcomes): without the row and with it
  std::vector<double> decision_ahead, decision;  ///< (rows, nodes, branching): likewise
};

/// What is known at each row of the whole sequence.
struct Smoothed {
  std::vector<double> log_likelihood;  ///< (rows): log P(row | the rows before it)
  std::vector<double> outcome;         ///< (rows, outcomes)
  std::vector<double> pair;  ///< (rows, nodes, decision before, decision); on the first row of a sequence all is under
                             ///< decision 0 before
};

/// The most probable decisions of all nodes and rows together.
struct DecisionPath {
  std::vector<std::int32_t> decision;   ///< (rows, nodes)
  std::vector<double> log_probability;  ///< (sequences): log P(these decisions, what is seen)
};

/// The forward pass.
Filtered filter(const HiddenChains& chains, unsigned threads);
/// The forward and the backward pass. Memory for the longest sequence times the joint states, for each thread.
Smoothed smooth(const HiddenChains& chains, unsigned threads);
/// Viterbi's algorithm; of equally probable joint states the first.
DecisionPath best_path(const HiddenChains& chains, unsigned threads);

}  // namespace baytree::hmdt
