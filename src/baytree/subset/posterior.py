"""The posterior over subsets of the columns of a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..data.matrix import LinearSchema
from ..diagnostics.comparison import Rows
from ..diagnostics.convergence import Diagnostics
from ..errors import InputError
from ..interpret.explanation import ExplainsRows, Reasons
from ..interpret.importance import PROB
from ..mcmc.settings import RunSettings
from ..posterior.arviz import Variable, with_prior
from ..posterior.base import Part
from ..posterior.prediction import Kind, interval_of
from ..posterior.report import Report
from ..validation import require_prob, require_whole
from .draws import SubsetDraws
from .explanation import reasons_of, spreads_of
from .model import Subset
from .moments import MOMENTS, Moments
from .prediction import LinearPrediction
from .ranking import Coefficients, Enumerated, Inclusion, Normalised, RankedModel, RankedModels
from .summary import TOP, SubsetSummary
from .term_use import TermUse, term_use

ENUMERATED = "enumerated_"
ENUMERATED_ARRAYS = ("log_total", "inclusion", "sizes", "unit", "begin", "log_likelihood", "log_prior")


@dataclass(frozen=True, eq=False)
class SubsetPosterior(ExplainsRows):
    """Draws of subsets, with the exact odds of every model that was visited.

    Attributes
    ----------
    model : Subset
        The model, with everything that was left open filled in.
    schema : LinearSchema
        The training table's names, levels and response.
    settings : RunSettings
        How the draws were asked for.
    drawn : SubsetDraws
        The draws. Where all models were enumerated they are independent.
    states : tuple of dict
        Where each chain stopped, so that it can go on; empty ones where all models were enumerated.
    enumerated : Enumerated or None
        What a look at every model found, where there was one.
    monitored, recorded
        See `BasePosterior`.
    """

    model: Subset
    schema: LinearSchema
    settings: RunSettings
    drawn: SubsetDraws
    states: tuple[dict[str, Any], ...]
    enumerated: Enumerated | None = None
    monitored: Rows | None = None
    recorded: Diagnostics | None = None

    of_draws = ()
    array_types: ClassVar = dict.fromkeys(("model", "begin", ENUMERATED + "begin"), np.int64) | dict.fromkeys(
        ("unit", ENUMERATED + "unit"), np.uint32
    )
    size = "columns"

    def __repr__(self) -> str:
        size = f"{self.chains} chains × {self.draws:,} draws"
        return f"<SubsetPosterior: {size}, response {self.schema.response.name!r}>"

    @property
    def has_chains(self) -> bool:
        """Whether the draws come from chains, which can go on; not where all models were enumerated."""
        return self.enumerated is None

    @property
    def log_likelihood(self) -> np.ndarray:  # type: ignore[override]
        """log P(y|γ) − log P(y|∅) of each draw, shape (chains, draws)."""
        return self.drawn.log_likelihood

    @property
    def rung_log_likelihood(self) -> np.ndarray | None:  # type: ignore[override]
        """Of tempered chains, that of every rung, shape (chains, draws, rungs)."""
        return self.drawn.rung_log_likelihood

    @property
    def sigma(self) -> np.ndarray:
        """The standard deviation of the noise of each draw, shape (chains, draws)."""
        return self.prediction.sigma.reshape(self.drawn.model.shape)

    @property
    def n_columns(self) -> np.ndarray:
        """The number of columns of the matrix in the model of each draw, shape (chains, draws)."""
        return self.drawn.width[self.drawn.model]

    @cached_property
    def _possible(self) -> list[int]:
        """The units of the schema that the draws count."""
        return self.model.possible_units(self.schema)

    @property
    def units(self) -> tuple[str, ...]:
        """The names of the units that may be in a model."""
        return tuple(self.schema.units[number].name for number in self._possible)

    def summary(self) -> SubsetSummary:
        """What was found, and whether the chains agree; ``print`` it."""
        return SubsetSummary.of(
            self,
            inclusion=self.inclusion(),
            top_models=self.top_models(TOP),
            coefficients=self.coefficients(),
            median_model=self.median_model(),
            enumerated=self.enumerated is not None,
        )

    # ---- which columns --------------------------------------------------------------------------------------------

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of each distinct model: a stored one that is it, its visits, its log-likelihood and its log prior."""
        drawn = self.drawn
        identity = drawn.identity[drawn.model.ravel()]
        number, first = np.unique(identity, return_index=True)
        visits = np.bincount(identity)[number]
        stored = drawn.model.ravel()[first]
        return stored, visits, drawn.log_likelihood.ravel()[first], drawn.log_prior.ravel()[first]

    def inclusion(self) -> Inclusion:
        """The probability of each column: by frequency, by the models' exact odds, and exactly where enumerated."""
        stored, visits, log_likelihood, log_prior = self._distinct
        included = self.drawn.included()[stored]
        weight = _normalised(self.model.power * log_likelihood + log_prior)
        exact = None if self.enumerated is None else self.enumerated.inclusion
        return Inclusion(
            self.units, visits @ included / visits.sum(), weight @ included, exact, self.schema.response.name
        )

    def column_inclusion(self) -> np.ndarray:
        """The probability of each predictor of the table: the largest of its own and of its interactions'."""
        found = np.zeros(len(self.schema.columns))
        for number, share in zip(self._possible, self.inclusion().best, strict=True):
            for column in self.schema.units[number].parents or (number,):
                found[column] = max(found[column], share)
        return found

    def median_model(self) -> tuple[str, ...]:
        """The median-probability model: the columns that are more likely in than out [1]_.

        References
        ----------
        .. [1] Barbieri and Berger (2004), Optimal predictive model selection, Annals of Statistics 32, 870–897.
        """
        best = self.inclusion().best
        return tuple(name for name, share in zip(self.units, best, strict=True) if share > 0.5)

    def normalised(self) -> Normalised:
        """How much of the posterior was visited: see `Normalised`."""
        if self.enumerated is not None:
            free = len(self.model.free_units(self.schema))
            return Normalised(-self.enumerated.log_total, 1.0, 2**free, exact=True)
        drawn = self.drawn
        identity = drawn.identity[drawn.model]
        log_target = self.model.power * drawn.log_likelihood + drawn.log_prior
        half = drawn.draws // 2
        before, first = np.unique(identity[:, :half], return_index=True)
        log_of_a = np.logaddexp.reduce(log_target[:, :half].ravel()[first]) if len(first) else -np.inf
        inside = float(np.isin(identity[:, half:], before).mean())
        log_constant = np.log(inside) - log_of_a if inside > 0 else -np.inf
        _, _, log_likelihood, log_prior = self._distinct
        log_of_b = np.logaddexp.reduce(self.model.power * log_likelihood + log_prior)
        return Normalised(float(log_constant), float(min(1.0, np.exp(log_constant + log_of_b))), len(log_prior))

    def top_models(self, n: int = 10) -> RankedModels:
        """The most probable models with their exact odds.

        Parameters
        ----------
        n : int
            How many.
        """
        require_whole("n", n, 1)
        found, known = self.normalised(), self.enumerated
        stored, visits, log_likelihood, log_prior = self._distinct
        drawn = {self._units_of(self.drawn, place): share for place, share in zip(stored, visits, strict=True)}
        if known is not None:
            source: Any = known
            order = range(min(int(n), len(known.log_prior)))
            log_target = known.log_likelihood + known.log_prior
            log_likelihood, log_prior, places = known.log_likelihood, known.log_prior, np.arange(len(known.log_prior))
        else:
            source, log_target, places = self.drawn, self.model.power * log_likelihood + log_prior, stored
            order = np.argsort(-log_target, kind="stable")[: int(n)].tolist()
        total = self.drawn.model.size
        best = float(np.max(log_target))
        models = []
        for place in order:
            units = self._units_of(source, places[place])
            models.append(
                RankedModel(
                    units,
                    float(np.exp(found.log_constant + log_target[place])),
                    float(np.exp(log_target[place] - best)),
                    drawn.get(units, 0) / total,
                    float(log_likelihood[place]),
                    float(log_prior[place]),
                )
            )
        return RankedModels(tuple(models), found, self.schema.response.name)

    def _units_of(self, source: Any, place: int) -> tuple[str, ...]:
        names = self.units
        return tuple(names[unit] for unit in source.unit[source.begin[place] : source.begin[place + 1]])

    def variable_use(self, prob: float = PROB) -> TermUse:
        """Of each column, the share of the model's terms that it is; comparable with that of a sum of trees.

        Parameters
        ----------
        prob : float
            The probability of the intervals.
        """
        require_prob(prob)
        return term_use(self.drawn, self.schema, self._possible, prob)

    # ---- coefficients and prediction --------------------------------------------------------------------------------

    @cached_property
    def prediction(self) -> LinearPrediction:
        """What the draws say about rows of the matrix."""
        columns = self.model.columns_of(self.schema)
        used = np.concatenate([columns[number] for number in self._possible])
        moments = None if self.enumerated is None else self.enumerated.moments
        return LinearPrediction(self.model, self.drawn, used, self.settings.seed, moments)

    def coefficients(self, prob: float = PROB) -> Coefficients:
        """Model-averaged coefficients, exact but for their intervals where all models were enumerated.

        Parameters
        ----------
        prob : float
            The probability of the intervals.
        """
        require_prob(prob)
        prediction = self.prediction
        mean, of_columns = prediction.coefficient_mean
        width, total = self.schema.width, self.drawn.model.size
        sd, interval, inclusion = np.zeros(width), np.zeros((width, 2)), np.zeros(width)
        order = np.argsort(self.drawn.coefficient_column, kind="stable")
        column = prediction.columns[self.drawn.coefficient_column[order]]
        values = prediction.coefficient[order]
        edges = np.searchsorted(column, np.arange(width + 1))
        for place in np.unique(column):
            of_one = np.zeros(total)
            found = values[edges[place] : edges[place + 1]]
            of_one[: len(found)] = found
            sd[place], interval[place] = of_one.std(), interval_of(of_one, prob)
            inclusion[place] = len(found) / total
        deviations = prediction.coefficient_sd
        if deviations is not None and self.enumerated is not None:
            inclusion[prediction.columns] = np.repeat(self.enumerated.inclusion, self.drawn.sizes)
            sd = deviations[1:]
        names, response = self.schema.matrix_names, self.schema.response.name
        if not self.model.fit_intercept:
            return Coefficients(names, of_columns, sd, interval, inclusion, prob, response)
        level = prediction.intercept
        return Coefficients(
            ("(intercept)", *names),
            np.concatenate([[mean], of_columns]),
            np.concatenate([[level.std() if deviations is None else deviations[0]], sd]),
            np.concatenate([interval_of(level, prob)[None], interval]),
            np.concatenate([[1.0], inclusion]),
            prob,
            response,
        )

    def predict(self, X: Any, kind: Kind = "mean", prob: float = 0.9) -> Any:
        """Predict new rows, averaging over the models.

        Where all models were enumerated ``"mean"``, ``"sd"`` and ``"sigma"`` are exact; other kinds are of the draws.

        Parameters
        ----------
        X : path, frame or array-like
            New rows; frames are matched by column name.
        kind : {"mean", "sd", "interval", "draws", "predictive", "predictive_interval", "sigma"}
            ``"mean"``: the posterior mean of E(y | x), shape (rows,).
            ``"sd"``: the standard deviation of a new y of weight 1: its noise and what is not known of its mean.
            ``"interval"``: an equal-tailed credible interval of it, shape (rows, 2).
            ``"draws"``: its draws, shape (chains, draws, rows).
            ``"predictive"``: draws of a new y of weight 1, shape (chains, draws, rows).
            ``"predictive_interval"``: an equal-tailed interval of a new y.
            ``"sigma"``: the posterior mean of σ, shape (rows,).
        prob : float
            The probability of an interval.
        """
        return super().predict(X, kind, prob)

    def reported(self, data: Any = None, **options: Any) -> Report[Any]:
        """The report before it is a file."""
        from .report import SubsetReport

        return SubsetReport(self, data, **options)

    @property
    def series(self) -> dict[str, np.ndarray]:
        """The log-likelihood, the number of columns and the noise of each draw."""
        columns = self.n_columns.astype(float)
        return {"log-likelihood": self.log_likelihood, "columns": columns, "sigma": self.sigma}

    @property
    def variables(self) -> dict[str, Variable]:
        """σ, the number of columns, which units are ``included``, and the coefficients, 0 where they are not."""
        included = self.drawn.included()[self.drawn.model].astype(np.int8)
        found = {
            "sigma": Variable(self.sigma),
            "n_columns": Variable(self.n_columns),
            "included": Variable(included, {"unit": self.units}),
            "coefficient": Variable(self.prediction.coefficients(), {"term": self.schema.matrix_names}),
        }
        intercept = self.prediction.intercept.reshape(self.drawn.model.shape)
        return found | ({"intercept": Variable(intercept)} if self.model.fit_intercept else {})

    @property
    def sample_stats(self) -> dict[str, Variable]:
        """What else is known of each draw: its prior, and ``model``, a number that equal models share."""
        stats = with_prior(self.log_likelihood, self.drawn.log_prior, self.model.power)
        return super().sample_stats | stats | {"model": Variable(self.drawn.identity[self.drawn.model])}

    def _reasons(self, values: Sequence[Any], rows: np.ndarray, place: int, prob: float) -> Reasons:
        return reasons_of(self, values, rows, prob)

    def _spreads(self) -> list[tuple[float, float]]:
        return spreads_of(self)

    # ---- files ----------------------------------------------------------------------------------------------------

    @property
    def _numbers(self) -> int:
        return self.drawn.coefficient.size + self.drawn.unit.size

    def _part(self, chain: int, begin: int, end: int) -> Part:
        """The draws, with the models that are new in them."""
        record = self.drawn.part(chain, begin, end)
        if self.enumerated is not None and chain == 0:
            found = {name: getattr(self.enumerated, name) for name in ENUMERATED_ARRAYS}
            found |= {} if self.enumerated.moments is None else self.enumerated.moments.to_arrays()
            record |= {ENUMERATED + name: np.atleast_1d(value) for name, value in found.items()}
        return record

    @classmethod
    def _fields_of(cls, parts: Sequence[Sequence[Part]], model: Subset, schema: LinearSchema) -> dict[str, Any]:
        """The draws, and what an enumeration found."""
        enumerated = None
        if ENUMERATED + "log_total" in parts[0][0]:
            known = {name.removeprefix(ENUMERATED): values for name, values in parts[0][0].items()}
            found = {name: known[name] for name in ENUMERATED_ARRAYS}
            # Files of 0.1 have none.
            moments = Moments.of(known) if known.keys() & set(MOMENTS) else None
            enumerated = Enumerated(float(found.pop("log_total")[0]), **found, moments=moments)
        columns = model.columns_of(schema)
        sizes = np.array([len(columns[number]) for number in model.possible_units(schema)], dtype=np.int64)
        return {"drawn": SubsetDraws.from_parts(parts, sizes), "enumerated": enumerated}

    def _check(self) -> None:
        """Raise InputError where draws and models do not belong together, or to the columns."""
        self.drawn.check()
        found = self.model.calibrated
        if not len(found.spread) == len(found.centre) == self.schema.width:
            raise InputError("the calibration does not fit the columns")
        if (self.enumerated is not None) != (self.model.method == "enumerate"):
            raise InputError("what the enumeration found is missing")
        if self.enumerated is not None:
            free, columns = len(self.model.free_units(self.schema)), int(self.drawn.sizes.sum())
            self.enumerated.check(len(self.units), free, columns)


def _normalised(log_weight: np.ndarray) -> np.ndarray:
    weight = np.exp(log_weight - log_weight.max())
    return weight / weight.sum()
