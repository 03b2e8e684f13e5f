#include "baytree/priors/program_knowledge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "baytree/base/error.hpp"
#include "baytree/slp/syntax/spelling.hpp"

namespace baytree {

using slp::Kind;
using slp::TermId;

namespace {

constexpr double largest_count = std::numeric_limits<std::uint32_t>::max();

class Reader {
 public:
  Reader(const slp::Program& program, const Vocabulary& vocabulary) : program_(program), vocabulary_(vocabulary) {}

  void run() {
    for (const slp::Clause& clause : program_.clauses) read(clause);
    check_required();
    std::stable_sort(problems.begin(), problems.end(),
                     [](const slp::Problem& a, const slp::Problem& b) { return a.place < b.place; });
  }

  Knowledge knowledge;
  std::optional<std::uint32_t> min_leaf;
  slp::Problems problems;

 private:
  struct Constraint {
    const char* name;
    std::uint32_t arity;
    void (Reader::*read)(TermId fact);
  };

  const slp::Source& source() const { return program_.source; }
  TermId argument(TermId fact, std::uint32_t i) const { return source().terms.argument(fact, i); }
  std::string text(TermId term) const { return slp::write(source(), term, sentence_->variables); }
  const std::string& name(std::uint32_t feature) const { return vocabulary_.names[feature]; }

  void report(slp::Place place, std::string message) {
    problems.push_back({slp::Problem::Severity::error, place, std::move(message)});
  }
  void report(TermId term, std::string message) { report(source().terms.start(term), std::move(message)); }

  void read(const slp::Clause& clause) {
    static constexpr Constraint constraints[] = {
        {"min_leaf", 1, &Reader::read_min_leaf},
        {"max_depth", 1, &Reader::read_max_depth},
        {"max_leaves", 1, &Reader::read_max_leaves},
        {"forbid", 1, &Reader::read_forbid},
        {"forbid_below", 2, &Reader::read_forbid_below},
        {"interaction", 1, &Reader::read_interaction},
        {"require", 1, &Reader::read_require},
        {"weight", 2, &Reader::read_weight},
        {"only", 2, &Reader::read_only},
        {"const_class_probs", 4, &Reader::read_box},
        {"monotone", 2, &Reader::read_monotone},
    };
    const auto [symbol, arity] = program_.indicator(clause.head);
    for (const Constraint& constraint : constraints) {
      if (source().symbols.name(symbol) != constraint.name || arity != constraint.arity) continue;
      sentence_ = &program_.sentence(clause);
      if (clause.label || clause.guard || clause.body)
        return report(clause.head, program_.name({symbol, arity}) +
                                       " states a constraint: it must be a plain fact, without label, guard or body");
      (this->*constraint.read)(clause.head);
    }
  }

  // ---- arguments: each is read or reported
  // ---------------------------------------------------------------------------

  std::optional<std::uint32_t> feature(TermId term) {
    const slp::Term& node = source().terms[term];
    const std::string& word = source().symbols.name(node.name);
    if (node.kind == Kind::variable) {
      report(
          term,
          word +
              " is a variable here; a feature is written in quotes where it begins with a capital letter, as in 'Age'");
      return std::nullopt;
    }
    if (node.kind != Kind::atom) {
      report(term, text(term) + " is no feature; name a column, or x1, x2, … by position");
      return std::nullopt;
    }
    const auto found = vocabulary_.find(word);
    if (!found) report(term, "there is no column " + word + slp::suggestion(word, vocabulary_.names, word.size()));
    return found;
  }

  std::optional<std::vector<std::uint32_t>> features(TermId list, const char* example) {
    const auto items = slp::list_items(source(), list);
    if (!items || items->empty()) {
      report(list, text(list) + " must be a list of features, as in " + example);
      return std::nullopt;
    }
    std::vector<std::uint32_t> found;
    for (const TermId item : *items)
      if (const auto which = feature(item)) found.push_back(*which);
    return found.size() == items->size() ? std::optional(std::move(found)) : std::nullopt;
  }

