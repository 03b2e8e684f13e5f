#include "baytree/cart/exact/contexts.hpp"

#include <algorithm>

namespace baytree::cart::exact {

Contexts::Contexts(const Restrictions& restrictions, std::size_t features, std::uint32_t depths)
    : restrictions_(restrictions), features_(features), depths_(depths), single_(!restrictions.follow_paths()) {
  number(restrictions.root_boxes(), {});
}

std::uint32_t Contexts::number(std::uint64_t boxes, std::vector<std::uint32_t> above) {
  const auto next = static_cast<std::uint32_t>(contexts_.size());
  const auto [found, is_new] = number_.try_emplace({boxes, restrictions_.traits(above)}, next);
  if (!is_new) return found->second;
  std::vector<Freedom> freedom;
  freedom.reserve(depths_ * features_);
  for (std::uint32_t depth = 0; depth < depths_; ++depth)
    for (std::uint32_t feature = 0; feature < features_; ++feature)
      freedom.push_back(restrictions_.freedom({depth, boxes, above}, feature));
  contexts_.push_back({boxes, std::move(above), std::move(freedom)});
  return next;
}

std::uint32_t Contexts::below(std::uint32_t context, std::uint32_t feature, std::uint64_t boxes) {
  if (single_) return root;
  std::vector<std::uint32_t> above = contexts_[context].above;
  const auto place = std::lower_bound(above.begin(), above.end(), feature);
  if (place == above.end() || *place != feature) above.insert(place, feature);
  return number(boxes, std::move(above));
}

}  // namespace baytree::cart::exact
