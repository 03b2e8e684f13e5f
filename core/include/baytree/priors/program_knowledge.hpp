#pragma once

#include "baytree/data/vocabulary.hpp"
#include "baytree/knowledge/restrictions.hpp"
#include "baytree/priors/node_table.hpp"
#include "baytree/slp/program/program.hpp"

namespace baytree {

/// The constraints that a program states as facts (`max_depth(3).`, `forbid(id).`, …), and its `min_leaf`, 5 where it
/// states none. Reports unknown features, arguments of the wrong type, constraints that are not plain facts, and
/// contradictions; what is reported is left out.
Knowledge read_knowledge(const slp::Program& program, const Vocabulary& vocabulary, Row& min_leaf,
                         slp::Problems& problems);

/// A table for the program's goal, with the program's constraints; throws InputError where they do not fit.
NodeTable make_table(const Design& design, Vocabulary vocabulary, const slp::Program& program);

}  // namespace baytree
