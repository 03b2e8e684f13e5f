#include "baytree/hmdt/hidden_chains.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/base/team.hpp"

namespace baytree::hmdt {
namespace {

/// Where every step of the joint state has at least this log probability, scaled numbers are exact to rounding: a state
/// that underflows could add at most 1e-308 to any state, and those that do not add at least 1e-200 over their number.
/// Elsewhere logarithms are needed.
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
  /// Σ_c from[c · stride] · matrix[c · step]
  static double mixed(const double* from, std::size_t stride, const double* matrix, std::size_t step,
                      std::size_t branching) {
    double total = 0.0;
    for (std::size_t c = 0; c < branching; ++c) total += from[c * stride] * matrix[c * step];
    return total;
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
  static double mixed(const double* from, std::size_t stride, const double* matrix, std::size_t step,
                      std::size_t branching) {
    double largest = zero, total = 0.0;
    for (std::size_t c = 0; c < branching; ++c) largest = std::max(largest, from[c * stride] + matrix[c * step]);
    if (largest == zero) return zero;
    for (std::size_t c = 0; c < branching; ++c) total += std::exp(from[c * stride] + matrix[c * step] - largest);
    return largest + std::log(total);
  }
};

/// Logarithms, of which the largest counts instead of the sum.
struct Best : Logs {
  static double mixed(const double* from, std::size_t stride, const double* matrix, std::size_t step,
                      std::size_t branching) {
    double largest = zero;
    for (std::size_t c = 0; c < branching; ++c) largest = std::max(largest, from[c * stride] + matrix[c * step]);
    return largest;
  }
};

/// The row that is looked at, in the numbers of an arithmetic, and the steps of one node after the other.
template <class Arithmetic>
class Steps {
 public:
  explicit Steps(const HiddenChains& chains)
      : chains_(chains),
        matrix_(chains.nodes * chains.branching * chains.branching),
        evidence_(chains.outcomes),
        next_(chains.states()) {}

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
  void push(std::size_t node, std::span<const double> from, std::span<double> to) const {
    mix(node, from, to, chains_.branching, 1);
  }

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
    for (std::size_t s = 0; s < state.size(); ++s)
      state[s] = Arithmetic::times(state[s], evidence_[chains_.outcome[s]]);
  }

  /// Scales a state so that it sums to one; returns what it summed to.
  static double normalise(std::span<double> state) {
    const double total = Arithmetic::sum(state);
    for (double& value : state) value = Arithmetic::over(value, total);
    return total;
  }

 private:
  /// to[…a…] = Σ_c from[…c…] · matrix[c · c_step + a · a_step], over the decisions of one node.
  void mix(std::size_t node, std::span<const double> from, std::span<double> to, std::size_t c_step,
           std::size_t a_step) const {
    if (chains_.branching == 2)
      mix_by<2>(node, from, to, c_step, a_step);
    else
      mix_by<0>(node, from, to, c_step, a_step);
  }

