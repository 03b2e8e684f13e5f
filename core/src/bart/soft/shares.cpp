#include "baytree/bart/soft/shares.hpp"

#include <algorithm>

#include "baytree/bart/soft/gate_table.hpp"
#include "baytree/bart/soft/pass.hpp"

namespace baytree::bart {

SoftShares::SoftShares(std::span<const Column> columns, std::size_t rows)
    : columns_(columns), stride_(padded(rows)), shares_(stride_) {
  std::uint32_t codes = 0;
  for (const Column& column : columns) codes = std::max(codes, column.observed + 1);
  gate_.resize(codes);
  look_at(0, rows);
}

void SoftShares::look_at(std::size_t begin, std::size_t rows) {
  begin_ = begin;
  rows_ = rows;
  std::fill_n(shares_.begin(), rows, 1.0f);
  std::fill(shares_.begin() + static_cast<std::ptrdiff_t>(rows), shares_.begin() + static_cast<std::ptrdiff_t>(stride_),
            0.0f);
}

SoftShares::Place SoftShares::take() {
  if (free_.empty()) {
    free_.push_back(static_cast<Place>(shares_.size() / stride_));
    shares_.resize(shares_.size() + stride_);
  }
  const Place place = free_.back();
  free_.pop_back();
  return place;
}

void SoftShares::grow(std::span<const Node> nodes, Place top, std::vector<Place>& places) {
  places.resize(nodes.size());
  places[0] = top;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].is_leaf()) continue;
    const std::size_t left = i + 1, right = left + nodes[left].size;
    places[left] = take();
    places[right] = take();
    const Rule& rule = nodes[i].rule;
    const Column& column = columns_[rule.feature];
    fill_gate(column, rule, missing_goes_left(column, rule, nodes[left].rows(), nodes[right].rows()), gate_);
    float* shares = shares_.data();
    with_codes(column, [&](const auto* codes) {
      divide_shares(codes + begin_, rows_, gate_.data(), shares + places[i] * stride_, shares + places[left] * stride_,
                    shares + places[right] * stride_);
    });
  }
}

}  // namespace baytree::bart
