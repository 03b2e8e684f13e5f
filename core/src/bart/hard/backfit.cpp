#include "baytree/bart/hard/backfit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::bart {
namespace {

/// The most rows of one code, or 0 where that does not tell whether rows can be divided: with missing values or levels.
Row heaviest_code(const Column& column) {
  if (column.categorical || column.has_missing) return 0;
  std::vector<Row> rows(column.n_codes());
  std::visit(
      [&](auto codes) {
        for (const auto code : codes) ++rows[code];
      },
      column.codes);
  return rows.empty() ? 0 : *std::max_element(rows.begin(), rows.end());
}

/// Changes the sizes of the nodes above `at`.
void resize_above(Nodes& nodes, std::size_t at, int by) {
  for (std::size_t i = 0; i < at; ++i)
    if (at < i + nodes[i].size) nodes[i].size += static_cast<std::uint32_t>(by);
}

std::vector<double> log_weights(const Knowledge& knowledge, std::size_t columns) {
  std::vector<double> logs(columns);
  for (std::size_t column = 0; column < knowledge.weights.size(); ++column)
    logs.at(column) = std::log(knowledge.weights[column]);
  return logs;
}

bool is_nog(const Node& node) { return node.size == 3; }

// Rows that have less than this share of what is summed are summed by themselves.
constexpr double low_weight_share = 1.0 / 512;

}  // namespace

Backfit::Backfit(const Design& design, const Prior& prior, const Leaf& leaf, std::vector<ProposalShare> proposals,
                 Simd simd)
    : TreeSum(std::move(proposals)),
      design_(design),
      rows_(design.rows),
      rules_(design, prior.tree.min_leaf, Restrictions(prior.tree.knowledge, design, prior.tree.cuts)),
      most_leaves_(std::min<std::uint64_t>(most_leaves, prior.tree.knowledge.max_leaves.value_or(most_leaves))),
      columns_(log_weights(prior.tree.knowledge, design.columns.size())),
      leaf_model_(leaf),
      simd_(simd),
      trees_(prior.trees),
      numbers_(prior.trees * rows_),
      changed_(prior.trees, 1),
      byte_rules_(design) {
  if (!prior.tree.by_column) throw InputError("a sum of trees chooses a rule's column first");
  if (prior.trees < 1) throw InputError("trees must be 1 or more");
  for (const ProposalShare& share : this->proposals())
    if (share.proposal == Proposal::bandwidth) throw InputError("proposals: only soft rules have a bandwidth");
  for (std::uint32_t depth = 0; depth <= most_leaves; ++depth) {
    const double split = prior.tree.alpha * std::pow(1.0 + depth, -prior.tree.beta);
    log_split_.push_back(std::log(split));
    log_stay_.push_back(std::log1p(-split));
  }
  for (const Column& column : design.columns) heaviest_.push_back(heaviest_code(column));
  for (std::uint32_t column = 0; column < heaviest_.size(); ++column)
    if (heaviest_[column] > 0) by_heaviest_.push_back(column);
  std::sort(by_heaviest_.begin(), by_heaviest_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return heaviest_[a] < heaviest_[b]; });
  all_divide_ = !heaviest_.empty() && by_heaviest_.size() == heaviest_.size();
  tried_.resize(design.columns.size());
  block_sums_.resize((rows_ + block_rows - 1) / block_rows);
  const auto& signs = prior.tree.knowledge.monotone;
  if (std::any_of(signs.begin(), signs.end(), [](int sign) { return sign != 0; }))
    cone_.emplace(design, std::vector<int>(signs.begin(), signs.end()));

  Node root{.end = design.rows};
  gathered_.resize(rows_);
  std::iota(gathered_.begin(), gathered_.end(), Row{0});
  const Nodes alone{root};
  root.splittable = rules_.any_rule(gathered_, situation_of(alone, 0));
  for (Tree& tree : trees_) tree = {{root}, {leaf.start()}};
}

// ---- passes ---------------------------------------------------------------------------------------------------------

