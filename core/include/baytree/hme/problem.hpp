#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "baytree/base/rng.hpp"

namespace baytree::hme {

using Row = std::uint32_t;
using Leaf = std::uint32_t;

/// What the leaves of a soft tree are.
enum class ExpertKind {
  linear,    // a linear regression on all columns
  constant,  // a mean: a regression on the last column, of ones
  classes    // a multinomial logit model
};

/// A hierarchical mixture of experts and the data it is to explain (Jordan and Jacobs 1994).
///
/// The tree is complete: node i of level l has the children i·b … i·b + b − 1 of level l + 1, the last level being the
/// leaves. At each node a multinomial logit model of b − 1 rows of coefficients, each N(0, gate_sd²), the last branch
/// having 0, decides where a row goes on. An expert for numbers has for each output coefficients N(0, σ² sd²) given its
/// variance σ² ~ IG(ν/2, νλ/2); one for classes has coefficients N(0, sd²).
struct Problem {
  std::span<const double> inputs;   // rows × columns, the last of which has ones
  std::span<const double> outputs;  // rows × outputs; of classes a 1 in the place of the class, else 0
  std::size_t columns = 0, n_outputs = 0;
  std::size_t depth = 1, branching = 2;
  ExpertKind experts = ExpertKind::linear;
  double gate_sd = 1.0, sd = 1.0;
  double nu = 3.0;                  // of experts for numbers
  std::vector<double> lambda = {};  // of each output
  std::size_t rows = 0, nodes = 0, leaves = 0;
  std::vector<std::uint32_t> classes = {};  // of each row, where the experts are for classes

  /// Throws InputError unless the parts fit each other; fills in the last two lines.
  void prepare();

  bool for_classes() const { return experts == ExpertKind::classes; }
  /// A row's inputs.
  const double* x(Row row) const { return inputs.data() + row * columns; }
  const double* y(Row row) const { return outputs.data() + row * n_outputs; }
  /// How many columns experts see, the last ones, and how many linear predictors each has.
  std::size_t seen() const { return experts == ExpertKind::constant ? 1 : columns; }
  std::size_t predictors() const { return for_classes() ? n_outputs - 1 : n_outputs; }
  std::size_t gate_numbers() const { return nodes * (branching - 1) * columns; }
  std::size_t expert_numbers() const { return leaves * seen() * predictors(); }
  std::size_t variances() const { return for_classes() ? 0 : leaves * n_outputs; }
};

/// What is drawn: gates level by level (nodes, branching − 1, columns); coefficients (leaves, columns, outputs), of
/// classes (leaves, classes − 1, columns); variances (leaves, outputs), of numbers only.
struct Parameters {
  std::vector<double> gates, coefficients, variance;
};

Parameters draw_prior(const Problem& problem, Stream& stream);
/// The log of their prior density.
double log_prior(const Problem& problem, const Parameters& parameters);
/// Throws InputError unless they are parameters of this problem.
void check(const Problem& problem, const Parameters& parameters);

}  // namespace baytree::hme
