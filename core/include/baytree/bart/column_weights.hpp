#pragma once

#include <cstdint>
#include <vector>

#include "baytree/rng.hpp"

namespace baytree {

/// How likely each column is to be chosen for a rule, among those that have one.
class ColumnWeights {
 public:
  explicit ColumnWeights(std::vector<double> weights) { set(std::move(weights)); }

  const std::vector<double>& weights() const { return weights_; }
  void set(std::vector<double> weights);

  /// A column by its weight.
  std::uint32_t draw(Stream& stream) const;
  /// The same among the columns that are not `tried`, of which there must be one.
  std::uint32_t draw_untried(const std::vector<bool>& tried, Stream& stream) const;

 private:
  std::vector<double> weights_, before_;  // the sums of the weights before each column and, at the end, of all
  bool equal_ = true;
};

}  // namespace baytree
