#include "baytree/hmm.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "baytree/error.hpp"
#include "baytree/numeric.hpp"
#include "baytree/rounds.hpp"

namespace baytree {
namespace {

/// Where every step of the joint state has at least this log probability, scaled numbers are exact to rounding: a state that underflows could add at most
/// 1e-308 to any state, and those that do not add at least 1e-200 over their number. Elsewhere logarithms are needed.
constexpr double safe_log_step = -460.0;

/// Probabilities, scaled at every row.
struct Scaled {
  static constexpr double zero = 0.0, one = 1.0;
  static double from_log(double value) { return std::exp(value); }
  static double log(double value) { return std::log(value); }
  static double probability(double value) { return value; }
  static double times(double a, double b) { return a * b; }
  static double over(double a, double b) { return a / b; }
  static double sum(std::span<const double> values) {
    double total = 0.0;
    for (const double value : values) total += value;
    return total;
  }
  /// to[a] = Σ_c from[c] · matrix[c · c_step + a · a_step], for `stride` neighbours at once.
  static void mix(const double* from, double* to, std::size_t stride, std::size_t branching, const double* matrix, std::size_t c_step, std::size_t a_step) {
    for (std::size_t a = 0; a < branching; ++a) {
      double* out = to + a * stride;
      std::fill_n(out, stride, 0.0);
      for (std::size_t c = 0; c < branching; ++c) {
        const double* in = from + c * stride;
        const double weight = matrix[c * c_step + a * a_step];
        for (std::size_t i = 0; i < stride; ++i) out[i] += in[i] * weight;
      }
    }
  }
};

/// Logarithms of probabilities.
struct Logs {
  static constexpr double zero = -infinity, one = 0.0;
  static double from_log(double value) { return value; }
  static double log(double value) { return value; }
  static double probability(double value) { return std::exp(value); }
  static double times(double a, double b) { return a + b; }
  static double over(double a, double b) { return a - b; }
  static double sum(std::span<const double> values) {
    const double largest = *std::max_element(values.begin(), values.end());
    if (largest == zero) return zero;
    double total = 0.0;
    for (const double value : values) total += std::exp(value - largest);
    return largest + std::log(total);
  }
  static void mix(const double* from, double* to, std::size_t stride, std::size_t branching, const double* matrix, std::size_t c_step, std::size_t a_step) {
    for (std::size_t a = 0; a < branching; ++a)
      for (std::size_t i = 0; i < stride; ++i) {
        const auto term = [&](std::size_t c) { return from[c * stride + i] + matrix[c * c_step + a * a_step]; };
        double largest = zero, total = 0.0;
        for (std::size_t c = 0; c < branching; ++c) largest = std::max(largest, term(c));
        if (largest != zero)
          for (std::size_t c = 0; c < branching; ++c) total += std::exp(term(c) - largest);
        to[a * stride + i] = largest == zero ? zero : largest + std::log(total);
      }
  }
};

/// Logarithms, of which the largest counts instead of the sum.
struct Best : Logs {
  static void mix(const double* from, double* to, std::size_t stride, std::size_t branching, const double* matrix, std::size_t c_step, std::size_t a_step) {
    for (std::size_t a = 0; a < branching; ++a) {
      double* out = to + a * stride;
      std::fill_n(out, stride, zero);
      for (std::size_t c = 0; c < branching; ++c) {
        const double* in = from + c * stride;
        const double weight = matrix[c * c_step + a * a_step];
        for (std::size_t i = 0; i < stride; ++i) out[i] = std::max(out[i], in[i] + weight);
      }
    }
  }
};

/// The row that is looked at, in the numbers of an arithmetic, and the steps of one node after the other.
template <class Arithmetic>
class Steps {
 public:
  explicit Steps(const HiddenChains& chains)
      : chains_(chains), matrix_(chains.nodes * chains.branching * chains.branching), evidence_(chains.outcomes), next_(chains.states()) {}

  void read(std::size_t row) {
    const double* log_transition = &chains_.log_transition[row * matrix_.size()];
    for (std::size_t i = 0; i < matrix_.size(); ++i) matrix_[i] = Arithmetic::from_log(log_transition[i]);
    const std::span<const double> log_evidence = chains_.log_evidence.subspan(row * chains_.outcomes, chains_.outcomes);
    shift_ = *std::max_element(log_evidence.begin(), log_evidence.end());
    for (std::size_t i = 0; i < evidence_.size(); ++i) evidence_[i] = Arithmetic::from_log(log_evidence[i] - shift_);
  }

