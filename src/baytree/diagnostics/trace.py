"""How chains over subsets went, draw by draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..plots import columns as plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Trace:
    """Series that tell whether the chains agree.

    Attributes
    ----------
    series : mapping of str to numpy.ndarray
        ``"log-likelihood"``, ``"columns"`` and ``"sigma"``, each of shape (chains, draws).
    """

    series: Mapping[str, np.ndarray]

    def plot(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Draw one panel a series and one line a chain.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            One a series; by default on a new figure.
        """
        if axes is None:
            axes = plots.panels(len(self.series), 1, (8, 2 * len(self.series)), sharex=True)
        for ax, (name, values) in zip(axes, self.series.items(), strict=True):
            ax.plot(values.T, linewidth=0.6)
            ax.set_ylabel(name)
        axes[-1].set_xlabel("draw")
        return axes
