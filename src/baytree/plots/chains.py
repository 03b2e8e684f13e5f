"""How chains are drawn: their draws one after the other, and the ranks of these among all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .columns import panels
from .palette import FAINT, PALE, SMALL, plain, several, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH_INCHES, TRACE_INCHES, RANK_INCHES = 8.0, 1.7, 2.0


def traces(axes: Sequence[Axes] | None, series: Mapping[str, np.ndarray]) -> Sequence[Axes]:
    """A panel a series, of shape (chains, draws), and a line a chain."""
    if axes is None:
        axes = panels(len(series), 1, (WIDTH_INCHES, TRACE_INCHES * len(series) + 0.6), sharex=True)
    for ax, (name, values) in zip(axes, series.items(), strict=True):
        colours = several(len(values))
        for chain, (drawn, colour) in enumerate(zip(values, colours, strict=True)):
            plain(ax).plot(drawn, linewidth=0.6, color=colour, alpha=0.85, label=f"chain {chain + 1}")
        ax.set_ylabel(name)
        ax.margins(x=0.01)
    axes[-1].set_xlabel("draw")
    lines = axes[0].legend(
        fontsize=SMALL, frameon=False, ncols=4, loc="lower right", bbox_to_anchor=(1, 1), borderpad=0
    )
    for line in lines.get_lines():
        line.set_linewidth(2)
    titled(axes[0], "Draws of each chain")
    return axes


def ranks(
    axes: Sequence[Axes] | None, counts: Mapping[str, np.ndarray], expected: float, band: tuple[float, float]
) -> Sequence[Axes]:
    """A panel a series and chain: how its draws rank among those of all chains, which should be evenly.

    Parameters
    ----------
    axes : sequence of matplotlib Axes or None
        One a series and chain, series by series; on a new figure for None.
    counts : mapping of str to numpy.ndarray
        Of each series the histograms of the chains, shape (chains, bins).
    expected : float
        How many draws a bin would have.
    band : tuple of two float
        Between which counts lie by chance.
    """
    chains = len(next(iter(counts.values())))
    if axes is None:
        size = (max(4.0, 2.1 * chains), RANK_INCHES * len(counts) + 0.7)
        axes = panels(len(counts), chains, size, sharex=True, sharey=True)
    colours = several(chains)
    places = iter(axes)
    for number, (name, of_chains) in enumerate(counts.items()):
        for chain, of_chain in enumerate(of_chains):
            ax = plain(next(places))
            edges = np.linspace(0, 1, len(of_chain) + 1)
            ax.axhspan(*band, color=PALE, zorder=0)
            ax.stairs(of_chain, edges, fill=True, color=colours[chain], alpha=0.8)
            ax.axhline(expected, color=FAINT, linewidth=0.8)
            ax.set(xlim=(0, 1), xticks=[0, 0.5, 1])
            if not chain:
                ax.set_ylabel(name)
            if number:
                continue
            ax.set_title(f"chain {chain + 1}", fontsize=SMALL)
    axes[-chains].figure.supxlabel("rank among the draws of all chains, as a share", fontsize="medium")
    axes[0].figure.suptitle(
        "Ranks of the draws: even where the chains agree, within the band nine times in ten by chance",
        fontsize="medium", fontweight="bold", x=0.01, ha="left",
    )  # fmt: skip
    return axes
