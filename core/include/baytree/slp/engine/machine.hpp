#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "baytree/slp/engine/chance.hpp"
#include "baytree/slp/engine/code.hpp"
#include "baytree/slp/engine/library.hpp"

namespace baytree::slp {

enum class Semantics : std::uint8_t { backtrack, reject };

/// What a single proof may cost.
struct Limits {
  std::uint64_t steps = 10'000'000;
  std::uint32_t depth = 1'000'000;  // goals waiting for one another
  std::size_t memory = std::size_t{256} << 20;
};

/// What was chosen, whatever the other options are: a clause, an item of a list, a feature, a rule.
struct Option {
  std::uint64_t id = 0, detail = 0;

  bool operator==(const Option&) const = default;
};

/// A goal about to be proved, and where to go on then.
struct Goal {
  bool is_draw = false;
  std::uint8_t arguments = 0, labels = 0;  // arguments, labels included, and labels
  std::uint32_t target = 0;                // predicate or Draw
  Address saved = 0;                       // its arguments on the store, once saved; 0 before
  Address frame = 0;
  std::uint32_t pc = 0;
  std::uint32_t scope = 0;
  std::uint64_t address = 0;
  std::int64_t caller = -1;  // while tracing
};

/// A random decision of a proof, or the end of a goal that can be proved again by itself. Events are in the order of
/// time, so what lies under a choice is a contiguous range.
struct Event {
  bool is_choice = false;
  bool is_second_try = false;  // its first option failed, and chance does not draw again
  std::uint32_t scope = 0;     // how many goals that can be proved again by themselves it is inside of
  std::uint32_t trail_begin = 0, trail_end = 0;  // bindings of older variables made from here to the next event
  // of a choice
  Goal goal;
  Option chosen;
  std::uint64_t options = 0;
  double probability = 1.0;
};

/// A goal of a proof, for people.
struct TracedGoal {
  std::int64_t parent = -1;
  std::string called, proved;  // before and after
  Place place{0, 0};           // of the clause used; none of a built-in
  std::int64_t choice = -1;
  std::uint64_t options = 1;
  double probability = 1.0;
  Functor functor;
  Address saved = 0;  // its arguments
};

/// How choices are made in a run.
enum class Guide : std::uint8_t {
  fresh,     // by chance
  recorded,  // as another proof made them, in order
  matched,   // as another proof made them at the same address; by chance where it made none
  every,     // each in turn
};

/// Proves a goal: a machine in the manner of Warren's over one array of cells. Frames lie on it too and never change
/// but by bindings, so a proof can be taken up again at any of its choices.
class Machine {
 public:
  Machine(std::shared_ptr<const Code> code, Semantics semantics, Data* data, Limits limits);

  Semantics semantics() const { return semantics_; }
  const Code& code() const { return *code_; }
  Store& store() { return store_; }

  /// Whether a proof's choices are kept, or only the answer is wanted, which is faster.
  enum class Keep : std::uint8_t { proof, answer };

  /// Proves the goal from the start. False where it fails or, under `reject`, fails once.
  bool prove(Chance& chance, Keep keep = Keep::proof);
  /// The same until it succeeds; throws where it fails for good, or at all of `attempts`.
  void prove_until_success(Chance& chance, std::uint64_t attempts, Keep keep = Keep::proof);
  /// Proves the goal with the choices of a proof; throws InputError where they are not choices of this program.
  void follow(std::span<const Event> events);

  /// Lays the proof down anew where too much was left over from earlier ones; whether it did, so that nodes have other
  /// numbers.
  bool compact();

  /// The choices and ends of goals of the current proof.
  std::span<const Event> events() const { return events_; }
  std::size_t choices() const { return choices_; }

  /// Visits every proof; `visit` returns false to stop.
  void enumerate(const std::function<bool()>& visit);
  /// The same with labels chosen among all clauses of a predicate, so that one that does not unify fails: what labels
  /// are learnt by. Derivations that fail are visited too.
  void enumerate_raw(const std::function<bool(bool succeeded)>& visit);

  /// What `prove_again` replaces: the events from choice k on of the smallest goal around it that can be proved by
  /// itself, or all from k on.
  enum class Extent : std::uint8_t { scope, to_the_end };
  std::size_t end_of(std::size_t k, Extent extent) const;

