#include "baytree/trees/predictor.hpp"

#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"

namespace baytree {

Predictor::Predictor(const ForestView& forest, std::span<const Column> columns) : columns_(columns.size()) {
  steps_.reserve(forest.feature.size());
  for (std::size_t tree = 0; tree < forest.begin.size(); ++tree) {
    const Nodes nodes = unpack_tree(forest, tree, columns);
    roots_.push_back(steps_.size());
    first_leaf_.push_back(leaves_);
    std::uint32_t leaf = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      if (node.is_leaf()) {
        steps_.push_back({-1, leaf++, 0, 0, false, false});
        continue;
      }
      const Column& column = columns[node.rule.feature];
      const std::size_t right = right_child(nodes, i);
      steps_.push_back({static_cast<std::int32_t>(node.rule.feature), static_cast<std::uint32_t>(right - i),
                        column.categorical ? node.rule.subset : node.rule.cut, column.missing_code(),
                        column.categorical,
                        missing_goes_left(column, node.rule, nodes[left_child(i)].rows(), nodes[right].rows())});
    }
    leaves_ += leaf;
  }
}

std::size_t Predictor::leaf_of(std::size_t tree, const std::uint32_t* codes) const {
  const Step* step = &steps_[roots_[tree]];
  while (step->feature >= 0) {
    const std::uint32_t code = codes[step->feature];
    bool left = step->missing_left;
    if (code < step->missing) left = step->categorical ? (step->test >> code & 1) != 0 : code <= step->test;
    step += left ? 1 : step->right;
  }
  return first_leaf_[tree] + step->right;
}

void Predictor::apply(std::span<const std::uint32_t> codes, std::size_t rows, std::span<std::int64_t> out) const {
  if (codes.size() != rows * columns_ || out.size() != rows * trees())
    throw InputError("predict: arrays of the wrong size");
  for (std::size_t tree = 0; tree < trees(); ++tree) {
    heed_interruption();
    for (std::size_t row = 0; row < rows; ++row)
      out[tree * rows + row] = static_cast<std::int64_t>(leaf_of(tree, &codes[row * columns_]));
  }
}

void Predictor::accumulate(std::span<const std::uint32_t> codes, std::size_t rows, std::size_t first,
                           std::span<const double> weight, std::span<const double> values, std::size_t width,
                           std::span<double> out) const {
  const std::size_t last = first + weight.size();
  if (last > trees() || first > last) throw InputError("predict: no such trees");
  const auto first_leaf = [&](std::size_t tree) { return tree < trees() ? first_leaf_[tree] : leaves_; };
  if (codes.size() != rows * columns_ || values.size() != (first_leaf(last) - first_leaf(first)) * width ||
      out.size() != rows * width)
    throw InputError("predict: arrays of the wrong size");
  for (std::size_t tree = first; tree < last; ++tree) {
    heed_interruption();
    for (std::size_t row = 0; row < rows; ++row) {
      const double* value = &values[(leaf_of(tree, &codes[row * columns_]) - first_leaf(first)) * width];
      double* sum = &out[row * width];
      for (std::size_t k = 0; k < width; ++k) sum[k] += weight[tree - first] * value[k];
    }
  }
}

}  // namespace baytree
