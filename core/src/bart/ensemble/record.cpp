#include "baytree/bart/ensemble/record.hpp"

#include "baytree/base/error.hpp"

namespace baytree::bart {

void append_values(std::span<const std::unique_ptr<TreeSum>> sums, std::vector<float>& to) {
  for (const auto& sum : sums)
    for (std::size_t t = 0; t < sum->size(); ++t) to.insert(to.end(), sum->values(t).begin(), sum->values(t).end());
}

void append_bandwidths(std::span<const std::unique_ptr<TreeSum>> sums, std::vector<float>& to) {
  for (const auto& sum : sums)
    for (std::size_t t = 0; t < sum->size(); ++t)
      for (const Node& node : sum->nodes(t))
        if (!node.is_leaf()) to.push_back(node.rule.bandwidth);
}

void TreeRecord::record() {
  auto place = places_.begin();
  for (const auto& sum : sums_) {
    for (std::size_t t = 0; t < sum->size(); ++t, ++place) {
      if (sum->take_changed(t) || *place < 0) {
        draws_.forest.add(sum->nodes(t));
        *place = static_cast<std::int32_t>(trees_++);
      }
      draws_.tree.push_back(*place);
    }
  }
  append_values(sums_, draws_.value);
  if (soft_) append_bandwidths(sums_, draws_.bandwidth);
}

void TreeRecord::begin_anew() {
  std::size_t trees = 0;
  for (const auto& sum : sums_) trees += sum->size();
  trees_ = 0;
  places_.assign(trees, -1);
}

std::vector<std::int32_t> TreeRecord::places() const {
  std::vector<std::int32_t> places = places_;
  auto place = places.begin();
  for (const auto& sum : sums_)
    for (std::size_t t = 0; t < sum->size(); ++t, ++place)
      if (sum->changed(t)) *place = -1;
  return places;
}

void TreeRecord::restore(std::uint64_t trees, const std::vector<std::int32_t>& places) {
  if (places.size() != places_.size()) throw InputError("chain: the saved state belongs to another model");
  for (const std::int32_t place : places)
    if (place >= 0 && static_cast<std::uint64_t>(place) >= trees)
      throw InputError("chain: the saved state refers to trees that are not there");
  trees_ = trees;
  places_ = places;
  auto place = places.begin();
  for (const auto& sum : sums_)
    for (std::size_t t = 0; t < sum->size(); ++t)
      if (*place++ >= 0) sum->take_changed(t);  // what is stored of a tree are its rules as they are here
}

}  // namespace baytree::bart