void Backfit::run(const Pass& pass, Team& team) {
  const BlockPass block = block_pass(pass, simd_);
  if (rows_ <= block_rows) {
    block(pass, 0, rows_, sums_);
    return;
  }
  const auto add = [&](const PassSums& more) {
    for (std::size_t k = 0; k < pass.leaves; ++k) {
      sums_.sum[k] += more.sum[k];
      if (pass.weight) sums_.weight[k] += more.weight[k];
    }
    sums_.right_sum += more.right_sum;
    for (std::size_t side = 0; side < 2; ++side) {
      sums_.right_rows[side] += more.right_rows[side];
      sums_.right_weight[side] += more.right_weight[side];
    }
  };
  const std::size_t blocks = block_sums_.size();
  const auto one = [&](std::size_t i, PassSums& out) {
    block(pass, i * block_rows, std::min(rows_, (i + 1) * block_rows), out);
  };
  one(0, sums_);
  if (team.threads() == 1) {
    for (std::size_t i = 1; i < blocks; ++i) {
      one(i, block_sums_[0]);
      add(block_sums_[0]);
    }
    return;
  }
  team.share(blocks - 1, [&](std::size_t i) { one(i + 1, block_sums_[i + 1]); });
  for (std::size_t i = 1; i < blocks; ++i) add(block_sums_[i]);
}

Pass Backfit::pass_over(std::size_t t, const Target& target) {
  Pass pass{.residual = target.residual.data(),
            .weight = target.weight.empty() ? nullptr : target.weight.data(),
            .multiplies = leaf_model_.multiplies()};
  pass.leaf = numbers(t).data();
  pass.leaves = trees_[t].values.size();
  if (before_) {
    pass.changed = numbers(*before_).data();
    pass.change = change_.data();
    pass.changed_leaves = trees_[*before_].values.size();
    before_.reset();
  }
  return pass;
}

/// Gives the residuals the change they have not got yet.
void Backfit::settle(const Target& target, Team& team) {
  if (before_) run(pass_over(*before_, target), team);
}

void Backfit::hold_all(std::span<float> rows, Team& team) {
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    const std::vector<float>& values = trees_[t].values;
    for (std::size_t k = 0; k < values.size(); ++k)
      change_[k] = leaf_model_.change(leaf_model_.nothing(), leaf_model_.held_of(values[k]));
    before_ = t;
    settle({rows}, team);
  }
}

// ---- a visit --------------------------------------------------------------------------------------------------------

void Backfit::sweep(const Target& target, Stream& stream, Team& team) {
  set_precision(target.precision);
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    heed_interruption();
    visit(t, target, stream, team);
  }
  settle(target, team);
}

void Backfit::visit(std::size_t t, const Target& target, Stream& stream, Team& team) {
  Tree& tree = trees_[t];
  std::transform(tree.values.begin(), tree.values.end(), held_.begin(),
                 [&](float value) { return leaf_model_.held_of(value); });
  bool read = false;
  const auto read_all = [&] {
    run(pass_over(t, target), team);
    read_sums(tree, !target.weight.empty());
    read = true;
  };
  for (std::size_t i = 0; i < proposals().size(); ++i) {
    for (int times = proposals()[i].times(stream); times > 0; --times) {
      ++turns[i];
      Proposed proposed = propose(t, proposals()[i].proposal, stream);
      if (proposed.kind == Kind::none) continue;
      // One sum over the rows of two leaves will not do.
      if (proposed.kind == Kind::change && leaf_model_.multiplies()) {
        if (!read) read_all();
        level(t, proposed.leaf, target, team);
      }
      Pass pass = pass_over(t, target);
      const bool divided = divide_rows(t, proposed, pass, !read, stream, team);
      read = true;
      if (!divided || !decide(t, proposed, stream)) continue;
      apply(t, proposed, target, team);
      ++accepted[i];
    }
  }
  if (!read) read_all();
  draw_values(tree, stream);
  for (std::size_t k = 0; k < tree.values.size(); ++k)
    change_[k] = leaf_model_.change(held_[k], leaf_model_.held_of(tree.values[k]));
  before_ = t;
}

/// From what a pass over the tree's leaves gave.
void Backfit::read_sums(const Tree& tree, bool weighted) {
  std::size_t k = 0;
  for (const Node& node : tree.nodes) {
    if (!node.is_leaf()) continue;
    const double weight = weighted ? sums_.weight[k] : static_cast<double>(node.rows());
    leaf_[k] = {leaf_model_.without(sums_.sum[k], weight, held_[k]), weight};
    ++k;
  }
}