  /// Proves again from choice k on, up to the end of that range. The proof stays as it was until `accept`; `discard`
  /// forgets the new one. False where it fails.
  bool prove_again(std::size_t k, Extent extent, Guide guide, Chance& chance);
  /// log Π p'/p of the choices that were kept in the last run under `matched`.
  double log_kept_ratio() const { return log_kept_ratio_; }
  std::size_t choices_after() const { return choices_after_; }
  /// How deep the choices of the proof lie in goals that can be proved by themselves, now and with the new part.
  std::uint32_t depth() const { return depth_of(events_); }
  std::uint32_t depth_after() const;
  /// Whether the last run took an option only because those before failed, with a chance that does not draw again.
  bool took_second_try() const;
  /// Whether the last run made the same choices again.
  bool is_same() const;
  void accept();
  void discard();

  /// The value of goal variable i, in the current proof or the one being tried.
  Cell answer(std::size_t variable) const { return store_.deref(store_.at(answer_ + static_cast<Address>(variable))); }
  double log_probability() const;

  /// The goals of the current proof.
  std::vector<TracedGoal> trace();

  /// What the program wrote since the last call.
  std::string take_output() { return std::exchange(output_, {}); }

 private:
  /// The options of a choice: those with ids and weights or, not weighted, numbers or the rules of a node.
  struct Menu {
    std::uint64_t options = 0;
    bool weighted = false;
    double total = 0.0;
    const double* weights = nullptr;
    const std::uint64_t* ids = nullptr;
    // of split/5
    bool rules = false;
    NodeId node = 0;
    std::optional<std::uint32_t> feature;
    std::optional<Question> question;
  };

  /// Where to go on after a failure, and how things were.
  struct Alternative {
    enum class Kind : std::uint8_t { clauses, code, gather, random } kind = Kind::clauses;
    bool succeeded = false;                            // while every proof is visited: something below it succeeded
    const std::vector<std::uint32_t>* list = nullptr;  // clauses to try
    std::uint32_t next = 0;  // the next of them; of a random choice, how many options were tried
    Goal goal;               // of `code` and `gather`: only where to go on
    Address top = 0;
    std::uint32_t trail = 0, events = 0, tried = 0, traced = 0, committed = 0;
    std::size_t guided = 0;  // choices of the guiding proof that were used before
    bool redrawing = false;
    NodeId nodes = 0;
  };

