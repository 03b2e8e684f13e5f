#include "baytree/bart/soft/forest.hpp"

#include <algorithm>

namespace baytree::bart {

SoftForest::SoftForest(const Design& design)
    : rows_(design.rows),
      shares_(design.columns, std::min<std::size_t>(design.rows, soft_block)),
      weighted_(soft_block) {}

const LeafSystem& SoftForest::sum_up(std::span<const SoftTree> trees, const SoftRows& of) {
  std::size_t n = 0;
  for (const SoftTree& tree : trees) n += tree.values.size();
  sums_.clear(n);
  places_.resize(trees.size());
  columns_.resize(n + 1);
  for (std::size_t begin = 0; begin < rows_; begin += soft_block) {
    const std::size_t rows = std::min(soft_block, rows_ - begin);
    shares_.look_at(begin, rows);
    for (std::size_t t = 0; t < trees.size(); ++t) shares_.grow(trees[t].nodes, SoftShares::root, places_[t]);
    auto column = columns_.begin();
    for (std::size_t t = 0; t < trees.size(); ++t)
      for (std::size_t i = 0; i < places_[t].size(); ++i)
        if (trees[t].nodes[i].is_leaf()) *column++ = shares_[places_[t][i]];
    *column = of.residual + begin;
    for (std::size_t k = 0; k < n; ++k) {
      const float* share = columns_[k];
      if (of.weight) {
        multiply(share, of.weight + begin, padded(rows), weighted_.data());
        share = weighted_.data();
      }
      add_dots(share, &columns_[k], n + 1 - k, padded(rows), sums_.row(k) + k);
    }
    for (const std::vector<SoftShares::Place>& places : places_) shares_.forget(places);
  }
  return sums_;
}

void SoftForest::add(std::span<const SoftTree> trees, float times, float rounder, float* residual) {
  places_.resize(1);
  for (std::size_t begin = 0; begin < rows_; begin += soft_block) {
    const std::size_t rows = std::min(soft_block, rows_ - begin);
    shares_.look_at(begin, rows);
    for (const SoftTree& tree : trees) {
      shares_.grow(tree.nodes, SoftShares::root, places_[0]);
      columns_.clear();
      for (std::size_t i = 0; i < tree.nodes.size(); ++i)
        if (tree.nodes[i].is_leaf()) columns_.push_back(shares_[places_[0][i]]);
      add_fit(columns_.data(), tree.values.data(), columns_.size(), padded(rows), times, rounder, residual + begin);
      shares_.forget(places_[0]);
    }
  }
}

}  // namespace baytree::bart
