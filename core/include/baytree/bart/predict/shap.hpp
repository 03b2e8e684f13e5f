#pragma once

#include <cstdint>
#include <span>

#include "baytree/bart/predict/predictor.hpp"

namespace baytree::bart {

/// Shapley values of sums of trees: how much each column adds to what is expected of a row of which nothing is known.
/// Of columns that are not known, a split takes both ways by the shares of its training rows, as in the path-dependent
/// TreeSHAP of Lundberg et al. (2020).
///
/// A leaf is a game of its own: of the columns on the way to it, column j has a share o_j of the row that goes its way
/// if it is known, and w_j of the training rows if it is not, and the leaf gives its value times the product. By the
/// multilinear extension of a game (Owen 1972) the Shapley value of column i is value · (o_i − w_i) ∫₀¹ Π_{j≠i} (t o_j
/// + (1 − t) w_j) dt, a polynomial in t that Gauss and Legendre's rule integrates exactly.
///
/// Writes the value of column c for output k of draw d at row i to values[((d · outputs + k) · rows + i) · columns +
/// c], and what the output expects of an unknown row to expected[d · outputs + k]. Check the arguments first.
void shapley_values(const Predictor& predictor, const StoredDraws& draws, std::span<const std::uint32_t> codes,
                    std::size_t rows, std::span<double> values, std::span<double> expected);

}  // namespace baytree::bart
