#include "baytree/priors/grow_tree.hpp"

#include <algorithm>

#include "checks.hpp"
#include "table.hpp"

namespace {

using namespace baytree;

TEST_CASE("grow trees") {
  const Table table;
  for (bool by_column : {true, false}) {
    Grower grower(table.design, {.alpha = 0.95, .beta = 0.5, .min_leaf = 5, .by_column = by_column});
    Stream stream(13, Role::chain, 0);
    const Forest forest = grow_trees(grower, 200, stream);
    CHECK((forest.begin.size() == 200 && forest.feature.size() > 400));
    const ForestView view{forest.feature, forest.cut, forest.subset, forest.missing_left, forest.rows, forest.begin};
    for (std::size_t tree = 0; tree < forest.begin.size(); ++tree) {
      CHECK(!unpack_tree(view, tree, table.design.columns).empty());
      CHECK(forest.rows[forest.begin[tree]] == table.design.rows);
    }
    CHECK(*std::min_element(forest.rows.begin(), forest.rows.end()) >= 5);
  }
}

}  // namespace