  std::optional<double> number(TermId term) const {
    const slp::Term& node = source().terms[term];
    if (node.kind == Kind::integer) return static_cast<double>(node.integer);
    if (node.kind == Kind::real) return node.real;
    const std::string& word = source().symbols.name(node.name);
    if (node.kind == Kind::atom && word == "inf") return infinity;
    if (node.kind != Kind::compound || node.arity != 1 || (word != "-" && word != "+")) return std::nullopt;
    const auto value = number(argument(term, 0));
    return value && word == "-" ? -*value : value;
  }

  std::optional<std::uint32_t> count(TermId term, double least) {
    const auto value = number(term);
    if (value && *value >= least && *value <= largest_count && *value == std::floor(*value))
      return static_cast<std::uint32_t>(*value);
    report(term, text(term) + " must be a whole number of at least " + std::to_string(static_cast<int>(least)));
    return std::nullopt;
  }

  std::optional<double> bound(TermId term) {
    const auto value = number(term);
    if (!value) report(term, text(term) + " must be a number, inf or -inf");
    return value;
  }

  // ---- facts
  // ---------------------------------------------------------------------------------------------------------

  template <class T>
  void read_once(TermId fact, double least, std::optional<T>& to) {
    const auto value = count(argument(fact, 0), least);
    if (value && to) return report(fact, program_.name(program_.indicator(fact)) + " is stated twice");
    if (value) to = *value;
  }

  void read_min_leaf(TermId fact) { read_once(fact, 1.0, min_leaf); }
  void read_max_depth(TermId fact) { read_once(fact, 0.0, knowledge.max_depth); }
  void read_max_leaves(TermId fact) { read_once(fact, 1.0, knowledge.max_leaves); }

  void read_forbid(TermId fact) {
    if (const auto which = feature(argument(fact, 0))) knowledge.forbidden.push_back(*which);
  }

  void read_forbid_below(TermId fact) {
    const auto which = feature(argument(fact, 0));
    const TermId limit = argument(fact, 1);
    if (number(limit)) {
      const auto depth = count(limit, 0.0);
      if (which && depth) knowledge.below_depth.push_back({*which, *depth});
    } else {
      const auto above = feature(limit);
      if (which && above) knowledge.below_feature.push_back({*which, *above});
    }
  }

  void read_interaction(TermId fact) {
    if (auto group = features(argument(fact, 0), "interaction([a, b])"))
      knowledge.interacting.push_back(std::move(*group));
  }

  void read_only(TermId fact) {
    const auto depth = count(argument(fact, 0), 0.0);
    auto allowed = features(argument(fact, 1), "only(0, [a, b])");
    if (depth && allowed) knowledge.only.push_back({*depth, std::move(*allowed)});
  }

  void read_require(TermId fact) {
    const auto which = feature(argument(fact, 0));
    if (!which || required_.contains(*which)) return;
    knowledge.required.push_back(*which);
    required_.emplace(*which, source().terms.start(fact));
  }

  void read_weight(TermId fact) {
    const auto which = feature(argument(fact, 0));
    const TermId term = argument(fact, 1);
    const auto weight = number(term);
    if (!weight || !(*weight > 0.0 && *weight < infinity))
      return report(term, text(term) + " must be a positive number; to leave a feature out, forbid it");
    if (!which) return;
    if (!weighted_.insert(*which).second) return report(fact, "a second weight of " + name(*which));
    knowledge.weights.resize(vocabulary_.names.size(), 1.0);
    knowledge.weights[*which] = *weight;
  }

  void read_monotone(TermId fact) {
    const auto which = feature(argument(fact, 0));
    const TermId term = argument(fact, 1);
    const auto sign = number(term);
    if (!sign || (*sign != 1.0 && *sign != -1.0))
      return report(term, text(term) + " must be 1, never down as the feature grows, or -1, never up");
    if (!which) return;
    if (vocabulary_.is_categorical(*which))
      return report(argument(fact, 0), name(*which) + " is categorical: its levels have no order to follow");
    knowledge.monotone.resize(vocabulary_.names.size(), 0);
    int& known = knowledge.monotone[*which];
    if (known != 0) return report(fact, "monotone/2 is stated twice of " + name(*which));
    known = *sign > 0.0 ? 1 : -1;
  }

