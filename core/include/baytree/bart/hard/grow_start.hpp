#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/bart/hard/backfit.hpp"

namespace baytree::bart {

/// Grows trees to the data, for chains to begin with: from the root, each node choosing among all rules and none by how
/// likely they make the residuals, one split ahead (He and Hahn 2023). It leaves no distribution invariant; what
/// follows is the warm-up of a chain.
class GrowStart {
 public:
  GrowStart(const Design& design, const GrowTree& prior) : design_(design), prior_(prior) {}

  /// Replaces every tree of the sum by a new one.
  void sweep(Backfit& sum, const Target& target, Stream& stream);

 private:
  struct Sums {
    double sum = 0.0, weight = 0.0;
    Row rows = 0;

    Sums& operator+=(const Sums& other) {
      sum += other.sum;
      weight += other.weight;
      rows += other.rows;
      return *this;
    }
    friend Sums operator-(const Sums& a, const Sums& b) {
      return {a.sum - b.sum, a.weight - b.weight, a.rows - b.rows};
    }
  };
  struct Candidate {
    Rule rule;
    double log_weight;
  };

  void grow(Backfit& sum, const Target& target, Stream& stream);
  bool choose_rule(Backfit& sum, std::span<const Row> rows, const Situation& here, const Target& target, Stream& stream,
                   Rule& rule);
  void add_candidates(const Backfit& sum, std::uint32_t feature, const Situation& here, const Sums& all);

  const Design& design_;
  GrowTree prior_;
  std::vector<float> partial_;  // the residuals without the tree that is being grown
  std::vector<Row> rows_, spare_;
  std::vector<Sums> by_code_;
  std::vector<Candidate> candidates_;
  Nodes nodes_;
  std::vector<float> values_;
};

}  // namespace baytree::bart
