#pragma once

#include <memory>
#include <span>

#include "baytree/bart/ensemble/leaf.hpp"
#include "baytree/bart/ensemble/tree_sum.hpp"
#include "baytree/base/rng.hpp"

namespace baytree::bart {

/// The standard deviation of all leaf values, learned: half-Cauchy (Gelman 2006), as Linero and Yang (2018) have it for
/// soft trees, but cut off at some multiples of its scale. Above, so that it is known beforehand how far residuals
/// reach; below, as values lie on a grid: were they all rounded to 0, it would fall for ever.
class LeafSpread {
 public:
  explicit LeafSpread(double scale) : scale_(scale), sd_(scale) {}

  double sd() const { return sd_; }
  void restore(double sd);

  /// Draws it given the values of all trees of the sums, and hands it to them.
  void draw(std::span<const std::unique_ptr<TreeSum>> sums, Stream& stream);
  void hand_to(std::span<const std::unique_ptr<TreeSum>> sums) const;

 private:
  double least() const { return LeafPrior::least_scales * scale_; }
  double most() const { return LeafPrior::most_scales * scale_; }

  double scale_, sd_;
};

}  // namespace baytree::bart
