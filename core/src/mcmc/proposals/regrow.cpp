#include "baytree/mcmc/proposals/regrow.hpp"

#include <cmath>

namespace baytree {
namespace {

/// Prune-and-regrow at choice point k.
LogRatio regrow_at(MoveContext& move, std::size_t k) {
  for (std::size_t at = 0; at < move.tree.nodes.size(); ++at) {
    const Node& node = move.tree.nodes[at];
    const std::size_t here = count_points(node);
    if (k >= here) {
      k -= here;
      continue;
    }
    unsigned points = node.points;
    for (; k > 0; --k) points &= points - 1;  // drop the points before the k-th
    const auto from = static_cast<ChoicePoint>(points & -points);
    move.grower.regrow(move.tree, at, from, move.stream, move.replacement);
    return 0.0;
  }
  return std::nullopt;
}

}  // namespace

LogRatio regrow_root(MoveContext& move) { return regrow_at(move, 0); }

LogRatio regrow_in_turn(MoveContext& move) { return regrow_at(move, move.point); }

double log_points_ratio(MoveContext& move, std::size_t points) {
  const std::size_t proposed =
      points - count_points(subtree(move.tree, move.replacement.at)) + count_points(move.replacement.nodes);
  return std::log(static_cast<double>(points) / static_cast<double>(proposed));
}

LogRatio regrow_anywhere(MoveContext& move) {
  const std::size_t points = count_points(move.tree.nodes);
  if (points == 0) return std::nullopt;
  regrow_at(move, move.stream.below(points));
  return log_points_ratio(move, points);
}

}  // namespace baytree
