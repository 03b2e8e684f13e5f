#include "baytree/bart/soft_chain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "baytree/bart/soft_gate.hpp"
#include "baytree/bart/soft_pass.hpp"
#include "baytree/error.hpp"

namespace baytree {
namespace {

constexpr std::size_t most_leaves = 255;
constexpr std::size_t trees_a_turn = 10;  // drawing all values at once costs more the more trees there are, so it is done more seldom
constexpr double bandwidth_step = 1.0;    // standard deviation of a step of a bandwidth's logarithm

GrowTree bounded(GrowTree prior) {
  prior.knowledge.max_leaves = std::min(prior.knowledge.max_leaves.value_or(most_leaves), most_leaves);
  return prior;
}

/// Floats padded with zeros.
std::vector<float> padded_floats(std::span<const double> numbers) {
  std::vector<float> out(padded(numbers.size()));
  std::transform(numbers.begin(), numbers.end(), out.begin(), [](double x) { return static_cast<float>(x); });
  return out;
}

/// 1.5 · 2²³ units, where the unit is a power of two small enough to be no noise to anyone, yet so large that 2²³ of it hold any residual a chain can meet.
float unit_rounder(std::span<const double> response, const SoftModel& model) {
  double largest = 0.0;
  for (const double y : response) largest = std::max(largest, std::abs(y));
  const double reach = 2.0 * (largest + 10.0 * model.spread * std::sqrt(static_cast<double>(model.trees)));
  return static_cast<float>(std::ldexp(1.5, std::ilogb(reach) + 1));
}

}  // namespace

SoftChain::SoftChain(const Design& design, std::span<const double> response, std::span<const double> weight, GrowTree prior, Mixture mixture, SoftModel model,
                     Stream stream)
    : model_(model),
      grower_(design, bounded(std::move(prior))),
      mixture_(std::move(mixture)),
      stream_(stream),
      weight_(padded_floats(weight)),
      response_(padded_floats(response)),
      rounder_(unit_rounder(response, model)),
      sigma_(model.sigma),
      spread_(model.spread),
      basis_(design, grower_.cuts(), weight_),
      all_(design, grower_.cuts(), weight_),
      product_(soft_block) {
  const auto positive = [](double x) { return x > 0.0 && x < infinity; };
  if (response.size() != design.rows) throw InputError("the response and the columns have different numbers of rows");
  if (!weight.empty() && weight.size() != design.rows) throw InputError("one weight a row is needed");
  if (!std::all_of(response.begin(), response.end(), [](double y) { return std::isfinite(y); })) throw InputError("the response must be finite");
  if (!std::all_of(weight.begin(), weight.end(), positive)) throw InputError("weights must be positive and finite");
  if (model.trees == 0) throw InputError("a sum needs at least one tree");
  if (!positive(model.spread) || !positive(model.sigma)) throw InputError("the spread of leaf values and sigma must be positive and finite");
  if (!(model.bandwidth >= 0.0 && model.bandwidth < infinity)) throw InputError("bandwidth must be 0 or more");
  if (!(model.nu >= 0.0 && model.nu < infinity) || !(model.nu == 0.0 || positive(model.lambda))) throw InputError("nu must be 0 or more, lambda positive");
  if (!(model.power >= 0.0 && model.power < infinity)) throw InputError("power must be 0 or more");
  for (float& y : response_) y = (y + rounder_) - rounder_;
  residual_ = response_;
  for (const double w : weight) log_weights_ += std::log(w);

  SoftTree tree;
  clear(tree);
  trees_.assign(model.trees, tree);
  candidate_.rows.resize(design.rows);
}

/// A single leaf with all rows, of value 0.
void SoftChain::clear(SoftTree& tree) {
  tree.rows.resize(grower_.design().rows);
  std::iota(tree.rows.begin(), tree.rows.end(), Row{0});
  tree.nodes.assign(1, Node{.end = grower_.design().rows});
  grower_.assess(tree, 0);
  tree.values.assign(1, 0.0f);
  tree.stored = -1;
}

void SoftChain::sweep() {
  for (SoftTree& tree : trees_) update(tree);
  if (++sweeps_ % (1 + trees_.size() / trees_a_turn) == 0) draw_values();
  draw_spread();
  draw_sigma();
}

void SoftChain::take_out(const SoftTree& tree) {
  basis_.build(tree.nodes);
  basis_.add(tree.values, 1.0f, rounder_, residual_.data());
  log_marginal_ = leaves_.fit(basis_.sum_up(residual_.data()), precision(), spread_);
}

void SoftChain::put_back(const SoftTree& tree) { basis_.add(tree.values, -1.0f, rounder_, residual_.data()); }

void SoftChain::update(SoftTree& tree) {
  take_out(tree);
  for (std::size_t i = 0; i < model_.proposals; ++i) propose_tree(tree);
  propose_bandwidths(tree);
  tree.values.resize((tree.nodes.size() + 1) / 2);
  leaves_.draw(stream_, tree.values);
  put_back(tree);
}

/// Trees that explain the same part of the response hand it over to one another only slowly while their values are drawn one tree after the other.
void SoftChain::draw_values() {
  residual_ = response_;
  const LeafSums& sums = all_.sum_up(trees_, residual_.data());
  leaves_.fit(sums, precision(), spread_);
  values_.resize(sums.leaves);
  leaves_.draw(stream_, values_);
  auto value = values_.begin();
  for (SoftTree& tree : trees_)
    for (float& mine : tree.values) mine = *value++;
  all_.subtract(trees_, rounder_, residual_.data());
}

double SoftChain::log_marginal(std::size_t tree) {
  take_out(trees_[tree]);
  put_back(trees_[tree]);
  return log_marginal_;
}

float SoftChain::draw_bandwidth() {
  // Never 0, which would make the rule hard.
  return std::max(static_cast<float>(-model_.bandwidth * std::log1p(-stream_.uniform())), std::numeric_limits<float>::min());
}

void SoftChain::propose_tree(SoftTree& tree) {
  Nodes& nodes = tree.nodes;
  MoveContext context{tree, grower_, stream_, candidate_};
  const std::size_t component = mixture_.choose(stream_);
  const LogRatio log_ratio = mixture_.propose(component, context);
  if (!log_ratio) return;
  // Rules that were drawn anew come with bandwidths from their prior, which cancel from the ratio; those that stayed have theirs.
  for (Node& node : candidate_.nodes)
    if (!node.is_leaf() && node.rule.bandwidth == 0.0f && is_soft(node.rule)) node.rule.bandwidth = draw_bandwidth();
  const std::span<const Node> old = subtree(tree, candidate_.at);
  if (same_tree(old, candidate_.nodes) || !grower_.fits(nodes.size() - old.size() + candidate_.nodes.size())) return;
  if (!accepts(nodes, candidate_.at, candidate_.nodes, *log_ratio)) return;
  splice(tree, candidate_);
  tree.stored = -1;
  ++mixture_.accepted[component];
}

void SoftChain::propose_bandwidths(SoftTree& tree) {
  Nodes& nodes = tree.nodes;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const float old = nodes[at].rule.bandwidth;
    if (nodes[at].is_leaf() || old == 0.0f) continue;
    ++bandwidth_turns_;
    const float bandwidth = static_cast<float>(old * std::exp(bandwidth_step * stream_.normal()));
    if (!(bandwidth > 0.0f && bandwidth < infinity)) continue;
    const std::span<const Node> below = subtree(tree, at);
    altered_.assign(below.begin(), below.end());
    altered_[0].rule.bandwidth = bandwidth;
    double log_ratio = -(static_cast<double>(bandwidth) - static_cast<double>(old)) / model_.bandwidth;
    if (!model_.wrong) log_ratio += std::log(static_cast<double>(bandwidth) / static_cast<double>(old));
    if (!accepts(nodes, at, altered_, log_ratio)) continue;
    nodes[at].rule.bandwidth = bandwidth;
    ++bandwidth_accepted_;
  }
}

