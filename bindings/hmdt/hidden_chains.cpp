#include "base/bindings.hpp"
#include "baytree/hmdt/projection.hpp"

namespace baytree::python {
namespace {

using namespace hmdt;

using Begin = Array<std::uint64_t>;
using Numbers = Array<double>;
using Outcome = Array<std::uint32_t>;

/// A function of hidden chains, called with the GIL released.
template <class F>
auto of_chains(const F& f, const Begin& begin, const Numbers& log_transition, const Numbers& log_evidence,
               const Outcome& outcome, unsigned threads) {
  if (log_transition.ndim() != 4 || log_evidence.ndim() != 2)
    throw nb::type_error("transitions have four axes, and evidence two");
  const HiddenChains chains{.nodes = log_transition.shape(1),
                            .branching = log_transition.shape(3),
                            .outcomes = log_evidence.shape(1),
                            .begin = span_of(begin),
                            .log_transition = span_of(log_transition),
                            .log_evidence = span_of(log_evidence),
                            .outcome = span_of(outcome)};
  nb::gil_scoped_release release;
  return f(chains, threads);
}

Arrays to_dict(Filtered found) {
  Arrays out;
  out["log_likelihood"] = to_numpy(std::move(found.log_likelihood));
  out["outcome_ahead"] = to_numpy(std::move(found.outcome_ahead));
  out["outcome"] = to_numpy(std::move(found.outcome));
  out["decision_ahead"] = to_numpy(std::move(found.decision_ahead));
  out["decision"] = to_numpy(std::move(found.decision));
  return out;
}

void bind(nb::module_& module) {
  const auto define = [&](const char* name, auto function) {
    module.def(name, function, nb::arg("begin").noconvert(), nb::arg("log_transition").noconvert(),
               nb::arg("log_evidence").noconvert(), nb::arg("outcome").noconvert(), nb::arg("threads") = 1);
  };
  define("hmm_filter", [](const Begin& begin, const Numbers& log_transition, const Numbers& log_evidence,
                          const Outcome& outcome, unsigned threads) {
    return to_dict(of_chains(&filter, begin, log_transition, log_evidence, outcome, threads));
  });
  define("hmm_smooth", [](const Begin& begin, const Numbers& log_transition, const Numbers& log_evidence,
                          const Outcome& outcome, unsigned threads) {
    Smoothed found = of_chains(&smooth, begin, log_transition, log_evidence, outcome, threads);
    Arrays out;
    out["log_likelihood"] = to_numpy(std::move(found.log_likelihood));
    out["outcome"] = to_numpy(std::move(found.outcome));
    out["pair"] = to_numpy(std::move(found.pair));
    return out;
  });
  define("hmm_best_path", [](const Begin& begin, const Numbers& log_transition, const Numbers& log_evidence,
                             const Outcome& outcome, unsigned threads) {
    DecisionPath found = of_chains(&best_path, begin, log_transition, log_evidence, outcome, threads);
    Arrays out;
    out["decision"] = to_numpy(std::move(found.decision));
    out["log_probability"] = to_numpy(std::move(found.log_probability));
    return out;
  });
  module.def(
      "hmm_project",
      [](const Begin& begin, const Numbers& log_transition, const Numbers& log_evidence, unsigned threads) {
        if (log_transition.ndim() != 4) throw nb::type_error("transitions have four axes");
        const HiddenTree tree{.nodes = log_transition.shape(1),
                              .branching = log_transition.shape(3),
                              .begin = span_of(begin),
                              .log_transition = span_of(log_transition),
                              .log_evidence = span_of(log_evidence)};
        const auto project_released = [&] {
          nb::gil_scoped_release release;
          return project(tree, threads);
        };
        return to_dict(project_released());
      },
      nb::arg("begin").noconvert(), nb::arg("log_transition").noconvert(), nb::arg("log_evidence").noconvert(),
      nb::arg("threads") = 1);
}

const FamilyBinding bound{"hmdt", bind};

}  // namespace
}  // namespace baytree::python
