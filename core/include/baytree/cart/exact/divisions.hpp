#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/cart/exact/contexts.hpp"
#include "baytree/cart/exact/memo.hpp"
#include "baytree/cart/exact/patterns.hpp"

namespace baytree::cart::exact {

/// One side of a division of a set of rows.
struct Side {
  Key key;
  Row rows = 0;
  std::uint32_t patterns = 0;
  std::size_t statistics = 0;  // their place in the divider
};

/// Rules of one feature that divide a set of rows alike: cuts that follow each other, with missing values on one side
/// or, where the set has none, on either; or the level sets that differ in levels that the set lacks.
struct Division {
  std::uint32_t feature = 0;
  std::uint32_t cut = 0, cuts = 0;  // numeric: the first, and how many
  bool missing_left = false, either = false;
  std::uint64_t subset = 0, present = 0;  // categorical: levels that the left side has, and that the set has
  double rules = 1.0;                     // how many
  std::uint64_t boxes_left = 0;
  Side left, right;
};

/// Finds the divisions of sets of rows. Holds buffers, so each thread has its own.
class Divider {
 public:
  Divider(const Problem& problem, const Patterns& patterns, const Memo& memo, const Restrictions& restrictions);

  /// Takes a set of rows: its patterns, ascending, and what they sum up to.
  void take(const RowSet& set);
  /// Finds the divisions by rules that leave `min_leaf` rows on both sides, of the features that are free at some of
  /// its depths: one entry a depth.
  void divide(std::span<const Freedom* const> freedom, std::uint64_t boxes);

  const Side& whole() const { return whole_; }
  const std::vector<std::uint32_t>& members() const { return members_; }
  const double* statistics(const Side& side) const { return sums_.data() + side.statistics; }
  const std::vector<Division>& divisions() const { return divisions_; }

 private:
  void read_bins(std::uint32_t feature);
  void read_two_codes();
  void divide_two_codes(std::uint32_t feature, std::uint32_t place);
  Side empty_side();
  Side plus(const Side& a, const Side& b);
  void divide_numeric(std::uint32_t feature, std::uint64_t boxes);
  void divide_levels(std::uint32_t feature);
  void divide_level(std::uint32_t feature, std::size_t level, Side left, Side right, std::uint64_t subset);
  void add(const Division& division, std::uint64_t boxes);

  const Problem& problem_;
  const Patterns& patterns_;
  const Memo& memo_;
  const Restrictions& restrictions_;
  Bits bits_;
  std::vector<std::uint32_t> members_;
  Side whole_;
  std::vector<Side> bins_;            // by code
  std::vector<std::uint32_t> codes_;  // those of numeric features that the set has, ascending; or its levels
  std::vector<Side> before_, behind_;
  std::vector<std::uint64_t> two_codes_;  // by place: the key of the rarer code, and its counts, packed
  std::vector<std::uint64_t> packed_;
  std::vector<double> counts_;
  std::vector<double> sums_;
  std::vector<Division> divisions_;
};

}  // namespace baytree::cart::exact
