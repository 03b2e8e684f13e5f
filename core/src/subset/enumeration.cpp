#include "baytree/subset/enumeration.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"
#include "baytree/base/numeric.hpp"

namespace baytree::subset {

namespace {

using Mask = std::uint32_t;

/// What the units of a model leave of the columns of all units that flip more often.
struct Level {
  std::vector<double> left;     // of each such column with each before it and itself: a triangle, by rows
  std::vector<double> product;  // with what is left of y
  double explained = 0.0, log_determinant = 0.0;
  std::size_t columns = 0;  // of the model
  bool independent = true;
  Elimination elimination;  // which made it of the level above
  CoefficientSums sums;     // of the models that it was for
};

/// Walks through all models; bit i is free unit i, and the lowest flips most often.
class Walk {
 public:
  explicit Walk(const Problem& problem) : problem_(problem), first_(1) {
    const std::vector<Unit>& units = problem.free_units;
    if (units.size() > most_enumerated) throw InputError("too many units to enumerate their subsets; sample them");
    for (const Unit unit : units) first_.push_back(first_.back() + problem.size(unit));
    levels_.resize(units.size() + 1);
    start();
    for (Unit unit = 0; unit < problem.units(); ++unit) {
      if (problem.parents[unit].empty()) continue;
      Need need{problem.free[unit] ? bit_of(unit) : 0, 0};
      bool met = false;
      for (const Unit parent : problem.parents[unit]) {
        if (problem.free[parent])
          need.parents |= bit_of(parent);
        else
          met = problem.weak;
      }
      if (!met && need.parents != 0) needs_.push_back(need);
    }
  }

  /// Calls visit(mask, log likelihood, log prior, level) for every model that exists.
  template <class Visit>
  void run(Visit visit) {
    depth_ = 0;
    mask_ = 0;
    report(visit);
    const std::uint64_t models = std::uint64_t{1} << problem_.free_units.size();
    for (std::uint64_t step = 1; step < models; ++step) {
      const int bit = std::countr_zero(step);
      if (bit >= 8) heed_interruption();
      // Of the bits below, the last one alone is set.
      if (bit > 0) leave();
      if (mask_ >> bit & 1u)
        leave();
      else
        eliminate(static_cast<std::size_t>(bit));
      mask_ ^= Mask{1} << bit;
      if (bit > 0) eliminate(static_cast<std::size_t>(bit) - 1);
      report(visit);
    }
    while (depth_ > 0) leave();
  }

  /// What models say of the coefficients of all columns, in the order of the table: the means, and the mean products as
  /// a triangle. Each model that counts was added to the sums of its level.
  std::pair<std::vector<double>, std::vector<double>> sums() {
    const std::size_t p = problem_.columns(), free = first_.back();
    CoefficientSums* all = &levels_[0].sums;
    CoefficientSums with_always;
    if (free < p) {
      with_always.extend(levels_[0].elimination, *all);
      all = &with_always;
    }
    const std::vector<double> first = all->first(p), second = all->second(p);
    std::vector<std::size_t> place(p);  // of each column of the table
    std::size_t others = 0, always = free;
    for (Unit unit = 0; unit < problem_.units(); ++unit)
      for (Column j = problem_.unit_begin[unit]; j < problem_.unit_begin[unit + 1]; ++j)
        place[j] = problem_.free[unit] ? others++ : always++;
    std::pair<std::vector<double>, std::vector<double>> out;
    for (std::size_t i = 0; i < p; ++i) {
      out.first.push_back(first[place[i]]);
      for (std::size_t j = 0; j <= i; ++j) {
        const auto [low, high] = std::minmax(place[i], place[j]);
        out.second.push_back(second[triangle(high) + low]);
      }
    }
    return out;
  }

 private:
  struct Need {
    Mask unit;  // 0 of a unit that is always in
    Mask parents;
  };

  Mask bit_of(Unit unit) const {
    const std::vector<Unit>& units = problem_.free_units;
    return Mask{1} << (std::lower_bound(units.begin(), units.end(), unit) - units.begin());
  }

