#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "baytree/base/rng.hpp"
#include "baytree/data/design.hpp"

namespace baytree {

/// Columns of every kind: numeric with ties, constant, with missing values, two-byte codes, categorical with and
/// without missing values, as many levels as there can be.
struct Table {
  explicit Table(Row rows = 300) {
    Stream stream(7, Role::chain, 0);
    add_narrow(stream, rows, false, 5, false);
    add_narrow(stream, rows, false, 1, false);
    add_narrow(stream, rows, false, 4, true);
    add_narrow(stream, rows, true, 4, false);
    add_narrow(stream, rows, true, 3, true);
    add_narrow(stream, rows, true, max_levels, true);
    std::vector<std::uint16_t> codes(rows);
    for (auto& code : codes) code = static_cast<std::uint16_t>(stream.below(1000));
    wide.push_back(std::move(codes));
    for (const auto& narrow_codes : narrow) {
      design.columns[&narrow_codes - narrow.data()].codes = std::span<const std::uint8_t>(narrow_codes);
    }
    design.columns.push_back({.codes = std::span<const std::uint16_t>(wide[0]), .observed = 1000});
    design.rows = rows;
    for (const Column& column : design.columns) {
      auto& values_of_cuts = cuts.emplace_back(column.categorical ? 0 : column.observed - 1);
      std::iota(values_of_cuts.begin(), values_of_cuts.end(), 0.0);
    }
    for (Row row = 0; row < rows; ++row) {
      classes.push_back(static_cast<std::int32_t>(stream.below(3)));
      values.push_back(stream.uniform());
      weights.push_back(0.5 + stream.uniform());
    }
  }

  void add_narrow(Stream& stream, Row rows, bool categorical, std::uint32_t observed, bool has_missing) {
    std::vector<std::uint8_t> codes(rows);
    for (auto& code : codes) code = static_cast<std::uint8_t>(stream.below(observed + has_missing));
    narrow.push_back(std::move(codes));
    design.columns.push_back({.categorical = categorical, .observed = observed, .has_missing = has_missing});
  }

  std::vector<std::vector<std::uint8_t>> narrow;
  std::vector<std::vector<std::uint16_t>> wide;
  std::vector<std::int32_t> classes;
  std::vector<double> values, weights;
  std::vector<std::vector<double>> cuts;
  Design design;
};

}  // namespace baytree
