"""Prediction as every family has it: kinds, intervals, several kinds at once, rows in blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from ..diagnostics.comparison import spaced
from ..errors import InputError
from ..validation import require_prob, texts, unknown_choice

KINDS = ("mean", "interval", "draws", "predictive")
NUMBER_KINDS = (*KINDS, "predictive_interval", "sd")
# What the ends of intervals are quantiles of.
INTERVALS = {"interval": "draws", "predictive_interval": "predictive"}
# What keeps every draw: its rows come after the chains and draws.
BY_DRAWS = ("draws", "predictive")
# Rows, draws and trees are taken in blocks that fill about this many numbers.
BLOCK_NUMBERS = 4_000_000
# And of averages over many draws, which keep none, about this many rows.
MOST_ROWS = 1 << 16
# Separates the generator of predictions from the chains'.
PREDICTION_KEY = 1

# A kind of prediction, or several, which are then made together.
Kind = str | Sequence[str]


def kinds_of(kind: Kind) -> list[str]:
    """The kinds that were asked for, each once."""
    return [kind] if isinstance(kind, str) else list(dict.fromkeys(texts("kind", kind)))


def tails(prob: float) -> tuple[float, float]:
    """The levels of the ends of an equal-tailed interval."""
    return (1 - prob) / 2, (1 + prob) / 2


def interval_of(draws: np.ndarray, prob: float) -> np.ndarray:
    """An equal-tailed interval over the first axis; the last axis of the result is its two ends."""
    return np.moveaxis(np.quantile(draws, tails(prob), axis=0), 0, -1)


def row_step(numbers: int) -> int:
    """How many rows a block has where each row takes so many numbers."""
    return max(1, BLOCK_NUMBERS // max(numbers, 1))


def row_blocks(rows: int, numbers: int) -> Iterator[slice]:
    """The rows in blocks of bounded memory, at least one block, where each row takes so many numbers."""
    step = row_step(numbers)
    for begin in range(0, max(rows, 1), step):
        yield slice(begin, min(begin + step, rows))


def blocks_of_numbers(numbers: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of items that together hold about BLOCK_NUMBERS numbers, one item at least."""
    place = np.cumsum(numbers) // BLOCK_NUMBERS
    edges = [0, *(np.flatnonzero(np.diff(place)) + 1).tolist(), len(numbers)]
    yield from pairwise(edges)


class Block(ABC):
    """What every draw says of a block of rows.

    Each kind of prediction but an interval is an attribute, and what several need is worked out once.
    """

    @property
    @abstractmethod
    def draws(self) -> np.ndarray:
        """E(y | x) of each draw and row, or the class probabilities, shape (all draws, rows, …)."""

    @property
    @abstractmethod
    def predictive(self) -> np.ndarray:
        """A new y of each draw and row, shape (all draws, rows, …); of classes, positions in the classes."""

    @abstractmethod
    def log_density(self, y: np.ndarray, weight: np.ndarray | float) -> np.ndarray:
        """log P(y | x) of each draw and row, its parameters given, shape (all draws, rows).

        Parameters
        ----------
        y : numpy.ndarray
            The responses, as a design has them.
        weight : numpy.ndarray or float
            The weights of the rows, which say what the family says they are.
        """

    @property
    def mean(self) -> np.ndarray:
        """The posterior mean of E(y | x), or of the class probabilities, shape (rows, …)."""
        mean: np.ndarray = self.draws.mean(axis=0)
        return mean

    @property
    def sd(self) -> np.ndarray:
        """Of numbers, the standard deviation of a new y: its noise, and what is not known of its mean."""
        sd: np.ndarray = self.predictive.std(axis=0)
        return sd

    def interval(self, kind: str, prob: float) -> np.ndarray:
        """The ends of an interval, on the last axis after the rows."""
        return interval_of(getattr(self, INTERVALS[kind]), prob)


