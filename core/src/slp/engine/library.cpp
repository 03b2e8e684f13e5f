#include "baytree/slp/engine/library.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "baytree/slp/syntax/parser.hpp"

namespace baytree::slp {

Context::Context(Store& store_, Data* data, std::string& output_) : store(store_), output(output_), data_(data) {
  or_missing_ = store.functors.intern({store.symbols.intern("or_missing"), 1});
  observed_ = Cell::atom(store.symbols.intern("observed"));
  if (!data) return;
  const std::uint32_t count = data->features();
  for (std::uint32_t feature = 0; feature < count; ++feature) {
    features_.push_back(Cell::atom(store.symbols.intern(data->feature_name(feature))));
    numbers_.try_emplace(features_.back().symbol(), feature);
  }
  // x1, x2, … name columns by their places where no column has that name.
  for (std::uint32_t feature = 0; feature < count; ++feature)
    numbers_.try_emplace(store.symbols.intern("x" + std::to_string(feature + 1)), feature);
}

Data& Context::table() const {
  if (!data_)
    throw Trouble{
        "the goal asks about a table, but the program runs without one; give it (data=…, or --data and --target)"};
  return *data_;
}

std::uint32_t Context::feature_of(Cell term) const {
  table();
  term = store.deref(term);
  if (const auto found = term.is(Tag::atom) ? numbers_.find(term.symbol()) : numbers_.end(); found != numbers_.end())
    return found->second;
  throw Trouble{store.text(term) + " is no feature of the table"};
}

NodeId Context::node_of(Cell term) const {
  term = store.deref(term);
  if (!term.is(Tag::node))
    throw Trouble{store.text(term) +
                  " is no node; nodes come from root(N), split(N, F, V, L, R) and split_node(N, F-V, L, R)"};
  table();
  return term.number();
}

std::pair<NodeId, NodeId> Context::split(NodeId node, std::uint32_t feature, const Question& question) {
  store.spend(table().node_size(node) / 64);
  const auto children = table().split(node, feature, question);
  if (store.budget.left() == 0) throw Trouble{"the nodes of the table need more memory than the program may use"};
  return children;
}

Cell Context::question_term(std::uint32_t feature, const Question& question) {
  switch (question.kind) {
    case Question::Kind::cut:
      return store.number(Number::of(question.cut));
    case Question::Kind::cut_or_gone: {
      const Cell cut = store.number(Number::of(question.cut));
      return store.make_structure(or_missing_, {&cut, 1});
    }
    case Question::Kind::observed:
      return observed_;
    case Question::Kind::levels:
      break;
  }
  std::vector<Cell> names;
  for (std::uint32_t level = 0; level < table().levels(feature); ++level)
    if (question.levels >> level & 1)
      names.push_back(Cell::atom(store.symbols.intern(table().level_name(feature, level))));
  return store.make_list(names);
}

std::optional<Question> Context::question_of(std::uint32_t feature, Cell term) {
  term = store.deref(term);
  if (term.is_number()) return Question{.kind = Question::Kind::cut, .cut = store.number_of(term).value()};
  if (term == observed_) return Question{.kind = Question::Kind::observed};
  if (store.is_structure(term, or_missing_) && store.argument(term, 0).is_number())
    return Question{.kind = Question::Kind::cut_or_gone, .cut = store.number_of(store.argument(term, 0)).value()};
  Held<Cell> items(store.budget);
  if (!store.list_items(term, items) || !table().is_categorical(feature)) return std::nullopt;
  Question question{.kind = Question::Kind::levels};
  for (const Cell item : items) {
    std::uint32_t level = 0;
    while (level < table().levels(feature) &&
           !(item.is(Tag::atom) && store.symbols.name(item.symbol()) == table().level_name(feature, level)))
      ++level;
    if (level == table().levels(feature)) return std::nullopt;
    question.levels |= std::uint64_t{1} << level;
  }
  return question;
}

namespace {

constexpr std::size_t longest_list = 1 << 24;

Held<Cell> items_of(Context& context, Cell list, const char* what) {
  Held<Cell> items(context.store.budget);
  if (!context.store.list_items(list, items))
    throw Trouble{std::string(what) + " needs a list of known length, not " + context.store.text(list)};
  return items;
}

std::int64_t integer_of(Context& context, Cell term, const char* what) {
  term = context.store.deref(term);
  if (!term.is(Tag::integer))
    throw Trouble{std::string(what) + " needs a whole number, not " + context.store.text(term)};
  return term.integer();
}

// ---- terms
// ---------------------------------------------------------------------------------------------------------------

bool unify(Context& c, const Cell* a) { return c.store.unify(a[0], a[1]); }
bool differ(Context& c, const Cell* a) { return !c.store.can_unify(a[0], a[1]); }
bool identical(Context& c, const Cell* a) { return c.store.compare(a[0], a[1]) == 0; }
bool not_identical(Context& c, const Cell* a) { return c.store.compare(a[0], a[1]) != 0; }
bool before(Context& c, const Cell* a) { return c.store.compare(a[0], a[1]) < 0; }
bool after(Context& c, const Cell* a) { return c.store.compare(a[0], a[1]) > 0; }
bool not_after(Context& c, const Cell* a) { return c.store.compare(a[0], a[1]) <= 0; }
bool not_before(Context& c, const Cell* a) { return c.store.compare(a[0], a[1]) >= 0; }
bool is_atom(Context& c, const Cell* a) { return c.store.deref(a[0]).is(Tag::atom); }
bool is_number(Context& c, const Cell* a) { return c.store.deref(a[0]).is_number(); }
bool is_variable(Context& c, const Cell* a) { return c.store.deref(a[0]).is(Tag::reference); }
bool is_no_variable(Context& c, const Cell* a) { return !is_variable(c, a); }
bool is_ground(Context& c, const Cell* a) { return c.store.is_ground(a[0]); }
bool is(Context& c, const Cell* a) { return c.store.unify(a[0], c.store.number(c.store.evaluate(a[1]))); }

Cell compound(Context& c, Symbol name, std::span<const Cell> arguments) {
  if (arguments.empty()) return Cell::atom(name);
  return c.store.make_structure(c.store.functors.intern({name, static_cast<std::uint32_t>(arguments.size())}),
                                arguments);
}

bool functor(Context& c, const Cell* a) {
  const Cell term = c.store.deref(a[0]);
  if (term.is(Tag::structure)) {
    const Functor& f = c.store.functor(term);
    return c.store.unify(a[1], Cell::atom(f.name)) && c.store.unify(a[2], Cell::integer(f.arity));
  }
  if (!term.is(Tag::reference)) return c.store.unify(a[1], term) && c.store.unify(a[2], Cell::integer(0));
  const std::int64_t arity = integer_of(c, a[2], "functor(T, Name, Arity)");
  const Cell name = c.store.deref(a[1]);
  if (arity == 0) return c.store.unify(term, name);
  if (!name.is(Tag::atom) || arity < 0 || arity > 200)
    throw Trouble{"functor(T, Name, Arity) needs a name and an arity from 0 to 200"};
  c.store.reserve(static_cast<std::size_t>(arity) * 2 + 1);
  std::vector<Cell> arguments;
  for (std::int64_t i = 0; i < arity; ++i) arguments.push_back(c.store.push_variable());
  return c.store.unify(term, compound(c, name.symbol(), arguments));
}

bool argument(Context& c, const Cell* a) {
  const std::int64_t n = integer_of(c, a[0], "arg(N, T, A)");
  const Cell term = c.store.deref(a[1]);
  if (!term.is(Tag::structure)) throw Trouble{"arg(N, T, A) needs a term with arguments, not " + c.store.text(term)};
  return n >= 1 && n <= c.store.functor(term).arity &&
         c.store.unify(a[2], c.store.argument(term, static_cast<std::uint32_t>(n - 1)));
}

bool univ(Context& c, const Cell* a) {
  const Cell term = c.store.deref(a[0]);
  if (term.is(Tag::structure)) {
    const Functor f = c.store.functor(term);
    std::vector<Cell> items{Cell::atom(f.name)};
    for (std::uint32_t i = 0; i < f.arity; ++i) items.push_back(c.store.argument(term, i));
    return c.store.unify(a[1], c.store.make_list(items));
  }
  if (!term.is(Tag::reference)) return c.store.unify(a[1], c.store.make_list({&term, 1}));
  const Held<Cell> items = items_of(c, a[1], "T =.. List");
  if (items.empty() || items.size() > 201) throw Trouble{"T =.. List needs a name and at most 200 arguments"};
  if (items.size() == 1) return c.store.unify(term, items[0]);
  if (!items[0].is(Tag::atom))
    throw Trouble{"T =.. List: the first item must be a name, not " + c.store.text(items[0])};
  return c.store.unify(term, compound(c, items[0].symbol(), std::span(items).subspan(1)));
}

// ---- lists
// ---------------------------------------------------------------------------------------------------------------

bool length(Context& c, const Cell* a) {
  Store& store = c.store;
  std::int64_t count = 0;
  Cell list = store.deref(a[0]);
  for (; store.is_structure(list, store.list_functor); list = store.argument(list, 1)) {
    store.spend();
    ++count;
  }
  if (list == store.nil) return store.unify(a[1], Cell::integer(count));
  if (!list.is(Tag::reference)) throw Trouble{"length(L, N) needs a list, not " + store.text(a[0])};
  const std::int64_t wanted = integer_of(c, a[1], "length(L, N) of a list whose end is not known") - count;
  if (wanted < 0) return false;
  if (wanted > static_cast<std::int64_t>(longest_list))
    throw Trouble{"length(L, N): " + std::to_string(wanted) + " items are too many"};
  store.reserve(static_cast<std::size_t>(wanted));
  Held<Cell> items(store.budget);
  for (std::int64_t i = 0; i < wanted; ++i) {
    store.spend();
    items.push_back(store.push_variable());
  }
  return store.unify(list, store.make_list(items));
}

bool msort(Context& c, const Cell* a) {
  Held<Cell> items = items_of(c, a[0], "msort(L, S)");
  const Held<Cell> spare(items.size() / 2 + 1, items.get_allocator());  // of the sort
  std::stable_sort(items.begin(), items.end(), [&](Cell x, Cell y) { return c.store.compare(x, y) < 0; });
  return c.store.unify(a[1], c.store.make_list(items));
}

Number add(Number x, Number y) {
  const auto sum = apply(Function::add, x, y);
  if (!sum) throw Trouble{"the sum is too large a whole number"};
  return *sum;
}

bool sum_list(Context& c, const Cell* a) {
  Number sum;
  for (const Cell item : items_of(c, a[0], "sum_list(L, S)")) sum = add(sum, c.store.evaluate(item));
  return c.store.unify(a[1], c.store.number(sum));
}

template <Function choice>
bool extreme_of_list(Context& c, const Cell* a) {
  const Held<Cell> items = items_of(c, a[0], "max_list and min_list");
  if (items.empty()) return false;
  Number best = c.store.evaluate(items[0]);
  for (const Cell item : items) best = *apply(choice, best, c.store.evaluate(item));
  return c.store.unify(a[1], c.store.number(best));
}

// ---- words
// ---------------------------------------------------------------------------------------------------------------

std::string plain_text(Context& c, Cell term) { return std::move(c.store.texts({&term, 1}, 10'000, true)[0]); }

/// Counts as work, as long as the text is.
void print(Context& c, const std::string& text) {
  for (std::size_t i = 0; i < text.size(); i += 8) c.store.spend();
  c.output += text;
}

bool write_term(Context& c, const Cell* a) {
  print(c, plain_text(c, a[0]));
  return true;
}

bool new_line(Context& c, const Cell*) {
  c.output += '\n';
  return true;
}

bool write_format(Context& c, Cell format, std::span<const Cell> items) {
  const std::string text = plain_text(c, format);
  std::size_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '~' || i + 1 == text.size()) {
      c.output += text[i];
      continue;
    }
    const char directive = text[++i];
    if (directive == 'n') {
      c.output += '\n';
    } else if (directive == '~') {
      c.output += '~';
    } else if (directive == 'w' || directive == 'a' || directive == 'd' || directive == 'p' || directive == 'q') {
      if (next >= items.size())
        throw Trouble{"format: there are fewer arguments than ~" + std::string(1, directive) + " ask for"};
      print(c, directive == 'q' ? c.store.text(items[next]) : plain_text(c, items[next]));
      ++next;
    } else {
      throw Trouble{"format: ~" + std::string(1, directive) + " is not known; use ~w, ~a, ~d, ~p, ~q, ~n or ~~"};
    }
  }
  if (next < items.size()) throw Trouble{"format: there are more arguments than the text asks for"};
  return true;
}

bool format1(Context& c, const Cell* a) { return write_format(c, a[0], {}); }
bool format2(Context& c, const Cell* a) {
  Held<Cell> items(c.store.budget);
  if (!c.store.list_items(a[1], items)) items.assign(1, a[1]);
  return write_format(c, a[0], items);
}

// ---- data
// ----------------------------------------------------------------------------------------------------------------

bool root(Context& c, const Cell* a) { return c.store.unify(a[0], Cell::node(c.table().root())); }
bool node_size(Context& c, const Cell* a) {
  return c.store.unify(a[1], Cell::integer(static_cast<std::int64_t>(c.table().node_size(c.node_of(a[0])))));
}
bool depth(Context& c, const Cell* a) { return c.store.unify(a[1], Cell::integer(c.table().depth(c.node_of(a[0])))); }
bool min_leaf(Context& c, const Cell* a) {
  return c.store.unify(a[0], Cell::integer(static_cast<std::int64_t>(c.table().min_leaf())));
}
bool splittable(Context& c, const Cell* a) { return c.table().splittable(c.node_of(a[0])); }
bool features(Context& c, const Cell* a) {
  c.table();
  return c.store.unify(a[0], c.store.make_list(c.features()));
}
bool type(Context& c, const Cell* a) {
  const char* name = c.table().is_categorical(c.feature_of(a[0])) ? "categorical" : "numeric";
  return c.store.unify(a[1], Cell::atom(c.store.symbols.intern(name)));
}

bool column(Context& c, const Cell* a) { return c.store.unify(a[1], c.feature_atom(c.feature_of(a[0]))); }

bool region(Context& c, const Cell* a) {
  Store& store = c.store;
  const auto [low, high] = c.table().region(c.node_of(a[0]), c.feature_of(a[1]));
  const auto bound = [&](double value) {
    if (std::isfinite(value)) return store.number(Number::of(value));
    const Cell infinite = Cell::atom(store.symbols.intern("inf"));
    return value > 0 ? infinite : compound(c, store.symbols.intern("-"), {&infinite, 1});
  };
  const Cell ends[] = {bound(low), bound(high)};
  return store.unify(a[2], compound(c, store.symbols.intern(".."), ends));
}

bool split_node(Context& c, const Cell* a) {
  Store& store = c.store;
  const NodeId node = c.node_of(a[0]);
  const Cell rule = store.deref(a[1]);
  if (!store.is_structure(rule, store.pair_functor))
    throw Trouble{"split_node(N, F-V, L, R) needs a rule F-V, not " + store.text(rule)};
  const std::uint32_t feature = c.feature_of(store.argument(rule, 0));
  const auto question = c.question_of(feature, store.argument(rule, 1));
  if (!question || !c.table().is_admissible(node, feature, *question)) return false;
  const auto [left, right] = c.split(node, feature, *question);
  return store.unify(a[2], Cell::node(left)) && store.unify(a[3], Cell::node(right));
}

/// '$admissible'(N, F, V, Vs): the admissible rules that V can be: itself where it is known, else all.
bool admissible(Context& c, const Cell* a) {
  const NodeId node = c.node_of(a[0]);
  const std::uint32_t feature = c.feature_of(a[1]);
  Held<Cell> rules(c.store.budget);
  if (const Cell value = c.store.deref(a[2]); !value.is(Tag::reference)) {
    const auto question = c.question_of(feature, value);
    if (question && c.table().is_admissible(node, feature, *question)) rules.push_back(value);
  } else {
    const std::uint64_t count = c.table().count_rules(node, feature);
    if (count > 1'000'000)
      throw Trouble{"admissible(N, F, V): there are " + std::to_string(count) + " rules, too many to list"};
    for (std::uint64_t n = 0; n < count; ++n) {
      c.store.spend();
      rules.push_back(c.question_term(feature, c.table().rule(node, feature, n)));
    }
  }
  return c.store.unify(a[3], c.store.make_list(rules));
}

struct Entry {
  std::string_view name;
  std::uint32_t arity;
  bool (*function)(Context&, const Cell*);
};

constexpr Entry entries[] = {
    {"=", 2, unify},
    {"\\=", 2, differ},
    {"==", 2, identical},
    {"\\==", 2, not_identical},
    {"@<", 2, before},
    {"@>", 2, after},
    {"@=<", 2, not_after},
    {"@>=", 2, not_before},
    {"is", 2, is},
    {"atom", 1, is_atom},
    {"number", 1, is_number},
    {"var", 1, is_variable},
    {"nonvar", 1, is_no_variable},
    {"ground", 1, is_ground},
    {"functor", 3, functor},
    {"$arg", 3, argument},
    {"=..", 2, univ},
    {"length", 2, length},
    {"msort", 2, msort},
    {"sum_list", 2, sum_list},
    {"max_list", 2, extreme_of_list<Function::maximum>},
    {"min_list", 2, extreme_of_list<Function::minimum>},
    {"write", 1, write_term},
    {"nl", 0, new_line},
    {"format", 1, format1},
    {"format", 2, format2},
    {"root", 1, root},
    {"node_size", 2, node_size},
    {"depth", 2, depth},
    {"min_leaf", 1, min_leaf},
    {"splittable", 1, splittable},
    {"$features", 1, features},
    {"$type", 2, type},
    {"$column", 2, column},
    {"region", 3, region},
    {"split_node", 4, split_node},
    {"$admissible", 4, admissible},
};

struct DrawEntry {
  std::string_view name;
  std::uint32_t arity;
};
// In the order of Draw.
constexpr std::array<DrawEntry, 5> draws{
    {{"uniform", 2}, {"choose", 2}, {"random", 1}, {"choose_feature", 2}, {"split", 5}}};

}  // namespace

std::optional<std::uint32_t> builtin_named(std::string_view name, std::uint32_t arity) {
  for (std::uint32_t i = 0; i < std::size(entries); ++i)
    if (entries[i].name == name && entries[i].arity == arity) return i;
  return std::nullopt;
}

bool call_builtin(std::uint32_t builtin, Context& context, const Cell* arguments) {
  return entries[builtin].function(context, arguments);
}

bool is_test(std::string_view name, std::uint32_t arity) {
  constexpr std::string_view tests[] = {
      "splittable", "atom", "number", "var", "nonvar", "ground", "==", "\\==", "\\=", "@<", "@>", "@=<", "@>="};
  return builtin_named(name, arity) && std::find(std::begin(tests), std::end(tests), name) != std::end(tests);
}

std::optional<Draw> draw_named(std::string_view name, std::uint32_t arity) {
  for (std::size_t i = 0; i < draws.size(); ++i)
    if (draws[i].name == name && draws[i].arity == arity) return static_cast<Draw>(i);
  return std::nullopt;
}

std::uint32_t arity_of(Draw draw) { return draws[static_cast<std::size_t>(draw)].arity; }
std::string_view name_of(Draw draw) { return draws[static_cast<std::size_t>(draw)].name; }

}  // namespace baytree::slp
