#include "baytree/bart/soft/basis.hpp"

#include <algorithm>
#include <utility>

namespace baytree::bart {

SoftBasis::SoftBasis(const Design& design)
    : shares_(design.columns, design.rows), rows_(padded(design.rows)), weighted_(soft_block) {}

void SoftBasis::build(const Nodes& nodes) {
  if (!candidate_.empty()) shares_.forget(candidate_);
  if (!places_.empty()) shares_.forget(places_);
  candidate_.clear();
  shares_.grow(nodes, SoftShares::root, places_);
  leaves_.clear();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].is_leaf()) leaves_.push_back(places_[i]);
}

const LeafSystem& SoftBasis::sum_up(const SoftRows& rows) {
  before_.assign(leaves_.size(), fresh);
  sum_leaves(leaves_, rows, sums_);
  return sums_;
}

const LeafSystem& SoftBasis::consider(const Nodes& nodes, std::size_t at, std::span<const Node> instead,
                                      const SoftRows& rows) {
  if (!candidate_.empty()) shares_.forget(candidate_);
  at_ = at;
  replaced_ = nodes[at].size;
  shares_.grow(instead, places_[at], candidate_);
  candidate_leaves_.clear();
  before_.clear();
  std::size_t number = 0;
  const auto keep = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!nodes[i].is_leaf()) continue;
      candidate_leaves_.push_back(places_[i]);
      before_.push_back(number++);
    }
  };
  keep(0, at);
  for (std::size_t i = 0; i < instead.size(); ++i) {
    if (!instead[i].is_leaf()) continue;
    candidate_leaves_.push_back(candidate_[i]);
    before_.push_back(fresh);
  }
  number += (replaced_ + 1) / 2;
  keep(at + replaced_, nodes.size());
  sum_leaves(candidate_leaves_, rows, candidate_sums_);
  return candidate_sums_;
}

void SoftBasis::accept() {
  const auto first = places_.begin() + static_cast<std::ptrdiff_t>(at_),
             behind = first + static_cast<std::ptrdiff_t>(replaced_);
  shares_.forget({first, behind});
  places_.erase(first, behind);
  places_.insert(places_.begin() + static_cast<std::ptrdiff_t>(at_), candidate_.begin(), candidate_.end());
  candidate_.clear();
  std::swap(leaves_, candidate_leaves_);
  std::swap(sums_, candidate_sums_);
}

/// Sums what has a fresh leaf in it and copies the rest from the tree's own sums.
void SoftBasis::sum_leaves(std::span<const Place> leaves, const SoftRows& of, LeafSystem& out) {
  const std::size_t n = leaves.size();
  const auto is_fresh = [this](std::size_t leaf) { return before_[leaf] == fresh; };
  out.clear(n);
  for (std::size_t k = 0; k < n; ++k) {
    if (is_fresh(k)) continue;
    const double* from = sums_.row(before_[k]);
    for (std::size_t l = k; l < n; ++l)
      if (!is_fresh(l)) out.row(k)[l] = from[before_[l]];
    out.row(k)[n] = from[sums_.leaves];
  }
  columns_.resize(n + 1);
  for (std::size_t begin = 0; begin < rows_; begin += soft_block) {
    const std::size_t rows = std::min(soft_block, rows_ - begin);
    for (std::size_t k = 0; k < n; ++k) columns_[k] = shares_[leaves[k]] + begin;
    columns_[n] = of.residual + begin;
    for (std::size_t k = 0; k < n; ++k) {
      if (!is_fresh(k)) continue;
      const float* column = columns_[k];
      if (of.weight) {
        multiply(column, of.weight + begin, rows, weighted_.data());
        column = weighted_.data();
      }
      for (std::size_t l = 0; l < k; ++l)
        if (!is_fresh(l)) add_dots(column, &columns_[l], 1, rows, out.row(l) + k);
      add_dots(column, &columns_[k], n + 1 - k, rows, out.row(k) + k);
    }
  }
}

void SoftBasis::add(std::span<const float> values, float times, float rounder, float* residual) {
  columns_.resize(leaves_.size());
  for (std::size_t begin = 0; begin < rows_; begin += soft_block) {
    for (std::size_t k = 0; k < leaves_.size(); ++k) columns_[k] = shares_[leaves_[k]] + begin;
    add_fit(columns_.data(), values.data(), values.size(), std::min(soft_block, rows_ - begin), times, rounder,
            residual + begin);
  }
}

}  // namespace baytree::bart
