#include "baytree/bart/predict/class_probabilities.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "baytree/base/interruption.hpp"
#include "baytree/base/simd.hpp"

namespace baytree::bart {
namespace {

// Points of u lie 3/8 apart, from 6 below the largest mean to 6 above. A mean that is more than 9 below the largest is
// never the largest, and never in the way.
constexpr int points = 33, furthest = 9;
constexpr double spacing = 0.375, lowest = -6.0;
// Φ and φ are tabulated at `steps` places for each point; entry [s][i] is at lowest + (i + s / steps) · spacing, so
// that the points lie side by side.
constexpr int steps = 12, columns = points + static_cast<int>(furthest / spacing) + 1;

using Points = std::array<double, points>;

struct NormalTable {
  double cumulative[steps][columns], density[steps][columns];

  NormalTable() {
    for (int s = 0; s < steps; ++s)
      for (int i = 0; i < columns; ++i) {
        const double x = lowest + (i + static_cast<double>(s) / steps) * spacing;
        cumulative[s][i] = 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2);
        density[s][i] = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
      }
  }
};

/// Φ and φ of all points for a mean so far below the largest. All points lie equally far behind an entry of the table:
/// one short step of Taylor's series.
BAYTREE_CLONES void normal_of_points(const NormalTable& table, double distance, double* __restrict cumulative,
                                     double* __restrict density) {
  const double place = (distance < furthest ? distance : furthest) / spacing * steps;  // furthest if it is no number
  const int entry = static_cast<int>(place), column = entry / steps, step = entry % steps;
  const double rest = (place - entry) * spacing / steps, first = lowest + entry * (spacing / steps);
  const double *known_cumulative = table.cumulative[step] + column, *known_density = table.density[step] + column;
  for (int i = 0; i < points; ++i) {
    const double x = first + i * spacing, square = x * x;
    // Hermite's polynomials over factorials
    const double one = -x * rest, two = (square - 1) * rest * rest / 2,
                 three = -x * (square - 3) * rest * rest * rest / 6;
    cumulative[i] = known_cumulative[i] + known_density[i] * rest * (1 + one / 2 + two / 3 + three / 4);
    density[i] = known_density[i] * (1 + one + two + three);
  }
}

}  // namespace

void class_probabilities(std::span<const double> means, std::size_t classes, std::span<double> out) {
  static const NormalTable table;
  std::vector<Points> cumulative(classes), density(classes);
  for (std::size_t row = 0; row + classes <= means.size(); row += classes) {
    heed_interruption();
    const double* mean = &means[row];
    const double largest = *std::max_element(mean, mean + classes);
    Points product;
    product.fill(1.0);
    for (std::size_t k = 0; k < classes; ++k) {
      normal_of_points(table, largest - mean[k], cumulative[k].data(), density[k].data());
      for (int i = 0; i < points; ++i) {
        density[k][i] *= product[i];
        product[i] *= cumulative[k][i];
      }
    }
    product.fill(1.0);
    double total = 0.0;
    for (std::size_t k = classes; k-- > 0;) {
      double probability = 0.0;
      for (int i = 0; i < points; ++i) {
        probability += density[k][i] * product[i];
        product[i] *= cumulative[k][i];
      }
      out[row + k] = probability;
      total += probability;
    }
    for (std::size_t k = 0; k < classes; ++k) out[row + k] /= total;
  }
}

}  // namespace baytree::bart
