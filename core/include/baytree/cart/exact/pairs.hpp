#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "baytree/cart/exact/choices.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::cart::exact {

/// What of all subtrees is kept: their sum, the largest posterior, or the largest likelihood of those the prior makes.
enum class Total : std::uint8_t { sum, most_probable, most_likely };

/// The last two levels of splits, where every column has two codes and a leaf is known by its rows of two classes. Then
/// how many rows have each pair of codes says all of what lies below a set at two depths from the limit, and what is
/// there need not be stored (DL8.5 and MurTree have optima so).
class Pairs {
 public:
  /// For sets of so many rows at most.
  Pairs(const Setting& setting, Row most);
  /// The most rows that a set at the last depth but one may have: each split leaves as many aside as a leaf needs.
  static Row most_rows_of_last_two(const Setting& setting);

  /// Rows of a set, and behind so many bits those of the first class; such counts add and subtract side by side.
  static constexpr unsigned half = 32;

  /// Whether a set needs no children, as all of its depths are among the last two.
  bool suffice(const RowSet& set) const { return reach(set.first()) && set.rows <= most_rows_; }
  /// Whether there are sets that are first met at this depth and need no children.
  bool reach(std::uint32_t depth) const { return most_rows_ > 0 && depth + 2 == setting_.limit; }

  /// Numbers that are needed again and again; each thread has its own. A mask has a bit for each row.
  struct Buffers {
    std::vector<std::uint64_t> masks;  // by place: rows with the rarer code
    std::vector<std::uint64_t> first_class, first_of_pattern, all;
    std::vector<std::uint64_t> counts;                        // by place, of its rows
    std::vector<std::uint32_t> first_with;                    // by hash of a mask
    std::vector<std::uint64_t> sides;                         // masks of columns, one of those that divide alike
    std::vector<std::uint64_t> have, both;                    // rows on that side, and on those of two columns
    std::vector<std::uint64_t> have_patterns, both_patterns;  // the same of patterns, behind `half`
    std::uint64_t whole = 0, whole_patterns = 0;
    // Of these columns, at the last depth but one and at the last: of all that divide alike, and of the likeliest one.
    std::array<std::vector<double>, 2> weight, largest;
    std::array<std::vector<double>, 2> terms, weights;  // by side: of what may be asked there, and of that it may be
  };
  /// log V of a set, whose members the divider has taken, at the last depth but one and at the last.
  std::array<double, 2> value(const Divider& divider, Total total, Buffers& buffers) const;

  /// Whether sets of so many rows can be read.
  bool take(Row rows) const { return rows <= most_rows_; }
  /// Counts the rows, and if asked the patterns, of each two columns that divide a set at a depth or the next one.
  void read(const Divider& divider, std::uint32_t depth, bool patterns, Buffers& buffers) const;
  /// log of what a set that was read amounts to at a depth, where below(counts, of patterns) says what each of the four
  /// sets that two columns make does.
  template <Total total, class Below>
  double two_levels(std::uint32_t depth, const Below& below, Buffers& buffers) const;
  /// The same where there are leaves below; `level` is whether the depth is that which was read for, or the next.
  template <Total total>
  double one_level(std::uint32_t depth, std::size_t level, const Buffers& buffers) const;

  /// Values of leaves, by their place; all leaves of a set together have one factor in common.
  template <class LogValue>
  std::vector<double> list(const LogValue& log_value) const;
  static std::size_t place(std::uint64_t counts) {
    const std::uint64_t rows = rows_of(counts);
    return rows * (rows + 1) / 2 + (counts >> half);
  }
  static Row rows_of(std::uint64_t counts) { return static_cast<Row>(counts); }
  double likelihood(std::uint64_t counts) const { return likelihood_[place(counts)]; }

 private:
  void mark(const Divider& divider, Buffers& buffers) const;
  void find_columns(std::uint32_t depth, std::size_t words, Buffers& buffers) const;
  template <Total total>
  static void add(double& terms, double weight, double below) {
    if constexpr (total == Total::sum) terms += weight * below;
    if constexpr (total == Total::most_probable) terms = std::max(terms, weight * below);
    if constexpr (total == Total::most_likely) terms = std::max(terms, weight > 0.0 ? below : 0.0);
  }
  template <Total total>
  static const std::vector<double>& weight_of_term(const Buffers& buffers, std::size_t level) {
    return (total == Total::sum ? buffers.weight : buffers.largest)[level];
  }
  /// V of a node from that of its leaf and the terms and weights of what it may ask.
  template <Total total>
  double node(std::uint32_t depth, double leaf, double terms, double weights) const;

