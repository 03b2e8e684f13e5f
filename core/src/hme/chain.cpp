#include "baytree/hme/chain.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::hme {

Chain::Chain(const Problem& problem, double power, Stream stream)
    : problem_(&problem),
      power_(power),
      stream_(stream),
      experts_(problem),
      gates_(problem, problem.branching, problem.gate_sd),
      leaf_(problem.rows),
      order_(problem.rows),
      begin_(problem.leaves + 1),
      weights_(problem.columns * (problem.nodes * (problem.branching - 1) + problem.leaves * problem.predictors())),
      predictors_(weights_.size() / problem.columns),
      log_path_(problem.leaves),
      log_density_(problem.leaves),
      joint_(problem.leaves),
      log_variance_(problem.leaves) {
  if (!(power >= 0.0 && power < infinity)) throw InputError("power must be 0 or more");
  branch_.reserve(problem.rows);
  restart();
}

bool Chain::step() {
  for (Leaf leaf = 0; leaf < problem_->leaves; ++leaf)
    experts_.draw(leaf, std::span(order_).subspan(begin_[leaf], begin_[leaf + 1] - begin_[leaf]), power_, parameters_,
                  stream_);
  draw_gates();
  read_rows(true);
  ++steps_;
  return true;
}

void Chain::restart() {
  parameters_ = draw_prior(*problem_, stream_);
  const double power = std::exchange(power_, 0.0);
  read_rows(true);
  power_ = power;
}

void Chain::begin(Parameters parameters) {
  check(*problem_, parameters);
  parameters_ = std::move(parameters);
  read_rows(true);
}

/// The rows of a node are those of the leaves under it, which follow each other.
void Chain::draw_gates() {
  const std::size_t branching = problem_->branching, numbers = (branching - 1) * problem_->columns;
  std::size_t under = problem_->leaves, place = 0;
  for (std::size_t level = 0; level < problem_->depth; ++level) {
    const std::size_t under_child = under / branching;
    for (std::size_t first = 0; first < problem_->leaves; first += under, ++place) {
      const auto rows = std::span(order_).subspan(begin_[first], begin_[first + under] - begin_[first]);
      branch_.clear();
      for (const Row row : rows) branch_.push_back(static_cast<std::uint32_t>((leaf_[row] - first) / under_child));
      gates_.draw(rows, branch_, std::span(parameters_.gates).subspan(place * numbers, numbers), stream_);
    }
    under = under_child;
  }
}

void Chain::read_rows(bool redraw) {
  gather_weights();
  log_likelihood_ = log_mixture_ = 0.0;
  const double power = testing::is_injected(Fault::hme_decisions) ? 0.0 : power_;
  for (Row row = 0; row < problem_->rows; ++row) {
    heed_interruption();
    weigh_leaves(row);
    const auto total = [&](double of_power) {
      double largest = -infinity, sum = 0.0;
      for (std::size_t leaf = 0; leaf < joint_.size(); ++leaf) {
        joint_[leaf] = log_path_[leaf] + of_power * log_density_[leaf];
        largest = std::max(largest, joint_[leaf]);
      }
      for (double& value : joint_) sum += value = std::exp(value - largest);
      return std::pair(largest, sum);
    };
    const auto [largest, sum] = total(1.0);
    log_mixture_ += largest + std::log(sum);
    if (redraw) {
      double target = stream_.uniform() * (power == 1.0 ? sum : total(power).second);
      Leaf leaf = 0;
      while (leaf + 1 < joint_.size() && target >= joint_[leaf]) target -= joint_[leaf++];
      leaf_[row] = leaf;
    }
    log_likelihood_ += log_density_[leaf_[row]];
  }
  sort_rows();
}

