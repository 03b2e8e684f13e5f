#include "baytree/bart/predict/shap.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "baytree/bart/predict/soft_kernel.hpp"

namespace baytree::bart {
namespace {

struct Point {
  double place, weight;
};

/// Gauss and Legendre's rule on [0, 1], exact for polynomials of degree below 2n: the zeros of Legendre's polynomial by
/// Newton's method.
std::vector<Point> legendre_rule(std::size_t n) {
  std::vector<Point> rule;
  const auto size = static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (size + 0.5)), slope = 0;
    for (int step = 0; step < 8; ++step) {
      double last = 1, value = x;
      for (std::size_t k = 2; k <= n; ++k) {
        const auto degree = static_cast<double>(k);
        last = std::exchange(value, ((2 * degree - 1) * x * value - (degree - 1) * last) / degree);
      }
      slope = size * (x * value - last) / (x * x - 1);
      x -= value / slope;
    }
    rule.push_back({(1 - x) / 2, 1 / ((1 - x * x) * slope * slope)});
  }
  return rule;
}

/// The Shapley values of one tree after the other, added up over a block of rows.
class Games {
 public:
  Games(const StoredTrees& trees, const SoftKernel& kernel)
      : trees_(trees),
        kernel_(kernel),
        total_(trees.asked().size()),
        player_(trees.asked().size(), none),
        share_(most_leaves),
        rules_(1) {}

  /// The Shapley values of a column among those asked about.
  const Lane<double>& total(std::size_t column) const { return total_[column]; }
  void begin_block(const CodeBlock& block) { rows_ = block.rows(); }
  void begin_sum(const CodeBlock&) {
    for (Lane<double>& total : total_) total.fill(0.0);
  }
  void add(const CodeBlock& block, std::size_t, std::size_t tree, const float* values, const float* bandwidths) {
    const std::span<const StoredSplit> splits = trees_.splits(tree);
    for (std::size_t i = 0; i < splits.size(); ++i)
      kernel_.find_shares(trees_, splits[i], block, bandwidths == nullptr ? nullptr : bandwidths + i, share_[i]);
    for (std::size_t leaf = 0; leaf < trees_.leaves(tree); ++leaf) {
      find_players(tree, leaf);
      for (const Point& point : rule(players_.size())) add_point(point, values[leaf]);
      for (const Player& player : players_) player_[player.column] = none;
    }
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  /// A column on the way to a leaf, with the share of training rows and that of each row that go its way.
  struct Player {
    std::size_t column;
    double unknown;
  };

  void find_players(std::size_t tree, std::size_t leaf) {
    players_.clear();
    const std::span<const StoredSplit> splits = trees_.splits(tree);
    for (std::size_t i = 0; i < splits.size(); ++i) {
      const StoredSplit& split = splits[i];
      if (leaf < split.first || leaf >= split.end) continue;
      const bool right = leaf >= split.right;
      std::size_t& place = player_[split.column];
      if (place == none) {
        place = players_.size();
        players_.push_back({split.column, 1.0});
        if (known_.size() < players_.size()) known_.emplace_back(), others_.emplace_back();
        std::fill_n(known_[place].data(), rows_, 1.0);
      }
      const double right_rows = trees_.right_rows(tree)[i];
      players_[place].unknown *= right ? right_rows : 1 - right_rows;
      const float* share = share_[i].data();
      double* known = known_[place].data();
      for (std::size_t row = 0; row < rows_; ++row)
        known[row] *= static_cast<double>(right ? share[row] : 1.0f - share[row]);
    }
  }

  const std::vector<Point>& rule(std::size_t players) {
    const std::size_t points = (players + 1) / 2;
    while (rules_.size() <= points) rules_.push_back(legendre_rule(rules_.size()));
    return rules_[points];
  }

  /// Adds one term of the integral: for each player the product of all others' factors, by products from the front and
  /// from the back.
  void add_point(const Point& point, double value) {
    Lane<double> product;
    std::fill_n(product.data(), rows_, point.weight * value);
    for (std::size_t i = 0; i < players_.size(); ++i) {
      const double unknown = players_[i].unknown;
      for (std::size_t row = 0; row < rows_; ++row) {
        others_[i][row] = product[row];
        product[row] *= unknown + point.place * (known_[i][row] - unknown);
      }
    }
    std::fill_n(product.data(), rows_, 1.0);
    for (std::size_t i = players_.size(); i-- > 0;) {
      const double unknown = players_[i].unknown;
      Lane<double>& total = total_[players_[i].column];
      for (std::size_t row = 0; row < rows_; ++row) {
        const double gain = known_[i][row] - unknown;
        total[row] += gain * others_[i][row] * product[row];
        product[row] *= unknown + point.place * gain;
      }
    }
  }

  const StoredTrees& trees_;
  const SoftKernel& kernel_;
  std::size_t rows_ = 0;
  std::vector<Lane<double>> total_;  // of each column asked about
  std::vector<std::size_t> player_;  // its place among the players
  std::vector<Lane<float>> share_;   // of each split
  std::vector<Player> players_;
  std::vector<Lane<double>> known_, others_;  // of each player
  std::vector<std::vector<Point>> rules_;     // by their number of points
};

/// What a tree expects of a row of which nothing is known.
double expectation(const StoredTrees& trees, std::size_t tree, const float* values) {
  std::vector<double> below(values, values + trees.leaves(tree));
  const std::span<const StoredSplit> splits = trees.splits(tree);
  for (std::size_t i = splits.size(); i-- > 0;) {
    const double right = trees.right_rows(tree)[i];
    below[splits[i].first] = (1 - right) * below[splits[i].first] + right * below[splits[i].right];
  }
  return below[0];
}

}  // namespace

void shapley_values(const Predictor& predictor, const StoredDraws& draws, std::span<const std::uint32_t> codes,
                    std::size_t rows, std::span<double> values, std::span<double> expected) {
  const StoredTrees& trees = predictor.trees();
  const SoftKernel kernel = soft_kernel(predictor.simd());
  std::fill(expected.begin(), expected.end(), 0.0);
  const float* leaf_values = draws.values.data();
  for (std::size_t i = 0; i < draws.tree_index.size(); ++i) {
    expected[i / (draws.trees / draws.outputs)] += expectation(trees, draws.tree_index[i], leaf_values);
    leaf_values += trees.leaves(draws.tree_index[i]);
  }
  std::fill(values.begin(), values.end(), 0.0);
  Games games(trees, kernel);
  for_each_sum(trees, draws, codes, rows, games, [&](const CodeBlock& block, std::size_t number) {
    for (std::size_t column = 0; column < trees.asked().size(); ++column) {
      double* out = values.data() + (number * rows + block.first()) * trees.columns() + trees.asked()[column].feature;
      for (std::size_t row = 0; row < block.rows(); ++row) out[row * trees.columns()] = games.total(column)[row];
    }
  });
}

}  // namespace baytree::bart
