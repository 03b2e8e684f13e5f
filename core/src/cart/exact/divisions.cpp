#include "baytree/cart/exact/divisions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace baytree::cart::exact {

Divider::Divider(const Problem& problem, const Patterns& patterns, const Memo& memo, const Restrictions& restrictions)
    : problem_(problem),
      patterns_(patterns),
      memo_(memo),
      restrictions_(restrictions),
      bits_(patterns.words()),
      counts_(patterns.width) {}

void Divider::take(const RowSet& set) {
  std::fill(bits_.begin(), bits_.end(), ~std::uint64_t{0});
  if (const std::size_t rest = patterns_.size() % 64; rest != 0) bits_.back() >>= 64 - rest;
  // The way up is the rules that hold for the set, in any order.
  for (const RowSet* at = &set; at != &memo_[0]; at = &memo_[at->parent]) patterns_.keep(bits_, at->rule(), at->left);
  members_.clear();
  for (std::size_t word = 0; word < bits_.size(); ++word)
    for (std::uint64_t rest = bits_[word]; rest != 0; rest &= rest - 1)
      members_.push_back(static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(rest)));
  sums_.clear();
  divisions_.clear();
  whole_ = empty_side();
  whole_.key = set.key;
  whole_.patterns = static_cast<std::uint32_t>(members_.size());
  const std::size_t width = patterns_.width, words = patterns_.packing.words;
  if (!patterns_.packed.empty()) {
    packed_.assign(words, 0);
    for (const std::uint32_t p : members_)
      for (std::size_t word = 0; word < words; ++word) packed_[word] += patterns_.packed[p * words + word];
    patterns_.packing.unpack(packed_.data(), whole_.rows, whole_.patterns, sums_.data());
    return;
  }
  for (const std::uint32_t p : members_) {
    whole_.rows += patterns_.rows[p];
    for (std::size_t k = 0; k < width; ++k) sums_[k] += patterns_.statistics[p * width + k];
  }
}

Side Divider::empty_side() {
  Side side{.statistics = sums_.size()};
  sums_.resize(sums_.size() + patterns_.width, 0.0);
  return side;
}

Side Divider::plus(const Side& a, const Side& b) {
  Side sum{a.key ^ b.key, a.rows + b.rows, a.patterns + b.patterns, sums_.size()};
  for (std::size_t k = 0; k < patterns_.width; ++k) {
    const double total = sums_[a.statistics + k] + sums_[b.statistics + k];
    sums_.push_back(total);
  }
  return sum;
}

void Divider::divide(std::span<const Freedom* const> freedom, std::uint64_t boxes) {
  if (whole_.rows / 2 < problem_.prior.min_leaf || whole_.patterns < 2) return;
  if (boxes == 0) read_two_codes();
  for (std::uint32_t feature = 0; feature < problem_.design.columns.size(); ++feature) {
    if (std::none_of(freedom.begin(), freedom.end(), [&](const Freedom* at) { return at[feature] != Freedom::none; }))
      continue;
    if (problem_.design.columns[feature].n_codes() < 2) continue;
    if (const std::uint32_t place = patterns_.place[feature]; boxes == 0 && place != Patterns::no_place) {
      divide_two_codes(feature, place);
      continue;
    }
    read_bins(feature);
    if (codes_.size() < 2) continue;
    if (problem_.design.columns[feature].categorical)
      divide_levels(feature);
    else
      divide_numeric(feature, boxes);
  }
}

/// Sums up the patterns that have the rarer code of each feature with two.
void Divider::read_two_codes() {
  const std::size_t words = patterns_.packing.words, stride = 2 + words;
  two_codes_.assign(patterns_.rare.size() * stride, 0);
  if (two_codes_.empty()) return;
  for (const std::uint32_t p : members_) {
    const Key key = patterns_.key[p];
    const std::uint64_t* packed = patterns_.packed.data() + p * words;
    for (const std::uint32_t place : patterns_.places[p]) {
      std::uint64_t* to = two_codes_.data() + place * stride;
      to[0] ^= key.low;
      to[1] ^= key.high;
      for (std::size_t word = 0; word < words; ++word) to[2 + word] += packed[word];
    }
  }
}

/// Level 0, smaller numbers, and numbers that are there are on the left of the one division.
void Divider::divide_two_codes(std::uint32_t feature, std::uint32_t place) {
  const std::uint64_t* sums = two_codes_.data() + place * (2 + patterns_.packing.words);
  Row rows = 0;
  std::uint32_t patterns = 0;
  patterns_.packing.unpack(sums + 2, rows, patterns, counts_.data());
  const Row others = whole_.rows - rows;
  if (std::min(rows, others) < problem_.prior.min_leaf) return;
  Division& division = divisions_.emplace_back();
  division.feature = feature;
  division.cuts = 1;
  if (problem_.design.columns[feature].categorical) {
    division.subset = 1;
    division.present = 3;
  }
  const std::size_t first = sums_.size(), width = patterns_.width;
  sums_.resize(first + 2 * width);
  for (std::size_t k = 0; k < width; ++k) {
    sums_[first + k] = counts_[k];
    sums_[first + width + k] = sums_[whole_.statistics + k] - counts_[k];
  }
  const Key key{sums[0], sums[1]};
  const Side rare{key, rows, patterns, first};
  const Side other{key ^ whole_.key, others, whole_.patterns - patterns, first + width};
  division.left = patterns_.rare[place] == 0 ? rare : other;
  division.right = patterns_.rare[place] == 0 ? other : rare;
}

