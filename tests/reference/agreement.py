"""Whether the draws of some chains agree with exact probabilities, with tolerances from the Monte Carlo error.

Two questions, both answered from the means of consecutive batches of each chain, whose spread between batches tells the
Monte Carlo standard error (MCSE) of the whole run without any assumption about how the chain moves:

- *each frequency*: |estimate − exact| < 4 MCSE for every state with enough expected visits, for the rest together, and
  for every value of the given groupings (the number of leaves, say, sums over states too rare to be seen alone);
- *all of them at once*: Hotelling's T² of a few lumped categories, which finds many small deviations in one direction.

4 MCSE is exceeded by chance in about one comparison of ten thousand, and a run of hundreds of states makes hundreds of
comparisons: the limit of such a family is the Student quantile that a right chain exceeds anywhere with probability
``FALSE_ALARM``, where that is the larger one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FALSE_ALARM = 1e-4
MCSE_LIMIT = 4.0
LEAST_VISITS = 100
BATCHES = 200
LEAST_BATCH = 50
LEAST_MOVES = 3

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Disagreement(AssertionError):
    """The draws do not come from the exact distribution."""


def in_batches(draws: NDArray[Any]) -> NDArray[Any]:
    """Cut each chain, (chains, draws, …), into equal batches: ``BATCHES`` over all chains, or fewer but longer."""
    batches = min(BATCHES // len(draws), draws.shape[1] // LEAST_BATCH)
    assert batches >= 2, "too few draws to tell their Monte Carlo error"
    length = draws.shape[1] // batches
    return draws[:, : batches * length].reshape(len(draws) * batches, length, *draws.shape[2:])


@dataclass(frozen=True)
class Batches:
    """The frequency of each category in each batch of consecutive draws (batches, categories), and the exact one."""

    frequencies: NDArray[Any]
    exact: NDArray[Any]
    draws: int

    @classmethod
    def of(cls, states: Ints, exact: Floats) -> Batches:
        """From the states of each chain, (chains, draws)."""
        cut = in_batches(states)
        length = cut.shape[1]
        offset = np.arange(len(cut))[:, None] * len(exact)
        counts = np.bincount((cut + offset).ravel(), minlength=len(cut) * len(exact))
        return cls(counts.reshape(len(cut), len(exact)) / length, exact, cut.size)

    def lumped(self, category: Ints) -> Batches:
        """The same batches with each old category counted under a new one."""
        frequencies = np.stack([np.bincount(category, weights=batch) for batch in self.frequencies])
        return Batches(frequencies, np.bincount(category, weights=self.exact), self.draws)

    @cached_property
    def between(self) -> Floats:
        """The variance of each frequency over the whole run, by the spread between the batches."""
        return self.frequencies.var(axis=0, ddof=1) / len(self.frequencies)

    @cached_property
    def effective(self) -> float:
        """How many independent draws would have the same errors, over all categories together."""
        spread = self.between.sum()
        # No spread but rounding: a grouping of one value, or a chain that alternates between two states.
        effective = np.sum(self.exact * (1 - self.exact)) / spread if spread > 1e-20 else np.inf
        moves = effective / len(self.frequencies)
        assert moves > LEAST_MOVES, f"the chains move too slowly: {moves:.1f} effective draws in a batch"
        return float(min(effective, self.draws))

    @cached_property
    def mcse(self) -> Floats:
        """The standard error of each frequency.

        Never below that of the effective number of independent draws: batches that happen to look alike, or a
        category that was hardly visited, would otherwise have an error of nearly zero.
        """
        independent = np.maximum(self.exact * (1 - self.exact), 0) / self.effective
        return np.sqrt(np.maximum(self.between, independent))


def lump_rare(exact: Floats, draws: float, least: float) -> Ints:
    """Categories of their own for what is expected ``least`` times in ``draws``, one for all the rest.

    The rest takes in the rarest of the others until it is expected as often itself.
    """
    order = np.argsort(-exact, kind="stable")
    tail = np.cumsum(exact[order][::-1])[::-1]
    alone = (exact[order] * draws >= least) & (np.append(tail[1:], 0.0) * draws >= least)
    if np.all(exact * draws >= least):
        alone[:] = True
    number = int(alone.sum())
    category = np.full(len(exact), number)
    category[order[:number]] = np.arange(number)
    return category


def lump_evenly(exact: Floats, most: int) -> Ints:
    """At most ``most`` categories of at least ``1 / most`` each: frequent states alone, rare ones with their like."""
    order = np.argsort(-exact, kind="stable")
    category = np.empty(len(exact), dtype=np.int64)
    number, mass = 0, 0.0
    left = exact.sum()
    for state in order:
        category[state] = number
        mass += exact[state]
        left -= exact[state]
        if min(mass, left) > 1 / most - 1e-9:
            number, mass = number + 1, 0.0
    return category


def _check_each(names: list[str], batches: Batches) -> None:
    exact, error = batches.exact, batches.mcse
    estimate = batches.frequencies.mean(axis=0)
    family = stats.t.isf(FALSE_ALARM / 2 / len(exact), len(batches.frequencies) - 1)
    limit = max(MCSE_LIMIT, float(family))
    # Rounding alone moves frequencies that are certain, such as that of the only state.
    wrong = np.abs(estimate - exact) > limit * error + 1e-12
    if wrong.any():
        deviation = (estimate - exact) / np.maximum(error, 1e-300)
        lines = [
            f"  {names[k]}: {estimate[k]:.6f} instead of {exact[k]:.6f}, {deviation[k]:+.1f} MCSE of {error[k]:.6f}"
            for k in np.argsort(-np.abs(deviation))[:5]
        ]
        raise Disagreement(f"{wrong.sum()} of {len(exact)} frequencies beyond {limit:.2f} MCSE:\n" + "\n".join(lines))


def _check_together(batches: Batches) -> None:
    """Hotelling's T² of the batch means; one category is left out because they sum to one."""
    difference = (batches.frequencies - batches.exact)[:, :-1]
    number, free = difference.shape
    if free == 0:
        return
    mean = difference.mean(axis=0)
    covariance = np.cov(difference, rowvar=False, ddof=1).reshape(free, free)
    # A trace of the covariance of independent draws: a chain that alternates between states has none of its own.
    share = batches.exact[:-1]
    covariance += 1e-3 * (np.diag(share) - np.outer(share, share)) * number / batches.draws
    squared = number * mean @ np.linalg.solve(covariance, mean)
    p_value = stats.f.sf(squared * (number - free) / (free * (number - 1)), free, number - free)
    if not p_value > FALSE_ALARM:
        raise Disagreement(f"all {free + 1} categories together: Hotelling's T² {squared:.1f}, p = {p_value:.1e}")