  void read_box(TermId fact) {
    const Kind kind = source().terms[argument(fact, 0)].kind;
    if (kind != Kind::atom && kind != Kind::integer)
      return report(argument(fact, 0), "a box is named by a word or a whole number");
    const std::string box = text(argument(fact, 0));
    const auto which = feature(argument(fact, 1));
    const auto min = bound(argument(fact, 2)), max = bound(argument(fact, 3));
    if (!which || !min || !max) return;
    if (vocabulary_.is_categorical(*which))
      return report(argument(fact, 1), name(*which) + " is categorical: boxes have sides of numeric features only");
    const auto known = boxes_.find(box);
    if (known == boxes_.end() && boxes_.size() == max_boxes)
      return report(fact, "at most " + std::to_string(max_boxes) + " boxes are possible");
    Box::Side side{*which, *min, *max};
    Box::Side* old = known == boxes_.end() ? nullptr : find_side(knowledge.boxes[known->second], *which);
    if (old) side = {*which, std::max(old->min, *min), std::min(old->max, *max)};
    if (side.min > side.max || side.min == infinity || side.max == -infinity)
      return report(argument(fact, 2),
                    "no value of " + name(*which) + " lies in " + box + ": the smallest exceeds the largest");
    if (old) {
      *old = side;
      return;
    }
    const std::size_t number = boxes_.try_emplace(box, boxes_.size()).first->second;
    knowledge.boxes.resize(boxes_.size());
    knowledge.boxes[number].sides.push_back(side);
  }

  static Box::Side* find_side(Box& box, std::uint32_t feature) {
    const auto found = std::find_if(box.sides.begin(), box.sides.end(),
                                    [&](const Box::Side& side) { return side.feature == feature; });
    return found == box.sides.end() ? nullptr : &*found;
  }

  // ---- contradictions
  // ------------------------------------------------------------------------------------------------

  void check_required() {
    const auto& forbidden = knowledge.forbidden;
    for (const auto& [which, place] : required_) {
      const auto never = [feature = which](const Knowledge::BelowDepth& limit) {
        return limit.feature == feature && limit.depth == 0;
      };
      if (std::find(forbidden.begin(), forbidden.end(), which) != forbidden.end() ||
          std::any_of(knowledge.below_depth.begin(), knowledge.below_depth.end(), never))
        report(place, name(which) + " is both required and forbidden");
      else if (knowledge.max_depth == 0u)
        report(place, name(which) + " is required, but max_depth(0) allows no split");
      else if (knowledge.max_leaves && *knowledge.max_leaves <= required_.size())
        report(place, std::to_string(required_.size()) + " required features take more than " +
                          std::to_string(*knowledge.max_leaves) + " leaves");
    }
  }

  const slp::Program& program_;
  const Vocabulary& vocabulary_;
  const slp::Sentence* sentence_ = nullptr;  // of the fact being read
  std::map<std::string, std::size_t> boxes_;
  std::map<std::uint32_t, slp::Place> required_;
  std::set<std::uint32_t> weighted_;
};

}  // namespace

Knowledge read_knowledge(const slp::Program& program, const Vocabulary& vocabulary, Row& min_leaf,
                         slp::Problems& problems) {
  Reader reader(program, vocabulary);
  reader.run();
  constexpr Row usual = 5;
  min_leaf = reader.min_leaf.value_or(usual);
  problems.insert(problems.end(), reader.problems.begin(), reader.problems.end());
  return std::move(reader.knowledge);
}

NodeTable make_table(const Design& design, Vocabulary vocabulary, const slp::Program& program) {
  slp::Problems problems;
  Row min_leaf = 0;
  const Knowledge knowledge = read_knowledge(program, vocabulary, min_leaf, problems);
  if (!problems.empty())
    throw InputError("line " + std::to_string(problems[0].place.line) + ": " + problems[0].message);
  return NodeTable(design, std::move(vocabulary), knowledge, min_leaf);
}

}  // namespace baytree
