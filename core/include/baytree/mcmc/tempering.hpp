#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "baytree/base/error.hpp"
#include "baytree/base/interruption.hpp"
#include "baytree/base/numeric.hpp"
#include "baytree/base/rng.hpp"
#include "baytree/base/team.hpp"
#include "baytree/mcmc/ladder.hpp"
#include "baytree/testing/fault.hpp"

namespace baytree {

// To add a chain, of a family: a class with what `Tempered` asks of a `Rung`, below. `bind_tempered_steps` binds all
// else that Python asks of a chain.

struct Tempering {
  Ladder ladder{1.0};
  std::uint64_t swap_every = 1;  // iterations between swaps
  bool any_pair = false;         // one pair of rungs, chosen at random, instead of all neighbours, even and odd in turn
  bool adapts = false;           // the ladder is tuned during warm-up
};

/// What besides its rungs a tempered chain needs to go on exactly where it stopped, and what it counted.
struct TemperingPosition {
  std::uint64_t iterations = 0, phases = 0;  // so far; of swaps
  std::uint64_t stream = 0;
  std::uint64_t stored_trees = 0;  // trees stored in draws so far
  bool stored = false;             // the cold rung's tree is the last of them
  Ladder ladder;
  std::vector<std::uint32_t> walker;           // by rung: which of the first trees its tree descends from
  std::vector<std::uint8_t> heading;           // by walker, a `Heading`
  std::vector<std::uint64_t> tried, accepted;  // swaps between rungs i < j, at i · rungs + j, since warm-up
  std::uint64_t round_trips = 0;               // since warm-up
  std::uint64_t round_phases = 0;              // of the running round of tuning
  std::uint64_t round_length = 8;              // phases of this round; each is twice as long as the one before
  std::vector<double>
      rejection;  // by rung: summed probabilities that a swap with the next one is rejected, in this round
  std::vector<double> log_likelihood;  // by rung, at the last swaps
};

/// Chains at different powers of the likelihood that exchange their trees: parallel tempering, MC³ (Geyer 1991). Rung i
/// has the target P(T) · P(y|T)^(power · βᵢ), and only the first, with β = 1, gives draws. Where the last has β = 0 its
/// chain is the prior itself, and takes an independent draw before each swap. With one rung this is a plain chain.
///
/// Neighbours are swapped by turns, rungs 0–1, 2–3, … and 1–2, 3–4, …: a tree that has moved on tends to go on in its
/// direction (Okabe et al. 2001), so that it travels the ladder in a time that grows with its length and not with the
/// square of it (Syed et al. 2022).
///
/// `Rung` is a chain, over trees or what else: step, restart, exchange, power, log_likelihood, log_prior, store, and
/// the `Record` that it stores into; one that has something to say of every draw has note as well, and one that keeps
/// the best of all that the cold rung was at, drawn or not, note_best.
template <class Rung>
class Tempered {
 public:
  /// `make(stream)` makes the chain of a rung. `number` tells several tempered chains of one seed apart.
  template <class Make>
  Tempered(const Tempering& tempering, Make make, std::uint64_t seed, std::uint32_t number)
      : tempering_(tempering), stream_(seed, Role::swap, number) {
    check_ladder(tempering.ladder);
    constexpr std::size_t most_rungs = 1 << 12;
    if (tempering.ladder.size() > most_rungs || number >= (1u << 20)) throw InputError("too many rungs or chains");
    if (tempering.swap_every < 1) throw InputError("swap_every must be 1 or more");
    const std::size_t n = tempering.ladder.size();
    for (std::uint32_t i = 0; i < n; ++i)
      rungs_.push_back(
          make(i == 0 ? Stream(seed, Role::chain, number) : Stream(seed, Role::rung, number * most_rungs + i)));
    power_ = rungs_[0]->power();
    position_.heading.assign(n, unknown_heading);
    position_.rejection.assign(n - 1, 0.0);
    for (std::uint32_t i = 0; i < n; ++i) position_.walker.push_back(i);
    forget_counts();
    set_ladder(tempering.ladder);
    note_ends();
    note_log_likelihoods();
    note_best();
  }

