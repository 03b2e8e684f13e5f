#include "baytree/trees/best_fit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <numeric>
#include <queue>

#include "baytree/base/interruption.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/testing/fault.hpp"
#include "baytree/trees/partition.hpp"

namespace baytree {
namespace {

// Of a set with more levels only the divisions along the order of their means are looked at, and what the others leave
// is not bounded.
constexpr unsigned most_levels = 10;

}  // namespace

/// A division whose sides were looked into: the least that they leave, by leaves less one.
struct BestFits::Tried {
  std::vector<double> left, right;
};

/// The divisions begin … end of a chain, none of which was tried, and those at its ends that were.
struct BestFits::Stretch {
  double bound;
  std::size_t chain, begin, end;
  const Tried *before, *behind;

  /// The one that may be best first; of equal ones the longest.
  bool operator<(const Stretch& other) const {
    return bound != other.bound ? bound > other.bound : end - begin < other.end - other.begin;
  }
};

BestFits::BestFits(const Design& design, const Surface& surface, std::uint32_t leaves, std::uint64_t budget)
    : design_(design), width_(surface.width), leaves_(leaves), budget_(budget) {
  const Row rows = design.rows;
  std::vector<double> mean(width_, 0.0);
  const double total = std::accumulate(surface.weight.begin(), surface.weight.end(), 0.0);
  for (Row row = 0; row < rows; ++row)
    for (std::size_t k = 0; k < width_; ++k) mean[k] += surface.weight[row] / total * surface.values[row * width_ + k];
  Stream stream(0, Role::chain, 0);
  for (Row row = 0; row < rows; ++row) {
    const double weight = surface.weight[row];
    const std::size_t first = sums_.size();
    sums_.insert(sums_.end(), {weight, 0.0});
    for (std::size_t k = 0; k < width_; ++k) {
      const double value = surface.values[row * width_ + k] - mean[k];
      sums_[first + 1] += weight * value * value;
      sums_.push_back(weight * value);
    }
    keys_.push_back({stream.next64(), stream.next64()});
  }
  std::vector<Row> all(rows);
  std::iota(all.begin(), all.end(), Row{0});
  root_ = set_of(std::move(all));
  slack_ = 1e-12 * root_.known->front().high;
  for (std::uint32_t most = 2; most <= leaves_; ++most) {
    reach(root_, most);
    extend(root_, most);
    look(root_, most, infinity);
  }
}

std::vector<double> BestFits::low() const {
  std::vector<double> out;
  for (const Known& known : *root_.known) out.push_back(known.low);
  return out;
}

std::vector<double> BestFits::high() const {
  std::vector<double> out;
  for (const Known& known : *root_.known) out.push_back(known.high);
  return out;
}

BestFits::Set BestFits::set_of(std::vector<Row> rows) {
  Key key;
  for (const Row row : rows) {
    key.low ^= keys_[row].low;
    key.high ^= keys_[row].high;
  }
  ByLeaves& known = known_[key];
  if (known.empty()) {
    const std::size_t stride = width_ + 2;
    std::vector<double> sums(stride, 0.0);
    for (const Row row : rows)
      for (std::size_t k = 0; k < stride; ++k) sums[k] += sums_[row * stride + k];
    const double left = squares(sums);
    known.push_back({.low = left, .high = left});
  }
  return {std::move(rows), &known};
}

BestFits::Set BestFits::side(const Set& set, const Rule& rule, bool left) {
  std::vector<Row> rows;
  with_test(design_.columns[rule.feature], rule, [&](auto goes_left) {
    for (const Row row : set.rows)
      if (goes_left(row) == left) rows.push_back(row);
  });
  return set_of(std::move(rows));
}

/// Σ w (value − mean)² of rows with these sums.
double BestFits::squares(std::span<const double> sums) const {
  double out = sums[1];
  for (std::size_t k = 2; k < sums.size(); ++k) out -= sums[k] * sums[k] / sums[0];
  return std::max(out, 0.0);
}

std::vector<BestFits::Chain> BestFits::divisions(const Set& set) {
  heed_interruption();
  ++looks_;
  all_looked_at_ = true;
  std::vector<Chain> out;
  const std::size_t stride = width_ + 2;
  for (std::uint32_t feature = 0; feature < design_.columns.size(); ++feature) {
    const Column& column = design_.columns[feature];
    by_code_.assign(column.n_codes() * stride, 0.0);
    with_codes(column, [&](const auto* codes) {
      for (const Row row : set.rows)
        for (std::size_t k = 0; k < stride; ++k) by_code_[codes[row] * stride + k] += sums_[row * stride + k];
    });
    codes_.clear();
    for (std::uint32_t code = 0; code < column.n_codes(); ++code)
      if (by_code_[code * stride] > 0.0) codes_.push_back(code);
    if (codes_.size() < 2) continue;
    column.categorical ? divide_levels(feature, out) : divide_numbers(feature, out);
  }
  return out;
}

void BestFits::divide_numbers(std::uint32_t feature, std::vector<Chain>& out) {
  const Column& column = design_.columns[feature];
  const std::size_t stride = width_ + 2;
  const auto at = [&](std::uint32_t code) { return std::span(by_code_).subspan(code * stride, stride); };
  const bool missing = column.has_missing && codes_.back() == column.missing_code();
  const std::vector<std::uint32_t> seen(codes_.begin(), codes_.end() - (missing ? 1 : 0));
  std::vector<double> whole(stride, 0.0);
  for (const std::uint32_t code : codes_)
    for (std::size_t k = 0; k < stride; ++k) whole[k] += at(code)[k];
  for (const bool missing_left : {false, true}) {
    if (missing_left && !missing) break;
    Chain chain;
    std::vector<double> left(stride, 0.0), right(stride);
    if (missing_left) std::copy_n(at(column.missing_code()).begin(), stride, left.begin());
    // With missing values right the last cut asks whether the value is missing.
    for (std::size_t i = 0; i + (missing && !missing_left ? 0 : 1) < seen.size(); ++i) {
      for (std::size_t k = 0; k < stride; ++k) left[k] += at(seen[i])[k];
      for (std::size_t k = 0; k < stride; ++k) right[k] = whole[k] - left[k];
      const bool last = i + 1 == seen.size();
      // Of cuts that divide alike the one in the middle. Where no row here misses the value, it goes with the most.
      const std::uint32_t cut = last ? column.observed - 1 : seen[i] + (seen[i + 1] - 1 - seen[i]) / 2;
      const bool goes_left = missing ? missing_left : column.has_missing && left[0] >= right[0];
      chain.push_back({{.feature = feature, .cut = cut, .missing_left = goes_left}, squares(left), squares(right)});
    }
    if (!chain.empty()) out.push_back(std::move(chain));
  }
}

void BestFits::divide_levels(std::uint32_t feature, std::vector<Chain>& out) {
  const Column& column = design_.columns[feature];
  const std::size_t stride = width_ + 2;
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - column.n_codes());
  std::uint64_t present = 0;
  for (const std::uint32_t code : codes_) present |= std::uint64_t{1} << code;
  std::vector<double> left(stride), right(stride);
  const auto division = [&](std::uint64_t subset) -> Division {
    left.assign(stride, 0.0);
    right.assign(stride, 0.0);
    for (const std::uint32_t code : codes_)
      for (std::size_t k = 0; k < stride; ++k)
        ((subset >> code & 1) != 0 ? left : right)[k] += by_code_[code * stride + k];
    // Levels that no row here has go with the most; level 0 is left in every rule.
    if (left[0] >= right[0]) subset |= all & ~present;
    if ((subset & 1) != 0) return {{.feature = feature, .subset = subset}, squares(left), squares(right)};
    return {{.feature = feature, .subset = all & ~subset}, squares(right), squares(left)};
  };
  if (codes_.size() > most_levels) {
    all_looked_at_ = false;
    std::stable_sort(codes_.begin(), codes_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return by_code_[a * stride + 2] * by_code_[b * stride] < by_code_[b * stride + 2] * by_code_[a * stride];
    });
    std::uint64_t subset = 0;
    for (std::size_t i = 0; i + 1 < codes_.size(); ++i)
      out.push_back({division(subset |= std::uint64_t{1} << codes_[i])});
    return;
  }
  // The first of the levels stays on one side, so that no division comes twice.
  const std::vector<std::uint32_t> codes = codes_;
  for (std::uint32_t chosen = 0; chosen + 1 < 1u << (codes.size() - 1); ++chosen) {
    std::uint64_t subset = std::uint64_t{1} << codes[0];
    for (std::uint32_t rest = chosen; rest != 0; rest &= rest - 1)
      subset |= std::uint64_t{1} << codes[1 + static_cast<unsigned>(std::countr_zero(rest))];
    out.push_back({division(subset)});
  }
}

