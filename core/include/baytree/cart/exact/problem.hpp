#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "baytree/priors/grow_tree.hpp"

namespace baytree::cart::exact {

/// What all trees are added up for: P(T) · P(y|T)^power, leaf parameters integrated out.
struct Problem {
  const Design& design;
  GrowTree prior;
  double power = 1.0;
  std::size_t width = 0;  // statistics of a leaf
  std::function<void(std::span<const Row>, double*)> statistics;
  std::function<double(const double*, Row)> log_marginal;  // of statistics and a number of rows
  // The most that the log marginals of two leaves or more can add up to, into which such rows are divided.
  std::function<double(const double*, Row)> log_most_divided;
  std::size_t outputs = 0;                              // classes, or 1
  std::function<void(const double*, double*)> moments;  // of statistics: means of what is predicted, mean squares
};

template <class Leaf>
Problem problem_of(const Design& design, const Leaf& leaf, GrowTree prior, double power) {
  const Row least = prior.min_leaf;
  return {design,
          std::move(prior),
          power,
          leaf.n_statistics(),
          [&leaf](std::span<const Row> rows, double* out) { leaf.statistics(rows, out); },
          [&leaf](const double* statistics, Row rows) { return leaf.log_marginal(statistics, rows); },
          [&leaf, least](const double* statistics, Row rows) { return leaf.log_most_divided(statistics, rows, least); },
          leaf.n_outputs(),
          [&leaf](const double* statistics, double* out) { leaf.moments(statistics, out); }};
}

/// The most that may be stored: sets of rows, and bytes.
struct Budget {
  std::uint64_t sets = 0, bytes = 0;
};

}  // namespace baytree::cart::exact