  Tempered(const Tempered&) = delete;

  /// Iterations that may tune the ladder.
  void warm_up(std::uint64_t iterations, unsigned threads) {
    tuning_ = tempering_.adapts && rungs_.size() > 2;
    run(iterations, 0, threads);
    tuning_ = false;
  }
  /// Tunes the ladder once more where enough was seen since the last time; it stays as it is then. Counting and storing
  /// begin anew, so that this may be called again later, when what was drawn before is to be warm-up as well.
  void end_warm_up() {
    if (tempering_.adapts && size() > 2 && position_.round_phases >= position_.round_length / 2) tune();
    forget_counts();
    position_.stored_trees = 0;
    position_.stored = false;
  }

  /// An iteration is one step of the cold rung; after every `swap_every` of them the other rungs take their steps, and
  /// are swapped.
  void advance(std::uint64_t iterations, unsigned threads) { run(iterations, 0, threads); }
  /// Records the cold rung after every `thin` iterations, `draws` times.
  void draw(std::uint64_t draws, std::uint64_t thin, unsigned threads) { run(draws * thin, thin, threads); }

  /// To be called when rungs were put elsewhere from outside.
  void rungs_moved() {
    position_.stored = false;
    note_log_likelihoods();
    set_best({});
  }

  std::size_t size() const { return rungs_.size(); }
  Rung& rung(std::size_t i) { return *rungs_.at(i); }
  Rung& cold() { return *rungs_[0]; }

  /// The best that the cold rung was at since the chain began, of chains that keep it.
  const typename Rung::Record& best() const { return best_; }
  /// To be called when the rungs are where they were, with what was the best then.
  void set_best(typename Rung::Record best) {
    best_ = std::move(best);
    note_best();
  }

  /// The draws recorded since the last call.
  typename Rung::Record take() { return std::exchange(draws_, {}); }

  TemperingPosition position() const {
    TemperingPosition position = position_;
    position.stream = stream_.position();
    return position;
  }
  /// To be called when the rungs are where they were.
  void restore(const TemperingPosition& position) {
    const std::size_t n = size();
    check_ladder(position.ladder);
    const bool fits = position.ladder.size() == n && position.walker.size() == n && position.heading.size() == n &&
                      position.tried.size() == n * n && position.accepted.size() == n * n &&
                      position.rejection.size() == n - 1 && position.log_likelihood.size() == n;
    if (!fits || position.round_length == 0) throw InputError("chain: the saved state belongs to another ladder");
    for (const std::uint32_t walker : position.walker)
      if (walker >= n) throw InputError("chain: the saved state belongs to another ladder");
    position_ = position;
    stream_.seek(position.stream);
    set_ladder(position.ladder);
    log_prior_ = cold().log_prior();
    set_best({});
  }

 private:
  enum Heading : std::uint8_t { unknown_heading, to_hot, to_cold };

  void run(std::uint64_t left, std::uint64_t thin, unsigned threads) {
    if (left == 0) return;
    std::uint64_t steps = 0, since = 0;
    bool swaps = false;
    const auto plan_round = [&] {
      const std::uint64_t until_swap =
          size() == 1 ? left : tempering_.swap_every - position_.iterations % tempering_.swap_every;
      swaps = size() > 1 && until_swap <= left;
      steps = std::min(until_swap, left);
    };
    plan_round();
    in_rounds(
        size(), threads,
        [&](std::size_t i) {
          Rung& rung = *rungs_[i];
          if (i == 0) {
            for (std::uint64_t step = 0; step < steps; ++step) {
              heed_interruption();
              if (rung.step()) cold_moved();
              if (++since == thin) {
                record();
                since = 0;
              }
            }
          } else if (swaps) {
            if (position_.ladder[i] == 0.0) rung.restart();
            for (std::uint64_t step = steps_of_rung(i); step > 0; --step) {
              heed_interruption();
              rung.step();
            }
          }
        },
        [&] {
          position_.iterations += steps;
          left -= steps;
          if (swaps) swap();
          plan_round();
          return left > 0;
        });
  }

