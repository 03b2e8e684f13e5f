#include "baytree/bart/chain.hpp"

#include <algorithm>
#include <cmath>

#include "baytree/bart/hard/backfit.hpp"
#include "baytree/bart/hard/grow_start.hpp"
#include "baytree/bart/soft/backfit.hpp"
#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"

namespace baytree::bart {
namespace {

/// The finest power of two on which residuals of this size add up exactly in float, which has 24 bits.
double grid_for(double largest) { return std::exp2(std::ceil(std::log2(largest)) - 23.0); }

/// Residuals may exceed those without a tree by what the trees may add.
double reach(double largest_residual, const Model& model) {
  return largest_residual + 8.0 * model.leaf.largest_sd() * std::sqrt(static_cast<double>(model.prior.trees));
}

/// The trees of a variance have the prior of those of the mean; but a sign says how the mean changes.
Prior variance_prior(const Model& model) {
  Prior prior{.tree = model.prior.tree, .trees = model.variance_trees};
  prior.tree.knowledge.monotone.clear();
  return prior;
}

// Latent variables beyond this many standard deviations do not come up.
constexpr double largest_latent = 12.0;

}  // namespace

Chain::Chain(const Design& design, const Response& response, const Model& model, Stream stream, Simd simd,
             const TreeProgram* program)
    : design_(design),
      power_(model.power),
      log_unit_(std::log(model.unit)),
      stream_(stream),
      soft_(model.prior.bandwidth > 0.0),
      weight_(response.weight.begin(), response.weight.end()) {
  const std::size_t rows = design.rows, sums = response.n_classes > 2 ? response.n_classes : 1;
  const bool numbers = response.n_classes == 0;
  if ((numbers ? response.numbers.size() : response.classes.size()) != rows ||
      (!weight_.empty() && weight_.size() != rows))
    throw InputError("the response and the columns have different numbers of rows");
  if (!(power_ >= 0.0 && power_ < infinity)) throw InputError("power must be 0 or more");
  if (soft_ && model.grow_sweeps > 0) throw InputError("start: trees with soft rules begin as single leaves");
  if (soft_ && model.variance_trees > 0)
    throw InputError("the trees of a variance have hard rules, and so must those of its mean");
  if (program && (soft_ || model.variance_trees > 0 || model.grow_sweeps > 0 || model.sparse))
    throw InputError(
        "soft rules, a variance of trees, a grown start and column weights that are learned need a native prior");
  model.leaf.check();
  for (const float weight : weight_)
    if (!(weight > 0.0f && weight < infinity)) throw InputError("weights must be positive and finite");

  double largest = 4.0 * largest_latent;
  if (numbers && model.student) {
    largest = Student::reach(response.numbers);
  } else if (numbers) {
    largest = 0.0;
    for (const double y : response.numbers) largest = std::max(largest, 4.0 * std::abs(y));
  }
  const double grid = grid_for(reach(largest, model));
  for (std::size_t s = 0; s < sums; ++s) {
    if (program) {
      auto derived = std::make_unique<ProgramSum>(design, *program, model.prior.trees, model.leaf.on_grid(grid),
                                                  model.proposals, stream_);
      derived_.push_back(derived.get());
      sums_.push_back(std::move(derived));
    } else if (soft_)
      sums_.push_back(std::make_unique<SoftBackfit>(design, model.prior, model.leaf.sd, model.proposals, grid));
    else
      sums_.push_back(std::make_unique<Backfit>(design, model.prior, model.leaf.on_grid(grid), model.proposals, simd));
  }
  if (model.student && (!numbers || model.variance_trees > 0 || (power_ != 0.0 && power_ != 1.0)))
    throw InputError("Student noise is of numbers, of one scale, and of the posterior or the prior");
  Backfit* forest = nullptr;
  if (model.variance_trees > 0) {
    if (!numbers) throw InputError("classes have no variance of their own");
    auto variance =
        std::make_unique<Backfit>(design, variance_prior(model), Leaf::of_variance(model.noise), model.proposals, simd);
    forest = variance.get();
    sums_.push_back(std::move(variance));
    variance_.emplace(std::span(sums_).last(1), false);
  }
  mean_.emplace(std::span(sums_).first(sums), soft_);
  residual_.assign(sums, std::vector<float>(rows));
  if (numbers) {
    std::optional<Student> student;
    if (model.student)
      student.emplace(response.numbers, weight_, grid);
    else
      for (std::size_t i = 0; i < rows; ++i)
        residual_[0][i] = static_cast<float>(std::nearbyint(response.numbers[i] / grid) * grid);
    noise_.emplace(model.noise, weight_, rows, power_, forest, std::move(student));
  } else {
    if (response.centre.size() != sums) throw InputError("classes: give a centre for each sum of trees");
    if (!response.offset.empty() && (response.offset.size() != rows || sums > 1))
      throw InputError("an offset needs numbers or two classes");
    latent_.assign(sums, std::vector<float>(rows));
    classes_ = Latent{response.classes, weight_, response.n_classes, grid, response.centre, response.offset};
  }
  if (model.leaf.learns_sd) spread_.emplace(model.leaf.sd);
  if (model.sparse) {
    sparse_.emplace(design.columns.size());
    sparse_->hand_to(
        sums_);  // equal ones, but drawn from as those to come, so that a chain that is restored here goes on alike
  }
  if (model.grow_sweeps > 0 && power_ > 0.0) grow(model.grow_sweeps, model.prior.tree);
  // Trees that have yet to find the columns that matter teach the weights to leave these out, and a weight of nearly 0
  // is hard to come back from.
  if (sparse_ && power_ > 0.0) {
    Team alone(1);
    for (std::uint32_t i = 0; i < model.even_sweeps; ++i) sweep(alone);
    end_warm_up();
  }
}

Target Chain::target(std::size_t sum) {
  return noise_ ? noise_->target(residual_[sum]) : Target{residual_[sum], weight_, power_};
}

void Chain::grow(std::uint32_t sweeps, const GrowTree& prior) {
  GrowStart start(design_, prior);
  Team alone(1);
  for (std::uint32_t i = 0; i < sweeps; ++i) {
    if (classes_) draw_latents(*classes_, residual_, latent_, stream_);
    if (noise_) noise_->begin(residual_[0], stream_, alone);
    for (std::size_t s = 0; s < residual_.size(); ++s)
      start.sweep(dynamic_cast<Backfit&>(*sums_[s]), target(s), stream_);
    if (noise_) noise_->draw(residual_[0], stream_, alone);
  }
}

void Chain::run(std::uint64_t iterations, std::uint64_t thin, unsigned threads) {
  // Fewer rows than this a thread are done before another one has woken up.
  constexpr std::size_t least = 4 * block_rows;
  Team team(static_cast<unsigned>(std::clamp<std::size_t>(design_.rows / least, 1, threads)));
  for (std::uint64_t i = 1; i <= iterations; ++i) {
    iterate(team);
    if (thin > 0 && i % thin == 0) record();
  }
}

void Chain::iterate(Team& team) {
  sweep(team);
  if (sparse_) sparse_->draw(sums_, stream_);
}

/// All but the weights of columns.
void Chain::sweep(Team& team) {
  if (classes_) draw_latents(*classes_, residual_, latent_, stream_);
  if (noise_) noise_->begin(residual_[0], stream_, team);
  for (std::size_t s = 0; s < residual_.size(); ++s) sums_[s]->sweep(target(s), stream_, team);
  if (noise_) noise_->draw(residual_[0], stream_, team);
  if (spread_) spread_->draw(means(), stream_);
}

double Chain::log_likelihood() const {
  if (classes_) return class_log_likelihood(*classes_, residual_, latent_);
  return noise_->log_likelihood(residual_[0]) - static_cast<double>(design_.rows) * log_unit_;
}

void Chain::record() {
  mean_->record();
  if (variance_) variance_->record();
  if (has_sigma()) draws_.sigma.push_back(noise_->sigma());
  if (has_freedom()) draws_.freedom.push_back(*noise_->freedom());
  draws_.log_likelihood.push_back(log_likelihood());
  if (spread_) draws_.leaf_sd.push_back(spread_->sd());
  if (sparse_) {
    draws_.log_weight.insert(draws_.log_weight.end(), sparse_->log_weights().begin(), sparse_->log_weights().end());
    draws_.concentration.push_back(sparse_->concentration());
  }
}

Draws Chain::take() {
  draws_.mean = mean_->take();
  if (variance_) draws_.variance = variance_->take();
  return std::exchange(draws_, {});
}

void Chain::end_warm_up() {
  mean_->begin_anew();
  if (variance_) variance_->begin_anew();
  for (const auto& sum : sums_) {
    std::fill(sum->turns.begin(), sum->turns.end(), 0);
    std::fill(sum->accepted.begin(), sum->accepted.end(), 0);
  }
}

std::vector<std::uint64_t> Chain::total(std::vector<std::uint64_t> TreeSum::* counts) const {
  std::vector<std::uint64_t> sum(sums_[0]->proposals().size());
  for (const auto& one : sums_)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += ((*one).*counts)[i];
  return sum;
}

Forest Chain::trees() const {
  Forest forest;
  for (const auto& sum : sums_)
    for (std::size_t t = 0; t < sum->size(); ++t) forest.add(sum->nodes(t));
  return forest;
}

std::vector<float> Chain::values() const {
  std::vector<float> out;
  append_values(sums_, out);
  return out;
}

std::vector<float> Chain::bandwidths() const {
  std::vector<float> out;
  if (soft_) append_bandwidths(sums_, out);
  return out;
}

Position Chain::position() const {
  Position position{.stream = stream_.position(),
                    .turns = turns(),
                    .accepted = accepted(),
                    .stored_trees = mean_->trees(),
                    .stored = mean_->places()};
  if (noise_) position.sigma = noise_->sigma();
  if (has_freedom()) position.freedom = *noise_->freedom();
  if (spread_) position.leaf_sd = spread_->sd();
  if (variance_) {
    position.variance_stored_trees = variance_->trees();
    position.variance_stored = variance_->places();
  }
  if (sparse_) {
    position.log_weights = sparse_->log_weights();
    position.concentration = sparse_->concentration();
  }
  for (const ProgramSum* sum : derived_)
    for (std::size_t t = 0; t < sum->size(); ++t) {
      const std::span<const slp::Event> proof = sum->events(t);
      position.proofs.emplace_back(proof.begin(), proof.end());
    }
  return position;
}

void Chain::restore(const ForestView& forest, std::span<const float> values, std::span<const float> bandwidths,
                    const Position& position) {
  std::size_t trees = 0;
  for (const auto& sum : sums_) trees += sum->size();
  if (forest.begin.size() != trees || position.turns.size() != sums_[0]->turns.size() ||
      position.accepted.size() != position.turns.size() || position.proofs.size() != (derived_.empty() ? 0 : trees) ||
      !(position.sigma > 0.0 && position.sigma < infinity))
    throw InputError("chain: the saved state belongs to another model");
  if (classes_)
    for (std::size_t s = 0; s < sums_.size(); ++s)
      for (std::size_t i = 0; i < design_.rows; ++i) {
        residual_[s][i] -= latent_[s][i];
        latent_[s][i] = 0.0f;
      }
  if (noise_) noise_->forget(residual_[0]);
  std::size_t place = 0;
  for (std::size_t s = 0; s < sums_.size(); ++s)
    for (std::size_t t = 0; t < sums_[s]->size(); ++t) {
      Nodes nodes = unpack_tree(forest, place, design_.columns);
      const std::size_t splits = nodes.size() / 2, leaves = splits + 1;
      if (values.size() < leaves) throw InputError("chain: leaf values are missing");
      if (soft_) {
        if (bandwidths.size() < splits) throw InputError("chain: bandwidths are missing");
        auto bandwidth = bandwidths.begin();
        for (Node& node : nodes)
          if (!node.is_leaf()) node.rule.bandwidth = *bandwidth++;
        bandwidths = bandwidths.subspan(splits);
      }
      const std::span<float> residual = s < residual_.size() ? std::span(residual_[s]) : std::span<float>();
      std::vector<float> its_values(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(leaves));
      if (derived_.empty())
        sums_[s]->restore(t, nodes, std::move(its_values), residual);
      else
        derived_[s]->restore(t, position.proofs[place], nodes, std::move(its_values), residual);
      values = values.subspan(leaves);
      ++place;
    }
  if (!values.empty() || !bandwidths.empty())
    throw InputError("chain: more leaf values than leaves, or bandwidths than splits");
  stream_.seek(position.stream);
  mean_->restore(position.stored_trees, position.stored);
  if (variance_) variance_->restore(position.variance_stored_trees, position.variance_stored);
  Team alone(1);
  if (noise_) noise_->restore(position.sigma, position.freedom, alone);
  sums_[0]->turns = position.turns;
  sums_[0]->accepted = position.accepted;
  for (std::size_t s = 1; s < sums_.size(); ++s) {
    std::fill(sums_[s]->turns.begin(), sums_[s]->turns.end(), 0);
    std::fill(sums_[s]->accepted.begin(), sums_[s]->accepted.end(), 0);
  }
  if (spread_) {
    spread_->restore(position.leaf_sd);
    spread_->hand_to(means());
  }
  if (sparse_) {
    sparse_->restore(position.log_weights, position.concentration);
    sparse_->hand_to(sums_);
  }
}

}  // namespace baytree::bart
