#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "baytree/base/numeric.hpp"
#include "baytree/data/design.hpp"
#include "baytree/trees/admissible.hpp"
#include "baytree/trees/tree.hpp"

namespace baytree {

// To add a constraint: a field of `Knowledge`, what it forbids in `Restrictions` (a feature at a node, or single rules
// of it), its argument in bindings/knowledge, and its fact in priors/program_knowledge. Proposals need no change.

/// A part of the space of predictors that must stay in one leaf: all points with min ≤ x ≤ max on every side. A feature
/// without a side spans all its values, so a rule on it cuts the box.
struct Box {
  struct Side {
    std::uint32_t feature = 0;
    double min = -infinity, max = infinity;
  };
  std::vector<Side> sides;  // of numeric features, each at most once
};

/// What is known about a tree before any data are seen, over feature numbers. The last three concern the whole tree;
/// all else says which rules a node may have.
struct Knowledge {
  struct BelowDepth {
    std::uint32_t feature = 0, depth = 0;
  };
  struct BelowFeature {
    std::uint32_t feature = 0, above = 0;
  };
  struct Only {
    std::uint32_t depth = 0;
    std::vector<std::uint32_t> features;
  };

  std::optional<std::uint32_t> max_depth;   // no node this deep is split; the root has depth 0
  std::vector<std::uint32_t> forbidden;     // these features are not used
  std::vector<BelowDepth> below_depth;      // the feature is not used at this depth or deeper
  std::vector<BelowFeature> below_feature;  // the feature is not used below a split on the other
  std::vector<Only> only;                   // at this depth no other feature is used; several of one depth intersect
  std::vector<std::vector<std::uint32_t>>
      interacting;  // the features of a path lie in one of these groups; those in none of them are one more group
  std::vector<Box> boxes;
  std::vector<double> weights;  // for choosing a feature; none means that all weigh the same

  std::optional<std::uint64_t> max_leaves;
  std::vector<std::int32_t> monotone;   // by feature −1, 0 or 1; none means that all are 0
  std::vector<std::uint32_t> required;  // each is used somewhere; of programs only
};

/// The boxes of a node are bits of one word.
inline constexpr std::size_t max_boxes = 64;

/// What the constraints need to know of a node.
struct Situation {
  std::uint32_t depth = 0;
  std::uint64_t boxes = 0;  // those it contains
  std::span<const std::uint32_t>
      above;  // the features of the splits above it; may be left out unless `Restrictions::look_above`
};

/// How many of a feature's rules the constraints leave at a node: the numbers of rows are another matter.
enum class Freedom : std::uint8_t { none, some, all };

/// Knowledge in terms of codes: which rules a node may have. Nothing here depends on rows or allocates once it is
/// built.
class Restrictions {
 public:
  /// `cuts` holds the cut values of every numeric column; without boxes it may be empty. Throws InputError where the
  /// knowledge does not fit the design.
  Restrictions(const Knowledge& knowledge, const Design& design, std::span<const std::vector<double>> cuts);

  bool look_above() const { return look_above_; }
  /// What of the features above a node matters below it, as words: where two paths have the same, they allow the same.
  std::vector<std::uint64_t> traits(std::span<const std::uint32_t> above) const;
  /// From this depth on the feature is not used.
  std::uint32_t depth_limit(std::uint32_t feature) const { return depth_[feature]; }
  /// Whether a node's boxes or the features above it matter; else its depth is all that has to be known.
  bool follow_paths() const { return follow_paths_; }
  double weight(std::uint32_t feature) const { return weights_[feature]; }
  /// Whether the weights differ.
  bool weighted() const { return weighted_; }
  /// The root contains all boxes.
  std::uint64_t root_boxes() const { return boxes_; }
  /// Of the boxes of a node those that an allowed rule sends left; the others go right.
  std::uint64_t boxes_left(std::uint64_t boxes, const Rule& rule) const;

  /// `some` only where a box of the node has a side on this feature, which is numeric then.
  Freedom freedom(const Situation& situation, std::uint32_t feature) const {
    return free_ ? Freedom::all : restricted(situation, feature);
  }
  bool allows(const Situation& situation, const Rule& rule) const;
  /// Whether a rule on a numeric feature cuts one of these boxes.
  bool cuts_a_box(std::uint64_t boxes, const Rule& rule) const;

  /// Of a numeric feature's rules, those that cut none of the boxes: their number, and the n-th of them in the order of
  /// `nth_rule`.
  std::uint64_t count_rules(const ColumnRules& rules, std::uint32_t feature, std::uint64_t boxes) const;
  Rule nth_rule(const ColumnRules& rules, std::uint32_t feature, std::uint64_t boxes, std::uint64_t n) const;

 private:
  /// The cuts begin … end−1 of a feature cut a box; the smaller ones leave it on the right and the larger ones on the
  /// left.
  struct BoxCuts {
    std::uint32_t begin, end;
    std::uint64_t box;
  };

  struct OnlyAt {
    std::uint32_t depth;
    std::vector<bool> allowed;  // by feature
  };

  void read_limits(const Knowledge& knowledge);
  void read_only(const Knowledge& knowledge);
  void read_groups(const Knowledge& knowledge);
  void read_boxes(const Knowledge& knowledge, const Design& design, std::span<const std::vector<double>> cuts);
  void read_weights(const Knowledge& knowledge);
  void check(std::uint32_t feature) const;

  Freedom restricted(const Situation& situation, std::uint32_t feature) const;
  bool may_lie_at(std::uint32_t depth, std::uint32_t feature) const;
  bool may_follow(std::span<const std::uint32_t> above, std::uint32_t feature) const;
  template <class Visit>
  void for_each_range(std::uint32_t begin, std::uint32_t end, std::uint32_t feature, std::uint64_t boxes,
                      Visit visit) const;

  std::size_t features_;
  bool free_ = true, look_above_ = false, follow_paths_ = false, weighted_ = false;
  std::uint64_t boxes_ = 0;
  std::vector<double> weights_;
  std::vector<std::uint32_t> depth_;                   // from this depth on the feature is not used
  std::vector<OnlyAt> only_;                           // each depth once
  std::vector<std::vector<std::uint32_t>> not_below_;  // by feature: the splits it may not lie below
  std::vector<std::uint64_t> groups_;                  // by feature: the groups that hold it, as bits
  std::size_t group_words_ = 0;                        // words of `groups_` for each feature
  std::vector<std::uint64_t> sides_;                   // by feature: the boxes that have a side on it
  std::vector<std::vector<BoxCuts>> box_cuts_;         // by feature, ascending by `begin`
};

}  // namespace baytree