  /// With a number of branches that the compiler knows, or 0 for any.
  template <std::size_t fixed>
  void mix_by(std::size_t node, std::span<const double> from, std::span<double> to, std::size_t c_step,
              std::size_t a_step) const {
    const std::size_t b = fixed ? fixed : chains_.branching, width = stride(node);
    const double* steps = matrix(node);
    const double* __restrict in = from.data();
    double* __restrict out = to.data();
    for (std::size_t at = 0; at < from.size(); at += width * b)
      for (std::size_t i = at; i < at + width; ++i)
        for (std::size_t a = 0; a < b; ++a)
          out[i + a * width] = Arithmetic::mixed(in + i, width, steps + a * a_step, c_step, b);
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
  if (!std::isfinite(log_likelihood))
    throw InputError("row " + std::to_string(row) + ": no decisions that are possible lead to what is seen");
  return log_likelihood;
}

/// The probabilities of outcomes and of each node's decisions. Those of the joint states are left in `share`.
template <class Arithmetic>
void note(const Steps<Arithmetic>& steps, const HiddenChains& chains, std::span<const double> state,
          std::span<double> share, double* outcome, double* decision) {
  const std::size_t b = chains.branching;
  for (std::size_t s = 0; s < state.size(); ++s)
    outcome[chains.outcome[s]] += share[s] = Arithmetic::probability(state[s]);
  for (std::size_t node = 0; node < chains.nodes; ++node) {
    const std::size_t width = steps.stride(node);
    for (std::size_t at = 0; at < share.size(); at += width * b)
      for (std::size_t k = 0; k < b; ++k)
        for (std::size_t i = at + k * width; i < at + (k + 1) * width; ++i) decision[node * b + k] += share[i];
  }
}

template <class Arithmetic>
void filter_sequence(const HiddenChains& chains, std::size_t first, std::size_t last, Filtered& out) {
  Steps<Arithmetic> steps(chains);
  std::vector<double> state = beginning<Arithmetic>(chains), share(chains.states());
  for (std::size_t row = first; row < last; ++row) {
    const std::size_t outcome = row * chains.outcomes, decision = row * chains.nodes * chains.branching;
    heed_interruption();
    steps.read(row);
    steps.push(state);
    note(steps, chains, state, share, &out.outcome_ahead[outcome], &out.decision_ahead[decision]);
    out.log_likelihood[row] = observe(steps, state, row);
    note(steps, chains, state, share, &out.outcome[outcome], &out.decision[decision]);
  }
}

/// P(decision before, decision) of one node: `before` has the nodes in front of it at the row and the others a row
/// earlier, and so has `after`, but for this node, which it has at the row. Their product with the node's own step,
/// over all other nodes, is proportional to it.
template <class Arithmetic>
void note_pairs(const Steps<Arithmetic>& steps, std::size_t node, std::size_t b, std::span<const double> before,
                std::span<const double> after, double total, double* pair) {
  const std::size_t width = steps.stride(node);
  const double* step = steps.matrix(node);
  for (std::size_t at = 0; at < before.size(); at += width * b)
    for (std::size_t i = at; i < at + width; ++i)
      for (std::size_t j = 0; j < b; ++j) {
        const double from = Arithmetic::over(before[i + j * width], total);
        for (std::size_t k = 0; k < b; ++k)
          pair[j * b + k] += Arithmetic::probability(
              Arithmetic::times(Arithmetic::times(from, after[i + k * width]), step[j * b + k]));
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
    heed_interruption();
    steps.read(row);
    steps.push(state);
    out.log_likelihood[row] = observe(steps, state, row);
  }
  std::vector<double> partial((nodes + 1) *
                              states);  // the state before the row, with the first 0, 1, … nodes a step on
  std::vector<double> weight(
      states);  // P(the row and those after it | state), as far as the nodes have been pulled back
  const auto partial_at = [&](std::size_t node) { return std::span<double>(partial).subspan(node * states, states); };
  std::fill(state.begin(), state.end(), Arithmetic::one);
  for (std::size_t row = last; row-- > first;) {
    heed_interruption();
    steps.read(row);
    std::copy_n(before.begin() + static_cast<std::ptrdiff_t>((row - first) * states), states, partial.begin());
    for (std::size_t node = 0; node < nodes; ++node) steps.push(node, partial_at(node), partial_at(node + 1));
    steps.weigh(state);
    for (std::size_t s = 0; s < states; ++s) weight[s] = Arithmetic::times(partial_at(nodes)[s], state[s]);
    const double total = Arithmetic::sum(weight);
    for (std::size_t s = 0; s < states; ++s)
      out.outcome[row * chains.outcomes + chains.outcome[s]] +=
          Arithmetic::probability(Arithmetic::over(weight[s], total));
    for (std::size_t node = nodes; node-- > 0;) {
      note_pairs(steps, node, b, partial_at(node), state, total, &out.pair[(row * nodes + node) * b * b]);
      steps.pull(node, state);
    }
    steps.normalise(state);
  }
}

void best_of_sequence(const HiddenChains& chains, std::size_t number, DecisionPath& out) {
  const std::size_t first = chains.begin[number], last = chains.begin[number + 1], states = chains.states(),
                    nodes = chains.nodes, b = chains.branching;
  Steps<Best> steps(chains);
  std::vector<double> state = beginning<Best>(chains);
  std::vector<double> reached((last - first) * states);  // the best log probability of each state before each row
  double shifts = 0.0;
  for (std::size_t row = first; row < last; ++row) {
    std::copy(state.begin(), state.end(), reached.begin() + static_cast<std::ptrdiff_t>((row - first) * states));
    heed_interruption();
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
    heed_interruption();
    steps.read(row);
    std::copy_n(reached.begin() + static_cast<std::ptrdiff_t>((row - first) * states), states, state.begin());
    for (std::size_t node = 0; node < nodes; ++node) {
      const std::size_t width = steps.stride(node), to = at / width % b;
      for (std::size_t block = 0; block < states; block += width * b)
        for (std::size_t k = 0; k < b; ++k)
          for (std::size_t i = block + k * width; i < block + (k + 1) * width; ++i)
            state[i] += steps.matrix(node)[k * b + to];
    }
    for (std::size_t node = nodes; node-- > 0; at /= b)
      out.decision[row * nodes + node] = static_cast<std::int32_t>(at % b);
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

/// Calls work<Numbers>(its first row, the row behind its last) for each, with the numbers that are fine enough for it.
template <class Work>
void for_each_in_numbers(const HiddenChains& chains, unsigned threads, const Work& work) {
  for_each_sequence(chains, threads, [&](std::size_t number) {
    const std::size_t first = chains.begin[number], last = chains.begin[number + 1];
    if (safe(chains, first, last))
      work.template operator()<Scaled>(first, last);
    else
      work.template operator()<Logs>(first, last);
  });
}

}  // namespace

void HiddenChains::check() const {
  if (nodes < 1 || branching < 2) throw InputError("hidden chains need at least one node and two decisions");
  std::size_t expected = 1;
  for (std::size_t node = 0; node < nodes && expected <= outcome.size(); ++node) expected *= branching;
  if (outcome.size() != expected)
    throw InputError(std::to_string(outcome.size()) + " joint states for the decisions of " + std::to_string(nodes) +
                     " nodes");
  std::vector<bool> found(outcomes);
  for (const std::uint32_t of_state : outcome) {
    if (of_state >= outcomes)
      throw InputError("outcome " + std::to_string(of_state) + " of " + std::to_string(outcomes));
    found[of_state] = true;
  }
  // The evidence of a row is scaled by its most likely outcome, which some joint state must have.
  if (!std::all_of(found.begin(), found.end(), [](bool is) { return is; }))
    throw InputError("every outcome must be that of some joint state");
  check_rows(begin, log_transition, nodes * branching * branching, log_evidence, outcomes);
}

void check_rows(std::span<const std::uint64_t> begin, std::span<const double> log_transition, std::size_t steps,
                std::span<const double> log_evidence, std::size_t outcomes) {
  if (begin.empty() || begin[0] != 0) throw InputError("sequences must begin at row 0");
  for (std::size_t i = 1; i < begin.size(); ++i)
    if (begin[i] <= begin[i - 1]) throw InputError("sequence " + std::to_string(i - 1) + " has no rows");
  const std::size_t rows = begin.back();
  if (log_transition.size() != rows * steps || log_evidence.size() != rows * outcomes)
    throw InputError("transitions and evidence must be those of " + std::to_string(rows) + " rows");
  for (const double value : log_transition)
    if (!(value <= 1e-9)) throw InputError("transitions must be logarithms of probabilities");
  for (std::size_t row = 0; row < rows; ++row) {
    double largest = -infinity;
    for (const double value : log_evidence.subspan(row * outcomes, outcomes))
      largest = std::isnan(value) ? value : std::max(largest, value);
    if (!std::isfinite(largest))
      throw InputError("row " + std::to_string(row) + ": its log-likelihood is not a number");
  }
}

Filtered filter(const HiddenChains& chains, unsigned threads) {
  chains.check();
  const std::size_t rows = chains.rows(), outcomes = rows * chains.outcomes,
                    decisions = rows * chains.nodes * chains.branching;
  Filtered out{std::vector<double>(rows), std::vector<double>(outcomes), std::vector<double>(outcomes),
               std::vector<double>(decisions), std::vector<double>(decisions)};
  for_each_in_numbers(chains, threads, [&]<class Numbers>(std::size_t first, std::size_t last) {
    filter_sequence<Numbers>(chains, first, last, out);
  });
  return out;
}

Smoothed smooth(const HiddenChains& chains, unsigned threads) {
  chains.check();
  const std::size_t rows = chains.rows();
  Smoothed out{std::vector<double>(rows), std::vector<double>(rows * chains.outcomes),
               std::vector<double>(rows * chains.nodes * chains.branching * chains.branching)};
  for_each_in_numbers(chains, threads, [&]<class Numbers>(std::size_t first, std::size_t last) {
    smooth_sequence<Numbers>(chains, first, last, out);
  });
  return out;
}

DecisionPath best_path(const HiddenChains& chains, unsigned threads) {
  chains.check();
  DecisionPath out{std::vector<std::int32_t>(chains.rows() * chains.nodes), std::vector<double>(chains.sequences())};
  for_each_sequence(chains, threads, [&](std::size_t number) { best_of_sequence(chains, number, out); });
  return out;
}

}  // namespace baytree::hmdt
