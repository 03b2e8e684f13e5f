"""Nulls: fits to data in which there is nothing to be found, so that a person knows what counts as large."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.design import Design, require_design
from ..errors import InputError
from ..interpret.null import Null
from ..knowledge import Interact, Knowledge
from ..priors.grow_tree import GrowTree
from ..sampling.api import sample
from ..slp import Program
from ..validation import require_whole, seed_of, unknown_choice
from .model import BART
from .posterior import BARTPosterior

# One more than a level of 0.95 needs.
REPEATS = 20


def permutation_null(
    model: BART,
    design: Design,
    *,
    permute: str = "response",
    permutations: int = REPEATS,
    seed: int | None = None,
    progress: bool = True,
    **settings: Any,
) -> Null:
    """What the use of columns and of pairs looks like where there is nothing to be found.

    Thresholds have their level exactly if the fits are as long as the one that is judged; shorter fits have noisier
    shares, and thresholds that are rather too high.

    Parameters
    ----------
    model : BART
        The model that is judged, as it was given to `sample`.
    design : Design
        Its data.
    permute : {"response", "columns"}
        ``"response"``: nothing is related to the response [1]_. As the shares of the columns sum to 1, a column that
        matters little beside others that matter much may stay below the share it has there. ``"columns"``: one column
        at a time, while all others stay related to the response, which takes a fit for each column and permutation;
        of pairs it says nothing.
    permutations : int
        How many; 19 at least for a level of 0.95.
    seed : int, optional
        Of the permutations and of the fits; a random one by default.
    progress : bool
        Whether to say on standard error which fit is done.
    **settings
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
    _require_sum(model)
    require_design(design)
    require_whole("permutations", permutations, 1)
    if permute not in ("response", "columns"):
        raise unknown_choice("thing to permute", permute, ("response", "columns"))
    rng = np.random.default_rng(seed_of(seed))
    columns = len(design.columns)
    if permute == "response":
        # All columns together are permuted instead, so that a response keeps its weight and offset.
        designs = (permuted(design, range(columns), rng) for _ in range(permutations))
        fits = list(_fits(model, designs, permutations, rng, progress, settings))
        return Null(design.names, np.stack([use for use, _ in fits]), np.stack([pairs for _, pairs in fits]))
    designs = (permuted(design, [place], rng) for _ in range(permutations) for place in range(columns))
    fits = list(_fits(model, designs, permutations * columns, rng, progress, settings))
    own = [use[number % columns] for number, (use, _) in enumerate(fits)]
    return Null(design.names, np.reshape(own, (permutations, columns)), None)


def additive_null(
    model: BART,
    design: Design,
    *,
    repeats: int = REPEATS,
    seed: int | None = None,
    progress: bool = True,
    **settings: Any,
) -> Null:
    """What pairs of columns look like where columns matter, but each by itself.

    Columns that matter meet in a tree more often than others, whether they interact or not. So the model is fitted with
    trees that ask about one column each, which makes it additive; responses are drawn from its posterior predictive
    distribution; and the model as it is, is fitted to them.

    Parameters
    ----------
    model : BART
        The model that is judged, as it was given to `sample`.
    design : Design
        Its data.
    repeats : int
        How many responses are drawn; 19 at least for a level of 0.95.
    seed : int, optional
        Of all fits; a random one by default.
    progress : bool
        Whether to say on standard error which fit is done.
    **settings
        Passed on to `sample`: ``chains``, ``warmup``, ``draws`` and so on.

    Returns
    -------
    Null
        For ``posterior.interactions().against(null)``.
    """
    _require_sum(model)
    require_design(design)
    require_whole("repeats", repeats, 1)
    rng = np.random.default_rng(seed_of(seed))
    additive = replace(model, prior=without_interactions(model.prior, design.names))
    fit = sample(additive, design, seed=int(rng.integers(2**63)), progress=False, **settings)
    designs = (replace(design, y=y) for y in replicates(fit, design, repeats))
    fits = list(_fits(model, designs, repeats, rng, progress, settings))
    return Null(design.names, None, np.stack([pairs for _, pairs in fits]))


def without_interactions(prior: GrowTree | Program, names: Sequence[str]) -> GrowTree | Program:
    """The same prior with trees that ask about one column each."""
    alone = Interact(tuple((name,) for name in names))
    if isinstance(prior, Program):
        return prior & alone
    others = (constraint for constraint in prior.knowledge.constraints if not isinstance(constraint, Interact))
    return replace(prior, knowledge=Knowledge((*others, alone)))


def replicates(posterior: BARTPosterior, design: Design, number: int) -> np.ndarray:
    """Responses drawn from the posterior predictive distribution of the training rows, shape (number, rows)."""
    prediction = posterior.prediction.some(-(-number // posterior.chains))
    bins = posterior.bins_of(design)
    drawn, mean = prediction.predict(bins, ("predictive", "draws"), offset=design.offset).values()
    if design.classes is not None:
        return drawn.reshape(-1, design.rows)[:number].astype(np.int32)
    if design.weight is not None:
        drawn = mean + (drawn - mean) / np.sqrt(design.weight)
    return drawn.reshape(-1, design.rows)[:number]


def _require_sum(model: Any) -> None:
    if not isinstance(model, BART):
        raise InputError(f"model={model!r}: nulls are of sums of trees; give a BART")


def _fits(
    model: BART,
    designs: Iterator[Design],
    number: int,
    rng: np.random.Generator,
    progress: bool,
    settings: dict[str, Any],
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The mean shares of columns and of pairs, in a fit to each design."""
    for done, design in enumerate(designs, start=1):
        posterior = sample(model, design, seed=int(rng.integers(2**63)), progress=False, **settings)
        if posterior.draws < posterior.settings.draws:
            raise KeyboardInterrupt("the fits of a null were interrupted before their end")
        yield posterior.variable_use().mean, posterior.interactions().mean
        if progress:
            print(f"fit {done} of {number}", file=sys.stderr, flush=True)


def permuted(design: Design, places: Container[int], rng: np.random.Generator) -> Design:
    """The same rows with other rows' values in some columns, which stay together; a response keeps all it has."""
    order = rng.permutation(design.rows)
    bins = (column[order] if place in places else column for place, column in enumerate(design.bins))
    return replace(design, bins=tuple(bins))