  // A frame lies on the store: [continuation][scope, depth][address][clause, traced call][slots …]
  static constexpr Address header = 4;
  static std::uint64_t two(std::uint64_t high, std::uint64_t low) { return high << 32 | (low & 0xffff'ffff); }
  std::uint32_t high(Address at) const { return static_cast<std::uint32_t>(store_.at(at).bits >> 32); }
  std::uint32_t low(Address at) const { return static_cast<std::uint32_t>(store_.at(at).bits); }
  std::uint32_t scope_of(Address frame) const { return high(frame + 1); }

  Cell slot(std::uint16_t a, Address frame) const {
    return a & temporary ? temporaries_[a & 0x7fff] : store_.at(frame + header + a);
  }
  void set_slot(std::uint16_t a, Address frame, Cell value) {
    if (a & temporary)
      temporaries_[a & 0x7fff] = value;
    else
      store_.set(frame + header + a, value);
  }

  struct KnownMenu;
  static std::uint32_t depth_of(std::span<const Event> events);

  // runs
  void clear();
  void begin_run(Guide guide, Chance* chance);
  bool run_goal();
  void end_run();
  bool run();
  template <class Work>
  bool guarded(Work work);
  void unbind_replaced();
  void guide_by_rest(std::size_t k);
  void lay_down(std::span<const Event> events);

  // goals
  void prepare_call(const Instruction& instruction, bool is_last);
  bool enter();
  bool enter_clauses(const std::vector<std::uint32_t>& list, std::uint32_t from);
  bool enter_labelled(std::size_t tried);
  void find_clauses(const CompiledPredicate& predicate, Menu& menu);
  KnownMenu* known_menu(const CompiledPredicate& predicate);
  bool enter_clause(std::uint32_t clause);
  bool match_head(std::uint32_t pc, Address frame);
  const std::vector<std::uint32_t>& candidates(const CompiledPredicate& predicate);
  bool is_applicable(std::uint32_t clause);
  double label_of(const CompiledClause& clause);
  void returns_to(Address frame, std::uint32_t pc);

  // built-in choices
  bool draw(std::size_t tried);
  bool draw_number(std::size_t tried);
  bool list_menu(Menu& menu, bool weighted);
  bool feature_menu(Menu& menu);
  bool split_menu(Menu& menu);
  void add_option(Menu& menu, std::uint64_t id, double weight);
  bool bind_draw(const Option& chosen);

  // choices
  bool choose(const Menu& menu, std::size_t tried, Option& chosen);
  void record(const Option& chosen, std::uint64_t options, double probability, std::size_t tried, std::uint64_t index);
  std::optional<std::size_t> matching_event();
  std::optional<std::uint64_t> untried(const Menu& menu, std::size_t tried);
  Option identify(const Menu& menu, std::uint64_t index);
  std::optional<std::uint64_t> find_option(const Menu& menu, const Option& option);
  void push_event(const Event& event);

  // failure
  bool backtrack();
  Alternative& push_alternative(Alternative::Kind kind, const Goal& goal);
  void save_arguments();
  void load_arguments();

  template <class Operand>
  const Number* compute(const Expression& expression, Operand operand);
  Number evaluate(const Expression& expression, Address frame);
  [[noreturn]] void stop_with(const std::string& message);
  Functor goal_functor();
  std::string text_of(Functor functor, Address saved);
  void trace_goal();

  std::shared_ptr<const Code> code_;
  // its parts, without the way to them
  const Instruction* instructions_;
  const Cell* constants_;
  const CompiledClause* clauses_;
  const CompiledPredicate* predicates_;
  Semantics semantics_;
  Data* data_;
  Limits limits_;
  Store store_;
  std::string output_;
  Context context_;

  std::array<Cell, 256> arguments_{};
  std::array<Cell, 1024> temporaries_{};
  std::array<Number, 66> values_{};  // of an expression being computed
  NodeId first_node_;                // nodes before it belong to the table
  Goal goal_;
  std::uint32_t pc_ = 0;
  Address frame_ = 0;
  bool skip_guard_ = false;
  bool is_second_try_ = false;

  // the run
  Guide guide_ = Guide::fresh;
  Chance* chance_ = nullptr;
  bool draws_again_ = true;
  Keep keep_ = Keep::proof;
  Held<Alternative> alternatives_;
  std::size_t floor_ = 0;        // alternatives below this are not for the guard being tried
  std::uint32_t committed_ = 0;  // inside this many conditions, where no random choice may be made
  std::uint32_t nested_ = 0;     // guards being tried
  Address trial_frame_ = 0;
  std::uint32_t stop_scope_ = 0;  // the run ends when it leaves this scope
  std::uint32_t last_scope_ = 0;  // of the last event
  Held<Event> run_events_;
  bool raw_ = false;
  const std::function<bool(bool)>* visit_failure_ = nullptr;
  Held<Store::Copy> collected_;  // by findall
  Held<std::uint32_t> gathers_;  // where each findall under way began to collect
  Held<std::uint64_t> tried_;

  /// Options that come again and again: of a predicate without label variables, or by a whole number that is its only
  /// one, as depths are.
  struct KnownMenu {
    std::vector<double> weights;  // which sum to 1
    std::vector<std::uint64_t> ids;
  };
  static constexpr std::int64_t known_numbers = 32;
  std::vector<std::vector<KnownMenu>> known_menus_;  // of each predicate

  // the options of the choice at hand
  Held<double> weights_;
  Held<std::uint64_t> ids_;
  Held<Cell> items_;
  std::vector<double> usable_;

  // choices of another proof that guide this one
  Held<Event> guide_events_;
  std::size_t guide_next_ = 0;
  bool redrawing_ = false;
  Address redraw_frame_ = 0;
  std::uint32_t redraw_pc_ = 0;
  double log_kept_ratio_ = 0.0;

  // the proof
  Held<Event> events_;
  std::size_t choices_ = 0, choices_after_ = 0;
  Address answer_ = 0;
  std::size_t live_cells_ = 0, live_memory_ = 0;  // when nothing on the store was left over

  // the range of it that is being replaced
  std::size_t replaced_begin_ = 0, replaced_end_ = 0;
  Held<std::pair<Address, Cell>> unbound_;
  Address kept_top_ = 0;
  std::size_t kept_trail_ = 0;
  NodeId kept_nodes_ = 0;

  std::vector<TracedGoal>* traced_ = nullptr;
};

}  // namespace baytree::slp