  Column column(std::size_t place) const {
    const std::size_t bit =
        static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), place) - first_.begin()) - 1;
    return problem_.unit_begin[problem_.free_units[bit]] + static_cast<Column>(place - first_[bit]);
  }

  /// What the units that are always in leave of the others.
  void start() {
    std::vector<Column> always, others;
    for (Unit unit = 0; unit < problem_.units(); ++unit)
      for (Column j = problem_.unit_begin[unit]; j < problem_.unit_begin[unit + 1]; ++j)
        (problem_.free[unit] ? others : always).push_back(j);
    const std::size_t p = others.size(), m = always.size();
    Level& level = levels_[0];
    level = {};
    level.columns = m;
    for (std::size_t i = 0; i < p; ++i) {
      least_.push_back(problem_.least_pivot(others[i]));
      for (std::size_t j = 0; j <= i; ++j) level.left.push_back(problem_.cross(others[i], others[j]));
      level.product.push_back(problem_.response[others[i]]);
    }
    if (m == 0) return;
    // By a larger triangle in which they come last, to be eliminated like a unit.
    Level whole = level;
    std::vector<double> least;
    for (std::size_t i = 0; i < m; ++i) {
      for (const Column other : others) whole.left.push_back(problem_.cross(always[i], other));
      for (std::size_t j = 0; j <= i; ++j) whole.left.push_back(problem_.cross(always[i], always[j]));
      whole.product.push_back(problem_.response[always[i]]);
      least.push_back(problem_.least_pivot(always[i]));
    }
    whole.columns = 0;
    eliminate(whole, level, p, m, least.data());
    if (!level.independent)
      throw InputError("the columns that are always in depend on each other, or are constant; leave some out");
  }

  void eliminate(std::size_t bit) {
    eliminate(levels_[depth_], levels_[depth_ + 1], first_[bit], first_[bit + 1] - first_[bit],
              least_.data() + first_[bit]);
    ++depth_;
  }

  void leave() {
    levels_[depth_ - 1].sums.extend(levels_[depth_].elimination, levels_[depth_].sums);
    --depth_;
  }

  /// From the columns before `from + m`, takes out the last m.
  void eliminate(const Level& above, Level& below, std::size_t from, std::size_t m, const double* least) {
    below.columns = above.columns + m;
    below.independent = above.independent;
    below.explained = above.explained;
    below.log_determinant = above.log_determinant;
    below.left.assign(above.left.begin(), above.left.begin() + static_cast<std::ptrdiff_t>(triangle(from)));
    below.product.assign(above.product.begin(), above.product.begin() + static_cast<std::ptrdiff_t>(from));
    if (!below.independent) return;
    // A Cholesky factor of their block, row by row, with the rows reaching on over the columns that stay.
    const std::size_t width = from + m;
    auto& [rows, w, before] = below.elimination;
    rows.resize(m * width);
    w.resize(m);
    before = from;
    for (std::size_t i = 0; i < m; ++i) {
      double* row = rows.data() + i * width;
      const double* source = above.left.data() + triangle(from + i);
      for (std::size_t j = 0; j < from; ++j) row[j] = source[j];
      for (std::size_t j = i; j < m; ++j) row[from + j] = above.left[triangle(from + j) + from + i];
      double product = above.product[from + i];
      for (std::size_t k = 0; k < i; ++k) {
        const double* above_it = rows.data() + k * width;
        const double factor = above_it[from + i];
        for (std::size_t j = 0; j < from; ++j) row[j] -= factor * above_it[j];
        for (std::size_t j = i; j < m; ++j) row[from + j] -= factor * above_it[from + j];
        product -= factor * w[k];
      }
      const double pivot = row[from + i];
      if (!(pivot > least[i])) {
        below.independent = false;
        return;
      }
      const double root = std::sqrt(pivot);
      for (std::size_t j = 0; j < from; ++j) row[j] /= root;
      for (std::size_t j = i; j < m; ++j) row[from + j] /= root;
      w[i] = product / root;
      below.explained += w[i] * w[i];
      if (problem_.evidence.ridge() > 0.0) below.log_determinant += std::log(pivot);
      double* left = below.left.data();
      for (std::size_t j = 0; j < from; ++j) {
        for (std::size_t k = 0; k <= j; ++k) *left++ -= row[j] * row[k];
        below.product[j] -= row[j] * w[i];
      }
    }
  }

  template <class Visit>
  void report(Visit& visit) {
    Level& level = levels_[depth_];
    if (!level.independent) return;
    for (const Need& need : needs_) {
      const bool in = need.unit == 0 || (mask_ & need.unit) != 0,
                 has = problem_.weak ? (mask_ & need.parents) != 0 : (mask_ & need.parents) == need.parents;
      if (in && !has) return;
    }
    double log_prior = problem_.log_size[static_cast<std::size_t>(std::popcount(mask_))];
    if (log_prior == -infinity) return;
    for (Mask rest = mask_; rest != 0; rest &= rest - 1)
      log_prior += problem_.log_odds[problem_.free_units[static_cast<std::size_t>(std::countr_zero(rest))]];
    visit(mask_, problem_.evidence.log_marginal(level.columns, level.explained, level.log_determinant), log_prior,
          level);
  }

  const Problem& problem_;
  std::vector<std::size_t> first_;  // of the columns of each free unit, and one more
  std::vector<double> least_;       // pivots
  std::vector<Need> needs_;
  std::vector<Level> levels_;
  std::size_t depth_ = 0;
  Mask mask_ = 0;
};

// So many models of such a probability together do not change a digit of a moment.
constexpr double negligible = 1e-26;

struct Listed {
  double log_target, log_likelihood, log_prior;
  Mask mask;
  /// Of equal ones the smaller mask is the better, so that the list depends on nothing else.
  friend bool operator>(const Listed& a, const Listed& b) {
    return a.log_target > b.log_target || (a.log_target == b.log_target && a.mask < b.mask);
  }
};

