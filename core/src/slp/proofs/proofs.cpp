#include "baytree/slp/proofs/proofs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace baytree::slp {
namespace {

/// Proofs as a tree of their choices.
class Trie {
 public:
  /// The branches of a path; paths with a common beginning must come one after another.
  std::vector<std::size_t> add(const Path& path) {
    std::size_t depth = 0;
    while (depth < path.size() && depth < last_.size() && is_same(path[depth], branches_[last_[depth]].choice)) ++depth;
    last_.resize(depth);
    for (; depth < path.size(); ++depth) {
      const std::size_t above = depth == 0 ? none : last_[depth - 1];
      branches_.push_back({above, path[depth], 0.0});
      (above == none ? alive_ : branches_[above].alive) += path[depth].probability;
      last_.push_back(branches_.size() - 1);
    }
    return last_;
  }

  /// p/A of the last branch of a path and all above it.
  double probability(const std::vector<std::size_t>& path) const {
    double product = 1.0;
    for (const std::size_t at : path) {
      const Branch& branch = branches_[at];
      product *= branch.choice.probability / (branch.above == none ? alive_ : branches_[branch.above].alive);
    }
    return product;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Branch {
    std::size_t above;
    PathChoice choice;
    double alive;  // the probability of those of its own options that lead to a proof
  };
  static bool is_same(const PathChoice& a, const PathChoice& b) {
    return a.address == b.address && a.chosen == b.chosen;
  }

  std::vector<Branch> branches_;
  std::vector<std::size_t> last_;
  double alive_ = 0.0;
};

}  // namespace

Path path_of(std::span<const Event> events) {
  Path path;
  for (const Event& event : events)
    if (event.is_choice) path.push_back({event.goal.address, event.chosen, event.probability});
  return path;
}

std::vector<double> proof_probabilities(const std::vector<Path>& paths, Semantics semantics) {
  std::vector<double> probabilities;
  if (semantics == Semantics::backtrack) {
    Trie trie;
    std::vector<std::vector<std::size_t>> branches;
    for (const Path& path : paths) branches.push_back(trie.add(path));
    for (const auto& path : branches) probabilities.push_back(trie.probability(path));
    return probabilities;
  }
  // Relative to the most probable one: a product of many choices may be too small a number.
  double largest = -std::numeric_limits<double>::infinity(), total = 0.0;
  for (const Path& path : paths) {
    double log_product = 0.0;
    for (const PathChoice& choice : path) log_product += std::log(choice.probability);
    probabilities.push_back(log_product);
    largest = std::max(largest, log_product);
  }
  for (double& probability : probabilities) total += probability = std::exp(probability - largest);
  for (double& probability : probabilities) probability /= total;
  return probabilities;
}

}  // namespace baytree::slp
