#pragma once

#include <cstdint>
#include <vector>

#include "baytree/base/rng.hpp"

namespace baytree::bart {

/// How likely each column is to be chosen for a rule, among those that have one.
class ColumnWeights {
 public:
  /// By their logarithms, up to a constant: learned weights may be too small for numbers.
  explicit ColumnWeights(std::vector<double> log_weights) { set(std::move(log_weights)); }

  void set(std::vector<double> log_weights);
  double log_weight(std::uint32_t column) const { return log_weights_[column]; }

  /// A column by its weight.
  std::uint32_t draw(Stream& stream) const;
  /// The same among the columns that are not `tried`, of which there must be one.
  std::uint32_t draw_untried(const std::vector<bool>& tried, Stream& stream) const;

 private:
  std::vector<double> log_weights_,
      before_;  // the latter: sums of the weights before each column and, at the end, of all
  bool equal_ = true;
};

}  // namespace baytree::bart
