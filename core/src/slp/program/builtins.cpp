#include "baytree/slp/program/builtins.hpp"

#include <algorithm>
#include <iterator>

namespace baytree::slp {
namespace {

struct Entry {
  std::string_view name;
  std::uint32_t arity;
  Meaning meaning;
};

using enum Meaning;

constexpr Entry entries[] = {
    {",", 2, control},           {";", 2, control},
    {"->", 2, control},          {"\\+", 1, control},
    {"once", 1, control},        {"findall", 3, control},
    {"true", 0, builtin},        {"fail", 0, builtin},
    {"false", 0, builtin},       {"is", 2, builtin},
    {"=:=", 2, builtin},         {"=\\=", 2, builtin},
    {"<", 2, builtin},           {">", 2, builtin},
    {"=<", 2, builtin},          {">=", 2, builtin},
    {"=", 2, builtin},           {"\\=", 2, builtin},
    {"==", 2, builtin},          {"\\==", 2, builtin},
    {"@<", 2, builtin},          {"@>", 2, builtin},
    {"@=<", 2, builtin},         {"@>=", 2, builtin},
    {"between", 3, builtin},     {"member", 2, builtin},
    {"append", 3, builtin},      {"length", 2, builtin},
    {"nth0", 3, builtin},        {"nth1", 3, builtin},
    {"msort", 2, builtin},       {"sum_list", 2, builtin},
    {"max_list", 2, builtin},    {"min_list", 2, builtin},
    {"atom", 1, builtin},        {"number", 1, builtin},
    {"var", 1, builtin},         {"nonvar", 1, builtin},
    {"ground", 1, builtin},      {"functor", 3, builtin},
    {"arg", 3, builtin},         {"=..", 2, builtin},
    {"write", 1, builtin},       {"nl", 0, builtin},
    {"format", 1, builtin},      {"format", 2, builtin},
    {"uniform", 2, random},      {"choose", 2, random},
    {"random", 1, random},       {"choose_feature", 2, data},
    {"split", 5, data},          {"splittable", 1, data},
    {"depth", 2, data},          {"root", 1, data},
    {"node_size", 2, data},      {"feature", 1, data},
    {"type", 2, data},           {"region", 3, data},
    {"admissible", 3, data},     {"split_node", 4, data},
    {"min_leaf", 1, constraint}, {"max_depth", 1, constraint},
    {"forbid", 1, constraint},   {"forbid_below", 2, constraint},
    {"only", 2, constraint},     {"interaction", 1, constraint},
    {"require", 1, constraint},  {"max_leaves", 1, constraint},
    {"weight", 2, constraint},   {"const_class_probs", 4, constraint},
    {"monotone", 2, constraint},
};

}  // namespace

Meaning meaning_of(std::string_view name, std::uint32_t arity) {
  const auto* found = std::find_if(std::begin(entries), std::end(entries),
                                   [&](const Entry& entry) { return entry.name == name && entry.arity == arity; });
  return found == std::end(entries) ? ordinary : found->meaning;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(std::string(entry.name) + "/" + std::to_string(entry.arity));
  return names;
}

}  // namespace baytree::slp
