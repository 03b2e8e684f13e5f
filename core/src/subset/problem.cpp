#include "baytree/subset/problem.hpp"

#include <cmath>

#include "baytree/base/error.hpp"
#include "baytree/base/numeric.hpp"

namespace baytree::subset {

void Problem::prepare() {
  const std::size_t p = columns(), n = units();
  if (p == 0 || n == 0 || gram.size() != p * p) throw InputError("subset: the cross products do not fit the columns");
  if (unit_begin.size() != n + 1 || unit_begin.front() != 0 || unit_begin.back() != p)
    throw InputError("subset: the units do not fit the columns");
  for (std::size_t i = 0; i < n; ++i)
    if (unit_begin[i] >= unit_begin[i + 1]) throw InputError("subset: a unit has no column");
  if (parents.size() != n || log_odds.size() != n) throw InputError("subset: parents and odds do not fit the units");
  for (std::size_t i = 0; i < p; ++i) {
    if (!(std::fabs(response[i]) < infinity)) throw InputError("subset: a cross product is no number");
    for (std::size_t j = 0; j < p; ++j)
      if (!(std::fabs(gram[i * p + j]) < infinity)) throw InputError("subset: a cross product is no number");
  }
  children.assign(n, {});
  free_units.clear();
  for (Unit unit = 0; unit < n; ++unit) {
    if (free[unit]) free_units.push_back(unit);
    if (!(std::fabs(log_odds[unit]) < infinity)) throw InputError("subset: odds must be finite");
    for (const Unit parent : parents[unit]) {
      if (parent >= unit) throw InputError("subset: a parent must come before its interactions");
      children[parent].push_back(unit);
    }
  }
  if (log_size.size() != free_units.size() + 1) throw InputError("subset: one prior probability a size is needed");
  bool any = false;
  for (const double log_probability : log_size) {
    if (!(log_probability < infinity)) throw InputError("subset: a size's prior probability is no number");
    any = any || log_probability > -infinity;
  }
  if (!any) throw InputError("subset: every size has prior probability 0");
}

}  // namespace baytree::subset
