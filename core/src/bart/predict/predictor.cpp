#include "baytree/bart/predict/predictor.hpp"

#include <algorithm>
#include <string>

#include "baytree/base/error.hpp"

namespace baytree::bart {
namespace {

/// The leaves of a block of rows are kept for so many trees of a draw, as most trees of the next draw are the same.
constexpr std::size_t kept_trees = 1024;

/// Adds trees to a sum.
class HardTrees {
 public:
  HardTrees(const StoredTrees& trees, const HardKernel& kernel, const StoredDraws& draws)
      : trees_(trees), kernel_(kernel), leaf_(std::min(draws.trees, kept_trees)), of_(leaf_.size()) {}

  const Lane<float>& sum() const { return sum_; }
  void begin_block(const CodeBlock&) { std::fill(of_.begin(), of_.end(), -1); }
  void begin_sum(const CodeBlock&) { sum_.fill(0.0f); }
  void add(const CodeBlock& block, std::size_t place, std::int32_t tree, const float* values, const float*) {
    const std::size_t slot = place % leaf_.size();
    if (of_[slot] != tree) kernel_.find_leaves(trees_, tree, block, leaf_[slot]);
    of_[slot] = tree;
    kernel_.add_values({values, trees_.leaves(tree)}, leaf_[slot], block.padded_rows(), sum_);
  }

 private:
  const StoredTrees& trees_;
  const HardKernel& kernel_;
  Lane<float> sum_;
  std::vector<Lane<std::uint8_t>> leaf_;
  std::vector<std::int32_t> of_;  // whose leaves they are
};

/// The same where rules are soft.
class SoftTrees {
 public:
  SoftTrees(const StoredTrees& trees, const SoftKernel& kernel) : trees_(trees), kernel_(kernel), spare_(most_leaves) {}

  const Lane<float>& sum() const { return sum_; }
  void begin_block(const CodeBlock&) {}
  void begin_sum(const CodeBlock&) { sum_.fill(0.0f); }
  void add(const CodeBlock& block, std::size_t, std::int32_t tree, const float* values, const float* bandwidths) {
    kernel_.add_values(trees_, tree, block, values, bandwidths, spare_, sum_);
  }

 private:
  const StoredTrees& trees_;
  const SoftKernel& kernel_;
  Lane<float> sum_;
  std::vector<Lane<float>> spare_;
};

}  // namespace

void Predictor::check(const StoredDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows) const {
  trees_.check(draws);
  if (trees_.columns() == 0 ? !codes.empty()
                            : codes.size() % trees_.columns() != 0 || codes.size() / trees_.columns() != rows)
    throw InputError("predict: " + std::to_string(codes.size()) + " codes for " + std::to_string(rows) + " rows of " +
                     std::to_string(trees_.columns()) + " columns");
}

template <class Take>
void Predictor::add_up(const StoredDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows,
                       Take take) const {
  const auto with = [&](auto adder) {
    for_each_sum(trees_, draws, codes, rows, adder,
                 [&](const CodeBlock& block, std::size_t number) { take(adder.sum(), block, number); });
  };
  draws.soft() ? with(SoftTrees(trees_, soft_kernel_)) : with(HardTrees(trees_, kernel_, draws));
}

void Predictor::sums(const StoredDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows,
                     std::span<float> out) const {
  add_up(draws, codes, rows, [&](const Lane<float>& sum, const CodeBlock& block, std::size_t number) {
    std::copy_n(sum.data(), block.rows(), out.data() + number * rows + block.first());
  });
}

void Predictor::mean(const StoredDraws& draws, std::span<const std::uint32_t> codes, std::size_t rows,
                     std::span<double> out) const {
  if (draws.draws() == 0) throw InputError("predict: no draws to average");
  std::fill(out.begin(), out.end(), 0.0);
  add_up(draws, codes, rows, [&](const Lane<float>& sum, const CodeBlock& block, std::size_t number) {
    double* total = out.data() + number % draws.outputs * rows + block.first();
    for (std::size_t row = 0; row < block.rows(); ++row) total[row] += static_cast<double>(sum[row]);
  });
  for (double& total : out) total /= static_cast<double>(draws.draws());
}

}  // namespace baytree::bart
