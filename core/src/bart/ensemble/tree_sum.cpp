#include "baytree/bart/ensemble/tree_sum.hpp"

#include <utility>

#include "baytree/base/error.hpp"

namespace baytree::bart {

TreeSum::TreeSum(std::vector<MoveShare> moves) : turns(moves.size()), accepted(moves.size()), moves_(std::move(moves)) {
  if (moves_.empty()) throw InputError("moves: name one at least");
  for (const MoveShare& share : moves_)
    if (!(share.number > 0.0 && share.number <= 1000.0))
      throw InputError("moves: a number of proposals must be positive, and at most 1000");
}

}  // namespace baytree::bart
