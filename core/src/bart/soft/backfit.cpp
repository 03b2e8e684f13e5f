#include "baytree/bart/soft/backfit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "baytree/bart/hard/pass.hpp"
#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"
#include "baytree/mcmc/proposals/birth_death.hpp"
#include "baytree/mcmc/proposals/change.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::bart {
namespace {

// Drawing all values at once costs more than a sweep the more trees there are, and is done as much more seldom.
constexpr std::size_t trees_a_draw = 10;
// The standard deviation of a step of a bandwidth's logarithm.
constexpr double bandwidth_step = 1.0;

GrowTree bounded(GrowTree prior) {
  prior.knowledge.max_leaves = std::min<std::uint64_t>(most_leaves, prior.knowledge.max_leaves.value_or(most_leaves));
  return prior;
}

}  // namespace

SoftBackfit::SoftBackfit(const Design& design, const Prior& prior, double leaf_sd, std::vector<ProposalShare> proposals,
                         double grid)
    : TreeSum(std::move(proposals)),
      grower_(design, bounded(prior.tree)),
      leaf_sd_(leaf_sd),
      bandwidth_(prior.bandwidth),
      rounder_(static_cast<float>(0x1.8p23 * grid)),
      trees_(prior.trees),
      residual_(padded(design.rows)),
      forest_(design),
      basis_(design) {
  if (!prior.tree.by_column) throw InputError("a sum of trees chooses a rule's column first");
  if (prior.trees < 1) throw InputError("trees must be 1 or more");
  if (!(bandwidth_ > 0.0 && bandwidth_ < infinity))
    throw InputError("the mean bandwidth of soft rules must be positive and finite");
  for (const ProposalShare& share : this->proposals())
    if (share.proposal == Proposal::perturb) throw InputError("proposals: only the cuts of hard rules are perturbed");
  const auto& signs = prior.tree.knowledge.monotone;
  if (std::any_of(signs.begin(), signs.end(), [](int sign) { return sign != 0; }))
    throw InputError("monotone: trees with soft rules cannot be held to a sign");
  clear(trees_[0]);
  std::fill(trees_.begin() + 1, trees_.end(), trees_[0]);
  candidate_.rows = TreeRows(design);
}

/// A single leaf of value 0.
void SoftBackfit::clear(SoftTree& tree) {
  tree.rows = TreeRows(grower_.design());
  tree.nodes.assign(1, tree.rows.root());
  grower_.assess(tree, 0);
  tree.values.assign(1, 0.0f);
  tree.changed = true;
}

void SoftBackfit::pad(std::span<const float> residual, std::span<const float> weight) {
  std::copy(residual.begin(), residual.end(), residual_.begin());
  weight_.resize(weight.empty() ? 0 : residual_.size());
  std::copy(weight.begin(), weight.end(), weight_.begin());
  rows_ = {residual_.data(), weight.empty() ? nullptr : weight_.data()};
}

void SoftBackfit::sweep(const Target& target, Stream& stream, Team&) {
  pad(target.residual, target.weight);
  precision_ = target.precision;
  for (SoftTree& tree : trees_) {
    heed_interruption();
    visit(tree, stream);
  }
  if (stream.below(1 + trees_.size() / trees_a_draw) == 0) draw_all_values(stream);
  std::copy_n(residual_.begin(), target.residual.size(), target.residual.begin());
}

void SoftBackfit::visit(SoftTree& tree, Stream& stream) {
  basis_.build(tree.nodes);
  basis_.add(tree.values, 1.0f, rounder_, rows_.residual);
  log_marginal_ = leaves_.fit(basis_.sum_up(rows_), precision_, leaf_sd_);
  for (std::size_t i = 0; i < proposals().size(); ++i) {
    for (int times = proposals()[i].times(stream); times > 0; --times) {
      if (proposals()[i].proposal != Proposal::bandwidth) {
        ++turns[i];
        accepted[i] += propose_tree(tree, proposals()[i].proposal, stream);
        continue;
      }
      for (std::size_t at = 0; at < tree.nodes.size(); ++at) {
        if (tree.nodes[at].is_leaf() || !is_soft(tree.nodes[at].rule)) continue;
        ++turns[i];
        accepted[i] += propose_bandwidth(tree, at, stream);
      }
    }
  }
  tree.values.resize(tree.nodes.size() / 2 + 1);
  leaves_.draw(stream, tree.values);
  basis_.add(tree.values, -1.0f, rounder_, rows_.residual);
}

bool SoftBackfit::propose_tree(SoftTree& tree, Proposal proposal, Stream& stream) {
  ProposalContext context{tree, grower_, stream, candidate_};
  LogRatio log_ratio = proposal == Proposal::change ? change_rule(context) : birth_or_death(context);
  if (!log_ratio) return false;
  if (testing::is_injected(proposal == Proposal::change ? Fault::sum_change : Fault::sum_birth_death)) log_ratio = 0.0;
  // Rules that were drawn anew come with a bandwidth from its prior, which cancels from the ratio; those that stay have
  // theirs.
  for (Node& node : candidate_.nodes)
    if (!node.is_leaf() && node.rule.bandwidth == 0.0f && is_soft(node.rule))
      node.rule.bandwidth = static_cast<float>(draw_bandwidth(stream));
  if (!grower_.fits(tree.nodes.size() - tree.nodes[candidate_.at].size + candidate_.nodes.size())) return false;
  if (!accepts(tree.nodes, candidate_.at, candidate_.nodes, *log_ratio, stream)) return false;
  splice(tree, candidate_);
  return tree.changed = true;
}

