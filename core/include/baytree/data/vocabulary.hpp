#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baytree {

/// What people call the columns of a design and their values; one entry for each column in every list.
struct Vocabulary {
  std::vector<std::string> names;
  std::vector<std::vector<double>> cuts;         // of a numeric column, ascending: code ≤ c is x ≤ cuts[c]
  std::vector<std::vector<std::string>> levels;  // of a categorical column, by code

  bool is_categorical(std::uint32_t feature) const { return !levels[feature].empty(); }

  /// The column of that name or, where there is none, of that position: x1 is the first.
  std::optional<std::uint32_t> find(std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::uint32_t>(found - names.begin());
    if (name.size() < 2 || name[0] != 'x' || name[1] == '0') return std::nullopt;
    std::uint32_t position = 0;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), position);
    if (error != std::errc() || end != name.data() + name.size() || position > names.size()) return std::nullopt;
    return position - 1;
  }
};

}  // namespace baytree
