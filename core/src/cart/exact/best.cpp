#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include "baytree/base/numeric.hpp"
#include "baytree/cart/exact/trees.hpp"

namespace baytree::cart::exact {
namespace {

constexpr std::size_t leaf = ~std::size_t{0};

/// A way to build a subtree: a leaf, or a rule and the ranks of the subtrees below it.
struct Way {
  double log_posterior;
  std::size_t division;  // or `leaf`
  std::uint64_t rule;
  std::size_t left, right;

  /// The better one first; of equal ones that which comes first in this order.
  bool operator<(const Way& other) const {
    if (log_posterior != other.log_posterior) return log_posterior < other.log_posterior;
    return std::tie(division, rule, left, right) > std::tie(other.division, other.rule, other.left, other.right);
  }
};

/// The subtrees of a node, the most probable first, as far as they were asked for (Huang and Chiang 2005, algorithm 3).
struct Ranking {
  struct Option {
    double log_prior;
    Division division;
    Child left, right;
  };
  std::vector<Option> options;
  std::vector<Way> found;
  std::priority_queue<Way> open;
};

/// The largest log posterior, or likelihood, of a subtree that the prior makes, by set and depth.
class Largest {
 public:
  Largest(Sums& sums, Total total) : sums_(sums), total_(total), of_(sums.values().size()) {
    for (unsigned thread = 0; thread < sums.threads(); ++thread) hands_.push_back({choices()});
    for (const auto& sets : sums.by_rows())
      sums.for_each(sets, [&](std::size_t thread, std::uint32_t number) { value(hands_[thread], number); });
  }

  /// Values a set that came to the sums meanwhile.
  void add(std::uint32_t number) {
    of_.resize(sums_.values().size());
    value(hands_[0], number);
  }
  double of_root() const { return of_[sums_.root().begin]; }
  Choices choices() const { return Choices(sums_.setting(), sums_.memo(), of_); }

 private:
  struct Hand {
    Choices choices;
    Pairs::Buffers buffers = {};
  };
  double prior(double log) const { return total_ == Total::most_likely && log > -infinity ? 0.0 : log; }
  void value(Hand& hand, std::uint32_t number) {
    value_set(sums_.pairs(), sums_.memo()[number], total_, hand.choices, hand.buffers, of_,
              [this](const Choices& here) {
                double most = prior(here.log_leaf_prior()) + here.leaf();
                for (std::size_t i = 0; here.splittable() && i < here.divisions().size(); ++i) {
                  const double below = here.value(here.left(i)) + here.value(here.right(i));
                  most = std::max(most, prior(here.log_split_prior() + here.log_rule(i)) + below);
                }
                return most;
              });
  }

  Sums& sums_;
  Total total_;
  std::vector<double> of_;
  std::vector<Hand> hands_;
};

class Rankings {
 public:
  explicit Rankings(Sums& sums) : sums_(sums), best_(sums, Total::most_probable), choices_(best_.choices()) {}

  /// The way of a rank; none where there are fewer trees.
  const Way* way(const Child& child, std::uint32_t depth, std::size_t rank) {
    if (child.set == nullptr || depth >= sums_.setting().limit) {
      alone_ = {child.set == nullptr ? child.leaf : child.set->leaf, leaf, 0, 0, 0};
      return rank == 0 ? &alone_ : nullptr;
    }
    Ranking& ranking = of(child, depth);
    while (ranking.found.size() <= rank && !ranking.open.empty()) advance(ranking, depth);
    return ranking.found.size() > rank ? &ranking.found[rank] : nullptr;
  }

  /// The decisions of the tree of a rank, in preorder, of stored nodes only.
  void list(const Child& child, std::uint32_t depth, std::size_t rank, std::vector<std::optional<Decision>>& out) {
    if (child.set == nullptr) return;
    const Way chosen = *way(child, depth, rank);
    if (chosen.division == leaf) {
      out.emplace_back();
      return;
    }
    out.push_back(Decision{chosen.division, chosen.rule});
    const Ranking::Option option = of(child, depth).options[chosen.division];
    const auto below = [&](bool left) {
      list(left ? option.left : option.right, depth + 1, left ? chosen.left : chosen.right, out);
    };
    const bool turned = nth_rule(option.division, 0, chosen.rule).turned;
    below(!turned);
    below(turned);
  }

 private:
  Ranking& of(const Child& child, std::uint32_t depth) {
    const auto [place, is_new] = rankings_.try_emplace({child.set, depth});
    Ranking& ranking = place->second;
    if (!is_new) return ranking;
    for (const std::uint32_t number : sums_.expand(*child.set)) best_.add(number);
    choices_.take(*child.set);
    choices_.find_children();
    choices_.go_to(depth);
    ranking.open.push({choices_.log_leaf_prior() + choices_.leaf(), leaf, 0, 0, 0});
    for (std::size_t i = 0; choices_.splittable() && i < choices_.divisions().size(); ++i) {
      const double log_prior = choices_.log_split_prior() + choices_.log_rule(i);
      ranking.options.push_back({log_prior, choices_.divisions()[i], choices_.left(i), choices_.right(i)});
      ranking.open.push({log_prior + choices_.value(choices_.left(i)) + choices_.value(choices_.right(i)), i, 0, 0, 0});
    }
    return ranking;
  }

  void advance(Ranking& ranking, std::uint32_t depth) {
    const Way best = ranking.open.top();
    ranking.open.pop();
    ranking.found.push_back(best);
    if (best.division == leaf) return;
    const Ranking::Option& option = ranking.options[best.division];
    const auto push = [&](std::uint64_t rule, std::size_t left, std::size_t right) {
      const Way* a = way(option.left, depth + 1, left);
      if (a == nullptr) return;
      const double below = a->log_posterior;
      if (const Way* b = way(option.right, depth + 1, right))
        ranking.open.push({option.log_prior + below + b->log_posterior, best.division, rule, left, right});
    };
    // So that each is pushed once: the rule goes on from the best subtrees, the left one from the best right one.
    push(best.rule, best.left, best.right + 1);
    if (best.right > 0) return;
    push(best.rule, best.left + 1, 0);
    if (best.left == 0 && static_cast<double>(best.rule + 1) < option.division.rules) push(best.rule + 1, 0, 0);
  }

  Sums& sums_;
  Largest best_;
  Choices choices_;
  Way alone_{};
  std::map<std::pair<const RowSet*, std::uint32_t>, Ranking> rankings_;
};

}  // namespace

void best_trees(Sums& sums, std::uint64_t trees, ScoredTrees& out) {
  Rankings rankings(sums);
  Builder builder(sums);
  const Child root{&sums.root(), 0.0};
  for (std::size_t rank = 0; rank < trees; ++rank) {
    const Way* way = rankings.way(root, 0, rank);
    // A tree of prior probability 0 is none.
    if (way == nullptr || way->log_posterior == -infinity) return;
    std::vector<std::optional<Decision>> decisions;
    rankings.list(root, 0, rank, decisions);
    auto next = decisions.begin();
    builder.build(out, [&](const Choices&) { return *next++; });
  }
}

double highest_log_likelihood(Sums& sums) { return Largest(sums, Total::most_likely).of_root(); }

}  // namespace baytree::cart::exact