bool SoftChain::accepts(const Nodes& nodes, std::size_t at, std::span<const Node> instead, double log_ratio) {
  const LeafSums& sums = basis_.consider(nodes, at, instead, residual_.data());
  const double log_marginal = candidate_leaves_.fit(sums, precision(), spread_);
  const double log_acceptance = log_ratio + log_marginal - log_marginal_;
  if (!(log_acceptance >= 0.0) && !(stream_.uniform() < std::exp(log_acceptance))) return false;
  basis_.accept();
  std::swap(leaves_, candidate_leaves_);
  log_marginal_ = log_marginal;
  return true;
}

double SoftChain::sum_of_squares() {
  double sum = 0.0;
  for (std::size_t begin = 0; begin < residual_.size(); begin += soft_block) {
    const std::size_t rows = std::min(soft_block, residual_.size() - begin);
    const float* residual = residual_.data() + begin;
    const float* weighted = residual;
    if (!weight_.empty()) {
      multiply(residual, weight_.data() + begin, rows, product_.data());
      weighted = product_.data();
    }
    add_dots(weighted, &residual, 1, rows, &sum);
  }
  return sum;
}

void SoftChain::draw_sigma() {
  if (model_.nu == 0.0) return;
  const double freedom = model_.nu + model_.power * static_cast<double>(grower_.design().rows);
  const double squares = model_.nu * model_.lambda + model_.power * sum_of_squares();
  sigma_ = std::sqrt(0.5 * squares * std::exp(-stream_.log_gamma(0.5 * freedom)));
}

