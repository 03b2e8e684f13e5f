#include "baytree/cart/exact/patterns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "baytree/base/rng.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::cart::exact {
namespace {

constexpr std::size_t named_by_bits = 128;

Key name_of(std::size_t pattern, std::size_t patterns, Stream& stream) {
  if (testing::is_injected(Fault::exact_key)) return {stream.below(4), 0};
  if (patterns > named_by_bits) return {stream.next64(), stream.next64()};
  const std::uint64_t bit = std::uint64_t{1} << pattern % 64;
  return pattern < 64 ? Key{bit, 0} : Key{0, bit};
}

}  // namespace

void Packing::pack(Row rows, const double* statistics, std::uint64_t* out) const {
  std::fill_n(out, words, 0);
  const auto put = [&](std::size_t i, std::uint64_t value) { out[i / in_a_word] |= value << bits * (i % in_a_word); };
  put(0, rows);
  put(1, 1);
  for (std::size_t k = 0; k + 1 < width_; ++k) put(2 + k, static_cast<std::uint64_t>(statistics[k]));
}

void Packing::unpack(const std::uint64_t* in, Row& rows, std::uint32_t& patterns, double* statistics) const {
  rows = static_cast<Row>(field(in, 0));
  patterns = static_cast<std::uint32_t>(field(in, 1));
  std::uint64_t rest = rows;
  for (std::size_t k = 0; k + 1 < width_; ++k) {
    const std::uint64_t count = field(in, 2 + k);
    statistics[k] = static_cast<double>(count);
    rest -= count;
  }
  statistics[width_ - 1] = static_cast<double>(rest);
}

Patterns::Patterns(const Problem& problem, const std::vector<bool>& usable)
    : width(problem.width),
      packing(problem.width),
      design_(problem.design),
      codes_(design_.columns.size()),
      at_(design_.columns.size()) {
  const std::size_t n = design_.rows;
  std::vector<std::vector<std::uint16_t>> all(design_.columns.size());
  for (std::size_t j = 0; j < all.size(); ++j)
    if (usable[j]) with_codes(design_.columns[j], [&](const auto* codes) { all[j].assign(codes, codes + n); });
  std::vector<Row> order(n);
  std::iota(order.begin(), order.end(), Row{0});
  const auto compare = [&](Row a, Row b) {
    for (const auto& codes : all)
      if (!codes.empty() && codes[a] != codes[b]) return codes[a] < codes[b] ? -1 : 1;
    return 0;
  };
  std::sort(order.begin(), order.end(), [&](Row a, Row b) {
    const int found = compare(a, b);
    return found != 0 ? found < 0 : a < b;
  });
  std::vector<std::pair<std::size_t, std::size_t>> groups;  // begin, end; within each rows ascend
  for (std::size_t i = 0; i < n; ++i)
    if (i == 0 || compare(order[i - 1], order[i]) != 0)
      groups.emplace_back(i, i + 1);
    else
      groups.back().second = i + 1;
  std::sort(groups.begin(), groups.end(), [&](auto a, auto b) { return order[a.first] < order[b.first]; });

  rows.resize(groups.size());
  of.resize(n);
  statistics.resize(groups.size() * width);
  for (std::size_t p = 0; p < groups.size(); ++p) {
    const auto [begin, end] = groups[p];
    rows[p] = static_cast<Row>(end - begin);
    for (std::size_t i = begin; i < end; ++i) of[order[i]] = static_cast<std::uint32_t>(p);
    problem.statistics({order.data() + begin, end - begin}, statistics.data() + p * width);
  }
  Stream stream(0, Role::chain, 0);
  for (std::size_t p = 0; p < groups.size(); ++p) key.push_back(name_of(p, groups.size(), stream));
  for (std::size_t j = 0; j < all.size(); ++j) {
    if (all[j].empty()) continue;
    for (const auto& group : groups) codes_[j].push_back(all[j][order[group.first]]);
    const Column& column = design_.columns[j];
    at_[j].assign(column.observed + 1, Bits(words(), 0));
    for (std::size_t p = 0; p < size(); ++p) at_[j][codes_[j][p]][p / 64] |= std::uint64_t{1} << p % 64;
    if (column.categorical) continue;
    for (std::size_t code = 1; code < column.observed; ++code)
      for (std::size_t word = 0; word < words(); ++word) at_[j][code][word] |= at_[j][code - 1][word];
  }
  find_two_codes();
}

void Patterns::find_two_codes() {
  place.assign(codes_.size(), no_place);
  places.resize(size());
  const auto is_count = [](double x) { return x >= 0.0 && x == std::floor(x); };
  for (std::size_t p = 0; p < size(); ++p) {
    const double* first = statistics.data() + p * width;
    if (!std::all_of(first, first + width, is_count) || std::accumulate(first, first + width, 0.0) != rows[p]) return;
  }
  if (design_.rows > Packing::most) return;
  packed.resize(size() * packing.words);
  for (std::size_t p = 0; p < size(); ++p)
    packing.pack(rows[p], statistics.data() + p * width, packed.data() + p * packing.words);
  for (std::size_t j = 0; j < codes_.size(); ++j) {
    if (codes_[j].empty() || design_.columns[j].n_codes() != 2) continue;
    place[j] = static_cast<std::uint32_t>(rare.size());
    const auto ones = static_cast<std::size_t>(std::count(codes_[j].begin(), codes_[j].end(), 1));
    rare.push_back(2 * ones <= size() ? 1 : 0);
    for (std::size_t p = 0; p < size(); ++p)
      if (codes_[j][p] == rare.back()) places[p].push_back(place[j]);
  }
}

void Patterns::keep(Bits& bits, const Rule& rule, bool left) const {
  const Column& column = design_.columns[rule.feature];
  const std::vector<Bits>& at = at_[rule.feature];
  const auto keep = [&bits, flip = left ? 0 : ~std::uint64_t{0}](const auto& to_left) {
    for (std::size_t word = 0; word < bits.size(); ++word) bits[word] &= to_left(word) ^ flip;
  };
  if (column.categorical) {
    keep([&](std::size_t word) {
      std::uint64_t to_left = 0;
      for (std::uint64_t rest = rule.subset; rest != 0; rest &= rest - 1) {
        const auto level = static_cast<std::size_t>(std::countr_zero(rest));
        if (level < column.n_codes()) to_left |= at[level][word];
      }
      return to_left;
    });
    return;
  }
  const std::uint64_t* missing = at[column.observed].data();
  if (column.observed == 0) {
    keep([&](std::size_t word) { return rule.missing_left ? missing[word] : 0; });
    return;
  }
  // The cut behind the last observed code asks "is it missing?".
  const std::uint64_t* up_to = at[std::min(rule.cut, column.observed - 1)].data();
  if (rule.missing_left)
    keep([=](std::size_t word) { return up_to[word] | missing[word]; });
  else
    keep([=](std::size_t word) { return up_to[word]; });
}

}  // namespace baytree::cart::exact
