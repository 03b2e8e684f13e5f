#include "baytree/bart/ensemble/tree_sum.hpp"

#include <utility>

#include "baytree/base/error.hpp"

namespace baytree::bart {

TreeSum::TreeSum(std::vector<ProposalShare> proposals)
    : turns(proposals.size()), accepted(proposals.size()), proposals_(std::move(proposals)) {
  if (proposals_.empty()) throw InputError("proposals: name one at least");
  for (const ProposalShare& share : proposals_)
    if (!(share.number > 0.0 && share.number <= 1000.0))
      throw InputError("proposals: a number of proposals must be positive, and at most 1000");
}

}  // namespace baytree::bart
