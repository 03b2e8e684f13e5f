#include "baytree/cart/exact/trees.hpp"

#include <cmath>

namespace baytree::cart::exact {

TurnedRule nth_rule(const Division& division, std::uint32_t levels, std::uint64_t n) {
  TurnedRule found{.rule = {.feature = division.feature}};
  Rule& rule = found.rule;
  if (division.present == 0) {
    rule.missing_left = division.either ? n >= division.cuts : division.missing_left;
    rule.cut = division.cut + static_cast<std::uint32_t>(n % division.cuts);
    return found;
  }
  // The levels that the set lacks go either way, but for level 0, which is left in every rule: where the set lacks it,
  // the sides may be turned.
  rule.subset = division.subset;
  if ((division.present & 1) == 0) {
    found.turned = (n & 1) != 0;
    if (found.turned) rule.subset = division.present & ~division.subset;
    rule.subset |= 1;
    n >>= 1;
  }
  for (std::uint32_t level = 1; level < levels; ++level) {
    if ((division.present >> level & 1) != 0) continue;
    rule.subset |= (n & 1) << level;
    n >>= 1;
  }
  return found;
}

void Builder::begin() {
  nodes_.clear();
  statistics_.clear();
  log_prior_ = log_likelihood_ = 0.0;
}

void Builder::add_leaf(Row rows, std::uint32_t depth, const double* statistics) {
  const Problem& problem = setting_.problem;
  nodes_.push_back({.end = rows, .depth = depth});
  statistics_.insert(statistics_.end(), statistics, statistics + problem.width);
  log_likelihood_ += problem.log_marginal(statistics, rows);
}

void Builder::add_stored_leaf(std::uint32_t depth) {
  const Divider& divider = choices_.divider();
  log_prior_ += choices_.log_leaf_prior();
  add_leaf(divider.whole().rows, depth, divider.statistics(divider.whole()));
}

void Builder::split(const Decision& decision, std::uint32_t depth) {
  const Division& division = choices_.divisions()[decision.division];
  const Problem& problem = setting_.problem;
  const auto [rule, turned] = nth_rule(division, problem.design.columns[division.feature].n_codes(), decision.rule);
  log_prior_ += choices_.log_split_prior() + choices_.log_rule(decision.division);
  nodes_.push_back({.rule = rule, .end = choices_.divider().whole().rows, .size = 0, .depth = depth});
  const auto open = [&](bool left) {
    const Side& side = left ? division.left : division.right;
    const Child& child = left ? choices_.left(decision.division) : choices_.right(decision.division);
    const double* statistics = choices_.divider().statistics(side);
    open_.push_back({child.set, depth + 1, side.rows, {statistics, statistics + problem.width}});
  };
  open(turned);
  open(!turned);
}

void Builder::finish(ScoredTrees& out) {
  set_sizes(nodes_);
  out.forest.add(nodes_);
  out.statistics.insert(out.statistics.end(), statistics_.begin(), statistics_.end());
  out.log_prior.push_back(log_prior_);
  out.log_likelihood.push_back(log_likelihood_);
}

void draw_trees(Sums& sums, std::uint64_t draws, Stream& stream, ScoredTrees& out) {
  Builder builder(sums);
  const auto decide = [&](const Choices& here) -> std::optional<Decision> {
    if (!here.splittable()) return {};
    const double total = here.value();
    double rest = stream.uniform() - std::exp(here.log_leaf_prior() + here.leaf() - total);
    if (rest < 0.0) return {};
    std::optional<Decision> found;
    for (std::size_t i = 0; i < here.divisions().size(); ++i) {
      const double share = std::exp(here.log_term(i) - total);
      if (share == 0.0) continue;
      found = Decision{i};
      if ((rest -= share) < 0.0) break;
    }
    if (found) found->rule = stream.below(static_cast<std::uint64_t>(here.divisions()[found->division].rules));
    return found;
  };
  for (; draws > 0; --draws) {
    heed_interruption();
    builder.build(out, decide);
  }
}

}  // namespace baytree::cart::exact
