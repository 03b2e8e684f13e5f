#include "baytree/trees/tree_rows.hpp"

#include <vector>

#include "checks.hpp"
#include "table.hpp"

namespace {

using namespace baytree;

std::vector<Row> listed(const NodeRows& rows) {
  std::vector<Row> list;
  rows.for_each([&](Row row) { list.push_back(row); });
  return list;
}

/// A rule of every form of each column.
std::vector<Rule> rules_of(const Design& design) {
  std::vector<Rule> rules;
  for (std::uint32_t feature = 0; feature < design.columns.size(); ++feature) {
    const Column& column = design.columns[feature];
    if (column.categorical) {
      rules.push_back({.feature = feature, .subset = 1});
      rules.push_back({.feature = feature, .subset = 1 | std::uint64_t{1} << (column.n_codes() - 1)});
    } else if (column.n_codes() > 1) {
      rules.push_back({.feature = feature, .cut = column.n_codes() - 2});
      rules.push_back({.feature = feature, .cut = 0});
      if (column.has_missing) rules.push_back({.feature = feature, .cut = 1, .missing_left = true});
    }
  }
  return rules;
}

TEST_CASE("the rows of nodes, as lists and as sets") {
  for (Row rows : {1u, 64u, 300u}) {
    const Table table(rows);
    Design with_sets = table.design;
    choose_rows(with_sets, RowForm::sets, Simd::avx512);
    for (const Rule& first : rules_of(table.design))
      for (const Rule& second : rules_of(table.design)) {
        std::vector<std::vector<Row>> found[2];
        for (int form = 0; form < 2; ++form) {
          const Design& design = form == 0 ? table.design : with_sets;
          PartitionedTree tree{.nodes = {}, .rows = TreeRows(design)};
          tree.nodes.push_back(tree.rows.root());
          TreeRows part(design);
          // The root is divided, and then its right child; the same once more, in place of what is there.
          for (int times = 0; times < 2; ++times) {
            Node root = part.take(tree.rows, tree.nodes[0]);
            CHECK(listed(part.of(root)).size() == rows);
            root.rule = first;
            auto [left, right] = part.divide(root);
            found[form].push_back(listed(part.of(left)));
            found[form].push_back(listed(part.of(right)));
            right.rule = second;
            const auto [low, high] = part.divide(right);
            CHECK((left.depth == 1 && high.depth == 2 && low.rows() + high.rows() == right.rows()));
            root.size = 5;
            right.size = 3;
            tree.rows.forget(tree.nodes);
            tree.nodes = {root, left, right, low, high};
            tree.rows.adopt(tree.nodes, part);
            for (const Node& node : tree.nodes)
              if (node.is_leaf()) found[form].push_back(listed(tree.rows_of(node)));
          }
        }
        CHECK(found[0] == found[1]);
      }
  }
}

TEST_CASE("small tables have sets") {
  Table table;
  choose_rows(table.design, RowForm::suited, Simd::avx512);
  CHECK(table.design.sets != nullptr);
  choose_rows(table.design, RowForm::lists, Simd::avx512);
  CHECK(table.design.sets == nullptr);
  Design tall{.columns = {}, .rows = 1'000'000};
  choose_rows(tall, RowForm::suited, Simd::avx512);
  CHECK(tall.sets == nullptr);
  // A thousand columns of a thousand codes each.
  Design wide = table.design;
  wide.columns.assign(1000, table.design.columns.back());
  choose_rows(wide, RowForm::suited, Simd::avx512);
  CHECK(wide.sets == nullptr);
}

}  // namespace
