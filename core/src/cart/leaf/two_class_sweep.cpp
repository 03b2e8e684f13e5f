#include "baytree/cart/leaf/two_class_sweep.hpp"

#include <algorithm>

#include "baytree/base/numeric.hpp"
#include "baytree/base/simd.hpp"

namespace baytree::cart {
namespace {

constexpr std::uint64_t low_half = 0xffff'ffff;

BAYTREE_CLONES void add_log_marginals(const std::uint64_t* counts, std::size_t n, const double* log_class,
                                      const double* log_total, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t first = counts[i] & low_half, second = counts[i] >> 32;
    out[i] += log_total[first + second] + log_class[first] + log_class[second];
  }
}

}  // namespace

void TwoClassSweep::take(std::span<const Row> rows, const LeafLabels& labels, Row min_leaf) {
  rows_ = rows;
  first_right_ = labels.first_right;
  if (log_allowed_total_.empty() || min_leaf != min_leaf_) {
    min_leaf_ = min_leaf;
    log_allowed_total_.assign(log_total_.begin(), log_total_.end());
    std::fill_n(log_allowed_total_.begin(), std::min<std::size_t>(min_leaf, log_total_.size()), -infinity);
  }
  first_.assign(labels.leaves, 0);
  members_.clear();
  for (const Row row : rows) {
    const Counts one = Counts{1} << (response_[row] == 0 ? 0 : 32);
    members_.push_back({one, labels.left[row], labels.right[row]});
    first_[labels.right[row]] += one;
  }
}

std::span<const LeafSweep::Bin> TwoClassSweep::read(const Column& column) {
  with_codes(column, [&](const auto* codes) { add_up(codes, column.n_codes()); });
  return bins_;
}

template <class Code>
void TwoClassSweep::add_up(const Code* codes, std::uint32_t n_codes) {
  sum_of_code_.assign(n_codes, 0);
  for (std::size_t i = 0; i < rows_.size(); ++i) sum_of_code_[codes[rows_[i]]] += members_[i].one;
  bins_.resize(n_codes);
  bin_of_code_.resize(n_codes);
  sums_.resize(n_codes);
  std::uint32_t width = 0;
  for (std::uint32_t code = 0; code < n_codes; ++code) {  // without a branch, which nobody could predict
    const Counts sum = sum_of_code_[code];
    bin_of_code_[code] = width;
    bins_[width] = {code, static_cast<Row>((sum & low_half) + (sum >> 32))};
    sums_[width] = sum;
    width += sum != 0;
  }
  bins_.resize(width);
  if (is_pair()) return;
  sums_.assign(first_.size() * width, 0);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto& [one, left, right] = members_[i];
    Counts* sums = sums_.data() + bin_of_code_[codes[rows_[i]]];
    sums[left * width] += one;
    sums[right * width] += one;
  }
}

void TwoClassSweep::flip(std::span<const std::uint32_t> bins, double* log_marginal) {
  const std::size_t width = bins_.size(), n = bins.size();
  is_left_.assign(width, 0);
  steps_.resize(n);  // 1 to the left, −1 back
  for (std::size_t i = 0; i < n; ++i) steps_[i] = (is_left_[bins[i]] ^= 1) != 0 ? 1 : ~Counts{0};
  now_.resize(n);
  std::fill_n(log_marginal, n, 0.0);
  for (std::size_t leaf = 0; leaf < first_.size(); ++leaf) {
    const Counts* sums = sums_.data() + (is_pair() ? 0 : leaf * width);
    const Counts sign = leaf < first_right_ ? 1 : ~Counts{0};
    Counts counts = first_[leaf];
    for (std::size_t i = 0; i < n; ++i) now_[i] = counts += sign * steps_[i] * sums[bins[i]];
    add_log_marginals(now_.data(), n, log_class_.data(), log_allowed_total_.data(), log_marginal);
  }
}

}  // namespace baytree::cart
