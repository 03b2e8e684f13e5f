#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace baytree::slp {

/// The number of letters to insert, delete, replace or exchange with a neighbour to make one word of the other.
inline std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

/// A question to put behind an error: the nearest of the known words where at most one in three of the word's `letters`
/// is wrong, else nothing.
inline std::string suggestion(const std::string& word, std::span<const std::string> known, std::size_t letters) {
  constexpr std::size_t longest = 100;  // a distance takes the product of the lengths
  std::size_t least = std::min(letters, longest) / 3 + 1;
  const std::string* nearest = nullptr;
  for (const std::string& other : known) {
    const std::size_t difference = std::max(word.size(), other.size()) - std::min(word.size(), other.size());
    if (word.size() > longest || difference >= least) continue;
    if (const std::size_t far = distance(word, other); far < least) {
      least = far;
      nearest = &other;
    }
  }
  return nearest ? "; did you mean " + *nearest + "?" : "";
}

}  // namespace baytree::slp
