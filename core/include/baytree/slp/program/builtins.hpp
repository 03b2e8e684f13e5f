#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baytree::slp {

/// What a name means before any program says so.
enum class Meaning : std::uint8_t {
  ordinary,    // left to the program
  control,     // `,`, `->`, `once`, …
  builtin,     // deterministic
  random,      // a traced choice
  data,        // about the training table
  constraint,  // a fact that a program states and the engine reads
};

Meaning meaning_of(std::string_view name, std::uint32_t arity);

/// `name/arity` of everything that has a meaning, for suggestions.
std::vector<std::string> known_names();

}  // namespace baytree::slp