Backfit::Proposed Backfit::propose(std::size_t t, Proposal proposal, Stream& stream) {
  const Nodes& nodes = trees_[t].nodes;
  const Places places = places_of(nodes);
  Proposed proposed;
  std::size_t place = 0;
  if (proposal != Proposal::birth_death) {
    if (places.nogs == 0) return proposed;
    proposed.kind = Kind::change;
    place = stream.below(places.nogs);
  } else {
    if (places.nogs == 0 && places.splittable == 0) return proposed;
    const bool birth = places.nogs == 0 || (places.splittable > 0 && stream.bernoulli(0.5));
    proposed.kind = birth ? Kind::birth : Kind::death;
    place = stream.below(birth ? places.splittable : places.nogs);
  }
  for (const Node& node : nodes) {
    const bool suits = proposed.kind == Kind::birth ? node.is_leaf() && node.splittable : is_nog(node);
    if (suits && place-- == 0) break;
    proposed.leaf = static_cast<std::uint8_t>(proposed.leaf + node.is_leaf());
    ++proposed.node;
  }
  if (proposal == Proposal::perturb) {
    proposed.near = true;
    const std::optional<Rule> rule = draw_near_rule(nodes, proposed.node, stream);
    if (!rule) return {};
    proposed.rule = *rule;
  } else if (proposed.kind != Kind::death) {
    proposed.rule = draw_rule(t, proposed, stream);
  }
  return proposed;
}

/// One pass, that also sums the rows of the parts. A rule that leaves too few rows on a side is drawn again among those
/// that do not, so that it is one of these whose probabilities are equal. False where it is a step from the old one,
/// which is not made then.
bool Backfit::divide_rows(std::size_t t, Proposed& proposed, Pass& pass, bool read, Stream& stream, Team& team) {
  const Tree& tree = trees_[t];
  const std::size_t first = proposed.leaf, second = first + (proposed.kind != Kind::birth);
  if (proposed.kind != Kind::death) {
    byte_rule_ = byte_rules_(proposed.rule);
    pass.rule = byte_rule_;
    pass.first = static_cast<std::uint8_t>(first);
    pass.second = static_cast<std::uint8_t>(second);
  }
  const bool needs_pass = read || proposed.kind != Kind::death;
  if (needs_pass) run(pass, team);
  if (read) read_sums(tree, pass.weight != nullptr);
  const LeafSums all{leaf_[first].sum + (second > first ? leaf_[second].sum : 0.0),
                     leaf_[first].weight + (second > first ? leaf_[second].weight : 0.0)};
  if (proposed.kind == Kind::death) {
    part_[0] = all;
    return true;
  }
  const Row rows = tree.nodes[proposed.node].rows();
  const auto too_few = [&] {
    const std::uint64_t right = sums_.right_rows[0] + sums_.right_rows[1];
    return right < rules_.min_leaf() || rows - right < rules_.min_leaf();
  };
  if (too_few()) {
    if (proposed.near) return false;
    proposed.rule = draw_admissible_rule(t, proposed, proposed.rule.feature, stream);
    byte_rule_ = byte_rules_(proposed.rule);
    pass.rule = byte_rule_;
    pass.changed = nullptr;
    run(pass, team);
  }
  double right = leaf_model_.without(sums_.right_sum, sums_.right_weight[0], held_[first]);
  if (second > first) right = leaf_model_.without(right, sums_.right_weight[1], held_[second]);
  const double right_weight = sums_.right_weight[0] + sums_.right_weight[1];
  part_[1] = {right, right_weight};
  part_[0] = {leaf_model_.rest(all.sum, right), std::max(all.weight - right_weight, 0.0)};
  part_rows_[1] = static_cast<Row>(sums_.right_rows[0] + sums_.right_rows[1]);
  part_rows_[0] = rows - part_rows_[1];
  // What one side lacks the other one has, so that rounding moves rows, but takes none. A left side that hardly counts
  // is the one to be summed, not the rest.
  const bool low = leaf_model_.multiplies() ? part_[0].sum < low_weight_share * all.sum
                                            : part_[0].weight < low_weight_share * all.weight;
  if (!low || !(pass.weight || pass.multiplies)) return true;
  part_[0] = sum_left(pass, first, second);
  part_[1] = {leaf_model_.rest(all.sum, part_[0].sum), all.weight - part_[0].weight};
  return true;
}

