#include "baytree/hmdt/projection.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/base/team.hpp"

namespace baytree::hmdt {
namespace {

/// One sequence. Places are the nodes and behind them the outcomes, so that the children of a node are places.
void project_sequence(const HiddenTree& tree, std::size_t first, std::size_t last, Filtered& out) {
  const std::size_t nodes = tree.nodes, b = tree.branching, outcomes = tree.outcomes();
  std::vector<double> before(nodes * b),
      share(nodes * b);                         // P(decision) a row earlier, and P(decision | the row, node is asked)
  std::vector<double> below(nodes + outcomes);  // log P(row | place is reached)
  std::vector<double> reached(nodes + outcomes), ahead_reached(nodes + outcomes);
  for (std::size_t node = 0; node < nodes; ++node) before[node * b] = 1.0;
  for (std::size_t row = first; row < last; ++row) {
    heed_interruption();
    double* ahead = &out.decision_ahead[row * nodes * b];
    double* after = &out.decision[row * nodes * b];
    const double* log_transition = &tree.log_transition[row * nodes * b * b];
    for (std::size_t node = 0; node < nodes; ++node)
      for (std::size_t j = 0; j < b; ++j)
        for (std::size_t k = 0; k < b; ++k)
          ahead[node * b + k] += before[node * b + j] * std::exp(log_transition[(node * b + j) * b + k]);

    std::copy_n(&tree.log_evidence[row * outcomes], outcomes, &below[nodes]);
    for (std::size_t node = nodes; node-- > 0;) {
      const double* children = &below[node * b + 1];
      double largest = -infinity, total = 0.0;
      for (std::size_t k = 0; k < b; ++k)
        if (ahead[node * b + k] > 0.0) largest = std::max(largest, children[k]);
      below[node] = largest;
      std::copy_n(&ahead[node * b], b, &share[node * b]);
      if (largest == -infinity) continue;  // nothing under the node is possible, so that nobody asks it
      for (std::size_t k = 0; k < b; ++k)
        if (ahead[node * b + k] > 0.0) total += share[node * b + k] *= std::exp(children[k] - largest);
      for (std::size_t k = 0; k < b; ++k) share[node * b + k] /= total;
      below[node] += std::log(total);
    }
    if (!std::isfinite(below[0]))
      throw InputError("row " + std::to_string(row) + ": no decisions that are possible lead to what is seen");
    out.log_likelihood[row] = below[0];

    reached[0] = ahead_reached[0] = 1.0;
    for (std::size_t node = 0; node < nodes; ++node)
      for (std::size_t k = 0; k < b; ++k) {
        const std::size_t at = node * b + k;
        // A node that is not asked learns nothing from the row.
        after[at] = reached[node] * share[at] + (1.0 - reached[node]) * ahead[at];
        reached[at + 1] = reached[node] * share[at];
        ahead_reached[at + 1] = ahead_reached[node] * ahead[at];
      }
    std::copy_n(&reached[nodes], outcomes, &out.outcome[row * outcomes]);
    std::copy_n(&ahead_reached[nodes], outcomes, &out.outcome_ahead[row * outcomes]);
    std::copy_n(after, nodes * b, before.begin());
  }
}

}  // namespace

void HiddenTree::check() const {
  if (nodes < 1 || branching < 2) throw InputError("a hidden tree needs at least one node and two decisions");
  std::size_t places = 1;
  for (std::size_t width = branching; places < nodes; width *= branching) places += width;
  if (places != nodes)
    throw InputError(std::to_string(nodes) + " nodes of " + std::to_string(branching) +
                     " branches are no complete tree");
  check_rows(begin, log_transition, nodes * branching * branching, log_evidence, outcomes());
}

Filtered project(const HiddenTree& tree, unsigned threads) {
  tree.check();
  const std::size_t rows = tree.rows(), outcomes = rows * tree.outcomes(),
                    decisions = rows * tree.nodes * tree.branching;
  Filtered out{std::vector<double>(rows), std::vector<double>(outcomes), std::vector<double>(outcomes),
               std::vector<double>(decisions), std::vector<double>(decisions)};
  const auto work = [&](std::size_t number) {
    project_sequence(tree, tree.begin[number], tree.begin[number + 1], out);
  };
  in_rounds(tree.begin.size() - 1, threads, work, [] { return false; });
  return out;
}

}  // namespace baytree::hmdt
