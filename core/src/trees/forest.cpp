#include "baytree/trees/forest.hpp"

#include <string>

#include "baytree/base/error.hpp"

namespace baytree {
namespace {

void check_rule(const Rule& rule, const Column& column) {
  const auto refuse = [&](const char* why) {
    throw InputError("tree: rule on column " + std::to_string(rule.feature) + ": " + why);
  };
  if (column.categorical) {
    const std::uint64_t levels =
        column.n_codes() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << column.n_codes()) - 1;
    if ((rule.subset & ~levels) != 0 || (rule.subset & 1) == 0 || rule.subset == levels) refuse("no such level set");
  } else {
    // the cut behind the last observed code asks "is it missing?", with missing values right
    const std::uint32_t last = column.observed - 1;
    const bool asks_missing = column.has_missing && !rule.missing_left && rule.cut == last;
    if (rule.cut >= last && !asks_missing) refuse("no such cut");
    if (rule.missing_left && !column.has_missing) refuse("the column has no missing values");
  }
}

}  // namespace

void Forest::add(std::span<const Node> nodes) {
  begin.push_back(feature.size());
  for (const Node& node : nodes) {
    const bool leaf = node.is_leaf();
    feature.push_back(leaf ? -1 : static_cast<std::int32_t>(node.rule.feature));
    cut.push_back(leaf ? 0 : node.rule.cut);
    subset.push_back(leaf ? 0 : node.rule.subset);
    missing_left.push_back(!leaf && node.rule.missing_left);
    rows.push_back(node.rows());
  }
}

Nodes unpack_tree(const ForestView& forest, std::size_t tree, std::span<const Column> columns) {
  const std::size_t total = forest.feature.size();
  if (forest.cut.size() != total || forest.subset.size() != total || forest.missing_left.size() != total ||
      forest.rows.size() != total)
    throw InputError("tree: its arrays have different lengths");
  const std::uint64_t first = forest.begin[tree],
                      last = tree + 1 < forest.begin.size() ? forest.begin[tree + 1] : total;
  if (first >= last || last > total) throw InputError("tree " + std::to_string(tree) + ": its nodes are out of range");
  Nodes nodes;
  nodes.reserve(last - first);
  std::size_t open = 1;  // nodes that the ones read so far call for
  for (std::uint64_t i = first; i < last; ++i) {
    if (open == 0) throw InputError("tree " + std::to_string(tree) + ": nodes behind its last leaf");
    Node node{.end = forest.rows[i]};
    if (forest.feature[i] >= 0) {
      if (static_cast<std::size_t>(forest.feature[i]) >= columns.size())
        throw InputError("tree: rule on an unknown column");
      node.rule = {static_cast<std::uint32_t>(forest.feature[i]), forest.cut[i], forest.subset[i],
                   forest.missing_left[i] != 0};
      check_rule(node.rule, columns[node.rule.feature]);
      node.size = 0;
      ++open;
    } else {
      --open;
    }
    nodes.push_back(node);
  }
  if (open != 0) throw InputError("tree " + std::to_string(tree) + ": it ends before its last leaf");
  set_sizes(nodes);
  return nodes;
}

}  // namespace baytree