/// The left side of a rule, row by row.
LeafSums Backfit::sum_left(const Pass& pass, std::size_t first, std::size_t second) const {
  double sum = 0.0;
  std::array<double, 2> weight{};
  for (std::size_t row = 0; row < rows_; ++row) {
    const std::size_t leaf = pass.leaf[row];
    if ((leaf != first && leaf != second) || byte_rule_.goes_right(row)) continue;
    const double own = pass.weight ? static_cast<double>(pass.weight[row]) : 1.0;
    sum += own * static_cast<double>(pass.residual[row]);
    weight[leaf != first] += own;
  }
  sum = leaf_model_.without(sum, weight[0], held_[first]);
  if (second > first) sum = leaf_model_.without(sum, weight[1], held_[second]);
  return {sum, weight[0] + weight[1]};
}

/// The rows of a leaf and the next one hold different values: takes these out, so that all hold nothing.
void Backfit::level(std::size_t t, std::size_t first, const Target& target, Team& team) {
  const float nothing = leaf_model_.nothing();
  std::array<float, 256> back;
  back.fill(nothing);
  back[first] = held_[first];
  back[first + 1] = held_[first + 1];
  if (back[first] == nothing && back[first + 1] == nothing) return;
  Pass pass = pass_over(t, target);
  pass.changed = pass.leaf;
  pass.change = back.data();
  pass.changed_leaves = trees_[t].values.size();
  run(pass, team);
  held_[first] = held_[first + 1] = nothing;
}

bool Backfit::decide(std::size_t t, const Proposed& proposed, Stream& stream) {
  const Tree& tree = trees_[t];
  if (proposed.kind == Kind::birth && tree.values.size() >= most_leaves_) return false;
  const double log_uniform = std::log(1.0 - stream.uniform());
  const double log_likelihood_ratio = log_likelihood_of(proposed);
  // Children that can be split only lower the ratio. Whether they can takes time to find out, which mostly is not
  // needed.
  const std::uint32_t depth = tree.nodes[proposed.node].depth;
  const double log_birth =
      proposed.kind == Kind::birth ? log_odds(depth) - log_birth_place(places_of(tree.nodes)) : infinity;
  if (!testing::is_injected(Fault::sum_birth_death) && !(log_uniform < log_likelihood_ratio + log_birth)) return false;
  make_candidate(t, proposed);
  if (!(log_uniform < log_likelihood_ratio + log_prior_ratio(tree.nodes, proposed))) return false;
  return !cone_ || draw_parts(tree, proposed, stream);
}

/// Of the leaves that are replaced, new against old.
double Backfit::log_likelihood_of(const Proposed& proposed) const {
  double fit = 0.0, gains = 1.0;
  const auto add = [&](const LeafSums& leaf) {
    const Leaf::Marginal marginal = leaf_model_.marginal(leaf, precision_);
    fit += marginal.fit;
    gains *= marginal.gain;
  };
  const auto remove = [&](const LeafSums& leaf) {
    const Leaf::Marginal marginal = leaf_model_.marginal(leaf, precision_);
    fit -= marginal.fit;
    gains /= marginal.gain;
  };
  add(part_[0]);
  if (proposed.kind != Kind::death) add(part_[1]);
  remove(leaf_[proposed.leaf]);
  if (proposed.kind != Kind::birth) remove(leaf_[proposed.leaf + std::size_t{1}]);
  return 0.5 * (fit - std::log(gains));
}

/// The nodes as they would be.
void Backfit::make_candidate(std::size_t t, const Proposed& proposed) {
  const Nodes& nodes = trees_[t].nodes;
  candidate_ = nodes;
  Node& changed = candidate_[proposed.node];
  const auto children = candidate_.begin() + static_cast<std::ptrdiff_t>(proposed.node) + 1;
  if (proposed.kind == Kind::death) {
    changed.size = 1;
    changed.splittable = true;
    candidate_.erase(children, children + 2);
    resize_above(candidate_, proposed.node, -2);
    return;
  }
  changed.rule = proposed.rule;
  std::array<Node, 2> parts;
  path_.split(situation_of(nodes, proposed.node), proposed.rule, rules_.restrictions());
  for (std::size_t side = 0; side < 2; ++side) {
    parts[side] = {.end = part_rows_[side], .depth = changed.depth + 1};
    parts[side].splittable =
        is_splittable(t, proposed, side == 1, part_rows_[side], path_.enter(changed.depth + 1, rules_.restrictions()));
  }
  if (proposed.kind == Kind::change) {
    std::copy(parts.begin(), parts.end(), children);
    return;
  }
  changed.size = 3;
  candidate_.insert(children, parts.begin(), parts.end());
  resize_above(candidate_, proposed.node, 2);
}