def assert_agrees(states: Ints, exact: NDArray[Any], groupings: Mapping[str, Ints] | None = None) -> None:
    """Raise `Disagreement` unless the draws have the exact distribution, up to Monte Carlo error.

    Chains that move too slowly for that error to be told fail too, by a plain AssertionError.

    Parameters
    ----------
    states : int array (chains, draws)
        The state of each draw, an index into ``exact``.
    exact : array (states,)
        The probabilities that the draws should have.
    groupings : mapping of names to int arrays (states,), optional
        Further labels of the states, whose frequencies are checked as well.
    """
    assert abs(exact.sum() - 1) < 1e-9 and states.min() >= 0 and states.max() < len(exact)
    impossible = np.unique(states[exact[states] == 0])
    if len(impossible):
        raise Disagreement(f"states of probability zero were visited: {impossible[:5]}")
    batches = Batches.of(states, exact)
    for name, labels in {"state": np.arange(len(exact)), **(groupings or {})}.items():
        values, label = np.unique(labels, return_inverse=True)
        grouped = batches.lumped(label)
        category = lump_rare(grouped.exact, grouped.effective, LEAST_VISITS)
        members = [values[category == k] for k in range(category.max() + 1)]
        names = [f"{name} {few[0]}" if len(few) == 1 else f"{len(few)} rare values of {name}" for few in members]
        _check_each(names, grouped.lumped(category))
    # A fifth as many categories as batches, each seen a few times a batch, or the F distribution is not T²'s.
    number = len(batches.frequencies)
    most = max(min(number // 5, int(batches.effective / number / 4)), 2)
    _check_together(batches.lumped(lump_evenly(exact, most)))


def assert_means_agree(values: Floats, exact: Floats) -> None:
    """Raise `Disagreement` unless the draws have the exact means, up to Monte Carlo error.

    Parameters
    ----------
    values : array (chains, draws, quantities)
        What was drawn, of a distribution with a variance.
    exact : array (quantities,)
        The means that they should have.
    """
    means = in_batches(values).mean(axis=1)
    # Never below the error of independent draws, as batches may happen to look alike.
    least = values.var(axis=(0, 1), ddof=1) / values[..., 0].size
    error = np.sqrt(np.maximum(means.var(axis=0, ddof=1) / len(means), least))
    limit = max(MCSE_LIMIT, float(stats.t.isf(FALSE_ALARM / 2 / len(exact), len(means) - 1)))
    estimate = means.mean(axis=0)
    wrong = np.abs(estimate - exact) > limit * error + 1e-12
    if wrong.any():
        lines = [
            f"  {k}: {estimate[k]:.6f} ± {error[k]:.6f} instead of {exact[k]:.6f}" for k in np.flatnonzero(wrong)[:5]
        ]
        raise Disagreement(f"{wrong.sum()} of {len(exact)} means beyond {limit:.2f} MCSE:\n" + "\n".join(lines))
