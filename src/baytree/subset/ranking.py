"""The distinct models of a posterior over subsets, and what their exact odds say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..notebook import Shown
from ..plots import columns as plots
from ..plots.models import model_space
from ..text import counted, percent
from .moments import Moments

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Enumerated:
    """What a look at every subset found.

    Attributes
    ----------
    log_total : float
        log Σ P(γ) P(y|γ) / P(y|∅), with the prior as the model states it.
    inclusion : numpy.ndarray
        The probability of each unit.
    sizes : numpy.ndarray
        The probability of each number of free units.
    unit, begin, log_likelihood, log_prior : numpy.ndarray
        The most probable models, best first, as `SubsetDraws` has models.
    moments : Moments or None
        Those of coefficients and noise; None of files that were written before there were any.
    """

    log_total: float
    inclusion: np.ndarray
    sizes: np.ndarray
    unit: np.ndarray
    begin: np.ndarray
    log_likelihood: np.ndarray
    log_prior: np.ndarray
    moments: Moments | None = None

    def check(self, units: int, free: int, columns: int) -> None:
        """Raise InputError where the parts do not belong together, or to so many units, free ones and columns."""
        fits = len(self.inclusion) == units and len(self.sizes) == free + 1
        fits = fits and len(self.begin) - 1 == len(self.log_likelihood) == len(self.log_prior) > 0
        fits = fits and all(one.ndim == 1 for one in (self.inclusion, self.sizes, self.begin, self.unit))
        fits = fits and self.log_likelihood.shape == self.log_prior.shape == (len(self.begin) - 1,)
        whole = fits and self.begin[0] == 0 and self.begin[-1] == len(self.unit) and (np.diff(self.begin) >= 0).all()
        whole = whole and (not self.unit.size or (self.unit.min() >= 0 and self.unit.max() < units))
        figures = (self.log_total, self.log_likelihood, self.log_prior)
        most = np.max(self.log_likelihood + self.log_prior, initial=-np.inf) if fits else 0.0
        shares = np.concatenate([self.inclusion, self.sizes])
        # Sums of probabilities, which rounding may leave somewhat above 1.
        whole = whole and all(np.isfinite(one).all() for one in figures) and most < self.log_total + 1e-3
        if not whole or not (np.abs(shares - 0.5) < 0.5001).all():
            raise InputError("what the enumeration found is damaged")
        if self.moments is not None:
            self.moments.check(columns)


@dataclass(frozen=True, repr=False)
class Normalised(Shown):
    """How much of the posterior the chains visited, by the estimate Ĉ of its constant [1]_.

    P(γ | y) = C g(γ) with g(γ) = P(γ) P(y|γ). With A a set of models chosen beforehand, Ĉ is the share of the draws in
    A over g(A). Here A are the models that the first half of every chain visited, and the draws are those of the second
    half; where they are few, Ĉ is rough.

    Attributes
    ----------
    log_constant : float
        log Ĉ; −∞ where no draw of the second half lies in A.
    share : float
        The estimated probability Ĉ g(B) of all models B that were visited; at most 1.
    models : int
        How many they are.
    exact : bool
        Whether all models were enumerated, so that neither is an estimate.

    References
    ----------
    .. [1] Chipman, George and McCulloch (2012), Bayesian regression structure discovery, eq. 17.
    """

    log_constant: float
    share: float
    models: int
    exact: bool = False

    def __str__(self) -> str:
        if self.exact:
            return f"{self.all}; probabilities are exact."
        share = f"about {self.share:.0%}" if self.known else "an unknown share"
        return f"{counted(self.models, 'model')} visited, {share} of the posterior; odds are exact."

    @property
    def all(self) -> str:
        """That every model was looked at, in words."""
        return "There is but one model" if self.models == 1 else f"All {self.models:,} models were enumerated"

    @property
    def known(self) -> bool:
        """Whether the second half of the chains came back to any model of the first."""
        return bool(np.isfinite(self.log_constant))

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-safe values; null where nothing is known."""
        return vars(self) | ({} if self.known else {"log_constant": None, "share": None})


