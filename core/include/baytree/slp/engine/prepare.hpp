#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "baytree/slp/engine/analysis.hpp"

namespace baytree::slp {

/// A program with a goal, read, analysed and compiled; without code where there are problems.
struct Prepared {
  Reading reading;
  Analysis analysis;
  std::shared_ptr<const Code> code;
  Problems problems;
};

Prepared prepare(std::string_view text, std::string_view goal, std::string file);

}  // namespace baytree::slp
