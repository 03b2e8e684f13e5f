"""The posterior of a sum of trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.design import AnyDesign, Schema
from ..diagnostics.comparison import Rows
from ..diagnostics.convergence import Diagnostics
from ..errors import InputError
from ..interpret.explanation import Reasons
from ..interpret.interpretation import Interpretable
from ..mcmc.settings import RunSettings
from ..posterior.arviz import Variable
from ..posterior.base import Part, taken
from ..posterior.prediction import Kind, kinds_of
from ..posterior.report import Report
from ..posterior.summary import largest_first
from ..trees.forest import ENSEMBLE_TYPES, Ensemble, rules_of
from ..trees.tree import Tree
from ..validation import require_place
from .explanation import reasons_of
from .model import BART
from .prediction import SumPrediction, SumPredictor
from .summary import BARTSummary

# What chains call the trees of the noise, and the logarithms of learned column weights.
VARIANCE, WEIGHTS = "variance_", "log_weight"


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
        The standard deviation of the noise of each draw, shape (chains, draws), of Student's its scale; none with
        classes, or where it depends on the row.
    variance_ensemble : Ensemble or None
        Where the noise depends on the row: sums of trees that give the logarithm of its variance.
    freedom : numpy.ndarray or None
        Where the noise is Student's: its degrees of freedom in each draw, shape (chains, draws).
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
    freedom: np.ndarray | None = None
    leaf_sd: np.ndarray | None = None
    log_weights: np.ndarray | None = None
    concentration: np.ndarray | None = None
    monitored: Rows | None = None
    recorded: Diagnostics | None = None

    of_draws = ("log_likelihood", "sigma", "freedom", "leaf_sd", "concentration")
    adds_up_to = "variable of {}"
    array_types = ENSEMBLE_TYPES | {VARIANCE + name: kind for name, kind in ENSEMBLE_TYPES.items()}

    def __repr__(self) -> str:
        sums = len(self.model.centre)
        trees = f"{'' if sums == 1 else f'{sums} × '}{self.model.trees} trees"
        size = f"{self.chains} chains × {self.draws:,} draws of {trees}"
        return f"<BARTPosterior: {size}, response {self.schema.response.name!r}>"

    @property
    def sums(self) -> Ensemble:
        """The draws, as `ensemble` has them."""
        return self.ensemble

    @property
    def n_leaves(self) -> np.ndarray:
        """The number of leaves of all trees of each draw together, shape (chains, draws)."""
        return self.ensemble.leaves.sum(axis=2)

    def tree(self, chain: int, draw: int, tree: int) -> Tree:
        """One tree of one draw; what its leaves add to the sum is their value."""
        for name, value, size in zip(
            ("chain", "draw", "tree"), (chain, draw, tree), self.ensemble.first.shape, strict=True
        ):
            require_place(name, value, size)
        stored, forest = int(self.ensemble.tree_index[chain, draw, tree]), self.ensemble.forest
        first = int(self.ensemble.first[chain, draw, tree])
        values = self.ensemble.values[first : first + int(forest.leaves[stored])]
        rows = forest.rows[forest.nodes(stored)].tolist()
        return Tree(self.schema, rules_of(forest, stored), tuple(rows), tuple(map(float, values)))

    def summary(self) -> BARTSummary:
        """What was fitted, what it says, and whether the chains agree; ``print`` it."""
        use = self.variable_use()
        return BARTSummary.of(
            self,
            offset=self.settings.offset,
            sums=len(self.model.centre),
            trees=self.model.trees,
            leaves=float(self.ensemble.leaves.mean()),
            freedom=None if self.freedom is None else float(np.median(self.freedom)),
            variable_use=largest_first(dict(zip(use.columns, use.mean.tolist(), strict=True))),
        )

    def reported(self, data: Any = None, **options: Any) -> Report[Any]:
        """The report before it is a file."""
        from .report import SumReport

        return SumReport(self, data, **options)

    # ---- prediction -----------------------------------------------------------------------------------------------

    @cached_property
    def prediction(self) -> SumPrediction:
        """What the draws say about rows in bins."""
        centre = np.array(self.model.centre)
        mean = SumPredictor.of(self.schema, self.ensemble, len(centre))
        variance = None if self.variance_ensemble is None else SumPredictor.of(self.schema, self.variance_ensemble)
        return SumPrediction(self.schema, mean, self.settings.seed, centre, self.sigma, variance, self.freedom)

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
            ``"sigma"``: of numbers, the posterior mean of the noise's standard deviation σ(x), of Student noise of its
            scale, shape (rows,).
        prob : float
            The probability of an interval.
        offset : array-like, optional
            What is added to the sum of trees of each row. Where the training rows had one, new rows need theirs, be it
            zeros, for all kinds but ``"sigma"``.
        """
        self._require_offset(kind, offset, "offset")
        return self.prediction.predict(self.schema.encode(X), kind, prob, offset=offset)

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
        names = [name for name in self.of_draws if name != "log_likelihood"]
        drawn = {name: getattr(self, name) for name in names}
        found = {name: Variable(values) for name, values in drawn.items() if values is not None}
        if self.log_weights is not None:
            found["column_weight"] = Variable(np.exp(self.log_weights), {"column": self.schema.names})
        return {"n_leaves": Variable(self.n_leaves)} | found

    def given_by(self, design: AnyDesign) -> dict[str, Any]:
        """What predictions at a design take from it besides its rows: the offset."""
        return {"offset": design.offset}

    def _reasons(self, values: Sequence[Any], rows: np.ndarray, place: int, prob: float) -> Reasons:
        return reasons_of(self, values, rows, place, prob)

    # ---- files ----------------------------------------------------------------------------------------------------

    @property
    def _numbers(self) -> int:
        return sum(
            sums.values.size + sums.tree_index.size
            for sums in (self.ensemble, self.variance_ensemble)
            if sums is not None
        )

    def _part(self, chain: int, begin: int, end: int) -> Part:
        """The trees that are new in these draws, with the values of their leaves, and the weights of columns."""
        record = self.ensemble.part(chain, begin, end)
        if self.variance_ensemble is not None:
            record |= {VARIANCE + name: array for name, array in self.variance_ensemble.part(chain, begin, end).items()}
        return record | ({} if self.log_weights is None else {WEIGHTS: self.log_weights[chain, begin:end].ravel()})

    @classmethod
    def _fields_of(cls, parts: Sequence[Sequence[Part]], model: BART, schema: Schema) -> dict[str, Any]:
        """The trees with the values of their leaves, and the weights of columns."""
        weights = taken(parts, WEIGHTS) if WEIGHTS in parts[0][0] else None
        forest = model.variance == "forest"
        return {
            "ensemble": Ensemble.from_parts(parts, model.trees * len(model.centre)),
            "variance_ensemble": Ensemble.from_parts(parts, model.variance_trees, VARIANCE) if forest else None,
            "log_weights": None if weights is None else weights.reshape(len(parts), -1, len(schema.columns)),
        }

    def _check(self) -> None:
        """Raise InputError where draws and trees do not belong together, or to the model or the states."""
        model, shape, factors = self.model, self.log_likelihood.shape, self.variance_ensemble
        _ = self.prediction  # which looks at every tree
        for sums in (self.ensemble, factors):
            if sums is not None:
                sums.check(shape)
        trees = [self.ensemble.trees, 0 if factors is None else factors.trees]
        if any([len(state[name]) for name in ("stored", "variance_stored")] != trees for state in self.states):
            raise InputError("the states of the chains do not fit their trees")
        constant = self.schema.response.classes is None and factors is None
        learned = ({"sigma": shape} if constant else {}) | ({"leaf_sd": shape} if model.learns_leaf_sd else {})
        if model.noise == "student":
            learned |= {"freedom": shape}
        if model.sparse:
            learned |= {"log_weights": (*shape, len(self.schema.columns)), "concentration": shape}
        for name in ("sigma", "freedom", "leaf_sd", "concentration", "log_weights"):
            found = getattr(self, name)
            if learned.get(name) != (None if found is None else found.shape):
                raise InputError(f"draws of {name} are missing")
        if self.sigma is not None and not (self.sigma > 0).all():
            raise InputError("the standard deviations of the noise are no positive numbers")
        if self.freedom is not None and not (self.freedom >= 1).all():
            raise InputError("the degrees of freedom of the noise are no numbers from 1 on")
        if (self.ensemble.bandwidths is not None) != (model.split == "soft"):
            raise InputError("the bandwidths of soft rules are missing")
