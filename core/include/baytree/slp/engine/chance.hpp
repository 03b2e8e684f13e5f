#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "baytree/base/error.hpp"
#include "baytree/base/rng.hpp"

namespace baytree::slp {

/// Where random decisions come from: a stream of random numbers or, to prove a sampler exact, every decision in turn.
class Chance {
 public:
  virtual ~Chance() = default;
  virtual double uniform() = 0;
  virtual std::uint64_t below(std::uint64_t n) = 0;
  /// An index with probability weights[i] / total; the weights are not negative and sum to total > 0.
  virtual std::size_t pick(std::span<const double> weights, double total) = 0;
  virtual bool happens(double probability) = 0;
  /// What follows is drawn until it succeeds.
  virtual void begin_trial() {}
  /// It failed: whether to try it again.
  virtual bool tries_again() { return true; }
  /// An option failed: whether to draw among the others; if not, they are taken in turn.
  virtual bool draws_again() { return true; }
};

class StreamChance final : public Chance {
 public:
  explicit StreamChance(Stream& stream) : stream_(stream) {}

  double uniform() override { return stream_.uniform(); }
  std::uint64_t below(std::uint64_t n) override { return stream_.below(n); }
  std::size_t pick(std::span<const double> weights, double total) override {
    // Without branches: which option it is cannot be predicted. One of weight 0 is never taken, as its sum is that of
    // the one before.
    const double place = stream_.uniform() * total;
    double sum = 0.0;
    std::size_t index = 0;
    for (const double weight : weights) {
      sum += weight;
      index += place >= sum;
    }
    if (index < weights.size()) return index;
    do {  // rounding may leave a rest
      --index;
    } while (index > 0 && weights[index] <= 0.0);
    return index;
  }
  bool happens(double probability) override { return stream_.uniform() < probability; }

 private:
  Stream& stream_;
};

/// Goes through all decisions, depth first: run, note `decisions`, `advance`, and run again until there is nothing new.
/// What would be drawn until it succeeds is drawn once; whoever sums must divide by the probability of success.
class EveryChance final : public Chance {
 public:
  struct Decision {
    std::uint64_t chosen, options;
    double probability;
  };

  double uniform() override {
    throw InputError("random/1 has no finite list of outcomes, so they cannot be enumerated");
  }
  std::uint64_t below(std::uint64_t n) override {
    return decide(n, [n](std::size_t) { return 1.0 / static_cast<double>(n); });
  }
  std::size_t pick(std::span<const double> weights, double total) override {
    return decide(weights.size(), [&](std::size_t i) { return weights[i] / total; });
  }
  bool happens(double probability) override {
    return decide(2, [probability](std::size_t i) {
             return i == 0 ? 1.0 - std::min(probability, 1.0) : std::min(probability, 1.0);
           }) == 1;
  }

  void begin_trial() override { trial_ = made_; }
  bool tries_again() override {
    failed_ = true;
    return false;
  }

  bool draws_again() override { return false; }

  const std::vector<Decision>& decisions() const { return decisions_; }
  bool failed() const { return failed_; }
  /// How many decisions were made before the trial; all where there was none.
  std::size_t before_trial() const { return std::min(trial_, decisions_.size()); }

  /// Goes to the next sequence of decisions; false where all have been made.
  bool advance() {
    while (!decisions_.empty() && decisions_.back().chosen + 1 == decisions_.back().options) decisions_.pop_back();
    made_ = 0;
    trial_ = none;
    failed_ = false;
    if (decisions_.empty()) return false;
    ++decisions_.back().chosen;
    return true;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  template <class Probability>
  std::uint64_t decide(std::uint64_t options, Probability probability_of) {
    if (made_ == decisions_.size()) decisions_.push_back({0, options, 0.0});
    Decision& decision = decisions_[made_++];
    decision.probability = probability_of(decision.chosen);
    return decision.chosen;
  }

  std::vector<Decision> decisions_;
  std::size_t made_ = 0, trial_ = none;
  bool failed_ = false;
};

}  // namespace baytree::slp
