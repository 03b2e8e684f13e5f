#include "baytree/bart/sum_predictor.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "baytree/error.hpp"

namespace baytree {
namespace {

/// The leaves of a block of rows are kept for so many trees of a draw, as most trees of the next draw are the same.
constexpr std::size_t kept_trees = 1024;

/// Adds trees to sums over a block of rows.
class HardTrees {
 public:
  HardTrees(const SumTrees& trees, const SumKernel& kernel, const SumDraws& draws)
      : trees_(trees), kernel_(kernel), leaf_(std::min(draws.trees, kept_trees)), of_(leaf_.size()) {}

  void begin_block() { std::fill(of_.begin(), of_.end(), -1); }

  void add(const CodeBlock& block, std::size_t rows, std::size_t place, std::int32_t tree, const float* values, const float*, Lane<float>& sum) {
    const std::size_t slot = place % leaf_.size();
    if (of_[slot] != tree) kernel_.find_leaves(trees_, tree, block, rows, leaf_[slot]);
    of_[slot] = tree;
    kernel_.add_values({values, trees_.leaves(tree)}, leaf_[slot], rows, sum);
  }

 private:
  const SumTrees& trees_;
  const SumKernel& kernel_;
  std::vector<Lane<std::uint8_t>> leaf_;
  std::vector<std::int32_t> of_;  // whose leaves they are
};

/// Calls sink(sum number, its values, first row, rows) for each sum and block of rows.
template <class Adder, class Sink>
void for_each_sum(const SumTrees& trees, const SumDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows, Adder adder, Sink sink) {
  CodeBlock block(trees);
  const std::size_t in_sum = draws.trees / draws.outputs;
  for (std::size_t first = 0; first < rows; first += block_rows) {
    const std::size_t here = std::min(block_rows, rows - first), padded = (here + row_multiple - 1) / row_multiple * row_multiple;
    block.take(codes.data() + first * trees.columns(), here);
    adder.begin_block();
    const std::int32_t* tree = draws.tree_index.data();
    const float *values = draws.values.data(), *bandwidths = draws.bandwidths.data();
    for (std::size_t number = 0; number < draws.sums(); ++number) {
      Lane<float> sum{};
      const std::size_t place = number % draws.outputs * in_sum;
      for (std::size_t i = 0; i < in_sum; ++i, ++tree) {
        adder.add(block, padded, place + i, *tree, values, bandwidths, sum);
        values += trees.leaves(*tree);
        if (draws.soft()) bandwidths += trees.leaves(*tree) - 1;
      }
      sink(number, sum, first, here);
    }
  }
}

}  // namespace

void SumPredictor::check(const SumDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows) const {
  trees_.check(draws);
  if (trees_.columns() == 0 ? !codes.empty() : codes.size() % trees_.columns() != 0 || codes.size() / trees_.columns() != rows)
    throw InputError("predict: " + std::to_string(codes.size()) + " codes for " + std::to_string(rows) + " rows of " + std::to_string(trees_.columns()) +
                     " columns");
  if (draws.sums() > 0 && rows > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double) / draws.sums())
    throw InputError("predict: " + std::to_string(draws.sums()) + " sums for " + std::to_string(rows) + " rows are too many; predict fewer rows at once");
}

void SumPredictor::sums(const SumDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows, std::span<float> out) const {
  for_each_sum(trees_, draws, codes, rows, HardTrees(trees_, kernel_, draws),
               [&](std::size_t number, const Lane<float>& sum, std::size_t first, std::size_t here) {
                 std::copy_n(sum.begin(), here, out.begin() + static_cast<std::ptrdiff_t>(number * rows + first));
               });
}

void SumPredictor::mean(const SumDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows, std::span<double> out) const {
  if (draws.draws() == 0) throw InputError("predict: no draws to average");
  std::fill(out.begin(), out.end(), 0.0);
  for_each_sum(trees_, draws, codes, rows, HardTrees(trees_, kernel_, draws),
               [&](std::size_t number, const Lane<float>& sum, std::size_t first, std::size_t here) {
                 double* total = &out[number % draws.outputs * rows + first];
                 for (std::size_t row = 0; row < here; ++row) total[row] += static_cast<double>(sum[row]);
               });
  for (double& total : out) total /= static_cast<double>(draws.draws());
}

}  // namespace baytree