/// The coefficients of gates and experts side by side, so that one product with a row gives all its linear predictors.
void Chain::gather_weights() {
  const Problem& p = *problem_;
  const std::size_t width = predictors_.size(), scored = p.nodes * (p.branching - 1), each = p.predictors(),
                    skipped = p.columns - p.seen();
  for (std::size_t i = 0; i < scored; ++i)
    for (std::size_t j = 0; j < p.columns; ++j) weights_[j * width + i] = parameters_.gates[i * p.columns + j];
  for (std::size_t leaf = 0; leaf < p.leaves; ++leaf)
    for (std::size_t k = 0; k < each; ++k)
      for (std::size_t j = 0; j < p.seen(); ++j) {
        const std::size_t within = p.for_classes() ? k * p.columns + j : j * each + k;
        weights_[(j + skipped) * width + scored + leaf * each + k] =
            parameters_.coefficients[leaf * p.seen() * each + within];
      }
  if (p.for_classes()) return;
  for (std::size_t leaf = 0; leaf < p.leaves; ++leaf) {
    log_variance_[leaf] = 0.0;
    for (std::size_t k = 0; k < p.n_outputs; ++k)
      log_variance_[leaf] += std::log(2.0 * std::numbers::pi * parameters_.variance[leaf * p.n_outputs + k]);
  }
}

/// log P(leaf | x) and log P(y | x, leaf) of each leaf.
void Chain::weigh_leaves(Row row) {
  const Problem& p = *problem_;
  const std::size_t width = predictors_.size(), scored = p.branching - 1;
  const double *x = p.x(row), *y = p.y(row);
  std::fill(predictors_.begin(), predictors_.end(), 0.0);
  for (std::size_t j = 0; j < p.columns; ++j) {
    const double *weights = weights_.data() + j * width, value = x[j];
    for (std::size_t i = 0; i < width; ++i) predictors_[i] += value * weights[i];
  }
  // Down the tree, the paths of a level in the first places; from the last node on, as its children lie behind it.
  log_path_[0] = 0.0;
  const double* scores = predictors_.data();
  for (std::size_t nodes = 1; nodes < p.leaves; nodes *= p.branching) {
    for (std::size_t node = nodes; node-- > 0;) {
      const std::span<const double> of_node(scores + node * scored, scored);
      const double before = log_path_[node] - log_total(of_node);
      double* children = log_path_.data() + node * p.branching;
      children[scored] = before;
      for (std::size_t k = scored; k-- > 0;) children[k] = before + of_node[k];
    }
    scores += nodes * scored;
  }
  if (p.for_classes()) {
    const std::size_t each = p.predictors(), own = p.classes[row];
    for (std::size_t leaf = 0; leaf < p.leaves; ++leaf, scores += each)
      log_density_[leaf] = (own < each ? scores[own] : 0.0) - log_total({scores, each});
    return;
  }
  const double* variance = parameters_.variance.data();
  for (std::size_t leaf = 0; leaf < p.leaves; ++leaf) {
    double squares = 0.0;
    for (std::size_t k = 0; k < p.n_outputs; ++k) {
      const double off = y[k] - *scores++;
      squares += off * off / *variance++;
    }
    log_density_[leaf] = -0.5 * (squares + log_variance_[leaf]);
  }
}

void Chain::sort_rows() {
  std::fill(begin_.begin(), begin_.end(), 0);
  for (const Leaf leaf : leaf_) ++begin_[leaf + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  for (Row row = 0; row < problem_->rows; ++row) order_[begin_[leaf_[row]]++] = row;
  std::copy_backward(begin_.begin(), begin_.end() - 1, begin_.end());
  begin_[0] = 0;
}

void Chain::store(Draws& draws) const {
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(draws.parameters.gates, parameters_.gates);
  append(draws.parameters.coefficients, parameters_.coefficients);
  append(draws.parameters.variance, parameters_.variance);
  draws.log_mixture.push_back(log_mixture_);
}

void Chain::restore(const Position& position) {
  check(*problem_, position.parameters);
  const auto known = [&](Leaf leaf) { return leaf < problem_->leaves; };
  if (position.leaf.size() != problem_->rows || !std::all_of(position.leaf.begin(), position.leaf.end(), known))
    throw InputError("chain: the saved state belongs to other rows, or to another tree");
  parameters_ = position.parameters;
  leaf_ = position.leaf;
  steps_ = position.steps;
  stream_.seek(position.stream);
  read_rows(false);
}

void exchange(Chain& a, Chain& b) {
  std::swap(a.parameters_, b.parameters_);
  std::swap(a.leaf_, b.leaf_);
  std::swap(a.order_, b.order_);
  std::swap(a.begin_, b.begin_);
  std::swap(a.log_likelihood_, b.log_likelihood_);
  std::swap(a.log_mixture_, b.log_mixture_);
}

}  // namespace baytree::hme
