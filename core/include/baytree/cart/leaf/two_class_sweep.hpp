#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baytree/mcmc/proposals/leaf_sweep.hpp"

namespace baytree::cart {

/// `Sweep` of categorical leaves with two classes and no weights, several times as fast: both counts of a leaf are
/// halves of one word, and the log marginals of all bins come from tables, many at a time.
class TwoClassSweep final : public LeafSweep {
 public:
  /// The tables are those of `CategoricalLeaf`, by whole counts. All spans must outlive the sweep.
  TwoClassSweep(std::span<const std::int32_t> response, std::span<const double> log_class,
                std::span<const double> log_total)
      : response_(response), log_class_(log_class), log_total_(log_total) {}

  void take(std::span<const Row> rows, const LeafLabels& labels, Row min_leaf) override;
  std::span<const Bin> read(const Column& column) override;
  void flip(std::span<const std::uint32_t> bins, double* log_marginal) override;

 private:
  using Counts = std::uint64_t;  // of the first class, and 2³² times those of the second
  struct Member {
    Counts one;
    std::uint32_t left, right;  // its leaf on either side
  };

  template <class Code>
  void add_up(const Code* codes, std::uint32_t n_codes);
  /// Two leaves share their sums: what one gains the other loses.
  bool is_pair() const { return first_.size() == 2; }

  std::span<const std::int32_t> response_;
  std::span<const double> log_class_, log_total_;
  std::vector<double> log_allowed_total_;  // −infinity where there are fewer rows than a leaf must have
  Row min_leaf_ = 0;
  std::span<const Row> rows_;
  std::uint32_t first_right_ = 0;
  std::vector<Counts> first_;  // of each leaf while all rows are on the right
  std::vector<Bin> bins_;
  std::vector<Member> members_;  // of each row
  std::vector<Counts> sum_of_code_;
  std::vector<std::uint32_t> bin_of_code_;
  std::vector<Counts> sums_;  // by leaf and bin: of the rows that are in the leaf on its side
  std::vector<Counts> steps_, now_;
  std::vector<std::uint8_t> is_left_;
};

}  // namespace baytree::cart