/// π(T')q(T'→T) / π(T)q(T→T') without the rules, which are drawn from the prior. Either tree's part is asked of that
/// tree itself.
double Backfit::log_prior_ratio(const Nodes& nodes, const Proposed& proposed) const {
  const std::uint32_t depth = nodes[proposed.node].depth;
  const auto log_children = [&](const Nodes& of) {
    return log_stay(depth + 1, of[proposed.node + 1].splittable) +
           log_stay(depth + 1, of[proposed.node + 2].splittable);
  };
  if (proposed.kind == Kind::change)
    return testing::is_injected(Fault::sum_change) ? 0.0 : log_children(candidate_) - log_children(nodes);
  const bool birth = proposed.kind == Kind::birth;
  const Nodes &smaller = birth ? nodes : candidate_, &larger = birth ? candidate_ : nodes;
  double log_ratio = log_odds(depth) + log_children(larger);
  if (!testing::is_injected(Fault::sum_birth_death))
    log_ratio += log_death_place(places_of(larger)) - log_birth_place(places_of(smaller));
  return birth ? log_ratio : -log_ratio;
}

/// Draws values for the leaves of the candidate that are new; whether it is monotone with them.
bool Backfit::draw_parts(const Tree& tree, const Proposed& proposed, Stream& stream) {
  const auto first = static_cast<std::ptrdiff_t>(proposed.leaf);
  const std::size_t parts = proposed.kind == Kind::death ? 1 : 2;
  cone_values_.assign(tree.values.begin(), tree.values.begin() + first);
  for (std::size_t i = 0; i < parts; ++i) cone_values_.push_back(part_value_[i] = draw_value(part_[i], stream));
  cone_values_.insert(cone_values_.end(), tree.values.begin() + first + (proposed.kind == Kind::birth ? 1 : 2),
                      tree.values.end());
  cone_->read(candidate_);
  return cone_->contains(cone_values_, proposed.leaf, proposed.leaf + parts);
}

void Backfit::apply(std::size_t t, const Proposed& proposed, const Target& target, Team& team) {
  Tree& tree = trees_[t];
  const std::size_t first = proposed.leaf, leaves = tree.values.size();
  const LeafNumbers of_rows = numbers(t);
  if (proposed.kind != Kind::birth) level(t, first, target, team);
  const auto place = static_cast<std::ptrdiff_t>(first) + 1;
  switch (proposed.kind) {
    case Kind::birth:
      divide_leaf(of_rows, proposed.leaf, byte_rule_);
      tree.values.insert(tree.values.begin() + place, tree.values[first]);
      std::copy_backward(leaf_.begin() + place, leaf_.begin() + static_cast<std::ptrdiff_t>(leaves),
                         leaf_.begin() + static_cast<std::ptrdiff_t>(leaves) + 1);
      std::copy_backward(held_.begin() + place, held_.begin() + static_cast<std::ptrdiff_t>(leaves),
                         held_.begin() + static_cast<std::ptrdiff_t>(leaves) + 1);
      held_[first + 1] = held_[first];
      break;
    case Kind::death:
      merge_leaves(of_rows, proposed.leaf);
      tree.values.erase(tree.values.begin() + place);
      std::copy(leaf_.begin() + place + 1, leaf_.begin() + static_cast<std::ptrdiff_t>(leaves), leaf_.begin() + place);
      std::copy(held_.begin() + place + 1, held_.begin() + static_cast<std::ptrdiff_t>(leaves), held_.begin() + place);
      break;
    default:
      divide_again(of_rows, proposed.leaf, byte_rule_);
  }
  const std::size_t parts = proposed.kind == Kind::death ? 1 : 2;
  for (std::size_t i = 0; i < parts; ++i) {
    leaf_[first + i] = part_[i];
    if (cone_) tree.values[first + i] = static_cast<float>(part_value_[i]);
  }
  tree.nodes.swap(candidate_);
  changed_[t] = 1;
}

