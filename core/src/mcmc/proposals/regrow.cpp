#include "baytree/mcmc/proposals/regrow.hpp"

#include <cmath>

namespace baytree {
namespace {

/// Prune-and-regrow at choice point k.
LogRatio regrow_at(ProposalContext& context, std::size_t k) {
  for (std::size_t at = 0; at < context.tree.nodes.size(); ++at) {
    const Node& node = context.tree.nodes[at];
    const std::size_t here = count_points(node);
    if (k >= here) {
      k -= here;
      continue;
    }
    unsigned points = node.points;
    for (; k > 0; --k) points &= points - 1;  // drop the points before the k-th
    const auto from = static_cast<ChoicePoint>(points & -points);
    context.grower.regrow(context.tree, at, from, context.stream, context.replacement);
    return 0.0;
  }
  return std::nullopt;
}

}  // namespace

LogRatio regrow_root(ProposalContext& context) { return regrow_at(context, 0); }

LogRatio regrow_in_turn(ProposalContext& context) { return regrow_at(context, context.point); }

double log_points_ratio(ProposalContext& context, std::size_t points) {
  const std::size_t proposed =
      points - count_points(subtree(context.tree, context.replacement.at)) + count_points(context.replacement.nodes);
  return std::log(static_cast<double>(points) / static_cast<double>(proposed));
}

LogRatio regrow_anywhere(ProposalContext& context) {
  const std::size_t points = count_points(context.tree.nodes);
  if (points == 0) return std::nullopt;
  regrow_at(context, context.stream.below(points));
  return log_points_ratio(context, points);
}

}  // namespace baytree
