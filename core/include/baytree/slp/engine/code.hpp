#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "baytree/slp/engine/cell.hpp"
#include "baytree/slp/engine/reading.hpp"
#include "baytree/slp/engine/store.hpp"
#include "baytree/slp/program/builtins.hpp"

namespace baytree::slp {

/// One step of a clause. `a` is a slot (a variable of the clause; with the temporary bit, one that does not outlive the
/// goal) or an argument register.
enum class Op : std::uint8_t {
  // head: match an argument register, or a slot that holds a part of it
  get_variable,     // slot a := argument b
  get_value,        // slot a = argument b
  get_constant,     // argument a = constant b
  get_structure,    // argument a = structure of functor b; its arguments follow
  match_structure,  // slot a = structure of functor b; its arguments follow
  unify_variable,   // slot a := next argument
  unify_value,      // slot a = next argument
  unify_constant,   // constant b = next argument
  unify_void,       // skip an argument
  init_variables,   // slots a … b−1 are new variables
  // body: load argument registers
  put_value,      // argument b := slot a
  put_constant,   // argument a := constant b
  put_structure,  // argument a := a structure of functor b; its arguments follow
  build,          // slot a := a structure of functor b; its arguments follow
  arg_value,      // next argument := slot a
  arg_constant,   // next argument := constant b
  // goals
  call,     // predicate b with a label arguments
  execute,  // the same as the last goal
  proceed,  // the clause is proved; a: it has a frame
  builtin,  // deterministic built-in b
  random,   // a traced choice by built-in b
  is,       // slot a = value of expression b
  count,    // the same where the expression is a variable and a small whole number to add
  compare,  // comparison a of expressions b and b + 1
  // control
  fail,
  jump,         // to b
  alternative,  // on failure go on at b; pure: outside of the mark before it
  mark,         // slot a := number of alternatives; no random choice until the cut
  cut,          // drop the alternatives since the mark in slot a
  collect,      // note a copy of argument 0
  gather,       // begin to collect; when all is found go on at b
  gathered,     // argument 0 := the list of what was collected
  guard_begin,  // where the guard is known to hold, go on at b
  guard_end,
  halt,
};

struct Instruction {
  Op op = Op::halt;
  bool pure = false;  // of a goal: nobody else reads what it binds, so that it can be proved again by itself
  std::uint16_t a = 0;
  std::uint32_t b = 0;
};

inline constexpr std::uint16_t temporary = 0x8000;

/// An arithmetic expression in postfix order.
struct Step {
  enum class Kind : std::uint8_t { number, slot, argument, function } kind = Kind::number;
  Function function = Function::plus;
  std::uint16_t place = 0;
  Number number;
};
using Expression = std::vector<Step>;

enum class Comparison : std::uint8_t { equal, unequal, less, greater, at_most, at_least };

struct CompiledClause {
  std::uint32_t predicate = 0;
  std::uint32_t entry = 0;  // where its head begins
  std::uint32_t slots = 0;  // variables that outlive a goal
  bool has_frame = false;   // has a body
  bool has_guard = false, guard_binds = false;
  bool is_labelled = false;
  std::optional<double> fixed_label;
  Place label_begin, label_end;
  Expression label;  // over argument registers
  std::uint32_t label_variables = 0;
  std::optional<std::uint64_t> key;  // of its first argument, where that is no variable
  /// The only argument of the head that is no variable, where no two arguments are the same variable: with an unbound
  /// variable there the head always unifies. `always`: no argument can fail. `unknown`: try.
  static constexpr std::uint32_t always = 0xffff'ffff, unknown_place = 0xffff'fffe;
  std::uint32_t pattern = unknown_place;
  /// A guard that is one test of the head's arguments, or its opposite, which can be made without a frame.
  struct Test {
    bool expected;
    std::uint32_t builtin;
    std::vector<std::uint16_t> arguments;  // registers
  };
  std::optional<Test> test;
  Place place;
};

struct CompiledPredicate {
  Symbol name = 0;
  std::uint32_t arity = 0;
  bool is_labelled = false;
  bool is_users = false;  // written by the author of the program, not shipped with the language
  std::vector<std::uint32_t> clauses;
  /// Clauses by the key of the first argument, those with a variable there included; for predicates with many clauses.
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_key;
  std::vector<std::uint32_t> any_key;  // clauses with a variable there
  /// Where there are no guards: with this argument unbound (or `always`) the options of a call depend on its label
  /// variables alone, and there is at most one.
  std::optional<std::uint32_t> open;
};

/// A program and a goal, ready to run.
struct Code {
  std::string file;
  bool may_fail = true;  // where nothing can, no choice is ever taken back
  Symbols symbols;
  Functors functors;
  std::vector<std::uint64_t> begin;  // what the store starts with
  std::vector<Instruction> instructions;
  std::vector<Place> places;  // of each instruction
  std::vector<Cell> constants;
  std::vector<Expression> expressions;
  std::vector<CompiledClause> clauses;
  std::vector<CompiledPredicate> predicates;
  std::uint32_t goal = 0;                   // the predicate that is the goal
  std::vector<std::string> goal_variables;  // its arguments
  std::uint32_t program_lines = 0;          // what stands behind is the goal, and then what ships with the language
};

/// The key under which a clause or an argument is found.
std::uint64_t key_of(const Store& store, Cell cell);

/// Compiles what was read. The goals in `pure` can be proved again by themselves (see analysis.hpp).
Code compile(const Reading& reading, std::string file, const std::unordered_set<TermId>& pure, Problems& problems);

}  // namespace baytree::slp