void Backfit::draw_values(Tree& tree, Stream& stream) {
  if (!cone_) {
    for (std::size_t k = 0; k < tree.values.size(); ++k)
      tree.values[k] = static_cast<float>(draw_value(leaf_[k], stream));
    return;
  }
  // A value given the others is normal, restricted to the cone: what lies outside it is drawn again a few times, and
  // else the value stays.
  constexpr int tries = 10;
  cone_->read(tree.nodes);
  cone_values_.assign(tree.values.begin(), tree.values.end());
  for (std::size_t k = 0; k < tree.values.size(); ++k) {
    const double old = cone_values_[k];
    bool inside = false;
    for (int i = 0; i < tries && !inside; ++i) {
      cone_values_[k] = draw_value(leaf_[k], stream);
      inside = cone_->contains(cone_values_, k, k + 1);
    }
    if (!inside) cone_values_[k] = old;
    tree.values[k] = static_cast<float>(cone_values_[k]);
  }
}

// ---- the prior ------------------------------------------------------------------------------------------------------

Backfit::Places Backfit::places_of(const Nodes& nodes) {
  Places places;
  for (const Node& node : nodes) {
    places.splittable += node.is_leaf() && node.splittable;
    places.nogs += is_nog(node);
  }
  return places;
}

/// A birth or a death with equal probability where both are possible; then one of the places uniformly.
double Backfit::log_birth_place(const Places& places) {
  if (places.splittable == 0) return -infinity;
  return (places.nogs == 0 ? 0.0 : std::log(0.5)) - std::log(static_cast<double>(places.splittable));
}

double Backfit::log_death_place(const Places& places) {
  if (places.nogs == 0) return -infinity;
  return (places.splittable == 0 ? 0.0 : std::log(0.5)) - std::log(static_cast<double>(places.nogs));
}

Situation Backfit::situation_of(const Nodes& nodes, std::size_t at) {
  path_.go_to(nodes, at, rules_.restrictions());
  return path_.enter(nodes[at].depth, rules_.restrictions());
}

/// A rule for the rows of a proposal's leaves. Mostly the first rule drawn among all of a column, whatever the rows, is
/// admissible; whether it is, shows when the rows are divided.
Rule Backfit::draw_rule(std::size_t t, const Proposed& proposed, Stream& stream) {
  const Nodes& nodes = trees_[t].nodes;
  const Situation here = situation_of(nodes, proposed.node);
  const std::uint32_t feature = columns_.draw(stream);
  if (design_.columns[feature].n_codes() > 1) {
    const Rule rule = draw_any_rule(nodes, proposed.node, feature, stream);
    if (rules_.restrictions().allows(here, rule)) return rule;
  }
  return draw_admissible_rule(t, proposed, feature, stream);
}

/// Uniformly from rules of the column that include all that are admissible at the node.
Rule Backfit::draw_any_rule(const Nodes& nodes, std::size_t at, std::uint32_t feature, Stream& stream) const {
  const Column& column = design_.columns[feature];
  Rule rule{.feature = feature};
  if (column.categorical) {
    rule.subset = 1 | stream.below((std::uint64_t{1} << (column.n_codes() - 1)) - 1) << 1;
    return rule;
  }
  if (column.has_missing) {
    const std::uint32_t last = column.observed - 1;
    const std::uint64_t n = stream.below(2 * std::uint64_t{last} + 1);
    rule.missing_left = n > last;
    rule.cut = static_cast<std::uint32_t>(n > last ? n - last - 1 : n);
    return rule;
  }
  const auto [begin, end] = cuts_within(nodes, at, feature);
  rule.cut = begin < end ? begin + static_cast<std::uint32_t>(stream.below(end - begin)) : begin;
  return rule;
}

/// The cuts of a column without missing values, from the first to before the last, that the cuts above a node leave.
std::pair<std::uint32_t, std::uint32_t> Backfit::cuts_within(const Nodes& nodes, std::size_t at,
                                                             std::uint32_t feature) const {
  std::uint32_t begin = 0, end = design_.columns[feature].observed - 1;
  for (std::size_t i = 0; i != at;) {
    const std::size_t right = right_child(nodes, i);
    if (nodes[i].rule.feature == feature)
      (at >= right ? begin : end) = at >= right ? nodes[i].rule.cut + 1 : nodes[i].rule.cut;
    i = at >= right ? right : left_child(i);
  }
  return {begin, end};
}

