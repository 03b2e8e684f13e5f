#include "baytree/cart/exact/pairs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "baytree/base/simd.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::cart::exact {
namespace {

constexpr std::uint32_t no_column = ~std::uint32_t{0};
constexpr Row most_listed = 2000;         // rows for which leaves are listed, which takes 16 MB
constexpr double log_of_largest = 600.0;  // of a product of leaves

std::uint64_t counted(std::uint64_t rows, std::uint64_t first) {
  return static_cast<std::uint64_t>(std::popcount(rows)) | static_cast<std::uint64_t>(std::popcount(rows & first))
                                                               << Pairs::half;
}

/// Counts the rows of each mask.
BAYTREE_CLONES void count_each(const std::uint64_t* masks, const std::uint64_t* first, std::size_t n, std::size_t words,
                               std::uint64_t* out) {
  for (std::size_t a = 0; a < n; ++a) {
    out[a] = 0;
    for (std::size_t word = 0; word < words; ++word) out[a] += counted(masks[a * words + word], first[word]);
  }
}

/// Counts the rows that two masks have in common, for each two.
BAYTREE_CLONES void count_both(const std::uint64_t* masks, const std::uint64_t* first, std::size_t n, std::size_t words,
                               std::uint64_t* out) {
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b) {
      std::uint64_t counts = 0;
      for (std::size_t word = 0; word < words; ++word)
        counts += counted(masks[a * words + word] & masks[b * words + word], first[word]);
      out[a * n + b] = counts;
    }
}

}  // namespace

Pairs::Pairs(const Setting& setting, Row most) : setting_(setting) {
  const Problem& problem = setting.problem;
  const Patterns& patterns = setting.patterns;
  if (setting.limit < 2 || !setting.contexts.single() || patterns.packed.empty() || patterns.width != 2) return;
  for (std::uint32_t feature = 0; feature < problem.design.columns.size(); ++feature)
    if (setting.restrictions.depth_limit(feature) > 0 && problem.design.columns[feature].n_codes() > 1 &&
        patterns.place[feature] == Patterns::no_place)
      return;
  const Row least = std::max(problem.prior.min_leaf, Row{1});
  most = std::min(most, most_listed);
  shift_ = problem.power * std::log(2.0) / 2.0;
  double steepest = 0.0;
  likelihood_.resize((std::size_t{most} + 1) * (most + 2) / 2);
  for (Row rows = 1; rows <= most; ++rows)
    for (Row first = 0; first <= rows; ++first) {
      const double counts[]{static_cast<double>(first), static_cast<double>(rows - first)};
      const double log = setting.leaf(counts, rows) + shift_ * rows;
      steepest = std::max(steepest, std::abs(log) / rows);
      if (rows * steepest > log_of_largest) most = rows - 1;
      if (rows >= least) likelihood_[std::size_t{rows} * (rows + 1) / 2 + first] = std::exp(log);
    }
  most_rows_ = most;
}

Row Pairs::most_rows_of_last_two(const Setting& setting) {
  const Row least = std::max(setting.problem.prior.min_leaf, Row{1}), rows = setting.problem.design.rows;
  const std::uint64_t aside = std::uint64_t{setting.limit - std::min(setting.limit, 2u)} * least;
  return aside < rows ? static_cast<Row>(rows - aside) : 0;
}

void Pairs::read(const Divider& divider, std::uint32_t depth, bool patterns, Buffers& buffers) const {
  mark(divider, buffers);
  const std::size_t words = buffers.all.size();
  count_each(buffers.all.data(), buffers.first_class.data(), 1, words, &buffers.whole);
  find_columns(depth, words, buffers);
  const std::size_t n = buffers.have.size();
  buffers.both.resize(n * n);
  count_both(buffers.sides.data(), buffers.first_class.data(), n, words, buffers.both.data());
  if (!patterns) return;
  count_each(buffers.all.data(), buffers.first_of_pattern.data(), 1, words, &buffers.whole_patterns);
  buffers.have_patterns.resize(n);
  count_each(buffers.sides.data(), buffers.first_of_pattern.data(), n, words, buffers.have_patterns.data());
  buffers.both_patterns.resize(n * n);
  count_both(buffers.sides.data(), buffers.first_of_pattern.data(), n, words, buffers.both_patterns.data());
}

