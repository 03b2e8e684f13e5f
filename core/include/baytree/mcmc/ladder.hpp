#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace baytree {

/// A ladder is the powers of the likelihood at the rungs of a tempered chain, relative to the coldest: 1 first, then
/// falling.
using Ladder = std::vector<double>;

/// Throws InputError unless it is one.
void check_ladder(std::span<const double> ladder);

/// Moves the inner rungs so that a swap is rejected equally often between all neighbours (Syed, Bouchard-Côté,
/// Deligiannidis and Doucet 2022). `rejection` holds the rates between neighbours as they were seen. Their running sum,
/// the communication barrier as a function of the power, is interpolated linearly and divided into equal parts.
Ladder respaced(std::span<const double> ladder, std::span<const double> rejection);

}  // namespace baytree
