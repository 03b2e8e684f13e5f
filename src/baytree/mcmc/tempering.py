"""Parallel tempering (replica exchange): chains at different powers of the likelihood that exchange their trees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..errors import InputError
from ..text import counted
from ..validation import is_whole, unknown_choice

LADDERS = ("adaptive", "mrbayes")
MOST_TEMPERATURES = 4096
# MrBayes' default heating: rung i has the power 1 / (1 + HEAT * i).
HEAT = 0.2
# So many swaps say something where none of them is accepted.
TELLING = 20
# What the core keeps of a tempered chain besides its rungs.
POSITION = (
    "iterations",
    "phases",
    "stream",
    "stored_trees",
    "stored",
    "ladder",
    "walker",
    "heading",
    "tried",
    "accepted",
    "round_trips",
    "round_phases",
    "round_length",
    "rejection",
    "log_likelihood",
)


@dataclass(frozen=True)
class Tempering:
    """How a chain is tempered: parallel tempering, or replica exchange.

    Rung i of a ladder has the target P(T) · P(y | T)^βᵢ; only the first, with β = 1, gives draws, and rungs exchange
    their trees with probability min{1, (P(y | T') / P(y | T))^(β − β')} [1]_. So trees that were found where the
    likelihood is flat come down to where it is steep.

    Parameters
    ----------
    temperatures : int
        Number of rungs; 1 is a plain chain.
    ladder : {"adaptive", "mrbayes"}
        ``"adaptive"`` reaches from 1 to 0, the prior itself, where the hottest rung takes an independent draw before
        every swap. Neighbours are swapped, even and odd pairs by turns, and during warm-up the rungs are moved until
        swaps are rejected equally often everywhere [2]_. ``"mrbayes"`` has βᵢ = 1 / (1 + 0.2 i) and swaps a random pair
        [3]_.
    swap_every : int, optional
        Iterations between swaps; by default 10 for ``"adaptive"`` and 1 for ``"mrbayes"``.

    References
    ----------
    .. [1] Geyer (1991), Markov chain Monte Carlo maximum likelihood, Computing Science and Statistics 23, 156–163.
    .. [2] Syed, Bouchard-Côté, Deligiannidis and Doucet (2022), Non-reversible parallel tempering: a scalable highly
       parallel MCMC scheme, JRSS B 84, 321–350.
    .. [3] Ronquist and Huelsenbeck (2003), MrBayes 3, Bioinformatics 19, 1572–1574.
    """

    temperatures: int = 1
    ladder: str = "adaptive"
    swap_every: int | None = None

    def __post_init__(self) -> None:
        if not is_whole(self.temperatures) or not 1 <= self.temperatures <= MOST_TEMPERATURES:
            raise InputError(
                f"temperatures={self.temperatures!r}: choose a whole number from 1, which is no tempering, to "
                f"{MOST_TEMPERATURES}"
            )
        if not isinstance(self.ladder, str) or self.ladder not in LADDERS:
            raise unknown_choice("ladder", self.ladder, LADDERS)
        if self.swap_every is not None and (not is_whole(self.swap_every) or self.swap_every < 1):
            raise InputError(f"swap_every={self.swap_every!r}: choose a whole number of iterations, 1 or more")

    @property
    def adapts(self) -> bool:
        """Whether the ladder is tuned and reaches the prior."""
        return self.ladder == "adaptive"

    def first_ladder(self, rows: int) -> list[float]:
        """The powers before any tuning: for ``"adaptive"`` falling by equal factors to 1 / rows, and then 0."""
        if not self.adapts:
            return [1 / (1 + HEAT * i) for i in range(self.temperatures)]
        if self.temperatures == 1:
            return [1.0]
        return [*np.geomspace(1, min(0.5, 1 / rows), self.temperatures - 1).tolist(), 0.0]

    def native(self, rows: int) -> _core.Tempering:
        """The same as the core takes it."""
        every = self.swap_every or (10 if self.adapts else 1)
        return _core.Tempering(self.first_ladder(rows), int(every), not self.adapts, self.adapts)


@dataclass(frozen=True)
class Swaps:
    """How the rungs of tempered chains exchanged their trees, since warm-up.

    Attributes
    ----------
    ladders : numpy.ndarray
        The powers of the likelihood, shape (chains, rungs), the cold rung first.
    rates : numpy.ndarray
        The share of swaps that were accepted between rungs i and j, shape (chains, rungs, rungs); symmetric, NaN where
        none was tried.
    tried : numpy.ndarray
        How many swaps that is a share of, likewise.
    round_trips : numpy.ndarray
        How often a tree went from the cold rung to the hottest and back, of each chain. On an ``"adaptive"`` ladder it
        has then been forgotten: what came back grew from a new draw of the prior.
    """

    ladders: np.ndarray
    rates: np.ndarray
    tried: np.ndarray
    round_trips: np.ndarray

    @property
    def neighbours(self) -> np.ndarray:
        """The rates between neighbours, shape (chains, rungs − 1)."""
        return np.diagonal(self.rates, 1, axis1=1, axis2=2)

    @property
    def barrier(self) -> float:
        """The communication barrier: the rejection rates between neighbours, summed; the mean over the chains.

        About twice as many rungs serve best.
        """
        return float((1 - self.neighbours).sum(axis=1).mean())

    @property
    def stuck(self) -> np.ndarray:
        """Whether the cold rung of a chain never took part in a swap, though many were tried, shape (chains,)."""
        tried = self.tried[:, 0].sum(axis=1)
        return (tried >= TELLING) & (np.nansum(self.rates[:, 0], axis=1) == 0)

    def warnings(self) -> list[str]:
        """What went wrong, in sentences, each with its remedy."""
        if not self.stuck.any():
            return []
        rungs, chains = self.ladders.shape[1], counted(len(self.stuck), "chain")
        wanted = math.ceil(2 * self.barrier) + 2 if math.isfinite(self.barrier) else 2 * rungs
        return [
            f"No swap with the cold rung was accepted in {self.stuck.sum()} of {chains}, as if these had not been "
            f"tempered: raise temperatures from {rungs} to about {max(wanted, rungs + 1)}."
        ]

    @classmethod
    def of(cls, positions: Sequence[Mapping[str, Any]]) -> Swaps:
        """What the chains counted, from their positions as `position_to_dict` gives them."""
        ladders = np.array([position["ladder"] for position in positions])
        shape = (len(positions), ladders.shape[1], ladders.shape[1])
        tried, accepted = (
            np.array([position[name] for position in positions], dtype=float).reshape(shape)
            for name in ("tried", "accepted")
        )
        tried, accepted = tried + tried.swapaxes(1, 2), accepted + accepted.swapaxes(1, 2)
        rates = np.divide(accepted, tried, out=np.full(shape, np.nan), where=tried > 0)
        return cls(ladders, rates, tried.astype(int), np.array([position["round_trips"] for position in positions]))


def position_to_dict(position: _core.TemperingPosition) -> dict[str, Any]:
    """A position as JSON-safe values."""
    return {name: getattr(position, name) for name in POSITION}


def position_from_dict(record: Mapping[str, Any]) -> _core.TemperingPosition:
    """The position that `position_to_dict` described."""
    position = _core.TemperingPosition()
    for name in POSITION:
        setattr(position, name, record[name])
    return position


def is_position(record: Mapping[str, Any], rungs: int) -> bool:
    """Whether `position_to_dict` could have given this of so many rungs; KeyError or TypeError where it has no such."""
    position = position_from_dict(record)
    of_rungs = [len(position.ladder), len(position.walker)] == [rungs, rungs]
    return of_rungs and [len(position.tried), len(position.accepted)] == [rungs**2, rungs**2]


NO_TEMPERING: Tempering = Tempering()