std::array<double, 2> Pairs::value(const Divider& divider, Total total, Buffers& buffers) const {
  const std::uint32_t depth = setting_.limit - 2;
  read(divider, depth, false, buffers);
  const auto leaf = [this](std::uint64_t counts, std::uint64_t) { return likelihood(counts); };
  switch (total) {
    case Total::sum:
      return {two_levels<Total::sum>(depth, leaf, buffers), one_level<Total::sum>(depth + 1, 1, buffers)};
    case Total::most_probable:
      return {two_levels<Total::most_probable>(depth, leaf, buffers),
              one_level<Total::most_probable>(depth + 1, 1, buffers)};
    case Total::most_likely:
      return {two_levels<Total::most_likely>(depth, leaf, buffers),
              one_level<Total::most_likely>(depth + 1, 1, buffers)};
  }
  return {};
}

/// Makes the masks: of a set's rows, one bit after the other.
void Pairs::mark(const Divider& divider, Buffers& buffers) const {
  const Patterns& patterns = setting_.patterns;
  const std::size_t words = (divider.whole().rows + 63) / 64;
  for (auto* masks : {&buffers.first_class, &buffers.first_of_pattern, &buffers.all}) masks->assign(words, 0);
  buffers.masks.assign(patterns.rare.size() * words, 0);
  std::size_t row = 0;
  for (const std::uint32_t p : divider.members()) {
    auto first = static_cast<std::size_t>(patterns.statistics[p * patterns.width]);
    buffers.first_of_pattern[row / 64] |= std::uint64_t{1} << row % 64;
    for (const std::size_t end = row + patterns.rows[p]; row < end; ++row) {
      const std::size_t word = row / 64;
      const std::uint64_t bit = std::uint64_t{1} << row % 64;
      buffers.all[word] |= bit;
      if (first > 0) {
        buffers.first_class[word] |= bit;
        --first;
      }
      for (const std::uint32_t place : patterns.places[p]) buffers.masks[place * words + word] |= bit;
    }
  }
}

/// Finds the columns that leave enough rows on both sides; those that divide the set alike are one.
void Pairs::find_columns(std::uint32_t depth, std::size_t words, Buffers& buffers) const {
  const Patterns& patterns = setting_.patterns;
  const Row least = std::max(setting_.problem.prior.min_leaf, Row{1});
  const std::size_t places = std::bit_ceil(2 * patterns.rare.size() + 1);
  buffers.counts.resize(patterns.rare.size());
  count_each(buffers.masks.data(), buffers.first_class.data(), patterns.rare.size(), words, buffers.counts.data());
  buffers.first_with.assign(places, no_column);
  buffers.sides.clear();
  buffers.have.clear();
  for (auto* weights : {&buffers.weight, &buffers.largest})
    for (std::vector<double>& weight : *weights) weight.clear();
  const Freedom *before = setting_.contexts.freedom(Contexts::root, depth),
                *last = setting_.contexts.freedom(Contexts::root, std::min(depth + 1, setting_.limit - 1));
  for (std::uint32_t feature = 0; feature < patterns.place.size(); ++feature) {
    const std::uint32_t place = patterns.place[feature];
    if (place == Patterns::no_place) continue;
    const std::uint64_t counts = buffers.counts[place];
    if (rows_of(counts) < least || rows_of(buffers.whole) - rows_of(counts) < least) continue;
    const double weight = setting_.weight[feature];
    const std::array<double, 2> weights{before[feature] == Freedom::none ? 0.0 : weight,
                                        last[feature] == Freedom::none ? 0.0 : weight};
    // Of the two sides that which the first row is not on.
    std::uint64_t* mask = buffers.masks.data() + place * words;
    const bool turn = (mask[0] & 1) != 0;
    std::uint64_t hash = 0;
    for (std::size_t word = 0; word < words; ++word) {
      if (turn) mask[word] ^= buffers.all[word];
      hash = (hash ^ mask[word]) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    std::size_t at = hash & (places - 1);
    const auto column = [&] { return buffers.first_with[at]; };
    while (column() != no_column && !std::equal(mask, mask + words, buffers.sides.data() + column() * words))
      at = (at + 1) & (places - 1);
    if (column() == no_column) {
      buffers.first_with[at] = static_cast<std::uint32_t>(buffers.have.size());
      buffers.sides.insert(buffers.sides.end(), mask, mask + words);
      buffers.have.push_back(turn ? buffers.whole - counts : counts);
      for (std::size_t level : {0, 1}) {
        buffers.weight[level].push_back(weights[level]);
        buffers.largest[level].push_back(weights[level]);
      }
    } else if (!testing::is_injected(Fault::exact_alike)) {
      for (std::size_t level : {0, 1}) {
        double& largest = buffers.largest[level][column()];
        buffers.weight[level][column()] += weights[level];
        largest = std::max(largest, weights[level]);
      }
    }
  }
}

}  // namespace baytree::cart::exact
