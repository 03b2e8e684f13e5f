"""Whether a posterior says what the data do: a posterior predictive check, and calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.design import AnyDesign
from ..diagnostics.comparison import DRAWS
from ..errors import InputError
from ..notebook import Shown
from ..plots import checks as plots
from ..posterior.base import BasePosterior
from ..posterior.prediction import interval_of
from ..text import counted
from ..validation import require_prob, require_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PROB = 0.9
# Bars of a histogram, groups of rows of like probability, and levels of intervals.
BARS, GROUPS = 25, 10
LEVELS = np.linspace(0.05, 0.95, 19)


@dataclass(frozen=True, eq=False, repr=False)
class PredictiveCheck(Shown):
    """How often values of the response were seen, and how often the posterior draws them anew at the same rows.

    Attributes
    ----------
    response : str
        The response.
    edges : numpy.ndarray or None
        Of numbers, the edges of the bars.
    labels : tuple of str
        Of classes, their names.
    observed : numpy.ndarray
        How many rows each bar or class has.
    mean : numpy.ndarray
        How many it has on average over draws of new responses at all rows.
    interval : numpy.ndarray of shape (bars, 2)
        An equal-tailed interval of that number over the draws.
    prob : float
        Its probability.
    """

    response: str
    edges: np.ndarray | None
    labels: tuple[str, ...]
    observed: np.ndarray
    mean: np.ndarray
    interval: np.ndarray
    prob: float

    @property
    def inside(self) -> float:
        """The share of the bars or classes whose observed number lies in its interval."""
        low, high = self.interval.T
        return float(((self.observed >= low) & (self.observed <= high)).mean())

    def __str__(self) -> str:
        bars = (
            counted(len(self.observed), "bar")
            if self.edges is not None
            else counted(len(self.labels), "class", "classes")
        )
        return (
            f"Posterior predictive check of {self.response}: of {bars} {self.inside:.0%} have as many rows as "
            f"{self.prob:.0%} intervals of new responses say"
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-safe values."""
        return {
            "response": self.response,
            "edges": None if self.edges is None else self.edges.tolist(),
            "labels": list(self.labels),
            "observed": self.observed.tolist(),
            "mean": self.mean.tolist(),
            "interval": self.interval.tolist(),
            "prob": self.prob,
            "inside": self.inside,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what was observed over the band of what the posterior draws.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        """
        title, below = (
            f"Posterior predictive check of {self.response}",
            f"new responses: mean and {self.prob:.0%} interval",
        )
        figures = (self.observed, self.mean, self.interval)
        if self.edges is None:
            return plots.labels_check(ax, self.labels, *figures, self.response, title, below)
        return plots.bars_check(ax, self.edges, *figures, self.response, title, below)


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Shown):
    """Whether what is said with a probability comes true as often.

    Of classes rows of like probability are grouped; of numbers there is a point for each of several probabilities of
    a predictive interval.

    Attributes
    ----------
    said : numpy.ndarray
        The mean probability of each group, or the probability of the intervals.
    seen : numpy.ndarray
        The share of the rows of which it came true.
    interval : numpy.ndarray of shape (points, 2)
        Where that share would lie by chance, if what is said were right, nine times in ten.
    rows : numpy.ndarray
        How many rows each point rests on.
    what : str
        What is said.
    prob : float
        The probability of the intervals.
    of_classes : bool
        Whether classes are predicted.
    """

    said: np.ndarray
    seen: np.ndarray
    interval: np.ndarray
    rows: np.ndarray
    what: str
    prob: float
    of_classes: bool

    @property
    def error(self) -> float:
        """The mean distance of the shares from what was said, weighted by rows: the expected calibration error."""
        return float(np.average(np.abs(self.said - self.seen), weights=self.rows))

    def __str__(self) -> str:
        lines = [f"Calibration of {self.what}: off by {self.error:.3f} on average", "   said   seen  by chance"]
        for said, seen, (low, high) in zip(self.said, self.seen, self.interval, strict=True):
            lines.append(f"  {said:.3f}  {seen:.3f}  {low:.3f} to {high:.3f}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-safe values."""
        return {
            "what": self.what,
            "said": self.said.tolist(),
            "seen": self.seen.tolist(),
            "interval": self.interval.tolist(),
            "rows": self.rows.tolist(),
            "prob": self.prob,
            "error": self.error,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what came true against what was said, over the band of what chance makes of the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        """
        labels = (self.what, "share of the rows" if self.of_classes else "share of the rows inside")
        what = self.what if self.of_classes else "predictive intervals"
        rows = "groups of rows" if self.of_classes else counted(int(self.rows.max()), "row")
        below = f"{rows}; shaded: {self.prob:.0%} of the points of a calibrated model"
        return plots.calibration(ax, self.said, self.seen, self.interval, labels, f"Calibration of {what}", below)


def predictive_check(
    posterior: BasePosterior, design: AnyDesign, *, bars: int = BARS, draws: int | None = DRAWS, prob: float = PROB
) -> PredictiveCheck:
    """Draw new responses at the rows of a design, and count them as the observed ones.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    design : Design, LinearDesign or SequenceDesign
        The rows: the training data, or others that were read by the same schema. Each counts once.
    bars : int
        Of numbers, the bars of the histogram.
    draws : int or None
        How many draws of each chain, evenly spaced; None for all.
    prob : float
        The probability of the intervals.
    """
    require_prob(prob)
    require_whole("bars", bars, 2)
    y, new = _observed_and_new(posterior, design, draws)
    classes, name = design.classes, posterior.schema.response.name
    if classes is not None:
        counts = np.stack([np.bincount(drawn, minlength=len(classes)) for drawn in new])
        observed = np.bincount(y, minlength=len(classes))
        edges, labels = None, tuple(map(str, classes))
    else:
        # New responses that lie further out count in the outer bars.
        edges, labels = np.linspace(y.min(), y.max(), bars + 1), ()
        places = np.clip(np.searchsorted(edges, new, side="right") - 1, 0, bars - 1)
        counts = np.stack([np.bincount(drawn, minlength=bars) for drawn in places])
        observed = np.histogram(y, edges)[0]
    return PredictiveCheck(name, edges, labels, observed, counts.mean(axis=0), interval_of(counts, prob), prob)


def calibration(
    posterior: BasePosterior,
    design: AnyDesign,
    *,
    of: Any = None,
    groups: int = GROUPS,
    draws: int | None = DRAWS,
    prob: float = PROB,
) -> Calibration:
    """Compare what is said with a probability with how often it came true.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    design : Design, LinearDesign or SequenceDesign
        The rows: best others than the training data, of which a posterior has seen the responses. Each counts once.
    of : class label, optional
        The class whose probability is looked at; of two by default the second, of more the most probable of each row.
    groups : int
        Of classes, how many groups of equal size rows are put into by their probability.
    draws : int or None
        Of numbers, how many draws of each chain, evenly spaced; None for all.
    prob : float
        The probability of the band.
    """
    require_prob(prob)
    require_whole("groups", groups, 1)
    name, classes = posterior.schema.response.name, design.classes
    if classes is None:
        if of is not None:
            raise InputError(f"of={of!r}: {name!r} has no classes; leave it out")
        y, new = _observed_and_new(posterior, design, draws)
        below, equal = (new < y).mean(axis=0), (new == y).mean(axis=0)
        # How central an interval must be to hold the response.
        needed = np.abs(2 * (below + equal / 2) - 1)
        seen = np.array([(needed <= level).mean() for level in LEVELS])
        rows = np.full(len(LEVELS), len(y))
        return Calibration(
            LEVELS, seen, _by_chance(LEVELS, rows, prob), rows, "probability of the interval", prob, False
        )
    share = posterior.prediction.predict(posterior.bins_of(design), "mean", **posterior.given_by(design))
    shown = np.flatnonzero(np.ones(design.rows, dtype=bool) if design.seen is None else design.seen)
    share, y = share[shown], design.y[shown]
    said, true, what = _said_of_classes(posterior, share, y, of)
    order = np.argsort(said, kind="stable")
    parts = [part for part in np.array_split(order, min(groups, len(order))) if len(part)]
    mean = np.array([said[part].mean() for part in parts])
    seen, rows = np.array([true[part].mean() for part in parts]), np.array([len(part) for part in parts])
    return Calibration(mean, seen, _by_chance(mean, rows, prob), rows, what, prob, True)


def _said_of_classes(
    posterior: BasePosterior, share: np.ndarray, y: np.ndarray, of: Any
) -> tuple[np.ndarray, np.ndarray, str]:
    """The probability of a class at each row, whether the row has it, and what that is in words."""
    response = posterior.schema.response
    assert response.classes is not None
    if of is None and len(response.classes) > 2:
        best = share.argmax(axis=1)
        return share.max(axis=1), best == y, f"P(most probable {response.name})"
    place = response.place_of(of)
    return share[:, place], y == place, f"P({response.name} = {response.classes[place]})"


def _by_chance(said: np.ndarray, rows: np.ndarray, prob: float) -> np.ndarray:
    """Where shares of so many rows lie if what is said is right."""
    from scipy.stats import binom

    return (
        np.stack([binom.ppf(level, rows, said) for level in ((1 - prob) / 2, (1 + prob) / 2)], axis=1) / rows[:, None]
    )


def _observed_and_new(posterior: BasePosterior, design: AnyDesign, draws: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The responses that were seen, and new ones of every draw at the same rows, shape (all draws, rows)."""
    if design.y.ndim > 1:
        raise InputError(f"each row has {design.y.shape[1]} responses, and one is checked at a time; fit one alone")
    bins, given = posterior.bins_of(design), posterior.given_by(design)
    new = posterior.prediction.some(draws).predict(bins, "predictive", **given)
    new = new.reshape(-1, new.shape[-1])
    return (design.y, new) if design.seen is None else (design.y[design.seen], new[:, design.seen])