/// Makes room for what is known of so many leaves: at first that of fewer.
void BestFits::reach(const Set& set, std::uint32_t leaves) {
  ByLeaves& known = *set.known;
  while (known.size() < leaves) {
    known.push_back(known.back());
    known.back().low = 0.0;
  }
}

/// Makes what is known of B(S, leaves) exact, or its lower end at least the limit, as far as the budget goes.
void BestFits::look(const Set& set, std::uint32_t leaves, double limit, bool anyway) {
  if (leaves < 2) return;
  reach(set, leaves);
  ByLeaves& known = *set.known;
  const auto best = [&] { return std::min(known[leaves - 1].high, limit) - slack_; };
  if (known[leaves - 1].low >= best() || (looks_ >= budget_ && !anyway)) return;
  const std::vector<Chain> chains = divisions(set);
  const bool all_looked_at = all_looked_at_;
  take_best_of_two(set, chains);
  if (leaves == 2) return;
  std::deque<Tried> tried;
  std::priority_queue<Stretch> open;
  for (std::size_t chain = 0; chain < chains.size(); ++chain)
    open.push({0.0, chain, 0, chains[chain].size(), nullptr, nullptr});
  double low = all_looked_at ? infinity : 0.0;
  while (!open.empty()) {
    const Stretch stretch = open.top();
    if (stretch.bound >= best() || looks_ >= budget_) {
      low = std::min(low, stretch.bound);
      break;
    }
    open.pop();
    const Chain& chain = chains[stretch.chain];
    const std::size_t middle = stretch.begin + (stretch.end - stretch.begin) / 2;
    tried.push_back(attempt(set, chain, stretch, middle, leaves, limit));
    const Tried& found = tried.back();
    for (std::uint32_t i = 1; i < leaves; ++i) low = std::min(low, found.left[i - 1] + found.right[leaves - i - 1]);
    const auto add = [&](Stretch part) {
      if (part.begin == part.end) return;
      part.bound = std::max(stretch.bound, bound(chain, part, leaves));
      open.push(part);
    };
    add({0.0, stretch.chain, stretch.begin, middle, stretch.before, &found});
    add({0.0, stretch.chain, middle + 1, stretch.end, &found, stretch.behind});
  }
  Known& here = known[leaves - 1];
  here.low = std::max(here.low, std::min(low, here.high));
  settle(set);
}

