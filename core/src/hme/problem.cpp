#include "baytree/hme/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"

namespace baytree::hme {
namespace {

constexpr std::size_t most_leaves = 1 << 16;
constexpr double least_nu = 0.1;

/// Beyond it products of inputs and coefficients might be no numbers, and draws would not end.
constexpr double largest_number = 1e50;

bool moderate(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::abs(value) <= largest_number; });
}

bool finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

void require_positive(double value, const char* name) {
  if (!(value > 0.0 && value <= largest_number))
    throw InputError(std::string(name) + " must be a positive number, and at most 1e50");
}

/// Σ log N(value; 0, sd²).
double log_normal(std::span<const double> values, double sd) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return -static_cast<double>(values.size()) * (std::log(sd) + 0.5 * std::log(2.0 * std::numbers::pi)) -
         0.5 * squares / (sd * sd);
}

/// The log density of IG(shape, scale).
double log_inverse_gamma(double value, double shape, double scale) {
  return shape * std::log(scale) - log_gamma(shape) - (shape + 1.0) * std::log(value) - scale / value;
}

}  // namespace

void Problem::prepare() {
  if (columns == 0 || inputs.empty() || inputs.size() % columns != 0)
    throw InputError("inputs: give a row of columns for each row, and at least one row");
  rows = inputs.size() / columns;
  if (rows > std::numeric_limits<Row>::max()) throw InputError("inputs: there are too many rows");
  if (n_outputs < (for_classes() ? 2u : 1u) || outputs.size() != rows * n_outputs)
    throw InputError("outputs: give a row of outputs for each row of inputs");
  if (!moderate(inputs) || !moderate(outputs))
    throw InputError("inputs and outputs must be numbers of at most 1e50; give them in standard units");
  if (branching < 2) throw InputError("branching must be 2 or more");
  nodes = 0;
  leaves = 1;
  for (std::size_t level = 0; level < depth; ++level) {
    nodes += leaves;
    leaves *= branching;
    if (leaves > most_leaves)
      throw InputError("the tree has more than " + std::to_string(most_leaves) +
                       " leaves; choose a smaller depth or branching");
  }
  require_positive(gate_sd, "gate_sd");
  require_positive(sd, "sd");
  classes.clear();
  if (for_classes()) {
    for (Row row = 0; row < rows; ++row) {
      const std::span<const double> indicators(y(row), n_outputs);
      const auto one = std::find(indicators.begin(), indicators.end(), 1.0);
      const auto zeros = std::count(indicators.begin(), indicators.end(), 0.0);
      if (one == indicators.end() || static_cast<std::size_t>(zeros) + 1 != n_outputs)
        throw InputError("outputs of classes must be one 1 in a row of 0");
      classes.push_back(static_cast<std::uint32_t>(one - indicators.begin()));
    }
    return;
  }
  if (!(nu >= least_nu && nu < infinity))
    throw InputError("nu must be 0.1 or more: with less, variances exceed what a number can hold");
  if (lambda.size() != n_outputs) throw InputError("lambda: give a number for each output");
  for (const double of_output : lambda) require_positive(of_output, "lambda");
}

Parameters draw_prior(const Problem& problem, Stream& stream) {
  Parameters drawn;
  drawn.gates.resize(problem.gate_numbers());
  for (double& value : drawn.gates) value = problem.gate_sd * stream.normal();
  drawn.coefficients.resize(problem.expert_numbers());
  if (problem.for_classes()) {
    for (double& value : drawn.coefficients) value = problem.sd * stream.normal();
    return drawn;
  }
  const std::size_t outputs = problem.n_outputs;
  drawn.variance.resize(problem.variances());
  for (std::size_t i = 0; i < drawn.variance.size(); ++i)
    drawn.variance[i] =
        std::exp(std::log(0.5 * problem.nu * problem.lambda[i % outputs]) - stream.log_gamma(0.5 * problem.nu));
  for (std::size_t i = 0; i < drawn.coefficients.size(); ++i) {
    const std::size_t leaf = i / (problem.seen() * outputs);
    drawn.coefficients[i] = std::sqrt(drawn.variance[leaf * outputs + i % outputs]) * problem.sd * stream.normal();
  }
  return drawn;
}

double log_prior(const Problem& problem, const Parameters& parameters) {
  double sum = log_normal(parameters.gates, problem.gate_sd);
  if (problem.for_classes()) return sum + log_normal(parameters.coefficients, problem.sd);
  const std::size_t outputs = problem.n_outputs;
  for (std::size_t i = 0; i < parameters.variance.size(); ++i)
    sum += log_inverse_gamma(parameters.variance[i], 0.5 * problem.nu, 0.5 * problem.nu * problem.lambda[i % outputs]);
  for (std::size_t i = 0; i < parameters.coefficients.size(); ++i) {
    const std::size_t leaf = i / (problem.seen() * outputs);
    sum += log_normal({&parameters.coefficients[i], 1},
                      problem.sd * std::sqrt(parameters.variance[leaf * outputs + i % outputs]));
  }
  return sum;
}

void check(const Problem& problem, const Parameters& parameters) {
  const bool fits = parameters.gates.size() == problem.gate_numbers() &&
                    parameters.coefficients.size() == problem.expert_numbers() &&
                    parameters.variance.size() == problem.variances();
  if (!fits) throw InputError("parameters: they belong to another tree, or to other experts");
  const bool usable = moderate(parameters.gates) && finite(parameters.coefficients) && finite(parameters.variance) &&
                      (!problem.for_classes() || moderate(parameters.coefficients));
  if (!usable) throw InputError("parameters must be finite numbers, and those of logit models at most 1e50");
  for (const double value : parameters.variance)
    if (!(value > 0.0)) throw InputError("parameters: variances must be positive");
}

}  // namespace baytree::hme
