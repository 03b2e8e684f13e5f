#pragma once

#include <memory>
#include <span>

#include "baytree/bart/ensemble/tree_sum.hpp"
#include "baytree/base/rng.hpp"

namespace baytree::bart {

/// The standard deviation of all leaf values, learned: half-Cauchy (Gelman 2006), as Linero and Yang (2018) have it for
/// soft trees, but cut off at so many times its scale. Above, so that it is known beforehand how far residuals reach;
/// below, as values lie on a grid: were they all rounded to 0, it would fall for ever.
class LeafSpread {
 public:
  static constexpr double least_scales = 1.0 / 1024, most_scales = 8.0;

  explicit LeafSpread(double scale) : scale_(scale), sd_(scale) {}

  double sd() const { return sd_; }
  void restore(double sd);

  /// Draws it given the values of all trees of the sums, and hands it to them.
  void draw(std::span<const std::unique_ptr<TreeSum>> sums, Stream& stream);
  void hand_to(std::span<const std::unique_ptr<TreeSum>> sums) const;

 private:
  double scale_, sd_;
};

}  // namespace baytree::bart