  /// The log likelihood that was taken out of the row's evidence.
  double shift() const { return shift_; }

  const double* matrix(std::size_t node) const { return &matrix_[node * chains_.branching * chains_.branching]; }

  /// By how much the joint state changes with a decision of a node.
  std::size_t stride(std::size_t node) const {
    std::size_t stride = 1;
    for (std::size_t after = node + 1; after < chains_.nodes; ++after) stride *= chains_.branching;
    return stride;
  }

  /// One node goes a step on: from its decision before to that at the row.
  void push(std::size_t node, std::span<const double> from, std::span<double> to) const { mix(node, from, to, chains_.branching, 1); }

  /// All nodes do.
  void push(std::vector<double>& state) {
    for (std::size_t node = 0; node < chains_.nodes; ++node) {
      push(node, state, next_);
      state.swap(next_);
    }
  }

  /// One node goes a step back.
  void pull(std::size_t node, std::vector<double>& state) {
    mix(node, state, next_, 1, chains_.branching);
    state.swap(next_);
  }

  void weigh(std::span<double> state) const {
    for (std::size_t s = 0; s < state.size(); ++s) state[s] = Arithmetic::times(state[s], evidence_[chains_.outcome[s]]);
  }

  /// Scales a state so that it sums to one; returns what it summed to.
  static double normalise(std::span<double> state) {
    const double total = Arithmetic::sum(state);
    for (double& value : state) value = Arithmetic::over(value, total);
    return total;
  }

 private:
  void mix(std::size_t node, std::span<const double> from, std::span<double> to, std::size_t c_step, std::size_t a_step) const {
    const std::size_t width = stride(node), block = width * chains_.branching;
    for (std::size_t at = 0; at < from.size(); at += block) Arithmetic::mix(&from[at], &to[at], width, chains_.branching, matrix(node), c_step, a_step);
  }

