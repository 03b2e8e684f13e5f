#include "baytree/slp/engine/prepare.hpp"

namespace baytree::slp {

Prepared prepare(std::string_view text, std::string_view goal, std::string file) {
  Prepared prepared;
  prepared.reading = read_with_goal(text, goal, prepared.problems);
  if (!prepared.problems.empty()) return prepared;
  prepared.analysis = analyse(prepared.reading);
  auto code =
      std::make_shared<Code>(compile(prepared.reading, std::move(file), prepared.analysis.pure, prepared.problems));
  code->may_fail = prepared.analysis.may_fail;
  if (prepared.problems.empty()) prepared.code = std::move(code);
  return prepared;
}

}  // namespace baytree::slp
