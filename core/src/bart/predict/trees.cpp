#include "baytree/bart/predict/trees.hpp"

#include <limits>
#include <string>

#include "baytree/base/error.hpp"

namespace baytree::bart {
namespace {

/// The codes that go right at a split, as ranges; the missing code is one of them where missing values do.
void add_ranges(const Column& column, const Rule& rule, bool missing_left, std::vector<CodeRange>& ranges) {
  const auto add = [&](std::uint32_t low, std::uint32_t last) { ranges.push_back({low, last - low}); };
  const std::uint32_t missing = column.missing_code();
  if (!column.categorical) return add(rule.cut + 1, missing_left ? missing - 1 : missing);
  const auto goes_right = [&](std::uint32_t code) {
    return code == missing ? !missing_left : (rule.subset >> code & 1) == 0;
  };
  for (std::uint32_t code = 0; code <= missing; ++code) {
    if (!goes_right(code)) continue;
    const std::uint32_t low = code;
    while (code < missing && goes_right(code + 1)) ++code;
    add(low, code);
  }
}

}  // namespace

StoredTrees::StoredTrees(const ForestView& forest, std::span<const Column> columns) : columns_(columns.size()) {
  const std::size_t splits = forest.feature.size() / 2;  // and a range of codes for each, but of odd sets of levels
  splits_.reserve(splits);
  ranges_.reserve(splits);
  right_rows_.reserve(splits);
  begin_.reserve(forest.begin.size() + 1);
  std::vector<std::uint32_t> place(columns.size(), 0);  // of each column among those asked about, counted from 1
  for (std::size_t tree = 0; tree < forest.begin.size(); ++tree) {
    const Nodes nodes = unpack_tree(forest, tree, columns);
    if (nodes.size() / 2 + 1 > most_leaves)
      throw InputError("tree " + std::to_string(tree) + ": " + std::to_string(nodes.size() / 2 + 1) +
                       " leaves; a tree of a sum has at most " + std::to_string(most_leaves));
    add_tree(nodes, columns, place);
  }
}

void StoredTrees::add_tree(const Nodes& nodes, std::span<const Column> columns, std::vector<std::uint32_t>& place) {
  const auto leaves = [&](std::size_t node) { return static_cast<std::uint8_t>(nodes[node].size / 2 + 1); };
  std::uint8_t first = 0;  // leaves before the node, and so the number of its first leaf
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].is_leaf()) {
      ++first;
      continue;
    }
    const Rule& rule = nodes[i].rule;
    const Column& column = columns[rule.feature];
    if (place[rule.feature] == 0) {
      asked_.push_back({rule.feature, column.missing_code(), column.categorical,
                        column.missing_code() > std::numeric_limits<std::uint8_t>::max()});
      place[rule.feature] = static_cast<std::uint32_t>(asked_.size());
    }
    const std::size_t left = left_child(i), right = right_child(nodes, i), range = ranges_.size();
    const Row left_rows = nodes[left].rows(), right_rows = nodes[right].rows();
    add_ranges(column, rule, missing_goes_left(column, rule, left_rows, right_rows), ranges_);
    const double rows = static_cast<double>(left_rows) + right_rows;
    right_rows_.push_back(rows > 0 ? right_rows / rows : 0.5);
    splits_.push_back({place[rule.feature] - 1, static_cast<std::uint32_t>(range),
                       static_cast<std::uint8_t>(ranges_.size() - range), first,
                       static_cast<std::uint8_t>(first + leaves(left)), static_cast<std::uint8_t>(first + leaves(i))});
  }
  begin_.push_back(splits_.size());
}

void StoredTrees::check(const StoredDraws& draws) const {
  if (draws.trees == 0 || draws.outputs == 0 || draws.tree_index.size() % draws.trees != 0 ||
      draws.trees % draws.outputs != 0)
    throw InputError("sums of trees: " + std::to_string(draws.tree_index.size()) + " places are no draws of " +
                     std::to_string(draws.trees) + " trees for " + std::to_string(draws.outputs) + " outputs");
  std::size_t values = 0;
  for (const std::int32_t tree : draws.tree_index) {
    if (tree < 0 || static_cast<std::size_t>(tree) >= size())
      throw InputError("sums of trees: there is no tree " + std::to_string(tree) + ", " + std::to_string(size()) +
                       " are stored");
    values += leaves(tree);
  }
  if (draws.values.size() != values)
    throw InputError("sums of trees: " + std::to_string(draws.values.size()) + " leaf values for " +
                     std::to_string(values) + " leaves");
  const std::size_t splits = values - draws.tree_index.size();
  if (draws.soft() && draws.bandwidths.size() != splits)
    throw InputError("sums of trees: " + std::to_string(draws.bandwidths.size()) + " bandwidths for " +
                     std::to_string(splits) + " splits");
  for (const float bandwidth : draws.bandwidths)
    if (!(bandwidth >= 0 && bandwidth <= std::numeric_limits<float>::max()))
      throw InputError("sums of trees: bandwidth " + std::to_string(bandwidth) + " is not a number of 0 or more");
}

}  // namespace baytree::bart
