"""How the models of a posterior over subsets are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .columns import FRAME_INCHES, LINE_INCHES, LONGEST_NAME, axes
from .palette import BLUE, PALE, shortened, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH_INCHES = 7.0


def model_space(
    ax: Axes | None, names: Sequence[str], included: np.ndarray, weight: np.ndarray, title: str, held: str
) -> Axes:
    """A line for each column and a stripe for each model, as wide as it is probable, filled where the column is in it.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Where; on a new figure for None.
    names : sequence of str
        The columns, from the top.
    included : numpy.ndarray of bool, shape (columns, models)
        What is in each model.
    weight : numpy.ndarray
        The probabilities of the models, best first.
    title, held : str
        What they are, and what they hold, in words.
    """
    ax = axes(ax, (WIDTH_INCHES, FRAME_INCHES + 0.4 + LINE_INCHES * max(len(names), 1)))
    edges = np.concatenate([[0], np.cumsum(weight)])
    for line, in_models in enumerate(included):
        ax.barh(line, weight, left=edges[:-1], height=0.86, color=[BLUE if there else PALE for there in in_models])
    ax.vlines(edges, -0.5, len(names) - 0.5, color="white", linewidth=0.8)
    ax.set_yticks(range(len(names)), [shortened(name, LONGEST_NAME) for name in names])
    ax.set(xlim=(0, edges[-1]), ylim=(len(names) - 0.5, -0.5), xlabel="probability of the models, one after the other")
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(left=False)
    return titled(ax, title, f"a stripe for each, filled where a column is in it; {held}")
