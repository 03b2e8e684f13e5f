#include "baytree/bart/hard/pass.hpp"

#include <algorithm>

namespace baytree::bart {
namespace {

constexpr std::size_t lanes = 16;

template <bool Weighted>
void any_leaves(const Pass& pass, std::size_t begin, std::size_t end, PassSums& out) {
  float sum[(most_leaves + 1) * lanes], weight[Weighted ? (most_leaves + 1) * lanes : 1];
  float right[lanes] = {}, right_weight[2][lanes] = {};
  std::uint64_t rows[2] = {};
  std::fill_n(sum, pass.leaves * lanes, 0.0f);
  if constexpr (Weighted) std::fill_n(weight, pass.leaves * lanes, 0.0f);
  for (std::size_t i = begin; i < end; ++i) {
    if (pass.changed) {
      const float change = pass.change[pass.changed[i]];
      pass.residual[i] = pass.multiplies ? pass.residual[i] * change : pass.residual[i] + change;
    }
    const std::size_t lane = i % lanes, leaf = pass.leaf[i];
    float value = pass.residual[i];
    if constexpr (Weighted) {
      value *= pass.weight[i];
      weight[leaf * lanes + lane] += pass.weight[i];
    }
    sum[leaf * lanes + lane] += value;
    if (!pass.rule.code || !pass.rule.goes_right(i) || (leaf != pass.first && leaf != pass.second)) continue;
    const std::size_t side = leaf != pass.first;
    right[lane] += value;
    ++rows[side];
    if constexpr (Weighted) right_weight[side][lane] += pass.weight[i];
  }
  for (std::size_t leaf = 0; leaf < pass.leaves; ++leaf) {
    out.sum[leaf] = sum_of_lanes(sum + leaf * lanes);
    if constexpr (Weighted) out.weight[leaf] = sum_of_lanes(weight + leaf * lanes);
  }
  out.right_sum = sum_of_lanes(right);
  for (std::size_t side = 0; side < 2; ++side) {
    out.right_rows[side] = rows[side];
    out.right_weight[side] = Weighted ? sum_of_lanes(right_weight[side]) : static_cast<double>(rows[side]);
  }
}

}  // namespace

BlockPass passes::plain(const Pass& pass) { return pass.weight ? any_leaves<true> : any_leaves<false>; }

BlockPass block_pass(const Pass& pass, Simd simd) {
  BlockPass found = nullptr;
  if (simd == Simd::avx512) found = passes::avx512(pass);
  if (simd == Simd::avx2) found = passes::avx2(pass);
  return found ? found : passes::plain(pass);
}

}  // namespace baytree::bart