class Prediction(ABC):
    """What the draws of a posterior say about rows that its schema encoded."""

    # Whether what is said of a row does not depend on the rows beside it, to the bit. Where it does, averages over many
    # rows take blocks of their own, large ones, when kinds are asked for together, as they do alone.
    rows_alone: ClassVar[bool] = True

    @property
    def weighs_noise(self) -> bool:
        """Whether the noise of a row of weight w has the variance σ²/w; else such a row is w equal ones."""
        return False

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of chains and of draws of each."""

    @property
    @abstractmethod
    def classes(self) -> int | None:
        """Number of classes; None where numbers are predicted."""

    @property
    def chains(self) -> int:
        """Number of chains."""
        return self.shape[0]

    @property
    def draws(self) -> int:
        """Number of draws of each chain."""
        return self.shape[1]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of prediction that there are."""
        return NUMBER_KINDS if self.classes is None else KINDS

    @property
    def averages(self) -> tuple[str, ...]:
        """Those that keep no draw in memory."""
        return ("mean",)

    @abstractmethod
    def blocks(self, rows: np.ndarray, *_: Any, **given: Any) -> Callable[[slice, Sequence[str]], Block]:
        """What tells what the draws say of some of the rows, which are as the schema encodes them.

        It is also told which kinds the block will be asked for. Predictions may take more than rows: an offset, say.
        """

    @abstractmethod
    def numbers(self, keeps_draws: bool) -> int:
        """How many numbers are in memory at once for a row, with or without those of every draw."""

    @abstractmethod
    def take(self, draws: np.ndarray) -> Self:
        """From some of the draws of each chain, by their numbers."""

    def some(self, draws: int | None) -> Self:
        """From evenly spaced draws, so many of each chain; None for all."""
        if draws is None or draws >= self.draws:
            return self
        return self.take(spaced(np.arange(self.draws)[None], draws)[0])

    def predictions(self, bins: np.ndarray) -> Iterable[np.ndarray]:
        """What chains are compared by: E(y | x) of each draw in blocks of rows, shape (chains, draws, rows, width).

        Of classes, the probabilities of all but the last, which follows from the others.
        """
        drawn = self.expected(bins)
        return [drawn[..., None] if drawn.ndim == 3 else drawn if self.classes is None else drawn[..., :-1]]

    def expected(self, rows: np.ndarray, **given: Any) -> np.ndarray:
        """E(y | x) of each draw and row, or the class probabilities, shape (chains, draws, rows, …)."""
        drawn: np.ndarray = self.predict(rows, "draws", **given)
        return drawn

    def predict(self, rows: np.ndarray, kind: Kind = "mean", prob: float = 0.9, **given: Any) -> Any:
        """Predict rows, averaging over the draws: one kind, or several by name.

        Parameters
        ----------
        rows : numpy.ndarray
            The rows as the schema encodes them.
        kind, prob
            As `BasePosterior.predict` takes them.
        **given
            As `blocks` takes it.
        """
        passes, block = self._passes(kind, prob, len(rows)), self.blocks(rows, **given)
        found = {one: [] for one in kinds_of(kind)}  # type: dict[str, list[np.ndarray]]
        for together, step in passes:
            for begin in range(0, max(len(rows), 1), step):
                for one, part in _said(block, slice(begin, min(begin + step, len(rows))), together, prob):
                    found[one].append(part)
        whole = {one: _whole(one, parts, self.shape) for one, parts in found.items()}
        return whole[kind] if isinstance(kind, str) else whole

    def in_blocks(
        self, parts: Iterable[tuple[np.ndarray, Mapping[str, np.ndarray]]], kind: Sequence[str], prob: float = 0.9
    ) -> Iterator[dict[str, np.ndarray]]:
        """Predict rows that come in parts, in bounded memory: together what `predict` gives of all of them, to the bit.

        Parameters
        ----------
        parts : iterable of (numpy.ndarray, mapping)
            Some rows as the schema encodes them, and what `blocks` takes beside them, a value for each row.
        kind, prob
            As `predict` takes several kinds.

        Yields
        ------
        dict of str to numpy.ndarray
            Each kind of some rows, as many as were ready; the rows follow one another.
        """
        parts, read = iter(parts), 0
        windows: dict[str, Window] = {}
        rows = Window()
        # Which kinds are made together depends on whether there are more rows than one block has.
        most, ended = row_step(self.numbers(True)), False
        while not ended and read <= most:
            part = next(parts, None)
            ended = part is None
            read = read if part is None else _keep(part, rows, windows)
        passes = [
            (together, min(step, MOST_ROWS) if self.rows_alone and set(together) <= set(self.averages) else step)
            for together, step in self._passes(kind, prob, read)
        ]
        block = self.blocks(rows, **windows)  # type: ignore[arg-type]
        done, told = [0] * len(passes), 0
        waiting: dict[str, list[np.ndarray]] = {one: [] for one in kind}
        while not ended or told < read or not read:
            place = done.index(min(done))
            together, step = passes[place]
            if not ended and read - done[place] < step:
                part = next(parts, None)
                ended = part is None
                read = read if part is None else _keep(part, rows, windows)
                continue
            some = slice(done[place], min(done[place] + step, read))
            for one, found in _said(block, some, together, prob):
                waiting[one].append(found)
            done[place] = some.stop
            ready = min(done) - told
            if ready or not read:
                yield {one: _taken(one, found, ready, self.shape) for one, found in waiting.items()}
                told += ready
                for window in (rows, *windows.values()):
                    window.forget(told)
            if not read:
                return

    def require_kinds(self, wanted: Sequence[str]) -> None:
        """Raise InputError for kinds of prediction that there are not."""
        for one in wanted:
            if one not in self.kinds:
                raise unknown_choice("kind of prediction", one, self.kinds)

    def _passes(self, kind: Kind, prob: float, rows: int) -> list[tuple[list[str], int]]:
        """Which kinds are made together, and for how many rows at a time, where there are so many rows."""
        wanted, averages = kinds_of(kind), set(self.averages)
        require_prob(prob)
        self.require_kinds(wanted)
        passes = [wanted]
        if not self.rows_alone and not averages.issuperset(wanted) and rows > row_step(self.numbers(True)):
            passes = [[one for one in wanted if (one in averages) == average] for average in (True, False)]
        return [
            (together, self._step(keeps_draws=not averages.issuperset(together))) for together in passes if together
        ]

    def _step(self, keeps_draws: bool) -> int:
        """How many rows a block has."""
        step = row_step(self.numbers(keeps_draws))
        return step if keeps_draws or self.rows_alone else min(step, MOST_ROWS)

    def log_density(self, rows: np.ndarray, y: np.ndarray, weight: np.ndarray | None, **given: Any) -> np.ndarray:
        """log P(y | x) of each draw and row, its parameters given, shape (chains, draws, rows); see `Block`."""
        block = self.blocks(rows, **given)
        found = [
            block(some, ("draws",)).log_density(y[some], 1.0 if weight is None else weight[some])
            for some in row_blocks(len(y), self.numbers(True))
        ]
        return _whole("draws", found, self.shape)


