"""The permutation null: fits to responses that were permuted, so that nothing is related to them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from .data import Design, require_design
from .discovery import Null
from .errors import require_whole, seed_of
from .sampling import sample

PERMUTATIONS = 20


def permutation_null(
    model: Any,
    design: Design,
    *,
    permutations: int = PERMUTATIONS,
    seed: int | None = None,
    progress: bool = True,
    **plan: Any,
) -> Null:
    """What the use of columns and of pairs looks like where nothing is related to the response.

    The response is permuted, with its weights, and the model is fitted to it as `sample` does, again and again [1]_.
    Thresholds have their level exactly if the fits are as long as the one that is judged; shorter fits have noisier
    shares, and thresholds that are rather too high.

    Parameters
    ----------
    model : BART
        The model that is judged, as it was given to `sample`.
    design : Design
        Its data.
    permutations : int
        How many fits; 19 at least for a level of 0.95.
    seed : int, optional
        Of the permutations and of the fits; a random one by default.
    progress : bool
        Whether to say on standard error which fit is done.
    **plan
        Passed on to `sample`: ``chains``, ``warmup``, ``draws`` and so on.

    Returns
    -------
    Null
        For ``posterior.variable_use().against(null)`` and ``posterior.interactions().against(null)``.

    References
    ----------
    .. [1] Bleich, Kapelner, George and Jensen (2014), Variable selection for BART: an application to gene regulation,
       Annals of Applied Statistics 8, 1750–1781.
    """
    require_design(design)
    require_whole("permutations", permutations, 1)
    rng = np.random.default_rng(seed_of(seed))
    use, interactions = [], []
    for number in range(permutations):
        permuted = permute(design, rng)
        posterior: Any = sample(model, permuted, seed=int(rng.integers(2**63)), progress=False, **plan)
        if posterior.draws < posterior.plan.draws:
            raise KeyboardInterrupt("the permutations were interrupted before their end")
        use.append(posterior.variable_use().mean)
        interactions.append(posterior.interactions().mean)
        if progress:
            print(f"permutation {number + 1} of {permutations}", file=sys.stderr, flush=True)
    return Null(design.names, np.stack(use), np.stack(interactions))


def permute(design: Design, rng: np.random.Generator) -> Design:
    """The same rows with other rows' responses; a response keeps its weight."""
    order = rng.permutation(design.rows)
    return replace(design, y=design.y[order], weight=None if design.weight is None else design.weight[order])