/// A half-Cauchy variable of median A is the root of an inverse gamma one whose scale is inverse gamma again (Makalic and Schmidt 2016): with leaves values μ,
///   1/a ~ Gamma(1, rate 1/spread² + 1/A²),   1/spread² ~ Gamma((leaves + 1)/2, rate Σμ²/2 + 1/a).
void SoftChain::draw_spread() {
  if (!model_.learns_spread) return;
  double squares = 0.0;
  std::size_t leaves = 0;
  for (const SoftTree& tree : trees_) {
    leaves += tree.values.size();
    for (const float value : tree.values) squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const double inverse = std::exp(stream_.log_gamma(1.0)) / (1.0 / (spread_ * spread_) + 1.0 / (model_.spread * model_.spread));
  spread_ = std::sqrt((0.5 * squares + inverse) * std::exp(-stream_.log_gamma(0.5 * static_cast<double>(leaves + 1))));
}

double SoftChain::log_likelihood() {
  const auto rows = static_cast<double>(grower_.design().rows);
  return 0.5 * (log_weights_ - rows * std::log(2.0 * std::numbers::pi * sigma_ * sigma_) - sum_of_squares() / (sigma_ * sigma_));
}

void SoftChain::draw(std::uint64_t draws, std::uint64_t thin) {
  for (; draws > 0; --draws) {
    advance(thin);
    store();
  }
}

void SoftChain::store() {
  for (SoftTree& tree : trees_) {
    if (tree.stored < 0) {
      draws_.forest.add(tree.nodes);
      tree.stored = static_cast<std::int64_t>(stored_trees_++);
    }
    draws_.tree.push_back(tree.stored);
    draws_.value.insert(draws_.value.end(), tree.values.begin(), tree.values.end());
    for (const Node& node : tree.nodes)
      if (!node.is_leaf()) draws_.bandwidth.push_back(node.rule.bandwidth);
  }
  draws_.sigma.push_back(sigma_);
  draws_.log_likelihood.push_back(log_likelihood());
}

SoftDraws SoftChain::take() { return std::exchange(draws_, {}); }

std::vector<std::uint64_t> SoftChain::turns() const {
  std::vector<std::uint64_t> out = mixture_.turns;
  out.push_back(bandwidth_turns_);
  return out;
}

std::vector<std::uint64_t> SoftChain::accepted() const {
  std::vector<std::uint64_t> out = mixture_.accepted;
  out.push_back(bandwidth_accepted_);
  return out;
}

}  // namespace baytree
