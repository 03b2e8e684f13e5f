#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "baytree/base/error.hpp"
#include "baytree/knowledge/monotone.hpp"
#include "baytree/trees/node_rows.hpp"

namespace baytree {

/// The signs of the columns, none where nothing need be monotone, and what leaf values are drawn from.
struct Monotone {
  bool is_any() const {
    return std::any_of(signs.begin(), signs.end(), [](int sign) { return sign != 0; });
  }

  std::vector<int> signs;
  bool from_prior =
      false;  // with the likelihood off; else from the posterior p(θ | y, T), whatever the power of P(y|T)
};

/// The leaf values θ of a chain whose trees must be monotone. Its target is P(T) P(y|T)^power p(θ | y, T) 1[θ in the
/// cone of T], which for power 1 is the joint posterior of trees and values given that they are monotone. A proposal
/// draws the values of the leaves it makes, each from its own posterior, and keeps those of all others. The densities
/// of what is drawn and what it replaces then cancel against the target's, so P(y|T) decides as ever, and a proposal
/// that leaves the cone is refused. `refresh` redraws one value given the others.
template <class Leaf>
class LeafValues {
 public:
  LeafValues(const Design& design, const Leaf& leaf, Monotone monotone)
      : leaf_(leaf), cone_(design, std::move(monotone.signs)), from_prior_(monotone.from_prior) {
    leaf.require_values();
  }

  /// Of each leaf, in the order of the leaves, on the leaf model's scale.
  const std::vector<double>& values() const { return values_; }

  /// One value for all leaves of a tree, which is monotone whatever the tree: where a chain starts.
  void start(std::span<const Node> nodes, const NodeRows& all_rows, Stream& stream) {
    values_.assign((nodes.size() + 1) / 2, draw(all_rows, stream));
  }

  /// Goes to these values of a tree; throws InputError where they are none of it.
  void restore(std::span<const Node> nodes, std::vector<double> values) {
    if (values.size() != (nodes.size() + 1) / 2)
      throw InputError("chain: " + std::to_string(values.size()) + " values for " +
                       std::to_string((nodes.size() + 1) / 2) + " leaves");
    cone_.read(nodes);
    if (!cone_.contains(values, 0, values.size())) throw InputError("chain: the leaf values are not monotone");
    values_ = std::move(values);
  }

  // ---- a proposal: every leaf of its tree in turn, kept or new ----

  void begin() {
    proposed_.clear();
    last_ = 0;
  }
  void keep(double value) { proposed_.push_back(value); }
  void renew(const NodeRows& rows, Stream& stream) {
    if (last_ == 0) first_ = proposed_.size();
    proposed_.push_back(draw(rows, stream));
    last_ = proposed_.size();
  }
  /// Whether the tree with `part` in place of its subtree at `at` is monotone with these values.
  bool is_monotone(std::span<const Node> nodes, std::size_t at, std::span<const Node> part) {
    if (last_ == 0) return true;
    cone_.read(nodes, at, part);
    return cone_.contains(proposed_, first_, last_);
  }
  void accept() { values_.swap(proposed_); }

  /// Exchanges the values of two chains over the same data.
  void exchange(LeafValues& other) { values_.swap(other.values_); }
  /// Appends what each value says of the response.
  void append_means(std::vector<double>& to) const {
    for (const double value : values_) to.push_back(Leaf::mean_of(value));
  }

  /// A new value of one leaf, unless it breaks the order; whether it is taken.
  bool refresh(std::span<const Node> nodes, std::size_t leaf, const NodeRows& rows, Stream& stream) {
    const double old = std::exchange(values_[leaf], draw(rows, stream));
    cone_.read(nodes);
    if (cone_.contains(values_, leaf, leaf + 1)) return true;
    values_[leaf] = old;
    return false;
  }

 private:
  double draw(const NodeRows& rows, Stream& stream) const {
    return leaf_.draw_value(from_prior_ ? NodeRows(std::span<const Row>()) : rows, stream);
  }

  const Leaf& leaf_;
  Cone cone_;
  bool from_prior_;
  std::vector<double> values_, proposed_;
  std::size_t first_ = 0, last_ = 0;  // of the proposed values, the range that holds all new ones
};

}  // namespace baytree
