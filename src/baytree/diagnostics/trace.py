"""How chains went, draw by draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..plots import chains as plots
from ..text import counted
from ..validation import require_whole, unknown_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Bars of a histogram of ranks.
BINS = 20
# How often a bar lies in its band.
INSIDE = 0.9


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Series that tell whether the chains agree.

    Attributes
    ----------
    series : mapping of str to numpy.ndarray
        ``"log-likelihood"``, the size of a draw and what else is monitored, each of shape (chains, draws).
    """

    series: Mapping[str, np.ndarray]

    def __repr__(self) -> str:
        chains, draws = next(iter(self.series.values())).shape
        return f"<Trace of {', '.join(self.series)}: {counted(chains, 'chain')} × {counted(draws, 'draw')}>"

    def ranks(self, bins: int = BINS) -> dict[str, np.ndarray]:
        """How the draws of each chain rank among those of all [1]_: of each series histograms, shape (chains, bins).

        Equal draws are ranked at random, so that chains that agree are even.

        Parameters
        ----------
        bins : int
            How many bars a histogram has.

        References
        ----------
        .. [1] Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Bayesian Analysis 16, 667–718.
        """
        require_whole("bins", bins, 2)
        found, generator = {}, np.random.default_rng(0)
        for name, values in self.series.items():
            order = np.lexsort((generator.random(values.size), values.ravel()))
            place = np.empty(values.size, dtype=int)
            place[order] = np.arange(values.size) * bins // values.size
            found[name] = np.stack([np.bincount(chain, minlength=bins) for chain in place.reshape(values.shape)])
        return found

    def plot(self, axes: Sequence[Axes] | None = None, kind: str = "trace") -> Sequence[Axes]:
        """Draw one panel a series and one line a chain, or the ranks of the draws.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            One a series, or for ranks one a series and chain; by default on a new figure.
        kind : {"trace", "rank"}
            The draws one after the other, or histograms of their ranks among those of all chains, which are even
            where chains agree.
        """
        if kind == "trace":
            return plots.traces(axes, self.series)
        if kind != "rank":
            raise unknown_choice("kind of plot", kind, ("trace", "rank"))
        from scipy.stats import binom

        draws = next(iter(self.series.values())).shape[1]
        if draws < 2 * BINS:
            raise InputError(f"ranks of {counted(draws, 'draw')} of a chain say nothing: draw {2 * BINS} or more")
        low, high = binom.ppf([(1 - INSIDE) / 2, (1 + INSIDE) / 2], draws, 1 / BINS).tolist()
        return plots.ranks(axes, self.ranks(), draws / BINS, (low, high))
