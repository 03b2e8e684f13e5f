#include "baytree/bart/sum_chain.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "baytree/bart/backfit.hpp"
#include "baytree/bart/grow_start.hpp"
#include "baytree/bart/soft_backfit.hpp"
#include "baytree/error.hpp"
#include "baytree/numeric.hpp"

namespace baytree {
namespace {

/// The finest power of two on which residuals of this size add up exactly in float, which has 24 bits.
double grid_for(double largest) { return std::exp2(std::ceil(std::log2(largest)) - 23.0); }

/// Residuals may exceed the response by what the trees may add.
double reach(double largest_response, const SumPrior& prior) {
  return 4.0 * largest_response + 8.0 * prior.leaf_sd * std::sqrt(static_cast<double>(prior.trees));
}

// Latent variables beyond this many standard deviations do not come up.
constexpr double largest_latent = 12.0;

}  // namespace

SumChain::SumChain(const Design& design, const SumResponse& response, const SumModel& model, Stream stream, Simd simd)
    : design_(design),
      power_(model.power),
      log_unit_(std::log(model.unit)),
      noise_(model.noise),
      stream_(stream),
      soft_(model.prior.bandwidth > 0.0),
      weight_(response.weight.begin(), response.weight.end()) {
  const std::size_t rows = design.rows, sums = response.n_classes > 2 ? response.n_classes : 1;
  const bool numbers = response.n_classes == 0;
  if ((numbers ? response.numbers.size() : response.classes.size()) != rows || (!weight_.empty() && weight_.size() != rows))
    throw InputError("the response and the columns have different numbers of rows");
  if (!(power_ >= 0.0 && power_ < infinity)) throw InputError("power must be 0 or more");
  if (soft_ && model.grow_sweeps > 0) throw InputError("start: trees with soft rules begin as single leaves");
  if (!(model.prior.leaf_sd > 0.0 && model.prior.leaf_sd < infinity)) throw InputError("the standard deviation of leaf values must be positive");
  for (const float weight : weight_)
    if (!(weight > 0.0f && weight < infinity)) throw InputError("weights must be positive and finite");

  double largest = largest_latent;
  if (numbers) {
    largest = 0.0;
    for (const double y : response.numbers) largest = std::max(largest, std::abs(y));
  }
  const double grid = grid_for(reach(largest, model.prior));
  for (std::size_t s = 0; s < sums; ++s) {
    if (soft_)
      sums_.push_back(std::make_unique<SoftBackfit>(design, model.prior, model.moves, grid));
    else
      sums_.push_back(std::make_unique<Backfit>(design, model.prior, model.moves, grid, simd));
  }
  residual_.assign(sums, std::vector<float>(rows));
  if (numbers) {
    for (std::size_t i = 0; i < rows; ++i) residual_[0][i] = static_cast<float>(std::nearbyint(response.numbers[i] / grid) * grid);
    sigma_ = std::sqrt(noise_.lambda);
  } else {
    if (response.centre.size() != sums) throw InputError("classes: give a centre for each sum of trees");
    if (!response.offset.empty() && (response.offset.size() != rows || sums > 1)) throw InputError("an offset needs numbers or two classes");
    latent_.assign(sums, std::vector<float>(rows));
    classes_ = Latent{response.classes, weight_, response.n_classes, grid, response.centre, response.offset};
  }
  for (const float weight : weight_) log_weight_ += std::log(static_cast<double>(weight));
  if (model.sparse) sparse_.emplace(design.columns.size());
  stored_.assign(sums * model.prior.trees, -1);
  if (model.grow_sweeps > 0 && power_ > 0.0) grow(model.grow_sweeps, model.prior.tree);
}

void SumChain::grow(std::uint32_t sweeps, const GrowTree& prior) {
  GrowStart start(design_, prior);
  for (std::uint32_t i = 0; i < sweeps; ++i) {
    if (classes_) draw_latents(*classes_, residual_, latent_, stream_);
    for (std::size_t s = 0; s < sums_.size(); ++s) start.sweep(dynamic_cast<Backfit&>(*sums_[s]), {residual_[s], weight_, power_ / (sigma_ * sigma_)}, stream_);
    if (!classes_) draw_sigma();
  }
}

void SumChain::run(std::uint64_t iterations, std::uint64_t thin, unsigned threads) {
  // Fewer rows than this a thread are done before another one has woken up.
  constexpr std::size_t least = 4 * block_rows;
  Team team(static_cast<unsigned>(std::clamp<std::size_t>(design_.rows / least, 1, threads)));
  for (std::uint64_t i = 1; i <= iterations; ++i) {
    iterate(team);
    if (thin > 0 && i % thin == 0) record();
  }
}

void SumChain::iterate(Team& team) {
  if (classes_) draw_latents(*classes_, residual_, latent_, stream_);
  for (std::size_t s = 0; s < sums_.size(); ++s) sums_[s]->sweep({residual_[s], weight_, power_ / (sigma_ * sigma_)}, stream_, team);
  if (!classes_) draw_sigma();
  if (sparse_) sparse_->draw(sums_, stream_);
}

double SumChain::sum_of_squares() const {
  // In lanes and blocks, so that the order is fixed and the compiler may go wide.
  constexpr std::size_t lanes = 8;
  double total = 0.0;
  const std::vector<float>& residual = residual_[0];
  for (std::size_t begin = 0; begin < residual.size(); begin += block_rows) {
    const std::size_t end = std::min(residual.size(), begin + block_rows);
    double sum[lanes] = {};
    std::size_t i = begin;
    if (weight_.empty()) {
      for (; i + lanes <= end; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) sum[l] += static_cast<double>(residual[i + l]) * static_cast<double>(residual[i + l]);
      for (; i < end; ++i) sum[0] += static_cast<double>(residual[i]) * static_cast<double>(residual[i]);
    } else {
      for (; i < end; ++i) sum[i % lanes] += static_cast<double>(weight_[i]) * static_cast<double>(residual[i]) * static_cast<double>(residual[i]);
    }
    for (const double part : sum) total += part;
  }
  return total;
}

void SumChain::draw_sigma() {
  if (noise_.nu == infinity) return;
  const double freedom = noise_.nu + power_ * static_cast<double>(design_.rows);
  const double squares = noise_.nu * noise_.lambda + power_ * sum_of_squares();
  // χ²_k is twice a gamma variable of shape k/2
  sigma_ = std::exp(0.5 * (std::log(squares) - std::log(2.0) - stream_.log_gamma(0.5 * freedom)));
}

double SumChain::log_likelihood() const {
  if (classes_) return class_log_likelihood(*classes_, residual_, latent_);
  const auto rows = static_cast<double>(design_.rows);
  const double variance = sigma_ * sigma_;
  return -0.5 * (rows * (std::log(2.0 * std::numbers::pi * variance) + 2.0 * log_unit_) - log_weight_ + sum_of_squares() / variance);
}

void SumChain::record() {
  std::size_t place = 0;
  for (const auto& sum : sums_) {
    for (std::size_t t = 0; t < sum->size(); ++t, ++place) {
      if (sum->take_changed(t) || stored_[place] < 0) {
        draws_.forest.add(sum->nodes(t));
        stored_[place] = static_cast<std::int32_t>(stored_trees_++);
      }
      draws_.tree.push_back(stored_[place]);
    }
  }
  append_values(draws_.value);
  if (soft_) append_bandwidths(draws_.bandwidth);
  if (!classes_) draws_.sigma.push_back(sigma_);
  draws_.log_likelihood.push_back(log_likelihood());
  if (sparse_) {
    draws_.log_weight.insert(draws_.log_weight.end(), sparse_->log_weights().begin(), sparse_->log_weights().end());
    draws_.concentration.push_back(sparse_->concentration());
  }
}

void SumChain::end_warm_up() {
  stored_trees_ = 0;
  std::fill(stored_.begin(), stored_.end(), -1);
  for (const auto& sum : sums_) {
    std::fill(sum->turns.begin(), sum->turns.end(), 0);
    std::fill(sum->accepted.begin(), sum->accepted.end(), 0);
  }
}

std::vector<std::uint64_t> SumChain::total(std::vector<std::uint64_t> TreeSum::* counts) const {
  std::vector<std::uint64_t> sum(sums_[0]->moves().size());
  for (const auto& one : sums_)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += ((*one).*counts)[i];
  return sum;
}

Forest SumChain::trees() const {
  Forest forest;
  for (const auto& sum : sums_)
    for (std::size_t t = 0; t < sum->size(); ++t) forest.add(sum->nodes(t));
  return forest;
}

void SumChain::append_values(std::vector<float>& to) const {
  for (const auto& sum : sums_)
    for (std::size_t t = 0; t < sum->size(); ++t) to.insert(to.end(), sum->values(t).begin(), sum->values(t).end());
}

void SumChain::append_bandwidths(std::vector<float>& to) const {
  for (const auto& sum : sums_)
    for (std::size_t t = 0; t < sum->size(); ++t)
      for (const Node& node : sum->nodes(t))
        if (!node.is_leaf()) to.push_back(node.rule.bandwidth);
}

std::vector<float> SumChain::values() const {
  std::vector<float> out;
  append_values(out);
  return out;
}

std::vector<float> SumChain::bandwidths() const {
  std::vector<float> out;
  if (soft_) append_bandwidths(out);
  return out;
}

SumPosition SumChain::position() const {
  SumPosition position{
      .stream = stream_.position(), .sigma = sigma_, .turns = turns(), .accepted = accepted(), .stored_trees = stored_trees_, .stored = stored_};
  if (sparse_) {
    position.log_weights = sparse_->log_weights();
    position.concentration = sparse_->concentration();
  }
  return position;
}

void SumChain::restore(const ForestView& forest, std::span<const float> values, std::span<const float> bandwidths, const SumPosition& position) {
  const std::size_t trees = stored_.size(), of_each = trees / sums_.size();
  if (forest.begin.size() != trees || position.stored.size() != trees || position.turns.size() != sums_[0]->turns.size() ||
      position.accepted.size() != position.turns.size() || !(position.sigma > 0.0 && position.sigma < infinity))
    throw InputError("chain: the saved state belongs to another model");
  for (const std::int32_t place : position.stored)
    if (place >= 0 && static_cast<std::uint64_t>(place) >= position.stored_trees) throw InputError("chain: the saved state refers to trees that are not there");
  if (classes_)
    for (std::size_t s = 0; s < sums_.size(); ++s)
      for (std::size_t i = 0; i < design_.rows; ++i) {
        residual_[s][i] -= latent_[s][i];
        latent_[s][i] = 0.0f;
      }
  for (std::size_t t = 0; t < trees; ++t) {
    Nodes nodes = unpack_tree(forest, t, design_.columns);
    const std::size_t splits = nodes.size() / 2, leaves = splits + 1;
    if (values.size() < leaves) throw InputError("chain: leaf values are missing");
    if (soft_) {
      if (bandwidths.size() < splits) throw InputError("chain: bandwidths are missing");
      auto bandwidth = bandwidths.begin();
      for (Node& node : nodes)
        if (!node.is_leaf()) node.rule.bandwidth = *bandwidth++;
      bandwidths = bandwidths.subspan(splits);
    }
    TreeSum& sum = *sums_[t / of_each];
    sum.restore(t % of_each, nodes, {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(leaves)}, residual_[t / of_each]);
    values = values.subspan(leaves);
    // What is stored of a tree are its rules as they are here.
    if (position.stored[t] >= 0) sum.take_changed(t % of_each);
  }
  if (!values.empty() || !bandwidths.empty()) throw InputError("chain: more leaf values than leaves, or bandwidths than splits");
  stream_.seek(position.stream);
  sigma_ = position.sigma;
  sums_[0]->turns = position.turns;
  sums_[0]->accepted = position.accepted;
  for (std::size_t s = 1; s < sums_.size(); ++s) {
    std::fill(sums_[s]->turns.begin(), sums_[s]->turns.end(), 0);
    std::fill(sums_[s]->accepted.begin(), sums_[s]->accepted.end(), 0);
  }
  stored_trees_ = position.stored_trees;
  stored_ = position.stored;
  if (sparse_) {
    sparse_->restore(position.log_weights, position.concentration);
    sparse_->hand_to(sums_);
  }
}

}  // namespace baytree