/// With all divisions at hand two leaves need no more.
void BestFits::take_best_of_two(const Set& set, const std::vector<Chain>& chains) {
  reach(set, 2);
  Known& here = (*set.known)[1];
  for (const Chain& chain : chains)
    for (const Division& division : chain)
      if (const double left = division.left + division.right; left < here.high) {
        here.high = left;
        here.rule = division.rule;
        here.left_leaves = 1;
      }
  if (all_looked_at_) here.low = here.high;
  settle(set);
}

/// More leaves are no worse, and fewer leave no less.
void BestFits::settle(const Set& set) {
  ByLeaves& known = *set.known;
  for (std::size_t i = 1; i < known.size(); ++i)
    if (known[i].high > known[i - 1].high) {
      const double low = known[i].low;
      known[i] = known[i - 1];
      known[i].low = low;
    }
  for (std::size_t i = known.size() - 1; i > 0; --i) known[i - 1].low = std::max(known[i - 1].low, known[i].low);
}

/// Looks into both sides of a division, wherever they could do better together than the best tree or the limit: far
/// enough to say whether others of its stretch could, too.
BestFits::Tried BestFits::attempt(const Set& set, const Chain& chain, const Stretch& stretch, std::size_t place,
                                  std::uint32_t leaves, double limit) {
  const Rule& rule = chain[place].rule;
  const Set left = side(set, rule, true), right = side(set, rule, false);
  reach(left, leaves - 1);
  reach(right, leaves - 1);
  Known& here = (*set.known)[leaves - 1];
  const auto low = [](const Set& one, std::uint32_t most) { return (*one.known)[most - 1].low; };
  std::vector<std::uint32_t> shares(leaves - 1);
  std::iota(shares.begin(), shares.end(), 1u);
  if (testing::is_injected(Fault::fit_shares)) shares.assign(1, 1);
  std::stable_sort(shares.begin(), shares.end(), [&](std::uint32_t a, std::uint32_t b) {
    return low(left, a) + low(right, leaves - a) < low(left, b) + low(right, leaves - b);
  });
  for (const std::uint32_t share : shares) {
    const std::uint32_t rest = leaves - share;
    const double target = std::min(here.high, limit);
    const auto is_open = [&] { return low(left, share) + low(right, rest) < target - slack_; };
    if (is_open()) look(left, share, target - std::min(least_right(chain, stretch, rest), low(right, rest)));
    if (is_open()) look(right, rest, target - std::min(least_left(chain, stretch, share), low(left, share)));
    const double found = (*left.known)[share - 1].high + (*right.known)[rest - 1].high;
    if (found < here.high) here = {.low = here.low, .high = found, .rule = rule, .left_leaves = share};
  }
  Tried out;
  for (std::uint32_t most = 1; most < leaves; ++most) {
    out.left.push_back(low(left, most));
    out.right.push_back(low(right, most));
  }
  return out;
}