/// The rule of a split, but for a step of its cut; none where that leads out of the cuts there are. How far steps go
/// depends on these alone, and they go either way alike. So the reverse one has the same probability, and an admissible
/// rule of the same column the same prior.
std::optional<Rule> Backfit::draw_near_rule(const Nodes& nodes, std::size_t at, Stream& stream) {
  Rule rule = nodes[at].rule;
  const Column& column = design_.columns[rule.feature];
  if (column.categorical) return std::nullopt;
  auto [begin, end] = column.has_missing ? std::pair{0u, column.observed - (rule.missing_left ? 1 : 0)}
                                         : cuts_within(nodes, at, rule.feature);
  if (end - begin < 2) return std::nullopt;
  // On any scale, as nobody knows which one suits.
  const auto scales = static_cast<std::uint64_t>(std::bit_width(end - begin - 1));
  const auto step = 1 + static_cast<std::int64_t>(stream.below(std::uint64_t{1} << stream.below(scales)));
  std::int64_t cut = std::int64_t{rule.cut} + (stream.bernoulli(0.5) ? step : -step);
  if (testing::is_injected(Fault::sum_perturb)) cut = std::clamp<std::int64_t>(cut, begin, end - 1);
  if (cut < begin || cut >= end || cut == rule.cut) return std::nullopt;
  rule.cut = static_cast<std::uint32_t>(cut);
  if (!rules_.restrictions().allows(situation_of(nodes, at), rule)) return std::nullopt;
  return rule;
}

/// From the admissible rules of a column or, where it has none, of another one drawn among those not yet tried.
Rule Backfit::draw_admissible_rule(std::size_t t, const Proposed& proposed, std::uint32_t feature, Stream& stream) {
  const Situation here = situation_of(trees_[t].nodes, proposed.node);
  const auto second = static_cast<std::uint8_t>(proposed.leaf + (proposed.kind == Kind::change));
  bool gathered = false;
  tried_.assign(tried_.size(), false);
  for (;;) {
    if (const std::uint8_t* codes = plain_codes(feature, here)) {
      const auto [least, most] = codes_of_leaves(numbers(t), proposed.leaf, second, codes);
      if (least < most)
        return {.feature = feature, .cut = least + static_cast<std::uint32_t>(stream.below(most - least))};
    } else {
      if (!gathered) rows_of_leaves(numbers(t), proposed.leaf, second, gathered_);
      gathered = true;
      const ColumnRules rules = rules_.column_rules(feature, gathered_, here);
      if (rules.count > 0) return rules_.nth_rule(feature, rules, gathered_, here.boxes, stream.below(rules.count));
    }
    tried_[feature] = true;
    feature = columns_.draw_untried(tried_, stream);
  }
}

/// The codes of a column of which every cut between two of them is admissible, whatever the rows; none where that is
/// not so.
const std::uint8_t* Backfit::plain_codes(std::uint32_t feature, const Situation& here) const {
  const Column& column = design_.columns[feature];
  const auto* bytes = std::get_if<0>(&column.codes);
  const bool plain = bytes && rules_.min_leaf() == 1 && !column.categorical && !column.has_missing &&
                     rules_.restrictions().freedom(here, feature) == Freedom::all;
  return plain ? bytes->data() : nullptr;
}

/// Rows of one code of a column cannot be divided by it, but any more than the heaviest code has, and min_leaf − 1 on
/// either side, can.
bool Backfit::surely_splittable(Row rows, const Situation& situation) const {
  for (const std::uint32_t column : by_heaviest_) {
    if (rows <= heaviest_[column] + 2 * (rules_.min_leaf() - 1)) return false;
    if (rules_.restrictions().freedom(situation, column) == Freedom::all) return true;
  }
  return false;
}

bool Backfit::all_free(const Situation& situation) const {
  for (std::uint32_t column = 0; column < heaviest_.size(); ++column)
    if (rules_.restrictions().freedom(situation, column) != Freedom::all) return false;
  return true;
}

bool Backfit::is_splittable(std::size_t t, const Proposed& proposed, bool right, Row rows, const Situation& child) {
  if (rows / 2 < rules_.min_leaf()) return false;
  if (surely_splittable(rows, child)) return true;
  const auto second = static_cast<std::uint8_t>(proposed.leaf + (proposed.kind == Kind::change));
  // What divides some of the rows divides all of them, and a few mostly tell.
  const std::size_t few = 8 * std::size_t{rules_.min_leaf()};
  for (const std::size_t most : {few, rows_}) {
    rows_of_side(numbers(t), proposed.leaf, second, byte_rule_, right, most, gathered_);
    if (rules_.any_rule(gathered_, child)) return true;
    if (gathered_.size() == rows) break;
  }
  return false;
}

