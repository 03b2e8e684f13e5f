#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "baytree/slp/engine/store.hpp"
#include "baytree/slp/program/data.hpp"

namespace baytree::slp {

/// What a built-in predicate may use.
class Context {
 public:
  Context(Store& store, Data* data, std::string& output);

  Store& store;
  std::string& output;  // of write and format

  /// Throws Trouble where the program runs without a table.
  Data& table() const;
  /// Features, nodes and rules as terms, and back; a term that is none is Trouble, but a rule that the feature does not
  /// have is nothing.
  Cell feature_atom(std::uint32_t feature) const { return features_[feature]; }
  std::uint32_t feature_of(Cell term) const;
  NodeId node_of(Cell term) const;
  Cell question_term(std::uint32_t feature, const Question& question);
  std::optional<Question> question_of(std::uint32_t feature, Cell term);
  const std::vector<Cell>& features() const { return features_; }
  /// Splits a node, at the cost of its rows.
  std::pair<NodeId, NodeId> split(NodeId node, std::uint32_t feature, const Question& question);

 private:
  Data* data_;
  std::vector<Cell> features_;
  std::unordered_map<Symbol, std::uint32_t> numbers_;
  std::uint32_t or_missing_ = 0;
  Cell observed_;
};

/// Deterministic built-ins, by number.
std::optional<std::uint32_t> builtin_named(std::string_view name, std::uint32_t arity);
bool call_builtin(std::uint32_t builtin, Context& context, const Cell* arguments);
/// Whether a built-in only looks: it binds nothing.
bool is_test(std::string_view name, std::uint32_t arity);

/// Traced random choices that are built in.
enum class Draw : std::uint8_t { uniform, choose, random, choose_feature, split };
std::optional<Draw> draw_named(std::string_view name, std::uint32_t arity);
std::uint32_t arity_of(Draw draw);
std::string_view name_of(Draw draw);

/// Built-ins that are written in the language itself.
std::string_view prelude();

}  // namespace baytree::slp
