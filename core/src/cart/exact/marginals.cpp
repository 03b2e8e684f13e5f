#include "baytree/cart/exact/marginals.hpp"

#include <algorithm>
#include <cmath>

#include "baytree/cart/exact/trees.hpp"

namespace baytree::cart::exact {
namespace {

// What is less probable is left out: of millions of nodes, all together make no difference that can be seen.
constexpr double negligible = 1e-18;
constexpr std::size_t rows_at_once = 32;
constexpr std::size_t features_at_once = 16;
constexpr double log_negligible = -45.0;

}  // namespace

/// Takes a set, and calls node(depth, place, probability of it as a leaf given that a tree has it) at every probable
/// depth, followed by split(division, depth, place, probability of the division given that a tree has the node).
template <class Node, class Split>
void Marginals::walk(const RowSet& set, Choices& choices, const Node& node, const Split& split) const {
  choices.take(set);
  choices.find_children();
  for (std::uint32_t depth = set.first(); depth <= set.last(); ++depth) {
    const std::size_t here = place(set, depth);
    if (visit_[here] < negligible) continue;
    choices.go_to(depth);
    const double total = sums_.values()[here];
    node(depth, here, std::exp(choices.log_leaf_prior() + choices.leaf() - total));
    if (!choices.splittable()) continue;
    for (std::size_t i = 0; i < choices.divisions().size(); ++i) {
      const double log_share = choices.log_term(i) - total;
      if (log_share < log_negligible) continue;
      const double share = std::exp(log_share);
      if (visit_[here] * share >= negligible) split(i, depth, here, share);
    }
  }
}

Marginals::Marginals(Sums& sums) : sums_(sums), visit_(sums.values().size()) {
  Choices choices = sums.choices();
  visit_[sums.root().begin] = 1.0;
  const auto add = [&](const Child& child, std::uint32_t depth, double probability) {
    if (is_node(child, depth)) visit_[place(*child.set, depth)] += probability;
  };
  for (std::size_t n = sums.by_rows().size(); n-- > 0;)
    for (const std::uint32_t number : sums.of_rows(static_cast<Row>(n))) {
      const RowSet& set = sums.memo()[number];
      const double* visits = visit_.data() + set.begin;
      if (std::none_of(visits, visits + (set.last() - set.first() + 1), [](double p) { return p >= negligible; }))
        continue;
      heed_interruption();
      probable_.push_back(number);
      sums.expand(set);
      visit_.resize(sums.values().size());
      walk(
          set, choices, [](std::uint32_t, std::size_t, double) {},
          [&](std::size_t i, std::uint32_t depth, std::size_t here, double share) {
            const double probability = visit_[here] * share;
            add(choices.left(i), depth + 1, probability);
            add(choices.right(i), depth + 1, probability);
            if (&set != &sums.root()) return;
            const Division& division = choices.divisions()[i];
            const std::uint32_t levels = sums.setting().problem.design.columns[division.feature].n_codes();
            for (std::uint64_t rule = 0; static_cast<double>(rule) < division.rules; ++rule)
              root_.emplace_back(nth_rule(division, levels, rule).rule, share / division.rules);
          });
    }
  std::reverse(probable_.begin(), probable_.end());
}

std::vector<double> Marginals::inclusion() {
  const std::size_t features = sums_.setting().problem.design.columns.size();
  std::vector<double> found(features);
  // By set, depth and feature, the probability that no rule below is on the feature.
  for (std::size_t first = 0; first < features; first += features_at_once) {
    const std::size_t width = std::min(features_at_once, features - first);
    std::vector<double> without(visit_.size() * width, 1.0), product(width);
    const std::vector<double> one(width, 1.0);
    const auto of = [&](const Child& child, std::uint32_t depth) {
      return is_node(child, depth) ? without.data() + place(*child.set, depth) * width : one.data();
    };
    Choices choices = sums_.choices();
    for (const std::uint32_t number : probable_) {
      heed_interruption();
      walk(
          sums_.memo()[number], choices,
          [&](std::uint32_t, std::size_t here, double leaf) {
            std::fill_n(without.data() + here * width, width, leaf);
          },
          [&](std::size_t i, std::uint32_t depth, std::size_t here, double share) {
            const double *left = of(choices.left(i), depth + 1), *right = of(choices.right(i), depth + 1);
            const std::size_t own = choices.divisions()[i].feature - first;
            double* sum = without.data() + here * width;
            for (std::size_t k = 0; k < width; ++k)
              if (k != own) sum[k] += share * left[k] * right[k];
          });
    }
    for (std::size_t k = 0; k < width; ++k) found[first + k] = 1.0 - without[sums_.root().begin * width + k];
  }
  return found;
}

std::vector<double> Marginals::leaves() {
  const std::vector<double> alone{0.0, 1.0};
  std::vector<std::vector<double>> below(visit_.size());
  const auto of = [&](const Child& child, std::uint32_t depth) -> const std::vector<double>& {
    if (!is_node(child, depth)) return alone;
    const std::vector<double>& known = below[place(*child.set, depth)];
    return known.empty() ? alone : known;
  };
  Choices choices = sums_.choices();
  for (const std::uint32_t number : probable_) {
    heed_interruption();
    walk(
        sums_.memo()[number], choices, [&](std::uint32_t, std::size_t here, double leaf) { below[here] = {0.0, leaf}; },
        [&](std::size_t i, std::uint32_t depth, std::size_t here, double share) {
          const std::vector<double>&left = of(choices.left(i), depth + 1), &right = of(choices.right(i), depth + 1);
          std::vector<double>& sum = below[here];
          sum.resize(std::max(sum.size(), left.size() + right.size() - 1));
          for (std::size_t a = 1; a < left.size(); ++a)
            for (std::size_t b = 1; b < right.size(); ++b) sum[a + b] += share * left[a] * right[b];
        });
    // What is this improbable is so in every tree above.
    for (std::uint32_t depth = sums_.memo()[number].first(); depth <= sums_.memo()[number].last(); ++depth) {
      std::vector<double>& sum = below[place(sums_.memo()[number], depth)];
      while (sum.size() > 2 && sum.back() < negligible) sum.pop_back();
    }
  }
  return of({&sums_.root(), 0.0}, 0);
}

/// The share of a division's rules that send rows of a code left: 0 or 1 where the set has it.
double Marginals::left_share(const Division& division, std::uint32_t code) const {
  const Column& column = sums_.setting().problem.design.columns[division.feature];
  const bool more_left = division.left.rows >= division.right.rows;
  if (division.present != 0) {
    if (code < column.n_codes())
      return (division.present >> code & 1) == 0 ? 0.5 : static_cast<double>(division.subset >> code & 1);
    // A missing level that training never saw goes where there are more rows.
    return more_left;
  }
  if (code >= column.missing_code()) {
    if (!column.has_missing) return more_left;
    return division.either ? 0.5 : division.missing_left;
  }
  if (code <= division.cut) return 1.0;
  return static_cast<double>(division.cut + division.cuts - std::min(code, division.cut + division.cuts)) /
         division.cuts;
}

std::vector<double> Marginals::moments(std::span<const std::uint32_t> codes) {
  const std::size_t features = sums_.setting().problem.design.columns.size(), rows = codes.size() / features,
                    width = 2 * sums_.setting().problem.outputs;
  std::vector<double> out(rows * width);
  for (std::size_t begin = 0; begin < rows; begin += rows_at_once)
    moments(codes.subspan(begin * features), std::min(rows_at_once, rows - begin), out.data() + begin * width);
  return out;
}

std::vector<double> Marginals::fitted() {
  const Setting& setting = sums_.setting();
  const Patterns& patterns = setting.patterns;
  const std::size_t width = 2 * setting.problem.outputs;
  std::vector<double> of_pattern(patterns.size() * width), moments(width), leaves;
  Choices choices = sums_.choices();
  const Divider& divider = choices.divider();
  const auto add = [&](std::uint32_t pattern, double probability) {
    for (std::size_t k = 0; k < width; ++k) of_pattern[pattern * width + k] += probability * moments[k];
  };
  for (const std::uint32_t number : probable_) {
    heed_interruption();
    double whole = 0.0;
    // Of each division how probable it is that its left side is a leaf, and its right side.
    leaves.clear();
    walk(
        sums_.memo()[number], choices,
        [&](std::uint32_t, std::size_t here, double leaf) {
          whole += visit_[here] * leaf;
          leaves.resize(2 * choices.divisions().size());
        },
        [&](std::size_t i, std::uint32_t depth, std::size_t here, double share) {
          if (!is_node(choices.left(i), depth + 1)) leaves[2 * i] += visit_[here] * share;
          if (!is_node(choices.right(i), depth + 1)) leaves[2 * i + 1] += visit_[here] * share;
        });
    setting.problem.moments(divider.statistics(divider.whole()), moments.data());
    for (const std::uint32_t pattern : divider.members()) add(pattern, whole);
    for (std::size_t side = 0; side < leaves.size(); ++side) {
      if (leaves[side] == 0.0) continue;
      const Division& division = choices.divisions()[side / 2];
      const bool left = side % 2 == 0;
      const std::uint16_t* codes = patterns.codes(division.feature);
      setting.problem.moments(divider.statistics(left ? division.left : division.right), moments.data());
      for (const std::uint32_t pattern : divider.members())
        if ((left_share(division, codes[pattern]) == 1.0) == left) add(pattern, leaves[side]);
    }
  }
  std::vector<double> out;
  for (const std::uint32_t pattern : patterns.of)
    out.insert(out.end(), of_pattern.begin() + static_cast<std::ptrdiff_t>(pattern * width),
               of_pattern.begin() + static_cast<std::ptrdiff_t>((pattern + 1) * width));
  return out;
}

/// Goes down with some rows at once: how probable it is that a row lies in a node.
void Marginals::moments(std::span<const std::uint32_t> codes, std::size_t rows, double* out) {
  const Problem& problem = sums_.setting().problem;
  const std::size_t features = problem.design.columns.size(), width = 2 * problem.outputs;
  std::vector<std::vector<double>> lies(visit_.size());
  lies[sums_.root().begin].assign(rows, 1.0);
  std::vector<double> moments(width), in_leaf, to_left;
  const auto add_leaf = [&](const double* probability, const double* statistics) {
    if (std::all_of(probability, probability + rows, [](double p) { return p == 0.0; })) return;
    problem.moments(statistics, moments.data());
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t k = 0; k < width; ++k) out[row * width + k] += probability[row] * moments[k];
  };
  Choices choices = sums_.choices();
  const Divider& divider = choices.divider();
  for (auto number = probable_.rbegin(); number != probable_.rend(); ++number) {
    const RowSet& set = sums_.memo()[*number];
    const auto of_depth = [&](std::uint32_t depth) -> std::vector<double>& { return lies[place(set, depth)]; };
    bool met = false;
    for (std::uint32_t depth = set.first(); depth <= set.last(); ++depth) met = met || !of_depth(depth).empty();
    if (!met) continue;
    heed_interruption();
    // By division and side, and first of the set itself, the probability that each row lies in such a leaf.
    in_leaf.clear();
    walk(
        set, choices,
        [&](std::uint32_t, std::size_t here, double leaf) {
          if (in_leaf.empty()) {
            in_leaf.assign((1 + 2 * choices.divisions().size()) * rows, 0.0);
            to_left.clear();
            for (const Division& division : choices.divisions())
              for (std::size_t row = 0; row < rows; ++row)
                to_left.push_back(left_share(division, codes[row * features + division.feature]));
          }
          for (std::size_t row = 0; row < lies[here].size(); ++row) in_leaf[row] += lies[here][row] * leaf;
        },
        [&](std::size_t i, std::uint32_t depth, std::size_t here, double share) {
          if (lies[here].empty()) return;
          const auto target = [&](const Child& child, std::size_t side) {
            if (!is_node(child, depth + 1)) return in_leaf.data() + (1 + 2 * i + side) * rows;
            std::vector<double>& to = lies[place(*child.set, depth + 1)];
            to.resize(rows);
            return to.data();
          };
          double *left = target(choices.left(i), 0), *right = target(choices.right(i), 1);
          const double *from = lies[here].data(), *goes_left = to_left.data() + i * rows;
          for (std::size_t row = 0; row < rows; ++row) {
            const double probability = from[row] * share;
            left[row] += probability * goes_left[row];
            right[row] += probability * (1.0 - goes_left[row]);
          }
        });
    for (std::size_t leaf = 0; leaf * rows < in_leaf.size(); ++leaf) {
      const Side& side = leaf == 0       ? divider.whole()
                         : leaf % 2 == 1 ? choices.divisions()[leaf / 2].left
                                         : choices.divisions()[leaf / 2 - 1].right;
      add_leaf(in_leaf.data() + leaf * rows, divider.statistics(side));
    }
    for (std::uint32_t depth = set.first(); depth <= set.last(); ++depth) std::vector<double>().swap(of_depth(depth));
  }
}

}  // namespace baytree::cart::exact
