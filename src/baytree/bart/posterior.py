"""The posterior of a sum of trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.design import Schema
from ..diagnostics.convergence import Diagnostics
from ..diagnostics.predictions import Rows, diagnose_series, spaced
from ..errors import InputError
from ..interpret.interpretation import Interpretable
from ..mcmc.settings import RunSettings
from ..posterior.base import Part, blocks_of
from ..storage import ModelReader
from ..trees.ensemble import Ensemble
from ..trees.forest import rules_of
from ..trees.tree import Tree
from ..validation import require_whole
from .model import BART
from .prediction import SumPrediction, SumPredictor
from .summary import BARTSummary, summarise

FOREST_ARRAYS = ("feature", "cut", "subset", "missing_left", "rows", "begin")
SUM_ARRAYS = (*FOREST_ARRAYS, "tree", "value")
PART_ARRAYS = (*SUM_ARRAYS, "log_likelihood")
VARIANCE = "variance_"
# Of soft rules only; of numbers with one variance only; of those with a variance by trees only; of a learned spread of
# leaf values only; of learned column weights only.
OPTIONAL = ("bandwidth", "sigma", *(VARIANCE + name for name in SUM_ARRAYS), "leaf_sd", "log_weight", "concentration")


@dataclass(frozen=True, eq=False)
class BARTPosterior(Interpretable):
    """Draws of sums of trees.

    Attributes
    ----------
    model : BART
        The model, with everything that was left open filled in.
    schema : Schema
        The training table's names, cut points, levels and response.
    settings : RunSettings
        How the draws were asked for.
    ensemble : Ensemble
        The sums of trees; of several classes, those of one class after those of another.
    log_likelihood : numpy.ndarray
        log P(y | trees, σ) of each draw, shape (chains, draws).
    states : tuple of dict
        Where each chain stopped, so that it can go on.
    sigma : numpy.ndarray or None
        The standard deviation of the noise of each draw, shape (chains, draws); none with classes, or where it depends
        on the row.
    variance_ensemble : Ensemble or None
        Where the noise depends on the row: sums of trees that give the logarithm of its variance.
    leaf_sd : numpy.ndarray or None
        Where k is learned: the standard deviation σ_μ of the leaf values of each draw, shape (chains, draws).
    log_weights : numpy.ndarray or None
        Where column weights are learned: their logarithms, shape (chains, draws, columns).
    concentration : numpy.ndarray or None
        The concentration of these weights, shape (chains, draws).
    monitored, recorded
        See `BasePosterior`.
    """

    model: BART
    schema: Schema
    settings: RunSettings
    ensemble: Ensemble
    log_likelihood: np.ndarray
    states: tuple[dict[str, Any], ...]
    sigma: np.ndarray | None = None
    variance_ensemble: Ensemble | None = None
    leaf_sd: np.ndarray | None = None
    log_weights: np.ndarray | None = None
    concentration: np.ndarray | None = None
    monitored: Rows | None = None
    recorded: Diagnostics | None = None

    def __repr__(self) -> str:
        sums = len(self.model.centre)
        trees = f"{'' if sums == 1 else f'{sums} × '}{self.model.trees} trees"
        size = f"{self.chains} chains × {self.draws:,} draws of {trees}"
        return f"<BARTPosterior: {size}, response {self.schema.response.name!r}>"

    @property
    def chains(self) -> int:
        """Number of chains."""
        return self.ensemble.chains

    @property
    def draws(self) -> int:
        """Number of draws of each chain."""
        return self.ensemble.draws

    @property
    def n_leaves(self) -> np.ndarray:
        """The number of leaves of all trees of each draw together, shape (chains, draws)."""
        return self.ensemble.leaves.sum(axis=2)

    @property
    def acceptance(self) -> dict[str, float]:
        """Of each move, the share of its proposals that changed a tree."""
        turns = np.sum([state["turns"] for state in self.states], axis=0)
        accepted = np.sum([state["accepted"] for state in self.states], axis=0)
        return dict(zip(self.model.shares(), (accepted / np.maximum(turns, 1)).tolist(), strict=True))

    def tree(self, chain: int, draw: int, tree: int) -> Tree:
        """One tree of one draw; what its leaves add to the sum is their value."""
        stored, forest = int(self.ensemble.tree_index[chain, draw, tree]), self.ensemble.forest
        first = int(self.ensemble.first[chain, draw, tree])
        values = self.ensemble.values[first : first + int(forest.leaves[stored])]
        rows = forest.rows[forest.nodes(stored)].tolist()
        return Tree(self.schema, rules_of(forest, stored), tuple(rows), tuple(map(float, values)))

    def summary(self) -> BARTSummary:
        """What was fitted, what it says, and whether the chains agree; ``print`` it."""
        return summarise(self)

    # ---- prediction -----------------------------------------------------------------------------------------------

    @cached_property
    def _predictor(self) -> SumPrediction:
        mean = SumPredictor.of(self.schema, self.ensemble, len(self.model.centre))
        variance = None if self.variance_ensemble is None else SumPredictor.of(self.schema, self.variance_ensemble)
        return SumPrediction(self.schema, mean, self.settings.seed, np.array(self.model.centre), self.sigma, variance)

    def predict(self, X: Any, kind: str = "mean", prob: float = 0.9, offset: Any = None) -> np.ndarray:
        """Predict new rows, averaging over the draws.

        Parameters
        ----------
        X : path, frame or array-like
            New rows; frames are matched by column name.
        kind : {"mean", "interval", "draws", "predictive", "predictive_interval", "sigma"}
            ``"mean"``: the posterior mean of E(y | x), shape (rows,); with classes their probabilities, (rows,
            classes).
            ``"interval"``: an equal-tailed credible interval of the same quantity, with a last axis of 2.
            ``"draws"``: its draws, with leading axes (chains, draws).
            ``"predictive"``: draws of a new y, shape (chains, draws, rows); with classes, positions in the classes.
            ``"predictive_interval"``: of numbers, an equal-tailed interval of a new y.
            ``"sigma"``: of numbers, the posterior mean of the noise's standard deviation σ(x), shape (rows,).
        prob : float
            The probability of an interval.
        offset : array-like, optional
            What is added to the sum of trees of each row. Where the training rows had one, new rows need theirs, be it
            zeros, for all kinds but ``"sigma"``.
        """
        self._require_offset(kind, offset, "offset")
        return self._predictor.predict(self.schema.encode(X), kind, prob, offset)

    def stream(
        self, tables: Iterable[Any], kind: str = "mean", prob: float = 0.9, offsets: Iterable[Any] | None = None
    ) -> Iterator[np.ndarray]:
        """Predict a table that comes in parts; together they give what `predict` gives of the whole, to the bit.

        So a table that does not fit into memory can be predicted, even by draws, and written as it comes.

        Parameters
        ----------
        tables : iterable of paths, frames or arrays
            The parts, of any number of rows.
        kind, prob
            As in `predict`.
        offsets : iterable of array-likes, optional
            The offset of each part.
        """
        self._require_offset(kind, offsets, "offsets")
        return self._predictor.stream(tables, kind, prob, offsets)

    def _require_offset(self, kind: str, given: Any, name: str) -> None:
        if given is None and self.settings.offset and kind != "sigma":
            raise InputError(
                f"the model was fitted with an offset, so new rows need theirs: give {name}=, one number a row, 0 to "
                "add nothing"
            )

    def some_draws(self, draws: int | None) -> SumPrediction:
        """Predictions from evenly spaced draws, so many of each chain; None for all."""
        if draws is not None:
            require_whole("draws", draws, 1)
        if draws is None or draws >= self.draws:
            return self._predictor
        return self._predictor.take(spaced(np.arange(self.draws)[None], draws)[0])

    def _diagnose(self, rows: Rows | None, draws: int | None) -> Diagnostics:
        series = {"log-likelihood": self.log_likelihood, "leaves": self.n_leaves.astype(float)}
        if self.sigma is not None:
            series["sigma"] = self.sigma
        if self.variance_ensemble is not None:
            # The geometric mean over the training rows.
            series["sigma"] = np.exp(self.variance_ensemble.mean_over_rows / 2)
        return diagnose_series(self, series, None if rows is None else _Fits(self, draws), rows, draws)

    # ---- files ----------------------------------------------------------------------------------------------------

    @property
    def _numbers(self) -> int:
        return sum(
            sums.values.size + sums.tree_index.size
            for sums in (self.ensemble, self.variance_ensemble)
            if sums is not None
        )

    def part(self, chain: int, begin: int, end: int) -> Part:
        """Draws begin … end of one chain, with the trees that are new in them."""
        record = {**self.ensemble.part(chain, begin, end), "log_likelihood": self.log_likelihood[chain, begin:end]}
        if self.variance_ensemble is not None:
            record |= {VARIANCE + name: array for name, array in self.variance_ensemble.part(chain, begin, end).items()}
        if self.sigma is not None:
            record["sigma"] = self.sigma[chain, begin:end]
        if self.leaf_sd is not None:
            record["leaf_sd"] = self.leaf_sd[chain, begin:end]
        if self.log_weights is not None and self.concentration is not None:
            record["log_weight"] = self.log_weights[chain, begin:end].ravel()
            record["concentration"] = self.concentration[chain, begin:end]
        return record

    @classmethod
    def from_parts(
        cls,
        model: BART,
        schema: Schema,
        settings: RunSettings,
        parts: Sequence[Sequence[Part]],
        states: Sequence[dict[str, Any]],
        monitored: Rows | None = None,
        recorded: Diagnostics | None = None,
    ) -> BARTPosterior:
        """Put together what the chains recorded, `parts[chain]` being its blocks in order; this empties them."""

        def taken(name: str, *shape: int) -> np.ndarray | None:
            if name not in parts[0][0]:
                return None
            return np.stack([np.concatenate([part.pop(name) for part in chain]).reshape(-1, *shape) for chain in parts])

        ensemble = Ensemble.from_parts(parts, model.trees * len(model.centre))
        forest = model.variance == "forest"
        variance = Ensemble.from_parts(parts, model.variance_trees, VARIANCE) if forest else None
        log_likelihood, sigma, concentration = taken("log_likelihood"), taken("sigma"), taken("concentration")
        assert log_likelihood is not None
        log_weights = taken("log_weight", len(schema.columns))
        return cls(
            model=model,
            schema=schema,
            settings=settings,
            ensemble=ensemble,
            log_likelihood=log_likelihood,
            states=tuple(states),
            sigma=sigma,
            variance_ensemble=variance,
            leaf_sd=taken("leaf_sd"),
            log_weights=log_weights,
            concentration=concentration,
            monitored=monitored,
            recorded=recorded,
        )

    @staticmethod
    def read_parts(reader: ModelReader, chain: int, settings: RunSettings) -> list[Part]:
        """The blocks of draws of one chain in a model file."""
        return blocks_of(reader, chain, PART_ARRAYS, OPTIONAL)

    def check(self) -> BARTPosterior:
        """Raise InputError where the parts do not belong together; gives the posterior itself."""
        sums = self.ensemble
        _ = self._predictor  # which looks at every tree
        for part in (sums, self.variance_ensemble):
            if part is not None:
                part.check()
        shape = (self.chains, self.draws)
        series = [one for one in (self.log_likelihood, self.sigma, self.leaf_sd, self.concentration) if one is not None]
        if any(one.shape != shape for one in series) or not self.settings.chains == self.chains == len(self.states):
            raise InputError("draws or states are missing")
        if self.variance_ensemble is not None and self.variance_ensemble.tree_index.shape[:2] != shape:
            raise InputError("draws of the variance are missing")
        constant = self.schema.response.classes is None and self.variance_ensemble is None
        if (self.sigma is None) is constant:
            raise InputError("the standard deviations of the noise are missing")
        if self.sigma is not None and not ((self.sigma > 0) & (self.sigma < np.inf)).all():
            raise InputError("the standard deviations of the noise are no positive numbers")
        if (sums.bandwidths is not None) != (self.model.split == "soft"):
            raise InputError("the bandwidths of soft rules are missing")
        if (self.leaf_sd is not None) != self.model.learns_leaf_sd:
            raise InputError("learned standard deviations of leaf values are missing")
        learned = (self.log_weights, self.concentration)
        if any((one is not None) != self.model.sparse for one in learned):
            raise InputError("learned column weights are missing")
        if self.log_weights is not None and self.log_weights.shape != (*shape, len(self.schema.columns)):
            raise InputError("learned column weights are missing")
        for number, state in enumerate(self.states):
            try:
                whole = len(state["stored"]) == sums.trees and state["drawn"] == self.draws
                factors = 0 if self.variance_ensemble is None else self.variance_ensemble.trees
                whole = whole and len(state["variance_stored"]) == factors
                whole = whole and len(state["turns"]) == len(state["accepted"]) == len(self.model.shares())
            except (KeyError, TypeError) as error:
                raise InputError(f"the state of chain {number} cannot be read ({error!r})") from error
            if not whole:
                raise InputError(f"the state of chain {number} does not fit its draws")
        return self


class _Fits:
    """What evenly spaced draws predict, for the comparison of chains."""

    def __init__(self, posterior: BARTPosterior, draws: int | None) -> None:
        self._prediction = posterior.some_draws(draws)
        self.chains, self.draws = posterior.chains, self._prediction.mean.sums.draws

    def predictions(self, bins: np.ndarray) -> Iterator[np.ndarray]:
        """Predictions in blocks of rows, shape (chains, draws, rows, width); of classes all but the last."""
        fits = self._prediction.predict(bins, "draws")
        yield fits[..., :-1] if fits.ndim == 4 else fits[..., None]