/// What the left sides of a stretch leave at least: they have all rows of the one before. As a leaf the first is known.
double BestFits::least_left(const Chain& chain, const Stretch& stretch, std::uint32_t leaves) const {
  const Tried* before = testing::is_injected(Fault::fit_bound) ? stretch.behind : stretch.before;
  return leaves == 1 ? chain[stretch.begin].left : before == nullptr ? 0.0 : before->left[leaves - 1];
}

/// The right sides have all rows of the one behind.
double BestFits::least_right(const Chain& chain, const Stretch& stretch, std::uint32_t leaves) const {
  return leaves == 1                 ? chain[stretch.end - 1].right
         : stretch.behind == nullptr ? 0.0
                                     : stretch.behind->right[leaves - 1];
}

double BestFits::bound(const Chain& chain, const Stretch& stretch, std::uint32_t leaves) const {
  double least = infinity;
  for (std::uint32_t i = 1; i < leaves; ++i)
    least = std::min(least, least_left(chain, stretch, i) + least_right(chain, stretch, leaves - i));
  return least;
}

/// Gives the best tree of one leaf fewer one more leaf, where that helps most.
void BestFits::extend(const Set& set, std::uint32_t leaves) {
  reach(set, leaves);
  const Known fewer = (*set.known)[leaves - 2];
  if (fewer.left_leaves == 0) {
    look(set, 2, infinity, true);
    return;
  }
  const Set left = side(set, fewer.rule, true), right = side(set, fewer.rule, false);
  const std::uint32_t share = fewer.left_leaves, rest = leaves - 1 - share;
  extend(left, share + 1);
  extend(right, rest + 1);
  reach(left, share + 1);
  reach(right, rest + 1);
  Known& here = (*set.known)[leaves - 1];
  const auto high = [](const Set& one, std::uint32_t most) { return (*one.known)[most - 1].high; };
  for (const std::uint32_t more : {share + 1, share})
    if (const double found = high(left, more) + high(right, leaves - more); found < here.high)
      here = {.low = here.low, .high = found, .rule = fewer.rule, .left_leaves = more};
  settle(set);
}

Nodes BestFits::tree(std::uint32_t leaves) {
  Nodes out;
  add_nodes(root_, leaves, 0, out);
  set_sizes(out);
  return out;
}

void BestFits::add_nodes(const Set& set, std::uint32_t leaves, std::uint32_t depth, Nodes& out) {
  const Known known = (*set.known)[leaves - 1];
  const bool is_leaf = known.left_leaves == 0;
  out.push_back(
      {.rule = known.rule, .end = static_cast<Row>(set.rows.size()), .size = is_leaf ? 1u : 0u, .depth = depth});
  if (is_leaf) return;
  add_nodes(side(set, known.rule, true), known.left_leaves, depth + 1, out);
  add_nodes(side(set, known.rule, false), leaves - known.left_leaves, depth + 1, out);
}

}  // namespace baytree