// ---- from outside ---------------------------------------------------------------------------------------------------

bool Backfit::in_order(const Nodes& nodes, std::span<const float> values) {
  if (!cone_) return true;
  cone_->read(nodes);
  cone_values_.assign(values.begin(), values.end());
  return cone_->contains(cone_values_, 0, values.size());
}

void Backfit::restore(std::size_t t, const Nodes& pattern, std::vector<float> values, std::span<float> residual) {
  Tree& tree = trees_[t];
  if (values.size() != pattern.size() / 2 + 1 || values.size() > most_leaves_)
    throw InputError("tree: it has too many leaves, or not a value for each");
  for (const float value : values)
    if (!leaf_model_.allows(value)) throw InputError("chain: a leaf value is not on the grid, or no number");
  if (!in_order(pattern, values)) throw InputError("tree: its values are not monotone");
  std::array<float, 256> change{};
  std::copy(tree.values.begin(), tree.values.end(), change.begin());
  const LeafNumbers of_rows = numbers(t);
  add_changes(residual, of_rows, change.data());
  std::fill(of_rows.begin(), of_rows.end(), std::uint8_t{0});

  tree.nodes = pattern;
  tree.values = std::move(values);
  std::uint8_t leaf = 0;
  std::vector<Row> counts(most_leaves + 1);
  std::vector<std::uint32_t> depths{0};
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    Node& node = tree.nodes[i];
    node.depth = depths.back();
    depths.pop_back();
    const Situation here = situation_of(tree.nodes, i);
    rows_of_leaves(of_rows, leaf, leaf, gathered_);
    node.begin = 0;
    node.end = static_cast<Row>(gathered_.size());
    if (node.is_leaf()) {
      node.splittable = gathered_.size() / 2 >= rules_.min_leaf() && rules_.any_rule(gathered_, here);
      ++leaf;
      continue;
    }
    byte_rule_ = byte_rules_(node.rule);
    const auto right = static_cast<Row>(
        std::count_if(gathered_.begin(), gathered_.end(), [&](Row row) { return byte_rule_.goes_right(row); }));
    if (right < rules_.min_leaf() || node.end - right < rules_.min_leaf() ||
        !rules_.restrictions().allows(here, node.rule))
      throw InputError("tree: a leaf would hold fewer than min_leaf rows, or a constraint forbids a rule");
    divide_leaf(of_rows, leaf, byte_rule_);
    depths.push_back(node.depth + 1);
    depths.push_back(node.depth + 1);
  }
  std::fill(change.begin(), change.end(), 0.0f);
  for (std::size_t k = 0; k < tree.values.size(); ++k) change[k] = -tree.values[k];
  add_changes(residual, of_rows, change.data());
  changed_[t] = 1;
}

void Backfit::for_each_split(std::size_t t, const std::function<void(const Node&, const std::vector<bool>&)>& visit) {
  const Nodes& nodes = trees_[t].nodes;
  const std::vector<bool> none;
  std::vector<bool> blocked(design_.columns.size());
  std::uint8_t leaf = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].is_leaf()) {
      ++leaf;
      continue;
    }
    const Situation here = situation_of(nodes, i);
    const Row spare = 2 * (rules_.min_leaf() - 1);
    if (all_divide_ && nodes[i].rows() > heaviest_[by_heaviest_.back()] + spare && all_free(here)) {
      visit(nodes[i], none);
      continue;
    }
    bool gathered = false;
    for (std::uint32_t column = 0; column < blocked.size(); ++column) {
      const Freedom freedom = rules_.restrictions().freedom(here, column);
      if (freedom == Freedom::all && heaviest_[column] > 0 && nodes[i].rows() > heaviest_[column] + spare) {
        blocked[column] = false;
        continue;
      }
      if (!gathered && freedom != Freedom::none) {
        const auto last = static_cast<std::uint8_t>(leaf + nodes[i].size / 2);
        gathered_.clear();
        const std::span<const std::uint8_t> all = numbers(t);
        for (std::size_t row = 0; row < all.size(); ++row)
          if (all[row] >= leaf && all[row] <= last) gathered_.push_back(static_cast<Row>(row));
        gathered = true;
      }
      blocked[column] = freedom == Freedom::none || !rules_.has_rule(column, gathered_, here);
    }
    visit(nodes[i], blocked);
  }
}

}  // namespace baytree::bart
