#include "baytree/knowledge/monotone.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "baytree/base/error.hpp"

namespace baytree {
namespace {

constexpr std::uint32_t unused = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Cone::Cone(const Design& design, std::vector<int> signs)
    : columns_(design.columns), signs_(std::move(signs)), place_(columns_.size(), unused) {
  if (signs_.size() != columns_.size())
    throw InputError("monotone: " + std::to_string(signs_.size()) + " signs for " + std::to_string(columns_.size()) +
                     " columns");
  for (std::size_t j = 0; j < signs_.size(); ++j) {
    if (signs_[j] < -1 || signs_[j] > 1)
      throw InputError("monotone: the sign of a column is -1, 0 or 1, not " + std::to_string(signs_[j]));
    if (signs_[j] != 0 && columns_[j].categorical)
      throw InputError("monotone: column " + std::to_string(j) + " is categorical: its levels have no order to follow");
  }
}

void Cone::read(std::span<const Node> nodes, std::size_t at, std::span<const Node> part) {
  const std::size_t old = nodes[at].size, count = nodes.size() - old + part.size();
  const auto node = [&](std::size_t i) -> const Node& {
    return i < at ? nodes[i] : i < at + part.size() ? part[i - at] : nodes[i - part.size() + old];
  };
  const auto leaves = [&](std::size_t i) {  // of the subtree at i
    const std::size_t size = i < at && at < i + nodes[i].size ? nodes[i].size - old + part.size() : node(i).size;
    return (size + 1) / 2;
  };
  for (const std::uint32_t feature : used_) place_[feature] = unused;
  used_.clear();
  splits_.clear();
  bool ordered = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (node(i).is_leaf()) continue;
    const std::uint32_t feature = node(i).rule.feature;
    ordered |= signs_[feature] != 0;
    if (place_[feature] != unused) continue;
    place_[feature] = static_cast<std::uint32_t>(used_.size());
    used_.push_back(feature);
  }
  if (!ordered) return;  // no pair to look at
  open_.clear();
  regions_.clear();
  for (const std::uint32_t feature : used_) {
    const Column& column = columns_[feature];
    open_.push_back({.levels = ~std::uint64_t{0} >> (63 - std::min(column.missing_code(), 63u)),
                     .low = 0,
                     .high = column.observed - 1,
                     .missing = true});
  }
  const std::size_t width = used_.size();
  for (std::size_t i = 0, leaf = 0; i < count; ++i) {
    const std::size_t top = open_.size() - width;
    const Node& here = node(i);
    if (here.is_leaf()) {
      regions_.insert(regions_.end(), open_.begin() + static_cast<std::ptrdiff_t>(top), open_.end());
      open_.resize(top);
      ++leaf;
      continue;
    }
    // The right child's sides replace the node's, the left child's lie on top of them.
    for (std::size_t side = top; side < top + width; ++side) open_.push_back(Side(open_[side]));
    const Rule& rule = here.rule;
    const Row left_rows = node(i + 1).rows();
    const bool missing_left = missing_goes_left(columns_[rule.feature], rule, left_rows, here.rows() - left_rows);
    const std::size_t place = place_[rule.feature];
    narrow(open_[top + width + place], open_[top + place], rule, missing_left);
    if (const int sign = signs_[rule.feature]) splits_.push_back({leaf, leaf + leaves(i + 1), leaf + leaves(i), sign});
  }
}

void Cone::narrow(Side& left, Side& right, const Rule& rule, bool missing_left) const {
  const Column& column = columns_[rule.feature];
  if (column.categorical) {
    const std::uint64_t missing = std::uint64_t{1} << column.missing_code();
    const std::uint64_t set = missing_left ? rule.subset | missing : rule.subset & ~missing;
    left.levels &= set;
    right.levels &= ~set;
    return;
  }
  left.high = std::min(left.high, rule.cut);
  right.low = std::max(right.low, rule.cut + 1);
  left.missing &= missing_left;
  right.missing &= !missing_left;
}

/// Whether some x in one leaf and x' in the other are in that order, or equal, in all columns with a sign, and equal in
/// all others.
bool Cone::precedes(std::size_t leaf, std::size_t other) const {
  const std::size_t width = used_.size();
  const Side *a = &regions_[leaf * width], *b = &regions_[other * width];
  for (std::size_t i = 0; i < width; ++i, ++a, ++b) {
    const std::uint32_t feature = used_[i];
    if (columns_[feature].categorical) {
      if ((a->levels & b->levels) == 0) return false;
      continue;
    }
    if (a->missing && b->missing) continue;
    if (a->low > a->high || b->low > b->high) return false;
    const int sign = signs_[feature];
    if (sign >= 0 && a->low > b->high) return false;
    if (sign <= 0 && a->high < b->low) return false;
  }
  return true;
}

bool Cone::contains(std::span<const double> values, std::size_t first, std::size_t last) const {
  for (const Split& split : splits_) {
    if (split.last <= first || last <= split.first) continue;
    for (std::size_t left = split.first; left < split.middle; ++left) {
      const bool concerned = left >= first && left < last;
      const std::size_t begin = concerned ? split.middle : std::max(split.middle, first),
                        end = concerned ? split.last : std::min(split.last, last);
      for (std::size_t right = begin; right < end; ++right) {
        const std::size_t low = split.sign > 0 ? left : right, high = split.sign > 0 ? right : left;
        if (!(values[low] <= values[high]) && precedes(low, high)) return false;
      }
    }
  }
  return true;
}

RandomOrder::RandomOrder(const Design& design, const std::vector<int>& signs) {
  if (!signs.empty()) cone_.emplace(design, signs);
}

bool RandomOrder::is_monotone(std::span<const Node> nodes, Stream& stream) {
  if (!cone_) return true;
  values_.resize((nodes.size() + 1) / 2);
  for (double& value : values_) value = stream.uniform();
  cone_->read(nodes);
  return cone_->contains(values_, 0, values_.size());
}

}  // namespace baytree
