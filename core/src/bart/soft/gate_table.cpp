#include "baytree/bart/soft/gate_table.hpp"

#include "baytree/bart/soft/gate.hpp"
#include "baytree/base/simd.hpp"

namespace baytree::bart {
namespace {

BAYTREE_CLONES void fill(const Gate& gate, std::uint32_t codes, float* right) {
  for (std::uint32_t code = 0; code < codes; ++code) right[code] = gate.right(code);
}

}  // namespace

void fill_gate(const Column& column, const Rule& rule, bool missing_left, std::span<float> right) {
  if (rule.bandwidth > 0.0f) {
    fill(Gate(rule.cut, column.observed, rule.bandwidth), column.observed, right.data());
  } else {
    for (std::uint32_t code = 0; code < column.observed; ++code)
      right[code] = (column.categorical ? (rule.subset >> code & 1) != 0 : code <= rule.cut) ? 0.0f : 1.0f;
  }
  right[column.missing_code()] = missing_left ? 0.0f : 1.0f;
}

}  // namespace baytree::bart
