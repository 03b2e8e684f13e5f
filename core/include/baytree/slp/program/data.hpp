#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace baytree::slp {

using NodeId = std::uint32_t;

/// What sends a row left, in the words of a program: `V` in `split(N, F, V, L, R)`.
struct Question {
  enum class Kind : std::uint8_t {
    cut,          // x ≤ cut; written 127.5
    cut_or_gone,  // x ≤ cut or missing; written or_missing(127.5)
    observed,     // not missing; written observed
    levels,       // one of these levels; written [a, b]
  };
  Kind kind = Kind::cut;
  double cut = 0.0;
  std::uint64_t levels = 0;  // bits

  bool operator==(const Question&) const = default;
};

/// The table a program may ask about, and the nodes it makes: sets of rows. The engine knows no more of data than this;
/// it sees predictors, never the response.
class Data {
 public:
  virtual ~Data() = default;

  virtual std::uint32_t features() const = 0;
  virtual const std::string& feature_name(std::uint32_t feature) const = 0;
  virtual bool is_categorical(std::uint32_t feature) const = 0;
  virtual std::uint32_t levels(std::uint32_t feature) const = 0;
  virtual const std::string& level_name(std::uint32_t feature, std::uint32_t level) const = 0;
  virtual std::uint64_t min_leaf() const = 0;

  virtual NodeId root() = 0;
  virtual std::uint64_t node_size(NodeId node) const = 0;
  virtual std::uint32_t depth(NodeId node) const = 0;
  /// The values of a numeric feature that the rules above the node leave: low < x ≤ high.
  virtual std::pair<double, double> region(NodeId node, std::uint32_t feature) const = 0;

  /// A rule is admissible where both children hold enough rows and no constraint is broken.
  virtual bool splittable(NodeId node) = 0;
  /// The weight of every feature that has an admissible rule, 0 for the others.
  virtual void usable(NodeId node, std::vector<double>& weights) = 0;
  virtual std::uint64_t count_rules(NodeId node, std::uint32_t feature) = 0;
  /// The n-th admissible rule.
  virtual Question rule(NodeId node, std::uint32_t feature, std::uint64_t n) = 0;
  virtual bool is_admissible(NodeId node, std::uint32_t feature, const Question& question) = 0;
  /// The children of a node; the rule must be admissible.
  virtual std::pair<NodeId, NodeId> split(NodeId node, std::uint32_t feature, const Question& question) = 0;

  /// Nodes are made and forgotten in the manner of a stack.
  virtual NodeId mark() const = 0;
  virtual void rewind(NodeId mark) = 0;
  /// Bytes that are held, those that are spare included.
  virtual std::size_t held() const = 0;
  /// Bytes in use.
  virtual std::size_t memory() const = 0;
};

}  // namespace baytree::slp
