#pragma once

#include <cstddef>
#include <span>

namespace baytree::bart {

/// The probability of each of several independent normal variables of variance 1 to be the largest, given their means:
/// `classes` means after `classes` means, one class at least, and as many probabilities.
///
/// P(k) = ∫ φ(u − f_k) Π_{j≠k} Φ(u − f_j) du, for all k on one grid of u around the largest mean. The integrand is
/// smooth and falls off as a normal density does, so that the trapezoidal rule converges faster than any power: with
/// this grid the error is below 1e-7 for up to 26 classes and 1e-6 for up to 100.
void class_probabilities(std::span<const double> means, std::size_t classes, std::span<double> out);

}  // namespace baytree::bart
