"""The posterior of a sum of trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.design import AnyDesign, Schema
from ..diagnostics.convergence import Diagnostics
from ..diagnostics.predictions import Rows
from ..errors import InputError
from ..interpret.interpretation import Interpretable
from ..mcmc.settings import RunSettings
from ..posterior.arviz import Variable
from ..posterior.base import Part, taken, taken_if_there
from ..posterior.prediction import Kind, kinds_of
from ..trees.ensemble import Ensemble
from ..trees.forest import rules_of
from ..trees.tree import Tree
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

    part_arrays = PART_ARRAYS
    optional_arrays = OPTIONAL

    def __repr__(self) -> str:
        sums = len(self.model.centre)
        trees = f"{'' if sums == 1 else f'{sums} × '}{self.model.trees} trees"
        size = f"{self.chains} chains × {self.draws:,} draws of {trees}"
        return f"<BARTPosterior: {size}, response {self.schema.response.name!r}>"

    @property
    def n_leaves(self) -> np.ndarray:
        """The number of leaves of all trees of each draw together, shape (chains, draws)."""
        return self.ensemble.leaves.sum(axis=2)

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
    def prediction(self) -> SumPrediction:
        """What the draws say about rows in bins."""
        mean = SumPredictor.of(self.schema, self.ensemble, len(self.model.centre))
        variance = None if self.variance_ensemble is None else SumPredictor.of(self.schema, self.variance_ensemble)
        return SumPrediction(self.schema, mean, self.settings.seed, np.array(self.model.centre), self.sigma, variance)

    def predict(self, X: Any, kind: Kind = "mean", prob: float = 0.9, offset: Any = None) -> Any:
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
        return self.prediction.predict(self.schema.encode(X), kind, prob, offset)

    def stream(
        self, tables: Iterable[Any], kind: Kind = "mean", prob: float = 0.9, offsets: Iterable[Any] | None = None
    ) -> Iterator[Any]:
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
        return self.prediction.stream(tables, kind, prob, offsets)

    def _require_offset(self, kind: Kind, given: Any, name: str) -> None:
        if given is None and self.settings.offset and kinds_of(kind) != ["sigma"]:
            raise InputError(
                f"the model was fitted with an offset, so new rows need theirs: give {name}=, one number a row, 0 to "
                "add nothing"
            )

    @property
    def series(self) -> dict[str, np.ndarray]:
        """The log-likelihood and the number of leaves of each draw; of numbers σ as well."""
        series = {"log-likelihood": self.log_likelihood, "leaves": self.n_leaves.astype(float)}
        if self.sigma is not None:
            series["sigma"] = self.sigma
        if self.variance_ensemble is not None:
            # The geometric mean over the training rows.
            series["sigma"] = np.exp(self.variance_ensemble.mean_over_rows / 2)
        return series

    @property
    def variables(self) -> dict[str, Variable]:
        """The number of leaves, ``n_leaves``, and where they are drawn σ and what the prior learns."""
        drawn = {"sigma": self.sigma, "leaf_sd": self.leaf_sd, "concentration": self.concentration}
        found = {name: Variable(values) for name, values in drawn.items() if values is not None}
        if self.log_weights is not None:
            found["column_weight"] = Variable(np.exp(self.log_weights), {"column": self.schema.names})
        return {"n_leaves": Variable(self.n_leaves)} | found

    def given_by(self, design: AnyDesign) -> dict[str, Any]:
        """What predictions at a design take from it besides its rows: the offset."""
        return {"offset": design.offset}

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
        ensemble = Ensemble.from_parts(parts, model.trees * len(model.centre))
        forest = model.variance == "forest"
        variance = Ensemble.from_parts(parts, model.variance_trees, VARIANCE) if forest else None
        return cls(
            model=model,
            schema=schema,
            settings=settings,
            ensemble=ensemble,
            log_likelihood=taken(parts, "log_likelihood"),
            states=tuple(states),
            sigma=taken_if_there(parts, "sigma"),
            variance_ensemble=variance,
            leaf_sd=taken_if_there(parts, "leaf_sd"),
            log_weights=taken_if_there(parts, "log_weight", len(schema.columns)),
            concentration=taken_if_there(parts, "concentration"),
            monitored=monitored,
            recorded=recorded,
        )

    def _check_draws(self) -> None:
        """Raise InputError where draws and trees do not belong together, or to the model."""
        sums = self.ensemble
        _ = self.prediction  # which looks at every tree
        for part in (sums, self.variance_ensemble):
            if part is not None:
                part.check()
        shape = (self.chains, self.draws)
        series = [one for one in (self.sigma, self.leaf_sd, self.concentration) if one is not None]
        if any(one.shape != shape for one in series) or sums.tree_index.shape[:2] != shape:
            raise InputError("draws are missing")
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

    def _goes_on(self, number: int, state: Mapping[str, Any]) -> bool:
        factors = 0 if self.variance_ensemble is None else self.variance_ensemble.trees
        stored = [len(state[name]) for name in ("stored", "variance_stored")] == [self.ensemble.trees, factors]
        return stored and super()._goes_on(number, state)
