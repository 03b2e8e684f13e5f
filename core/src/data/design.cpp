#include "baytree/data/design.hpp"

#include <algorithm>
#include <string>

#include "baytree/base/error.hpp"

namespace baytree {

void validate(const Design& design) {
  if (design.columns.empty()) throw InputError("no columns");
  if (design.rows == 0) throw InputError("no rows");
  for (std::size_t j = 0; j < design.columns.size(); ++j) {
    const Column& column = design.columns[j];
    const std::string name = "column " + std::to_string(j);
    if (column.categorical && column.observed > max_levels)
      throw InputError(name + ": " + std::to_string(column.observed) + " levels; at most " +
                       std::to_string(max_levels) + " are possible");
    std::visit(
        [&](auto codes) {
          if (codes.size() != design.rows)
            throw InputError(name + ": " + std::to_string(codes.size()) + " codes for " + std::to_string(design.rows) +
                             " rows");
          const std::uint32_t largest = *std::max_element(codes.begin(), codes.end());
          if (largest >= column.n_codes())
            throw InputError(name + ": code " + std::to_string(largest) + " but only " +
                             std::to_string(column.n_codes()) + " codes");
        },
        column.codes);
  }
}

}  // namespace baytree