/// A step of the bandwidth's logarithm.
bool SoftBackfit::propose_bandwidth(SoftTree& tree, std::size_t at, Stream& stream) {
  const std::span<Node> below = subtree(tree, at);
  const double old = static_cast<double>(below[0].rule.bandwidth);
  const auto bandwidth = static_cast<float>(old * std::exp(bandwidth_step * stream.normal()));
  if (!(bandwidth > 0.0f && bandwidth < std::numeric_limits<float>::infinity())) return false;
  const double ratio = static_cast<double>(bandwidth) / old;
  altered_.assign(below.begin(), below.end());
  altered_[0].rule.bandwidth = bandwidth;
  const double log_jacobian = testing::is_injected(Fault::sum_bandwidth) ? 0.0 : std::log(ratio);
  if (!accepts(tree.nodes, at, altered_, log_jacobian - (ratio - 1.0) * old / bandwidth_, stream)) return false;
  below[0].rule.bandwidth = bandwidth;
  return true;
}

bool SoftBackfit::accepts(const Nodes& nodes, std::size_t at, std::span<const Node> instead, double log_ratio,
                          Stream& stream) {
  const double log_marginal = candidate_leaves_.fit(basis_.consider(nodes, at, instead, rows_), precision_, leaf_sd_);
  const double log_acceptance = log_ratio + log_marginal - log_marginal_;
  if (!(log_acceptance >= 0.0) && !(stream.uniform() < std::exp(log_acceptance))) return false;
  basis_.accept();
  std::swap(leaves_, candidate_leaves_);
  log_marginal_ = log_marginal;
  return true;
}

/// Never 0, which would make the rule hard.
double SoftBackfit::draw_bandwidth(Stream& stream) const {
  return std::max(-bandwidth_ * std::log1p(-stream.uniform()), static_cast<double>(std::numeric_limits<float>::min()));
}

/// Trees that explain the same part of the response hand it over to one another only slowly while their values are
/// drawn one tree after the other.
void SoftBackfit::draw_all_values(Stream& stream) {
  forest_.add(trees_, 1.0f, rounder_, rows_.residual);
  const LeafSystem& sums = forest_.sum_up(trees_, rows_);
  leaves_.fit(sums, precision_, leaf_sd_);
  values_.resize(sums.leaves);
  leaves_.draw(stream, values_);
  auto value = values_.begin();
  for (SoftTree& tree : trees_)
    for (float& own : tree.values) own = *value++;
  forest_.add(trees_, -1.0f, rounder_, rows_.residual);
}

void SoftBackfit::restore(std::size_t t, const Nodes& pattern, std::vector<float> values, std::span<float> residual) {
  const auto fits = [](float x) { return std::isfinite(x); };
  if (values.size() != pattern.size() / 2 + 1 || !std::all_of(values.begin(), values.end(), fits))
    throw InputError("tree: it has not a value for each leaf");
  for (const Node& node : pattern)
    if (!node.is_leaf() &&
        (is_soft(node.rule) ? !(node.rule.bandwidth > 0.0f && fits(node.rule.bandwidth)) : node.rule.bandwidth != 0.0f))
      throw InputError("tree: the bandwidth of a soft rule must be positive and finite, that of a hard one 0");
  SoftTree tree;
  clear(tree);
  if (!grower_.plant(tree, 0, pattern, candidate_))
    throw InputError("tree: a leaf would hold fewer than min_leaf rows, or a constraint forbids a rule");
  if (!grower_.fits(pattern.size())) throw InputError("tree: it has more leaves than it may");
  grower_.assess(tree, candidate_);
  splice(tree, candidate_);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (grower_.log_prior(tree, i) == -infinity) throw InputError("tree: it has prior probability 0");
  tree.values = std::move(values);
  pad(residual, {});
  forest_.add({&trees_[t], 1}, 1.0f, rounder_, residual_.data());
  trees_[t] = std::move(tree);
  forest_.add({&trees_[t], 1}, -1.0f, rounder_, residual_.data());
  std::copy_n(residual_.begin(), residual.size(), residual.begin());
}

void SoftBackfit::set_log_weights(std::vector<double> log_weights) {
  grower_.learn_weights(std::move(log_weights));
  for (SoftTree& tree : trees_)
    for (Node& node : tree.nodes) node.log_rule = unknown;
}

void SoftBackfit::for_each_split(std::size_t t,
                                 const std::function<void(const Node&, const std::vector<bool>&)>& visit) {
  std::vector<bool> blocked;
  for (std::size_t i = 0; i < trees_[t].nodes.size(); ++i) {
    if (trees_[t].nodes[i].is_leaf()) continue;
    grower_.find_blocked(trees_[t], i, blocked);
    visit(trees_[t].nodes[i], blocked);
  }
}

}  // namespace baytree::bart
