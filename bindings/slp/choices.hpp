#pragma once

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "baytree/slp/engine/machine.hpp"

namespace baytree::python {

/// A choice of a proof as Python keeps it: address, option, detail.
using Choice = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

inline std::vector<Choice> to_choices(std::span<const slp::Event> events) {
  std::vector<Choice> choices;
  for (const slp::Event& event : events)
    if (event.is_choice) choices.emplace_back(event.goal.address, event.chosen.id, event.chosen.detail);
  return choices;
}

inline std::vector<slp::Event> from_choices(const std::vector<Choice>& choices) {
  std::vector<slp::Event> events;
  for (const auto& [address, option, detail] : choices)
    events.push_back({.is_choice = true, .goal = {.address = address}, .chosen = {option, detail}});
  return events;
}

}  // namespace baytree::python