  const Setting& setting_;
  Row most_rows_ = 0;
  // By rows and rows of the first class: e^(shift · rows) · likelihood of a leaf, 0 where a leaf needs more rows. All
  // leaves of a set together have one factor in common, and shift makes sure that products stay far from the ends of
  // the floats.
  double shift_ = 0.0;
  std::vector<double> likelihood_;
};

template <class LogValue>
std::vector<double> Pairs::list(const LogValue& log_value) const {
  std::vector<double> out(likelihood_.size());
  for (Row rows = 1; rows <= most_rows_; ++rows)
    for (Row first = 0; first <= rows; ++first)
      if (const std::uint64_t counts = std::uint64_t{first} << half | rows; likelihood(counts) > 0.0) {
        const double classes[]{static_cast<double>(first), static_cast<double>(rows - first)};
        out[place(counts)] = std::exp(log_value(classes, rows) + shift_ * rows);
      }
  return out;
}

template <Total total>
double Pairs::node(std::uint32_t depth, double leaf, double terms, double weights) const {
  if (!(weights > 0.0)) return leaf;
  const double split = setting_.split[depth + (testing::is_injected(Fault::exact_depth) ? 1 : 0)];
  if constexpr (total == Total::sum) return (1.0 - split) * leaf + split / weights * terms;
  if constexpr (total == Total::most_probable) return std::max((1.0 - split) * leaf, split / weights * terms);
  return std::max(split < 1.0 ? leaf : 0.0, split > 0.0 ? terms : 0.0);
}

template <Total total, class Below>
double Pairs::two_levels(std::uint32_t depth, const Below& below, Buffers& buffers) const {
  const std::size_t n = buffers.have.size();
  const std::vector<std::uint64_t>&have = buffers.have, &patterns = buffers.have_patterns;
  const std::vector<double>&weight = buffers.weight[1], &of_term = weight_of_term<total>(buffers, 1);
  for (auto* sides : {&buffers.terms, &buffers.weights})
    for (std::vector<double>& of_side : *sides) of_side.assign(n, 0.0);
  auto& [terms, without_terms] = buffers.terms;
  auto& [weights, without_weights] = buffers.weights;
  const std::uint64_t whole = buffers.whole;
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b) {
      const std::uint64_t both = buffers.both[a * n + b], only_a = have[a] - both, only_b = have[b] - both,
                          neither = whole - have[a] - only_b;
      std::uint64_t p = 0, p_a = 0, p_b = 0, p_neither = 0;
      if (!patterns.empty()) {
        p = buffers.both_patterns[a * n + b];
        p_a = patterns[a] - p;
        p_b = patterns[b] - p;
        p_neither = buffers.whole_patterns - patterns[a] - p_b;
      }
      const double of_both = below(both, p), of_a = below(only_a, p_a), of_b = below(only_b, p_b),
                   of_neither = below(neither, p_neither);
      const auto ask = [&](double left, double right, std::size_t asked, double& sum, double& all) {
        add<total>(sum, of_term[asked], left * right);
        all += weight[asked] * static_cast<double>((left > 0.0) & (right > 0.0));
      };
      ask(of_both, of_a, b, terms[a], weights[a]);
      ask(of_b, of_neither, b, without_terms[a], without_weights[a]);
      ask(of_both, of_b, a, terms[b], weights[b]);
      ask(of_a, of_neither, a, without_terms[b], without_weights[b]);
    }
  double sum = 0.0, all = 0.0;
  for (std::size_t a = 0; a < n; ++a) {
    const double with = node<total>(depth + 1, likelihood(have[a]), terms[a], weights[a]);
    const double without = node<total>(depth + 1, likelihood(whole - have[a]), without_terms[a], without_weights[a]);
    add<total>(sum, weight_of_term<total>(buffers, 0)[a], with * without);
    all += buffers.weight[0][a];
  }
  return std::log(node<total>(depth, likelihood(whole), sum, all)) - shift_ * rows_of(whole);
}

template <Total total>
double Pairs::one_level(std::uint32_t depth, std::size_t level, const Buffers& buffers) const {
  double sum = 0.0, all = 0.0;
  for (std::size_t a = 0; a < buffers.have.size(); ++a) {
    const double below = likelihood(buffers.have[a]) * likelihood(buffers.whole - buffers.have[a]);
    add<total>(sum, weight_of_term<total>(buffers, level)[a], below);
    all += buffers.weight[level][a];
  }
  return std::log(node<total>(depth, likelihood(buffers.whole), sum, all)) - shift_ * rows_of(buffers.whole);
}

}  // namespace baytree::cart::exact
