#include "baytree/slp/syntax/operators.hpp"

#include <algorithm>
#include <iterator>

namespace baytree::slp {
namespace {

enum Type { xfx, xfy, yfx, fy, fx };

struct Entry {
  std::string_view name;
  int priority;
  Type type;
};

// Standard Prolog, and `:` at 550, where the rules of the paper read as they are meant; at the usual 200 they do not.
constexpr Entry infix[] = {
    {":-", 1200, xfx}, {";", 1100, xfy},  {"|", 1100, xfy},   {"->", 1050, xfy}, {",", 1000, xfy},   {"=", 700, xfx},
    {"\\=", 700, xfx}, {"==", 700, xfx},  {"\\==", 700, xfx}, {"@<", 700, xfx},  {"@>", 700, xfx},   {"@=<", 700, xfx},
    {"@>=", 700, xfx}, {"=..", 700, xfx}, {"is", 700, xfx},   {"=:=", 700, xfx}, {"=\\=", 700, xfx}, {"<", 700, xfx},
    {">", 700, xfx},   {"=<", 700, xfx},  {">=", 700, xfx},   {":", 550, xfy},   {"+", 500, yfx},    {"-", 500, yfx},
    {"..", 450, xfx},  {"*", 400, yfx},   {"/", 400, yfx},    {"//", 400, yfx},  {"mod", 400, yfx},  {"rem", 400, yfx},
    {"**", 200, xfx},  {"^", 200, xfy},
};
constexpr Entry prefix[] = {{":-", 1200, fx}, {"\\+", 900, fy}, {"-", 200, fy}, {"+", 200, fy}};

std::optional<Operator> find(const Entry* begin, const Entry* end, std::string_view name) {
  const Entry* found = std::find_if(begin, end, [&](const Entry& entry) { return entry.name == name; });
  if (found == end) return std::nullopt;
  const bool left_equal = found->type == yfx, right_equal = found->type == xfy || found->type == fy;
  return Operator{found->priority, found->priority - !left_equal, found->priority - !right_equal};
}

}  // namespace

std::optional<Operator> prefix_operator(std::string_view name) {
  return find(std::begin(prefix), std::end(prefix), name);
}
std::optional<Operator> infix_operator(std::string_view name) { return find(std::begin(infix), std::end(infix), name); }

}  // namespace baytree::slp