/// Sums up by code.
void Divider::read_bins(std::uint32_t feature) {
  const std::uint32_t n = problem_.design.columns[feature].n_codes();
  const std::size_t width = patterns_.width, first = sums_.size();
  sums_.resize(first + n * width, 0.0);
  bins_.assign(n, {});
  const std::uint16_t* codes = patterns_.codes(feature);
  for (const std::uint32_t p : members_) {
    const std::uint32_t code = codes[p];
    Side& bin = bins_[code];
    bin.key ^= patterns_.key[p];
    bin.rows += patterns_.rows[p];
    ++bin.patterns;
    double* sums = sums_.data() + first + code * width;
    for (std::size_t k = 0; k < width; ++k) sums[k] += patterns_.statistics[p * width + k];
  }
  codes_.clear();
  for (std::uint32_t code = 0; code < n; ++code) {
    bins_[code].statistics = first + code * width;
    if (bins_[code].rows > 0) codes_.push_back(code);
  }
}

void Divider::add(const Division& division, std::uint64_t boxes) {
  if (boxes == 0) {
    divisions_.push_back(division);
    return;
  }
  // Each cut may have the boxes on another side.
  for (const bool missing_left : {false, true}) {
    if (!division.either && missing_left != division.missing_left) continue;
    for (std::uint32_t i = 0; i < division.cuts; ++i) {
      Division one = division;
      one.cut += i;
      one.cuts = 1;
      one.rules = 1.0;
      one.missing_left = missing_left;
      one.either = false;
      const Rule rule{.feature = one.feature, .cut = one.cut, .missing_left = missing_left};
      if (restrictions_.cuts_a_box(boxes, rule)) continue;
      one.boxes_left = restrictions_.boxes_left(boxes, rule);
      divisions_.push_back(one);
    }
  }
}

/// As `numeric_rules` counts them: cuts of the order 0 … observed−1, missing, and of missing, 0 … observed−1.
void Divider::divide_numeric(std::uint32_t feature, std::uint64_t boxes) {
  const Column& column = problem_.design.columns[feature];
  const bool misses = codes_.back() == column.missing_code();
  const std::size_t seen = codes_.size() - (misses ? 1 : 0);
  before_.clear();
  behind_.assign(seen, {});
  for (std::size_t i = 0; i < seen; ++i) {
    before_.push_back(i == 0 ? bins_[codes_[i]] : plus(before_.back(), bins_[codes_[i]]));
    const std::size_t j = seen - 1 - i;
    behind_[j] = i == 0 ? bins_[codes_[j]] : plus(behind_[j + 1], bins_[codes_[j]]);
  }
  const auto cuts = [&](std::uint32_t cut, std::uint32_t end, bool missing_left, const Side& left, const Side& right) {
    if (end == cut || std::min(left.rows, right.rows) < problem_.prior.min_leaf) return;
    Division division{.feature = feature, .cut = cut, .cuts = end - cut, .missing_left = missing_left};
    division.either = column.has_missing && !misses;
    division.rules = division.cuts * (division.either ? 2.0 : 1.0);
    division.left = left;
    division.right = right;
    add(division, boxes);
  };
  const Side missing = misses ? bins_[column.missing_code()] : Side{};
  for (std::size_t i = 0; i + 1 < seen; ++i)
    cuts(codes_[i], codes_[i + 1], false, before_[i], misses ? plus(behind_[i + 1], missing) : behind_[i + 1]);
  if (!misses) return;
  if (seen > 0) cuts(codes_[seen - 1], column.observed, false, before_.back(), missing);
  if (seen > 0) cuts(0, codes_[0], true, missing, behind_[0]);
  for (std::size_t i = 0; i + 1 < seen; ++i)
    cuts(codes_[i], codes_[i + 1], true, plus(before_[i], missing), behind_[i + 1]);
}

void Divider::divide_levels(std::uint32_t feature) {
  const Side left = bins_[codes_[0]];
  divide_level(feature, 1, left, empty_side(), std::uint64_t{1} << codes_[0]);
}

/// Sends the levels from `level` on to either side. The first one that the set has goes left: whether it or the other
/// side has level 0 of the column, a level set with its complement is one division.
void Divider::divide_level(std::uint32_t feature, std::size_t level, Side left, Side right, std::uint64_t subset) {
  if (level == codes_.size()) {
    if (right.rows == 0 || std::min(left.rows, right.rows) < problem_.prior.min_leaf) return;
    Division division{.feature = feature, .subset = subset};
    for (const std::uint32_t code : codes_) division.present |= std::uint64_t{1} << code;
    division.rules = std::ldexp(1.0, static_cast<int>(problem_.design.columns[feature].n_codes() - codes_.size()));
    division.left = left;
    division.right = right;
    add(division, 0);
    return;
  }
  const std::size_t mark = sums_.size();
  const std::size_t found = divisions_.size();
  const Side bin = bins_[codes_[level]];
  divide_level(feature, level + 1, plus(left, bin), right, subset | std::uint64_t{1} << codes_[level]);
  if (divisions_.size() == found) sums_.resize(mark);
  divide_level(feature, level + 1, left, plus(right, bin), subset);
}

}  // namespace baytree::cart::exact