class Window:
    """An array whose rows come in parts and are forgotten, of which those at hand are sliced by their places in all."""

    def __init__(self) -> None:
        self._begin, self._parts = 0, list[np.ndarray]()

    def add(self, part: np.ndarray) -> None:
        """Keep the rows that follow."""
        self._parts.append(part)

    @property
    def end(self) -> int:
        """How many rows came by now."""
        return self._begin + sum(map(len, self._parts))

    def forget(self, end: int) -> None:
        """Let go of the rows before a place."""
        if self._parts:
            held = self[slice(end, self.end)]
            self._begin, self._parts = end, [held]

    def __len__(self) -> int:
        return self.end

    def __getitem__(self, some: slice) -> np.ndarray:
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0][some.start - self._begin : some.stop - self._begin]


def _keep(part: tuple[np.ndarray, Mapping[str, np.ndarray]], rows: Window, windows: dict[str, Window]) -> int:
    """Add a part of a table to what is at hand; gives how many rows came by now."""
    found, given = part
    rows.add(found)
    for name, values in given.items():
        windows.setdefault(name, Window()).add(values)
    return rows.end


def _said(
    block: Callable[[slice, Sequence[str]], Block], some: slice, together: Sequence[str], prob: float
) -> Iterator[tuple[str, np.ndarray]]:
    """What the draws say of some rows, kind by kind."""
    here = block(some, together)
    with np.errstate(over="ignore", invalid="ignore"):
        for one in together:
            part = here.interval(one, prob) if one in INTERVALS else getattr(here, one)
            # A posterior that has no variance says so of every row; that is no overflow.
            if one != "sd" or not np.isposinf(part).all():
                _require_finite(part, 1 if one in BY_DRAWS else 0, some.start)
            yield one, part