void append(ListedModels& models, const Problem& problem, const Listed& model) {
  std::size_t bit = 0;
  for (Unit unit = 0; unit < problem.units(); ++unit)
    if (!problem.free[unit] || model.mask >> bit++ & 1u) models.unit.push_back(unit);
  models.begin.push_back(static_cast<std::int64_t>(models.unit.size()));
  models.log_likelihood.push_back(model.log_likelihood);
  models.log_prior.push_back(model.log_prior);
}

}  // namespace

Enumeration enumerate(const Problem& problem, std::size_t most, std::span<const double> quantiles, Stream stream) {
  const std::size_t n = problem.free_units.size();
  for (std::size_t i = 0; i < quantiles.size(); ++i)
    if (!(quantiles[i] >= 0.0 && quantiles[i] < 1.0) || (i > 0 && quantiles[i] < quantiles[i - 1]))
      throw InputError("quantiles must ascend from 0 to below 1");
  Walk walk(problem);
  Enumeration found;
  found.sizes.assign(n + 1, 0.0);
  std::vector<double> inclusion(n, 0.0);
  std::vector<Listed> best;  // a heap, the worst on top
  // Weights are relative to a model near the best so far; a better one by e^600 makes those before it count as nothing,
  // as they are.
  double reference = -infinity, total = 0.0;
  walk.run([&](Mask mask, double log_likelihood, double log_prior, const Level&) {
    const double log_target = log_likelihood + log_prior;
    if (log_target - reference > 600.0) {
      const double shrink = std::exp(reference - log_target);
      total *= shrink;
      for (double& sum : found.sizes) sum *= shrink;
      for (double& sum : inclusion) sum *= shrink;
      reference = log_target;
    }
    const double weight = std::exp(log_target - reference);
    total += weight;
    found.sizes[static_cast<std::size_t>(std::popcount(mask))] += weight;
    for (Mask rest = mask; rest != 0; rest &= rest - 1)
      inclusion[static_cast<std::size_t>(std::countr_zero(rest))] += weight;
    const Listed model{log_target, log_likelihood, log_prior, mask};
    if (best.size() < most) {
      best.push_back(model);
      std::push_heap(best.begin(), best.end(), std::greater<>());
    } else if (most > 0 && model > best.front()) {
      std::pop_heap(best.begin(), best.end(), std::greater<>());
      best.back() = model;
      std::push_heap(best.begin(), best.end(), std::greater<>());
    }
  });
  if (!(total > 0.0)) throw InputError("no model exists that the prior allows; allow other sizes");
  found.log_total = reference + std::log(total);
  for (double& sum : found.sizes) sum /= total;
  std::size_t bit = 0;
  for (Unit unit = 0; unit < problem.units(); ++unit)
    found.inclusion.push_back(problem.free[unit] ? inclusion[bit++] / total : 1.0);
  std::sort(best.begin(), best.end(), std::greater<>());
  for (const Listed& model : best) append(found.top, problem, model);
  // The same sums in the same order, so that the last quantile is reached.
  const Evidence& evidence = problem.evidence;
  const double half = evidence.half_freedom();
  const double sigma_of_root = half > 0.5 ? std::exp(log_gamma(half - 0.5) - log_gamma(half)) : infinity;
  double sum = 0.0;
  std::size_t next = 0;
  Listed last{};
  walk.run([&](Mask mask, double log_likelihood, double log_prior, Level& level) {
    last = {0.0, log_likelihood, log_prior, mask};
    const double weight = std::exp(log_likelihood + log_prior - reference), probability = weight / total;
    sum += weight;
    while (next < quantiles.size() && quantiles[next] * total < sum) {
      append(found.drawn, problem, last);
      ++next;
    }
    if (probability < negligible) return;
    const Shrinkage shrinkage = evidence.shrinkage(level.columns, level.explained);
    const double share = evidence.share(level.explained), rest = evidence.rest(level.explained);
    // E σ² given s is its total, of which s R is explained, over 2 half − 2.
    const double of_total = (rest / (1.0 - share)) / (2.0 * half - 2.0);
    level.sums.add(probability * shrinkage.mean, probability * shrinkage.square,
                   half > 1.0 ? probability * of_total * (shrinkage.mean - share * shrinkage.square) : 0.0);
    found.moments.sigma += probability * sigma_of_root * std::sqrt(rest / 2.0) * shrinkage.root;
    found.moments.variance += half > 1.0 ? probability * of_total * (1.0 - share * shrinkage.mean) : infinity;
  });
  std::tie(found.moments.mean, found.moments.covariance) = walk.sums();
  for (std::size_t i = 0; i < problem.columns(); ++i)
    for (std::size_t j = 0; j <= i; ++j)
      found.moments.covariance[triangle(i) + j] -= found.moments.mean[i] * found.moments.mean[j];
  for (; next < quantiles.size(); ++next) append(found.drawn, problem, last);
  Factor factor(problem);
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    heed_interruption();
    factor.clear();
    for (std::int64_t k = found.drawn.begin[i]; k < found.drawn.begin[i + 1]; ++k)
      factor.enter(found.drawn.unit[static_cast<std::size_t>(k)]);
    append_means(problem, factor, found.mean);
    draw_coefficients(problem, factor, stream, found.given);
  }
  return found;
}

}  // namespace baytree::subset