@dataclass(frozen=True)
class RankedModel:
    """One of the most probable models.

    Attributes
    ----------
    units : tuple of str
        What is in it.
    probability : float
        P(γ | y): exact where all models were enumerated, else Ĉ g(γ).
    odds : float
        P(γ | y) over that of the best model, exact in any case.
    frequency : float
        The share of the draws.
    log_likelihood, log_prior : float
        log P(y|γ) − log P(y|∅), and log P(γ) up to a constant.
    """

    units: tuple[str, ...]
    probability: float
    odds: float
    frequency: float
    log_likelihood: float
    log_prior: float


@dataclass(frozen=True, repr=False)
class RankedModels(Shown):
    """The most probable models, best first; ``print`` them.

    Attributes
    ----------
    models : tuple of RankedModel
        The models.
    normalised : Normalised
        What their probabilities rest on.
    response : str
        What is predicted.
    """

    models: tuple[RankedModel, ...]
    normalised: Normalised
    response: str = ""

    def __repr__(self) -> str:
        return f"<RankedModels: the {len(self):,} most probable>"

    def __len__(self) -> int:
        return len(self.models)

    def __getitem__(self, place: int) -> RankedModel:
        return self.models[place]

    def __str__(self) -> str:
        lines = ["probability      odds  frequency  model"]
        for one in self.models:
            named = " + ".join(one.units) or "(no column)"
            lines.append(f"{one.probability:>10.2%} {one.odds:>10.3g} {one.frequency:>9.2%}  {named}")
        return "\n".join([*lines, str(self.normalised)])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the models side by side, each as wide as it is probable, with the columns that are in it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        """
        known = self.normalised.known
        weight = np.array([one.probability if known else one.odds for one in self.models])
        units = dict.fromkeys(unit for one in self.models for unit in one.units)
        included = np.array([[unit in one.units for one in self.models] for unit in units]).reshape(len(units), -1)
        order = np.argsort(-(included @ weight), kind="stable")
        shown = f"the {len(self):,} most probable hold {percent(float(weight.sum()))}" if known else "by their odds"
        title = f"Most probable models of {self.response}" if self.response else "Most probable models"
        return model_space(ax, [list(units)[at] for at in order], included[order], weight, title, shown)

    def to_dict(self) -> dict[str, Any]:
        """The models as JSON-safe values."""
        return {"models": [vars(one) | {"units": list(one.units)} for one in self.models]} | {
            "normalised": self.normalised.to_dict()
        }


@dataclass(frozen=True, eq=False, repr=False)
class Inclusion(Shown):
    """The probability that each unit is in the model; ``print`` it.

    Attributes
    ----------
    units : tuple of str
        The units' names.
    frequency : numpy.ndarray
        The share of the draws with each.
    renormalised : numpy.ndarray
        The same with the distinct models that were visited weighted by their exact odds instead of their visits. It
        has no Monte Carlo noise beyond which models were visited, and is off where much was not.
    exact : numpy.ndarray or None
        Over all models, where they were enumerated.
    response : str
        What is predicted.
    """

    units: tuple[str, ...]
    frequency: np.ndarray
    renormalised: np.ndarray
    exact: np.ndarray | None = None
    response: str = ""

    def __repr__(self) -> str:
        return f"<Inclusion of {counted(len(self.units), 'column')}>"

    @property
    def best(self) -> np.ndarray:
        """The exact probabilities where they are known, else the frequencies."""
        return self.frequency if self.exact is None else self.exact

    def __str__(self) -> str:
        width = max(map(len, self.units))
        columns = {"exact": self.exact, "frequency": self.frequency, "renormalised": self.renormalised}
        known = {name: values for name, values in columns.items() if values is not None}
        order = np.argsort(-self.best, kind="stable")
        lines = ["  ".join([" " * width, *(f"{name:>{max(7, len(name))}}" for name in known)])]
        for place in order[:LISTED]:
            figures = (f"{values[place]:>{max(7, len(name))}.1%}" for name, values in known.items())
            lines.append("  ".join([f"{self.units[place]:<{width}}", *figures]))
        if len(order) > LISTED:
            most = self.best[order[LISTED]]
            lines.append(f"{counted(len(order) - LISTED, 'other')}, at most {most:.1%} each")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the probabilities, the largest first; of more than 50 columns the 50 largest.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        """
        order = np.argsort(-self.best, kind="stable")[:DRAWN]
        names, shares = [self.units[place] for place in order], self.best[order]
        below = "exact, over all models" if self.exact is not None else "share of the draws"
        ax = plots.bars(ax, names, shares, "P(column is in the model)", self._title, below)
        ax.axvline(0.5, color="black", linewidth=0.8, linestyle=":")
        return ax

    @property
    def _title(self) -> str:
        return f"Columns in the model of {self.response}" if self.response else "Columns in the model"

    def to_dict(self) -> dict[str, Any]:
        """The probabilities as JSON-safe values, by unit."""
        figures = {"frequency": self.frequency, "renormalised": self.renormalised, "exact": self.exact}
        return {
            name: {figure: float(values[place]) for figure, values in figures.items() if values is not None}
            for place, name in enumerate(self.units)
        }


