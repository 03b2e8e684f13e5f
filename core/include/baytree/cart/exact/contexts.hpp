#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "baytree/knowledge/restrictions.hpp"

namespace baytree::cart::exact {

/// All that the rules of a node depend on besides its rows and its depth: the boxes that it contains, and what of the
/// features above matters. Without such knowledge there is one context; with it, one thread has to do all.
class Contexts {
 public:
  /// `depths` is how many depths there are.
  Contexts(const Restrictions& restrictions, std::size_t features, std::uint32_t depths);

  static constexpr std::uint32_t root = 0;
  bool single() const { return single_; }

  /// The context of a child of a split on this feature, which contains these boxes.
  std::uint32_t below(std::uint32_t context, std::uint32_t feature, std::uint64_t boxes);
  std::uint64_t boxes(std::uint32_t context) const { return contexts_[context].boxes; }
  /// How free each feature is at a depth.
  const Freedom* freedom(std::uint32_t context, std::uint32_t depth) const {
    return contexts_[context].freedom.data() + depth * features_;
  }

 private:
  struct Context {
    std::uint64_t boxes;
    std::vector<std::uint32_t> above;  // one of the paths that lead here
    std::vector<Freedom> freedom;      // by depth and feature
  };
  std::uint32_t number(std::uint64_t boxes, std::vector<std::uint32_t> above);

  const Restrictions& restrictions_;
  std::size_t features_;
  std::uint32_t depths_;
  bool single_;
  std::deque<Context> contexts_;
  std::map<std::pair<std::uint64_t, std::vector<std::uint64_t>>, std::uint32_t> number_;
};

}  // namespace baytree::cart::exact
