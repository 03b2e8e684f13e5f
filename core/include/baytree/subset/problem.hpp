#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "baytree/subset/evidence.hpp"

namespace baytree::subset {

using Column = std::uint32_t;
using Unit = std::uint32_t;

/// What can be chosen in a linear model, and what is known of it: cross products, units of columns that enter together,
/// and priors.
///
/// A model is a set of units. Its prior probability is proportional to exp(log_size[u] + Σ log_odds) where u is its
/// number of free units, and 0 where an interaction lacks its parents. Where coefficients have a g-prior, models of
/// linearly dependent columns do not exist.
struct Problem {
  std::span<const double> gram;      // X'X, of columns × columns
  std::span<const double> response;  // X'y
  Evidence evidence;
  std::vector<Column> unit_begin;  // the first column of each unit, and one more
  std::vector<bool> free;          // whether a unit may be left out; the others are always in
  std::vector<std::vector<Unit>> parents;
  bool weak = false;  // whether one parent is enough
  std::vector<double> log_size, log_odds;
  std::vector<std::vector<Unit>> children = {};
  std::vector<Unit> free_units = {};

  std::size_t columns() const { return response.size(); }
  std::size_t units() const { return free.size(); }
  std::size_t size(Unit unit) const { return unit_begin[unit + 1] - unit_begin[unit]; }
  double cross(Column i, Column j) const { return gram[i * columns() + j] + (i == j ? evidence.ridge() : 0.0); }
  /// The least part of a column's own square that others may leave unexplained.
  double least_pivot(Column j) const { return (evidence.ridge() > 0.0 ? 1e-14 : 1e-8) * cross(j, j); }

  /// Throws InputError unless the parts fit each other; fills in the last two.
  void prepare();
};

}  // namespace baytree::subset
