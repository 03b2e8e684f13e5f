#pragma once

#include <cmath>
#include <functional>
#include <limits>

#include "baytree/slp/proofs/proposal.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree::slp {

/// A Metropolis–Hastings chain over proofs with target P(proof) · L(model)^power.
class Walk {
 public:
  /// The log likelihood of what the machine has proved; −∞ where it is impossible.
  using LogLikelihood = std::function<double(Machine&)>;
  /// The last word on a proof that would be accepted.
  using Consent = std::function<bool()>;

  Walk(Machine& machine, Mixture mixture, LogLikelihood log_likelihood, double power, Consent consent = {})
      : machine_(machine),
        mixture_(std::move(mixture)),
        likelihood_(std::move(log_likelihood)),
        power_(power),
        consent_(std::move(consent)) {
    if (!(power >= 0.0 && std::isfinite(power))) throw InputError("power must be 0 or more");
  }

  /// Starts from the proof the machine has.
  void start() { log_likelihood_ = evaluate(); }

  /// One step; true where the proof changed.
  bool step(Chance& chance) {
    if (is_evaluating_) throw InputError("the likelihood must not move the chain that asks it");
    const std::size_t component = mixture_.choose(chance);
    const auto log_ratio = mixture_.propose(component, machine_, chance);
    if (!log_ratio) return false;
    if (machine_.is_same()) {
      machine_.discard();
      return false;
    }
    double proposed = 0.0;
    try {
      proposed = evaluate();
    } catch (...) {
      machine_.discard();
      throw;
    }
    if (!decide(*log_ratio, proposed, chance) || (consent_ && !consent_())) {
      machine_.discard();
      return false;
    }
    machine_.accept();
    log_likelihood_ = proposed;
    ++mixture_.accepted[component];
    return true;
  }

  Machine& machine() { return machine_; }
  Mixture& mixture() { return mixture_; }
  const Mixture& mixture() const { return mixture_; }
  double log_likelihood() const { return log_likelihood_; }
  double power() const { return power_; }
  void set_power(double power) { power_ = power; }

 private:
  double evaluate() {
    if (is_evaluating_) throw InputError("the likelihood must not move the chain that asks it");
    is_evaluating_ = true;
    double value = 0.0;
    try {
      value = likelihood_(machine_);
    } catch (...) {
      is_evaluating_ = false;
      throw;
    }
    is_evaluating_ = false;
    if (std::isnan(value) || value == std::numeric_limits<double>::infinity())
      throw InputError("the log-likelihood must be a number, or minus infinity where a model is impossible");
    return value;
  }

  bool decide(double log_ratio, double proposed, Chance& chance) {
    // A chain that started at an impossible model takes the first possible one.
    double change = power_ == 0.0 || proposed == log_likelihood_ ? 0.0 : power_ * (proposed - log_likelihood_);
    if (testing::is_injected(Fault::proof_clipped)) change = std::min(change, 0.0);
    const double log_acceptance = log_ratio + change;
    return log_acceptance >= 0.0 || chance.happens(std::exp(log_acceptance));
  }

  Machine& machine_;
  Mixture mixture_;
  LogLikelihood likelihood_;
  double power_;
  Consent consent_;
  double log_likelihood_ = 0.0;
  bool is_evaluating_ = false;
};

}  // namespace baytree::slp