def _taken(kind: str, parts: list[np.ndarray], rows: int, shape: tuple[int, int]) -> np.ndarray:
    """The first rows of what waits, which is left with the others."""
    axis = 1 if kind in BY_DRAWS else 0
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=axis)
    first, rest = np.split(whole, [rows], axis=axis)
    parts[:] = [rest] if rest.shape[axis] else []
    return _whole(kind, [first], shape)


def _whole(kind: str, parts: list[np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """A prediction of all rows from those of its blocks; draws by chain."""
    if kind not in BY_DRAWS:
        return np.concatenate(parts)
    whole = np.concatenate(parts, axis=1)
    return whole.reshape(*shape, *whole.shape[1:])


def _require_finite(values: np.ndarray, axis: int, first: int) -> None:
    """Refuse predictions that are no numbers, of rows that lie on an axis; `first` is the number of the first."""
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.moveaxis(finite, axis, 0).reshape(values.shape[axis], -1).all(axis=1).argmin())
        raise InputError(
            f"the prediction of the row at index {first + row} is too large for float64: it lies far outside the "
            "training table; correct it"
        )


def log_normal(y: np.ndarray, mean: np.ndarray, sd: np.ndarray | float) -> np.ndarray:
    """The log density of normal numbers."""
    density: np.ndarray = -0.5 * (((y - mean) / sd) ** 2 + np.log(2 * np.pi)) - np.log(sd)
    return density


def log_student(y: np.ndarray, centre: np.ndarray, scale: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """The log density of numbers of Student's t distribution, moved and scaled."""
    from scipy.special import gammaln

    constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - np.log(freedom * np.pi) / 2
    kernel = np.log1p(((y - centre) / scale) ** 2 / freedom)
    density: np.ndarray = constant - np.log(scale) - (freedom + 1) / 2 * kernel
    return density


def log_share(shares: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The logarithm of the probability of each row's class, out of shares of shape (draws, rows, classes)."""
    with np.errstate(divide="ignore"):
        return np.log(shares[:, np.arange(len(y)), y])


def normals_by_row(seed: int, first: int, rows: int, each: int) -> np.ndarray:
    """Standard normal numbers, so many for each row, the same for a row whatever the blocks.

    Every number takes one uniform one; see `_uniforms_by_row`.
    """
    from scipy.special import ndtri

    numbers: np.ndarray = ndtri(_uniforms_by_row(seed, first, rows, each))
    return numbers


def students_by_row(seed: int, first: int, rows: int, freedom: np.ndarray) -> np.ndarray:
    """Numbers of Student's t distribution, for each row one of each degrees of freedom; else like `normals_by_row`.

    Of two uniform numbers [1]_.

    References
    ----------
    .. [1] Bailey (1994), Polar generation of random variates with the t-distribution, Mathematics of Computation 62,
       779–781.
    """
    radius, angle = np.split(_uniforms_by_row(seed, first, rows, 2 * len(freedom)), 2, axis=1)
    numbers: np.ndarray = np.sqrt(freedom * np.expm1(-2 / freedom * np.log(radius))) * np.cos(2 * np.pi * angle)
    return numbers


def _uniforms_by_row(seed: int, first: int, rows: int, each: int) -> np.ndarray:
    """Numbers between 0 and 1, so many for each row, which has a stretch of the generator's counter to itself.

    Parameters
    ----------
    seed : int
        The seed.
    first, rows : int
        The first row's number, and how many rows there are.
    each : int
        How many numbers a row gets.

    Returns
    -------
    numpy.ndarray
        Shape (rows, each).
    """
    # A step of the counter gives four numbers.
    steps = -(-each // 4)
    key = np.array([seed, PREDICTION_KEY], dtype=np.uint64)
    bits = np.random.Philox(key=key, counter=first * steps).random_raw(rows * steps * 4).reshape(rows, steps * 4)
    # 52 bits and a half of the last: inside (0, 1), and exact.
    uniform: np.ndarray = ((bits[:, :each] >> 12) + 0.5) * 2.0**-52
    return uniform