  /// How many steps a rung takes before each swap. Where the likelihood counts little a tree is soon forgotten, so hot
  /// rungs take fewer.
  std::uint64_t steps_of_rung(std::size_t i) const {
    const double share = std::min(1.0, 3.0 * position_.ladder[i]);
    return static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(tempering_.swap_every)));
  }

  void record() {
    if (!position_.stored) {
      cold().store(draws_);
      ++position_.stored_trees;
      position_.stored = true;
      log_prior_ = cold().log_prior();
    }
    draws_.state.push_back(static_cast<std::int64_t>(position_.stored_trees) - 1);
    draws_.log_likelihood.push_back(cold().log_likelihood());
    draws_.log_prior.push_back(log_prior_);
    if constexpr (requires { cold().note(draws_); }) cold().note(draws_);
    if (size() > 1)
      draws_.rung_log_likelihood.insert(draws_.rung_log_likelihood.end(), position_.log_likelihood.begin(),
                                        position_.log_likelihood.end());
  }

  void swap() {
    const std::size_t n = size();
    if (tempering_.any_pair) {
      std::size_t i = stream_.below(n), j = stream_.below(n - 1);
      j += j >= i;
      try_swap(std::min(i, j), std::max(i, j));
    } else {
      for (std::size_t i = position_.phases % 2; i + 1 < n; i += 2) try_swap(i, i + 1);
    }
    ++position_.phases;
    note_ends();
    note_log_likelihoods();
    if (++position_.round_phases >= position_.round_length && tuning_) tune();
  }

  void try_swap(std::size_t i, std::size_t j) {
    Rung &a = *rungs_[i], &b = *rungs_[j];
    const double log_ratio = (a.power() - b.power()) * (b.log_likelihood() - a.log_likelihood());
    const double probability = testing::is_injected(Fault::rung_swap) ? 1.0 : std::exp(std::min(log_ratio, 0.0));
    if (j == i + 1) position_.rejection[i] += 1.0 - probability;
    ++position_.tried[i * size() + j];
    if (!(stream_.uniform() < probability)) return;
    ++position_.accepted[i * size() + j];
    exchange(a, b);
    std::swap(position_.walker[i], position_.walker[j]);
    if (i == 0) cold_moved();
  }

  void cold_moved() {
    position_.stored = false;
    note_best();
  }

  void note_best() {
    if constexpr (requires { cold().note_best(best_); }) cold().note_best(best_);
  }

  /// A round trip is from the cold end to the hot one and back.
  void note_ends() {
    std::uint8_t &at_cold = position_.heading[position_.walker.front()],
                 &at_hot = position_.heading[position_.walker.back()];
    if (at_cold == to_cold) ++position_.round_trips;
    at_cold = to_hot;
    if (at_hot == to_hot && size() > 1) at_hot = to_cold;
  }

  void note_log_likelihoods() {
    position_.log_likelihood.clear();
    for (const auto& rung : rungs_) position_.log_likelihood.push_back(rung->log_likelihood());
  }

  void tune() {
    // Each pair has its turn in every second phase. One swap more, of even chances, keeps a short round from certainty.
    const double tries = static_cast<double>(position_.round_phases) / 2.0;
    for (double& rejection : position_.rejection) rejection = (rejection + 0.5) / (tries + 1.0);
    set_ladder(respaced(position_.ladder, position_.rejection));
    position_.rejection.assign(size() - 1, 0.0);
    position_.round_phases = 0;
    position_.round_length *= 2;
  }

  void set_ladder(Ladder ladder) {
    position_.ladder = std::move(ladder);
    for (std::size_t i = 0; i < size(); ++i) rungs_[i]->set_power(power_ * position_.ladder[i]);
  }

  void forget_counts() {
    position_.tried.assign(size() * size(), 0);
    position_.accepted.assign(size() * size(), 0);
    position_.round_trips = 0;
  }

  Tempering tempering_;
  Stream stream_;
  std::vector<std::unique_ptr<Rung>> rungs_;
  double power_ = 1.0;
  bool tuning_ = false;
  TemperingPosition position_;
  typename Rung::Record draws_, best_;
  double log_prior_ = unknown;  // of the last stored tree
};

}  // namespace baytree