@dataclass(frozen=True, eq=False, repr=False)
class Coefficients(Shown):
    """Model-averaged coefficients, in the units of the table; ``print`` them.

    Attributes
    ----------
    names : tuple of str
        The columns of the matrix, the intercept first where there is one.
    mean, sd : numpy.ndarray
        Over all models, a coefficient being 0 in those without its column: exact where all models were enumerated.
        Else the means are averages of each model's own posterior mean, and the standard deviations those of the draws.
    interval : numpy.ndarray
        Equal-tailed, of the draws, shape (columns, 2).
    inclusion : numpy.ndarray
        The probability of the column: exact, or the share of the draws with it.
    prob : float
        The probability of the intervals.
    response : str
        What is predicted.
    """

    names: tuple[str, ...]
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    inclusion: np.ndarray
    prob: float
    response: str = ""

    def __repr__(self) -> str:
        return f"<Coefficients of {counted(len(self.names), 'term')}, averaged over models>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the coefficients in the units of the table, without the intercept, the most often included first.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        """
        shown = [place for place in self.order if self.names[place] != "(intercept)"][:DRAWN]
        names, mean, interval = [self.names[place] for place in shown], self.mean[shown], self.interval[shown]
        below = f"averaged over models: mean and {self.prob:.0%} credible interval"
        return plots.dots(ax, names, mean, interval, None, "change for one unit more", self._title, below)

    @property
    def _title(self) -> str:
        return f"Coefficients for {self.response}" if self.response else "Coefficients"

    @property
    def order(self) -> list[int]:
        """The places of the columns that any draw has, the most often included first."""
        places = [place for place in range(len(self.names)) if place < 1 or self.inclusion[place] > 0]
        return sorted(places, key=lambda place: -self.inclusion[place])

    def __str__(self) -> str:
        order = self.order
        width = max(len(self.names[place]) for place in order)
        lines = [f"{'':<{width}}  included       mean         sd   {self.prob:.0%} interval"]
        for place in order[:LISTED]:
            low, high = self.interval[place]
            lines.append(
                f"{self.names[place]:<{width}}  {self.inclusion[place]:>8.1%} {self.mean[place]:>10.4g} "
                f"{self.sd[place]:>10.3g}   {low:.4g} to {high:.4g}"
            )
        rest = len(self.names) - min(len(order), LISTED)
        if rest:
            lines.append(f"{counted(rest, 'other column')}, less often included")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-safe values, by column."""
        return {
            name: {
                "mean": float(self.mean[place]),
                "sd": float(self.sd[place]),
                "interval": self.interval[place].tolist(),
                "inclusion": float(self.inclusion[place]),
            }
            for place, name in enumerate(self.names)
        }


LISTED, DRAWN = 30, 50
