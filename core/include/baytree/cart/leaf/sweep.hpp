#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "baytree/base/numeric.hpp"
#include "baytree/mcmc/proposals/leaf_sweep.hpp"

namespace baytree::cart {

/// A leaf model as proposals see it that draw rules by the likelihood. Statistics of rows are added up by code, where a
/// rule has two leaves below it; else each row takes its own from leaf to leaf.
template <class Leaf>
class Sweep final : public LeafSweep {
 public:
  explicit Sweep(const Leaf& leaf) : leaf_(leaf), width_(leaf.n_statistics()) {}

  void take(std::span<const Row> rows, const LeafLabels& labels, Row min_leaf) override {
    rows_ = rows;
    labels_ = &labels;
    min_leaf_ = min_leaf;
    const std::size_t leaves = labels.leaves;
    at_first_.assign(leaves, {});
    first_statistics_.assign(leaves * width_, 0.0);
    for (const Row row : rows) {
      const std::uint32_t leaf = labels.right[row];
      ++at_first_[leaf].rows;
      leaf_.add(row, 1.0, &first_statistics_[leaf * width_]);
    }
    for (std::size_t leaf = 0; leaf < leaves; ++leaf)
      at_first_[leaf].log_marginal = log_marginal(first_statistics_, leaf, at_first_[leaf].rows);
  }

  std::span<const Bin> read(const Column& column) override {
    bins_.clear();
    by_code_ = labels_->leaves == 2 && column.n_codes() <= few_codes * rows_.size();
    with_codes(column, [&](const auto* codes) {
      if (by_code_)
        add_up(codes, column.n_codes());
      else
        sort(codes, column.n_codes());
    });
    return bins_;
  }

  void flip(std::span<const std::uint32_t> bins, double* log_marginal) override {
    now_ = at_first_;
    statistics_ = first_statistics_;
    is_left_.assign(bins_.size(), 0);
    by_code_ ? flip_sums(bins, log_marginal) : flip_rows(bins, log_marginal);
  }

 private:
  struct State {
    Row rows = 0;
    double log_marginal = 0.0;
    std::uint32_t seen = ~std::uint32_t{0};  // the last flip that changed it
  };
  static constexpr std::size_t few_codes = 4;  // for a row

  double log_marginal(const std::vector<double>& statistics, std::size_t leaf, Row rows) const {
    return leaf_.log_marginal(&statistics[leaf * width_], rows);
  }

  template <class Code>
  void add_up(const Code* codes, std::uint32_t n_codes) {
    counts_.assign(n_codes, 0);
    sums_.assign(n_codes * width_, 0.0);
    for (const Row row : rows_) {
      const Code code = codes[row];
      ++counts_[code];
      leaf_.add(row, 1.0, &sums_[code * width_]);
    }
    for (std::uint32_t code = 0; code < n_codes; ++code)
      if (counts_[code] > 0) bins_.push_back({code, counts_[code]});
  }

  /// Sorts the rows by their codes.
  template <class Code>
  void sort(const Code* codes, std::uint32_t n_codes) {
    sorted_.resize(rows_.size());
    begin_.clear();
    if (n_codes <= few_codes * rows_.size()) {
      counts_.assign(n_codes + 1, 0);
      for (const Row row : rows_) ++counts_[codes[row] + 1u];
      for (std::uint32_t code = 0; code < n_codes; ++code) {
        const Row rows = counts_[code + 1];
        counts_[code + 1] += counts_[code];
        if (rows == 0) continue;
        begin_.push_back(counts_[code]);
        bins_.push_back({code, rows});
      }
      for (const Row row : rows_) sorted_[counts_[codes[row]]++] = row;
      return;
    }
    std::copy(rows_.begin(), rows_.end(), sorted_.begin());
    std::sort(sorted_.begin(), sorted_.end(),
              [codes](Row a, Row b) { return codes[a] != codes[b] ? codes[a] < codes[b] : a < b; });
    for (Row place = 0; place < sorted_.size(); ++place) {
      const std::uint32_t code = codes[sorted_[place]];
      if (bins_.empty() || bins_.back().code != code) {
        begin_.push_back(place);
        bins_.push_back({code, 0});
      }
      ++bins_.back().rows;
    }
  }

  void flip_sums(std::span<const std::uint32_t> bins, double* out) {
    double *left = statistics_.data(), *right = left + width_;
    Row left_rows = 0;
    const Row rows = static_cast<Row>(rows_.size());
    for (const std::uint32_t bin : bins) {
      const double* sums = &sums_[bins_[bin].code * width_];
      if ((is_left_[bin] ^= 1) != 0) {
        left_rows += bins_[bin].rows;
        for (std::size_t k = 0; k < width_; ++k) left[k] += sums[k], right[k] -= sums[k];
      } else {
        left_rows -= bins_[bin].rows;
        for (std::size_t k = 0; k < width_; ++k) left[k] -= sums[k], right[k] += sums[k];
      }
      const bool possible = left_rows >= min_leaf_ && rows - left_rows >= min_leaf_;
      *out++ = possible ? leaf_.log_marginal(left, left_rows) + leaf_.log_marginal(right, rows - left_rows) : -infinity;
    }
  }

  void flip_rows(std::span<const std::uint32_t> bins, double* out) {
    double sum = 0.0;
    std::size_t small = 0;
    for (const State& state : now_) {
      sum += state.log_marginal;
      small += state.rows < min_leaf_;
    }
    for (std::uint32_t flip = 0; flip < bins.size(); ++flip) {
      const std::uint32_t bin = bins[flip];
      const bool to_left = (is_left_[bin] ^= 1) != 0;
      const std::uint32_t* from = (to_left ? labels_->right : labels_->left).data();
      const std::uint32_t* to = (to_left ? labels_->left : labels_->right).data();
      changed_.clear();
      for (Row place = begin_[bin]; place < begin_[bin] + bins_[bin].rows; ++place) {
        const Row row = sorted_[place];
        small += note(from[row], flip).rows-- == min_leaf_;
        leaf_.add(row, -1.0, &statistics_[from[row] * width_]);
        small -= ++note(to[row], flip).rows == min_leaf_;
        leaf_.add(row, 1.0, &statistics_[to[row] * width_]);
      }
      for (const std::uint32_t leaf : changed_) {
        sum -= now_[leaf].log_marginal;
        sum += now_[leaf].log_marginal = log_marginal(statistics_, leaf, now_[leaf].rows);
      }
      out[flip] = small == 0 ? sum : -infinity;
    }
  }

  State& note(std::uint32_t leaf, std::uint32_t flip) {
    State& state = now_[leaf];
    if (state.seen != flip) {
      state.seen = flip;
      changed_.push_back(leaf);
    }
    return state;
  }

  const Leaf& leaf_;
  std::size_t width_;
  std::span<const Row> rows_;
  const LeafLabels* labels_ = nullptr;
  Row min_leaf_ = 0;
  std::vector<State> at_first_, now_;  // of each leaf
  std::vector<double> first_statistics_, statistics_;
  bool by_code_ = false;
  std::vector<Bin> bins_;
  std::vector<Row> counts_;          // by code
  std::vector<double> sums_;         // statistics by code
  std::vector<Row> sorted_, begin_;  // rows by code, and where each bin begins
  std::vector<std::uint8_t> is_left_;
  std::vector<std::uint32_t> changed_;
};

}  // namespace baytree::cart
