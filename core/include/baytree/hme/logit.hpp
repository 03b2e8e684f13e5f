#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "baytree/hme/normal_system.hpp"
#include "baytree/hme/problem.hpp"

namespace baytree::hme {

/// log Σ e^score, the last class having the score 0.
double log_total(std::span<const double> scores);

/// Draws the coefficients of multinomial logit models, one class at a time given the others (Polson, Scott and Windle
/// 2013). With c the log of the other classes' total and ψ = x'β − c, a class has the likelihood e^(ψ [own])/(1 + e^ψ),
/// which a variable ω ~ PG(1, ψ) of each row makes normal in β: of precision I/sd² + Σ ω x x' and with Σ x ([own] − ½ +
/// ω c) for the products.
class LogitDraw {
 public:
  LogitDraw(const Problem& problem, std::size_t classes, double sd);

  /// Replaces the coefficients (classes − 1, columns), given the class of each of some rows.
  void draw(std::span<const Row> rows, std::span<const std::uint32_t> chosen, std::span<double> coefficients,
            Stream& stream);

 private:
  void score(std::span<const Row> rows, std::span<const double> coefficients, std::size_t of_class);

  const Problem* problem_;
  std::size_t scored_;  // classes but the last
  double sd_;
  NormalSystem system_;
  std::vector<double> scores_;  // of each row and class but the last
};

}  // namespace baytree::hme
