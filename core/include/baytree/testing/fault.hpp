#pragma once

#include <cstdint>
#ifdef BAYTREE_FAULTS
#include <atomic>
#endif

/// Deliberate faults of the samplers, one of which may be injected into the whole process: a statistical test shows
/// with them that it can fail. Only a build with the option BAYTREE_FAULTS has any; in all others `is_injected` is
/// false before anything runs, and what hangs on it is not compiled.
///
/// To add one: a value here, `if (testing::is_injected(Fault::…))` where it acts, and a test that it is caught, by
/// `faults.injected` in Python. Bindings and names come from the list.
namespace baytree::testing {

// clang-format off
#define BAYTREE_EVERY_FAULT(fault)                                                                            \
  /* proposals of a single tree: the acceptance ratio is 1 or, where it should be, another */                \
  fault(uc) fault(q0) fault(cycle) fault(birth_death) fault(change) fault(swap)                              \
  fault(gbirth) fault(gchange) fault(insert_delete)                                                          \
  /* monotone trees: new leaves take an old leaf's value; nobody looks whether new values are in order */    \
  fault(stale_values) fault(unordered_values)                                                                \
  /* tempering: every swap of rungs is accepted */                                                           \
  fault(rung_swap)                                                                                           \
  /* proposals of sums of trees: a part of the ratio is left out; steps stop at the ends */                  \
  fault(sum_birth_death) fault(sum_change) fault(sum_bandwidth) fault(sum_perturb)                           \
  /* Student noise: scales that do not know how far rows lie off; rows far off that do not pull              */ \
  fault(student_scale) fault(student_far)                                                                    \
  /* proposals over proofs: the ratio is taken for 1, or for that of the depths; the likelihood ratio is cut \
     at 1; the rest of the proof is taken to keep its probability; a choice that is not there is the last */ \
  fault(proof_one) fault(proof_depth) fault(proof_clipped) fault(proof_unaffected) fault(proof_clamped)      \
  /* proposals over subsets: the odds count twice; they forget how many there are to choose from; every one is \
     accepted; the unit that left is preferred */                                                            \
  fault(subset_gibbs) fault(subset_random) fault(subset_metropolis) fault(subset_informed)                   \
  fault(subset_replace)                                                                                      \
  /* mixtures of experts: Pólya–Gamma variables that do not know the linear predictors; of several classes,  \
     each drawn as if against the last alone; variances that count one row too many; a row's leaf by its     \
     path alone; classes under a power, drawn from the whole likelihood */                                   \
  fault(hme_tilt) fault(hme_offset) fault(hme_freedom) fault(hme_decisions) fault(hme_slice)                 \
  /* sums over all trees: rules that divide rows alike count once; a node is taken to lie one deeper; sets of\
     rows share their names; no rules below those that were looked at make leaves any better */              \
  fault(exact_alike) fault(exact_depth) fault(exact_key) fault(exact_bound)                                  \
  /* trees that fit best: only the right side of a split has several leaves; a cut's sides are bounded by those of     \
     cuts on the wrong side of it */                                                                         \
  fault(fit_shares) fault(fit_bound)
// clang-format on

enum class Fault : std::uint8_t {
  none,
#define BAYTREE_NAME(name) name,
  BAYTREE_EVERY_FAULT(BAYTREE_NAME)
#undef BAYTREE_NAME
};

#ifdef BAYTREE_FAULTS
inline std::atomic<Fault> injected = Fault::none;

inline bool is_injected(Fault fault) { return injected.load(std::memory_order_relaxed) == fault; }
#else
constexpr bool is_injected(Fault) { return false; }
#endif

}  // namespace baytree::testing

namespace baytree {

using testing::Fault;

}  // namespace baytree
