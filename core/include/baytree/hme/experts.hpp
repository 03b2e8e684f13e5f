#pragma once

#include <span>
#include <vector>

#include "baytree/hme/logit.hpp"

namespace baytree::hme {

// To add a kind of experts: a value of `ExpertKind` (problem), their draw here, their density in problem, and the value
// in bindings/hme.

/// Draws the experts of a soft tree given the rows that each of them has, the likelihood having a power.
class ExpertDraw {
 public:
  explicit ExpertDraw(const Problem& problem);

  /// Replaces the parameters of one expert.
  void draw(Leaf leaf, std::span<const Row> rows, double power, Parameters& parameters, Stream& stream);

 private:
  void draw_regression(Leaf leaf, std::span<const Row> rows, double power, Parameters& parameters, Stream& stream);
  void draw_classes(std::span<const Row> rows, double power, std::span<double> coefficients, Stream& stream);
  double log_likelihood(std::span<const Row> rows, std::span<const double> coefficients);

  const Problem* problem_;
  NormalSystem system_;
  LogitDraw logit_;
  std::vector<double> product_, scores_, other_, candidate_;
  std::vector<std::uint32_t> chosen_;
};

}  // namespace baytree::hme