  const HiddenChains& chains_;
  std::vector<double> matrix_, evidence_, next_;
  double shift_ = 0.0;
};

/// What a sequence begins with: the transitions of its first row are used from decision 0 of every node.
template <class Arithmetic>
std::vector<double> beginning(const HiddenChains& chains) {
  std::vector<double> state(chains.states(), Arithmetic::zero);
  state[0] = Arithmetic::one;
  return state;
}

/// The evidence of a row enters its prediction; returns log P(row | the rows before it).
template <class Arithmetic>
double observe(const Steps<Arithmetic>& steps, std::span<double> state, std::size_t row) {
  steps.weigh(state);
  const double log_likelihood = Arithmetic::log(Steps<Arithmetic>::normalise(state)) + steps.shift();
  if (!std::isfinite(log_likelihood)) throw InputError("row " + std::to_string(row) + ": no decisions that are possible lead to what is seen");
  return log_likelihood;
}

/// The probabilities of outcomes and of each node's decisions.
template <class Arithmetic>
void note(const HiddenChains& chains, std::span<const double> state, std::size_t row, std::vector<double>& outcome, std::vector<double>& decision) {
  const std::size_t b = chains.branching;
  double* of_outcome = &outcome[row * chains.outcomes];
  double* of_node = &decision[row * chains.nodes * b];
  for (std::size_t s = 0; s < state.size(); ++s) {
    const double probability = Arithmetic::probability(state[s]);
    of_outcome[chains.outcome[s]] += probability;
    std::size_t rest = s;
    for (std::size_t node = chains.nodes; node-- > 0; rest /= b) of_node[node * b + rest % b] += probability;
  }
}

template <class Arithmetic>
void filter_sequence(const HiddenChains& chains, std::size_t first, std::size_t last, Filtered& out) {
  Steps<Arithmetic> steps(chains);
  std::vector<double> state = beginning<Arithmetic>(chains);
  for (std::size_t row = first; row < last; ++row) {
    steps.read(row);
    steps.push(state);
    note<Arithmetic>(chains, state, row, out.outcome_ahead, out.decision_ahead);
    out.log_likelihood[row] = observe(steps, state, row);
    note<Arithmetic>(chains, state, row, out.outcome, out.decision);
  }
}

/// P(decision before, decision) of one node: `before` has the nodes in front of it at the row and the others a row earlier, and so has `after`, but for this
/// node, which it has at the row. Their product with the node's own step, over all other nodes, is proportional to it.
template <class Arithmetic>
void note_pairs(const Steps<Arithmetic>& steps, std::size_t node, std::size_t b, std::span<const double> before, std::span<const double> after, double total,
                double* pair) {
  const std::size_t width = steps.stride(node);
  for (std::size_t j = 0; j < b; ++j)
    for (std::size_t k = 0; k < b; ++k) {
      const double factor = Arithmetic::over(steps.matrix(node)[j * b + k], total);
      double sum = 0.0;
      for (std::size_t at = 0; at < before.size(); at += width * b)
        for (std::size_t i = 0; i < width; ++i)
          sum += Arithmetic::probability(Arithmetic::times(Arithmetic::times(before[at + j * width + i], after[at + k * width + i]), factor));
      pair[j * b + k] = sum;
    }
}

template <class Arithmetic>
void smooth_sequence(const HiddenChains& chains, std::size_t first, std::size_t last, Smoothed& out) {
  const std::size_t states = chains.states(), nodes = chains.nodes, b = chains.branching;
  Steps<Arithmetic> steps(chains);
  std::vector<double> state = beginning<Arithmetic>(chains);
  std::vector<double> before((last - first) * states);  // what is known before each row
  for (std::size_t row = first; row < last; ++row) {
    std::copy(state.begin(), state.end(), before.begin() + static_cast<std::ptrdiff_t>((row - first) * states));
    steps.read(row);
    steps.push(state);
    out.log_likelihood[row] = observe(steps, state, row);
  }
  std::vector<double> partial((nodes + 1) * states);  // the state before the row, with the first 0, 1, … nodes a step on
  std::vector<double> weight(states);                 // P(the row and those after it | state), as far as the nodes have been pulled back
  const auto partial_at = [&](std::size_t node) { return std::span<double>(partial).subspan(node * states, states); };
  std::fill(state.begin(), state.end(), Arithmetic::one);
  for (std::size_t row = last; row-- > first;) {
    steps.read(row);
    std::copy_n(before.begin() + static_cast<std::ptrdiff_t>((row - first) * states), states, partial.begin());
    for (std::size_t node = 0; node < nodes; ++node) steps.push(node, partial_at(node), partial_at(node + 1));
    steps.weigh(state);
    for (std::size_t s = 0; s < states; ++s) weight[s] = Arithmetic::times(partial_at(nodes)[s], state[s]);
    const double total = Arithmetic::sum(weight);
    for (std::size_t s = 0; s < states; ++s)
      out.outcome[row * chains.outcomes + chains.outcome[s]] += Arithmetic::probability(Arithmetic::over(weight[s], total));
    for (std::size_t node = nodes; node-- > 0;) {
      note_pairs(steps, node, b, partial_at(node), state, total, &out.pair[(row * nodes + node) * b * b]);
      steps.pull(node, state);
    }
    steps.normalise(state);
  }
}

void best_of_sequence(const HiddenChains& chains, std::size_t number, DecisionPath& out) {
  const std::size_t first = chains.begin[number], last = chains.begin[number + 1], states = chains.states(), nodes = chains.nodes, b = chains.branching;
  Steps<Best> steps(chains);
  std::vector<double> state = beginning<Best>(chains);
  std::vector<double> reached((last - first) * states);  // the best log probability of each state before each row
  double shifts = 0.0;
  for (std::size_t row = first; row < last; ++row) {
    std::copy(state.begin(), state.end(), reached.begin() + static_cast<std::ptrdiff_t>((row - first) * states));
    steps.read(row);
    steps.push(state);
    steps.weigh(state);
    shifts += steps.shift();
  }
  std::size_t at = static_cast<std::size_t>(std::max_element(state.begin(), state.end()) - state.begin());
  out.log_probability[number] = state[at] + shifts;
  if (!std::isfinite(out.log_probability[number]))
    throw InputError("sequence " + std::to_string(number) + ": no decisions that are possible lead to what is seen");
  for (std::size_t row = last; row-- > first;) {
    steps.read(row);
    for (std::size_t s = 0; s < states; ++s) {
      state[s] = reached[(row - first) * states + s];
      std::size_t from = s, to = at;
      for (std::size_t node = nodes; node-- > 0; from /= b, to /= b) state[s] += steps.matrix(node)[from % b * b + to % b];
    }
    for (std::size_t node = nodes; node-- > 0; at /= b) out.decision[row * nodes + node] = static_cast<std::int32_t>(at % b);
    at = static_cast<std::size_t>(std::max_element(state.begin(), state.end()) - state.begin());
  }
}

/// Whether scaled numbers will do for a sequence.
bool safe(const HiddenChains& chains, std::size_t first, std::size_t last) {
  const std::size_t size = chains.branching * chains.branching;
  for (std::size_t row = first; row < last; ++row) {
    double least = 0.0;
    for (std::size_t node = 0; node < chains.nodes; ++node) {
      const double* steps = &chains.log_transition[(row * chains.nodes + node) * size];
      least += *std::min_element(steps, steps + size);
    }
    if (!(least >= safe_log_step)) return false;
  }
  return true;
}

/// Sequences are independent, so that their threads cannot matter.
template <class Work>
void for_each_sequence(const HiddenChains& chains, unsigned threads, const Work& work) {
  in_rounds(chains.sequences(), threads, work, [] { return false; });
}

}  // namespace

void HiddenChains::check() const {
  if (nodes < 1 || branching < 2) throw InputError("hidden chains need at least one node and two decisions");
  std::size_t expected = 1;
  for (std::size_t node = 0; node < nodes && expected <= outcome.size(); ++node) expected *= branching;
  if (outcome.size() != expected) throw InputError(std::to_string(outcome.size()) + " joint states for the decisions of " + std::to_string(nodes) + " nodes");
  for (const std::uint32_t of_state : outcome)
    if (of_state >= outcomes) throw InputError("outcome " + std::to_string(of_state) + " of " + std::to_string(outcomes));
  if (begin.empty() || begin[0] != 0) throw InputError("sequences must begin at row 0");
  for (std::size_t i = 1; i < begin.size(); ++i)
    if (begin[i] <= begin[i - 1]) throw InputError("sequence " + std::to_string(i - 1) + " has no rows");
  if (log_transition.size() != rows() * nodes * branching * branching || log_evidence.size() != rows() * outcomes)
    throw InputError("transitions and evidence must be those of " + std::to_string(rows()) + " rows");
  for (const double value : log_transition)
    if (!(value <= 1e-9)) throw InputError("transitions must be logarithms of probabilities");
  for (std::size_t row = 0; row < rows(); ++row) {
    double largest = -infinity;
    for (const double value : log_evidence.subspan(row * outcomes, outcomes)) largest = std::isnan(value) ? value : std::max(largest, value);
    if (!std::isfinite(largest)) throw InputError("row " + std::to_string(row) + ": its log-likelihood is not a number");
  }
}

Filtered filter(const HiddenChains& chains, unsigned threads) {
  chains.check();
  const std::size_t rows = chains.rows(), outcomes = rows * chains.outcomes, decisions = rows * chains.nodes * chains.branching;
  Filtered out{std::vector<double>(rows), std::vector<double>(outcomes), std::vector<double>(outcomes), std::vector<double>(decisions),
               std::vector<double>(decisions)};
  for_each_sequence(chains, threads, [&](std::size_t number) {
    const std::size_t first = chains.begin[number], last = chains.begin[number + 1];
    if (safe(chains, first, last))
      filter_sequence<Scaled>(chains, first, last, out);
    else
      filter_sequence<Logs>(chains, first, last, out);
  });
  return out;
}

Smoothed smooth(const HiddenChains& chains, unsigned threads) {
  chains.check();
  const std::size_t rows = chains.rows();
  Smoothed out{std::vector<double>(rows), std::vector<double>(rows * chains.outcomes),
               std::vector<double>(rows * chains.nodes * chains.branching * chains.branching)};
  for_each_sequence(chains, threads, [&](std::size_t number) {
    const std::size_t first = chains.begin[number], last = chains.begin[number + 1];
    if (safe(chains, first, last))
      smooth_sequence<Scaled>(chains, first, last, out);
    else
      smooth_sequence<Logs>(chains, first, last, out);
  });
  return out;
}

DecisionPath best_path(const HiddenChains& chains, unsigned threads) {
  chains.check();
  DecisionPath out{std::vector<std::int32_t>(chains.rows() * chains.nodes), std::vector<double>(chains.sequences())};
  for_each_sequence(chains, threads, [&](std::size_t number) { best_of_sequence(chains, number, out); });
  return out;
}

}  // namespace baytree
