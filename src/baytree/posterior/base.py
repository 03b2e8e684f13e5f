"""What posteriors of all families share: the third type of the contract, beside models and chains."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .. import notebook
from ..data.design import AnyDesign
from ..diagnostics.comparison import DRAWS, Rows, diagnose_series, distinct_rows
from ..diagnostics.convergence import Diagnostics
from ..diagnostics.evidence import LogEvidence
from ..diagnostics.trace import Trace
from ..errors import InputError
from ..mcmc.contract import AnyModel
from ..mcmc.settings import RunSettings
from ..mcmc.tempering import Swaps, is_position
from ..storage import ModelWriter
from ..validation import require_whole
from .arviz import Variable, to_datatree
from .prediction import Kind, Prediction
from .report import Report, progress_of_report
from .summary import BaseSummary

if TYPE_CHECKING:
    from xarray import DataTree

# A model file is written in blocks of about this many numbers a chain, far below SQLite's limit for one value.
NUMBERS_PER_BLOCK = 8_000_000
# The log-likelihoods of the rungs of tempered chains, in what a chain records.
RUNGS = "rung_log_likelihood"

# What a chain recorded in one block: the arrays of a forest of the trees that are new in it, and of its draws.
Part = dict[str, np.ndarray]


class BasePosterior(ABC):
    """Draws from a posterior, whatever of.

    Attributes
    ----------
    model
        What was sampled, with everything that was left open filled in.
    schema : Schema
        The training table's names, cut points, levels and response.
    settings : RunSettings
        How the draws were asked for.
    log_likelihood : numpy.ndarray
        The log-likelihood of each draw, of all rows together, shape (chains, draws).
    rung_log_likelihood : numpy.ndarray or None
        Of tempered chains, where the family has them: that of every rung, shape (chains, draws, rungs).
    states : tuple of dict
        Where each chain stopped, so that it can go on; what a method without chains has to say instead.
    monitored : Rows or None
        Some training rows, by which chains are compared; no model file holds them.
    recorded : Diagnostics or None
        What a comparison found while the training rows were at hand.
    """

    model: AnyModel
    schema: Any
    settings: RunSettings
    log_likelihood: np.ndarray
    rung_log_likelihood: np.ndarray | None = None
    states: tuple[dict[str, Any], ...]
    monitored: Rows | None
    recorded: Diagnostics | None

    # What chains record of each draw: arrays in parts and files, and fields by the same names, None where they do not.
    of_draws: ClassVar[tuple[str, ...]]
    # Of the arrays in parts and files, the types of those that are not of doubles.
    array_types: ClassVar[Mapping[str, Any]] = {}
    # Which of the series says how large a draw is.
    size: ClassVar[str] = "leaves"

    # What baytree uses among its layers, and a person does not need; completion leaves it out.
    internal: ClassVar[tuple[str, ...]] = (
        *("array_types", "bins_of", "check", "from_parts", "given_by", "internal", "monitored", "of_draws", "part"),
        *("prediction", "recorded", "require_chains", "require_types", "size", "states", "sums"),
    )

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()).difference(self.internal))

    def _repr_html_(self) -> str:
        return notebook.boxed(notebook.line(repr(self).strip("<>"), style=notebook.MUTED), *self.summary().html())

    @property
    def chains(self) -> int:
        """Number of chains."""
        return int(self.log_likelihood.shape[0])

    @property
    def draws(self) -> int:
        """Number of draws of each chain."""
        return int(self.log_likelihood.shape[1])

    @property
    @abstractmethod
    def series(self) -> Mapping[str, np.ndarray]:
        """What chains are compared by besides predictions: ``"log-likelihood"``, the size of a draw and what else.

        Each of shape (chains, draws).
        """

    @abstractmethod
    def summary(self) -> BaseSummary:
        """What was fitted, what it says, and whether the chains agree; ``print`` it."""

    def report(
        self,
        path: str | os.PathLike[str],
        data: Any = None,
        *,
        weight: str | None = None,
        offset: str | None = None,
        progress: bool = False,
    ) -> None:
        """Write a report: one HTML file that holds all it shows, asks no network for anything and runs anywhere.

        The same posterior and data give the same bytes.

        Parameters
        ----------
        path : path
            The file to write.
        data : Design, path or frame, optional
            Rows whose response is known, for scores, calibration, dependence and the rows in the nodes of trees. Of the
            training data, which are known by their fingerprint, there is more: the prior beside the posterior, and what
            importance chance gives. Others are scored as held out.
        weight, offset : str, optional
            Of a table, the columns that the fit called so.
        progress : bool
            Whether to say on standard error what is being worked out.
        """
        self.reported(data, weight=weight, offset=offset, say=progress_of_report if progress else None).write(path)

    @abstractmethod
    def reported(self, data: Any = None, **options: Any) -> Report[Any]:
        """The report before it is a file: its page, and its figures as JSON-safe values.

        Parameters
        ----------
        data, **options
            As `report` takes them; ``say`` is told what is being worked out.
        """

    # ---- prediction -----------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def prediction(self) -> Prediction:
        """What the draws say about rows that the schema encoded."""

    def predict(self, X: Any, kind: Kind = "mean", prob: float = 0.9) -> Any:
        """Predict new rows, averaging over the draws.

        Parameters
        ----------
        X : path, frame or array-like
            New rows; frames are matched by column name.
        kind : str or sequence of str
            What to predict. Several kinds are made together: the table is encoded once and the draws go over it once.
        prob : float
            The probability of an interval.

        Returns
        -------
        numpy.ndarray or dict of str to numpy.ndarray
            Of several kinds, each by its name, the same to the bit as if it had been asked for alone.
        """
        return self.prediction.predict(self.schema.encode(X), kind, prob)

    # ---- chains ---------------------------------------------------------------------------------------------------

    @property
    def has_chains(self) -> bool:
        """Whether the draws come from chains, which can go on."""
        return True

    def require_chains(self) -> None:
        """Raise InputError where there are no chains that could go on."""
        if not self.has_chains:
            method = getattr(self.model, "method", None)
            named = f"this {type(self.model).__name__}" if method is None else f"method={method!r}"
            raise InputError(f"{named} has no chains that could go on: sample anew")

    @property
    def acceptance(self) -> dict[str, float]:
        """Of each proposal, the share of its turns that changed the state; nothing where none is accepted or refused.

        Of tempered chains that is the cold rung's.
        """
        shares = self.model.shares
        if not shares or not self.has_chains:
            return {}
        cold = [self._rungs_of(state)[0] for state in self.states]
        turns, accepted = (np.sum([rung[name] for rung in cold], axis=0) for name in ("turns", "accepted"))
        return dict(zip(shares, (accepted / np.maximum(turns, 1)).tolist(), strict=True))

    @property
    def tempered(self) -> bool:
        """Whether there are chains at several temperatures."""
        return self.settings.temperatures > 1 and self.has_chains

    def swaps(self) -> Swaps:
        """How the rungs of tempered chains exchanged their states: replica exchange."""
        if not self.tempered:
            remedy = "sample with temperatures=12, say" if self.model.tempers else "chains of this model cannot be"
            raise InputError(f"these chains were not tempered: {remedy}")
        return Swaps.of([state["position"] for state in self.states])

    @property
    def known_evidence(self) -> LogEvidence | None:
        """The log evidence P(y | x), where tempered chains tell it."""
        return None

    def _rungs_of(self, state: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The rungs of the state of a chain; one that is never tempered is its only rung."""
        return state["rungs"] if self.model.tempers else [state]

    def __getstate__(self) -> dict[str, Any]:
        """All but what is made again when needed.

        What a comparison of the chains found goes along, and the training rows do not; where nobody has compared them
        yet the monitored rows go along instead, so that it can still be done.
        """
        found = self.__dict__.get("_diagnostics", self.recorded)
        kept = {name: value for name, value in self.__dict__.items() if name not in ("prediction", "_diagnostics")}
        return kept | {"recorded": found, "monitored": self.monitored if found is None else None}

    # ---- do the chains agree? -------------------------------------------------------------------------------------

    def diagnostics(self, rows: Any = None, *, draws: int | None = DRAWS) -> Diagnostics:
        """What tells whether the chains agree.

        Parameters
        ----------
        rows : Design, path, frame or array-like, optional
            Rows at which predictions and splits are compared; equal ones count once. By default some of the training
            rows, at most 200, as the run left them or as the model file has them on record; of a file that has
            nothing on record neither is known.
        draws : int or None
            How many draws of each chain they are compared on, evenly spaced. None for all, and for log-likelihood and
            leaves as well, of which else 10,000 are looked at.

        Returns
        -------
        Diagnostics
            ``print(posterior.summary())`` shows it.
        """
        if rows is None and draws == DRAWS:
            return self._diagnostics
        if draws is not None:
            require_whole("draws", draws, 1)
        return self._diagnose(self.monitored if rows is None else self._rows(rows), draws)

    @cached_property
    def _diagnostics(self) -> Diagnostics:
        found = self.recorded
        if found is not None and (found.chains, found.draws) == (self.chains, self.draws):
            return found
        return self._diagnose(self.monitored, DRAWS)

    def trace(self) -> Trace:
        """What each draw of each chain has of likelihood, size and what else is monitored; ``plot`` it."""
        return Trace(self.series)

    def series_diagnostics(self) -> Diagnostics:
        """What tells whether the chains agree on all but predictions: quickly found."""
        return diagnose_series(self.series, None, None, DRAWS, self.size)

    def _diagnose(self, rows: Rows | None, draws: int | None) -> Diagnostics:
        """Compare the chains at some rows, on some draws of each."""
        predicting = None if rows is None else self.prediction.some(draws)
        return diagnose_series(self.series, predicting, rows, draws, self.size)

    def _rows(self, rows: Any) -> Rows:
        bins = self.bins_of(rows) if isinstance(rows, AnyDesign) else self.schema.encode(rows)
        if not len(bins):
            raise InputError("0 rows; predictions are compared at one row or more")
        return distinct_rows(bins)

    def bins_of(self, design: AnyDesign) -> np.ndarray:
        """The bins of a design with the columns and cuts of this posterior, shape (rows, columns)."""
        if not isinstance(design, AnyDesign) or design.schema != self.schema:
            raise InputError("these are not the columns and cut points that the draws came from; give the same design")
        return design.at(slice(None))

    # ---- ArviZ ----------------------------------------------------------------------------------------------------

    @property
    def variables(self) -> dict[str, Variable]:
        """What a draw has in the way of numbers, by the names that they have in ArviZ."""
        return {}

    @property
    def sample_stats(self) -> dict[str, Variable]:
        """What else is known of each draw, likewise."""
        return {"joint_log_likelihood": Variable(self.log_likelihood)}

    def given_by(self, design: AnyDesign) -> dict[str, Any]:
        """What predictions at a design take from it besides its rows."""
        return {}

    def pointwise_log_likelihood(self, design: AnyDesign) -> np.ndarray:
        """log P(y | x, parameters) of each draw and row, in the unit of the response, shape (chains, draws, rows).

        What estimates of predictive performance such as PSIS-LOO and WAIC begin with. Given its parameters a draw's
        likelihood is a product over rows. Parameters that chains integrated out are drawn from their full conditional,
        as `predict` draws them for ``kind="draws"``, so that a draw and they together are one of the posterior.

        Parameters
        ----------
        design : Design or LinearDesign
            Rows with their responses and weights: the training data, or others that were read by the same schema. A
            row whose response was not seen has 0.
        """
        bins, given = self.bins_of(design), self.given_by(design)
        found = self.prediction.log_density(bins, design.y, design.weight, **given)
        return found if design.seen is None else np.where(design.seen, found, 0.0)

    def to_datatree(self, design: AnyDesign | None = None, *, predictive: bool = False) -> DataTree:
        """The draws as ArviZ takes them, with dimensions chain and draw.

        Trees are no numbers, so the group ``posterior`` holds what is, such as their numbers of leaves or σ.
        ``sample_stats`` holds ``joint_log_likelihood``, the log-likelihood of all rows together and, where it is known,
        ``log_prior`` and the log density ``lp`` of what the chains sample from.

        Parameters
        ----------
        design : Design, LinearDesign or SequenceDesign, optional
            The training data, of which the rows count whose response was seen. With it, ``posterior`` also holds
            E(y | x) at every row, ``mu``, or of classes ``probability``; ``log_likelihood`` the log-likelihood of each
            row, see `pointwise_log_likelihood`, for ``arviz_stats.loo`` and ``compare``; ``observed_data`` the
            response, and ``constant_data`` the columns, as bins or as a matrix, with weights and offsets. That takes
            memory for chains × draws × rows numbers.
        predictive : bool
            Whether to draw new responses at the rows of the design as well, as the group ``posterior_predictive``.

        Returns
        -------
        xarray.DataTree
            Needs ``pip install 'baytree[arviz]'``.
        """
        return to_datatree(self, design, predictive)

    # ---- files ----------------------------------------------------------------------------------------------------

    def part(self, chain: int, begin: int, end: int) -> Part:
        """Draws begin … end of one chain, with what is new in them."""
        there = {name: found for name in self.of_draws if (found := getattr(self, name)) is not None}
        drawn = {name: found[chain, begin:end] for name, found in there.items()}
        flat = {RUNGS: drawn[RUNGS].ravel()} if RUNGS in drawn else {}
        return self._part(chain, begin, end) | drawn | flat

    def _part(self, chain: int, begin: int, end: int) -> Part:
        """What is in a part besides the arrays of draws."""
        return {}

    @classmethod
    def require_types(cls, parts: Sequence[Sequence[Part]]) -> None:
        """Raise InputError for arrays that are not of the types that chains record."""
        for name, array in (item for chain in parts for part in chain for item in part.items()):
            if array.dtype != cls.array_types.get(name, np.float64):
                raise InputError(f"array {name!r} is of type {array.dtype}")

    @classmethod
    def from_parts(
        cls,
        model: AnyModel,
        schema: Any,
        settings: RunSettings,
        parts: Sequence[Sequence[Part]],
        states: Sequence[dict[str, Any]],
        monitored: Rows | None = None,
        recorded: Diagnostics | None = None,
    ) -> Self:
        """Put together what the chains recorded, `parts[chain]` being its blocks in order; this empties them."""
        own = cls._fields_of(parts, model, schema)
        drawn = {name: taken(parts, name) for name in cls.of_draws if name in parts[0][0]}
        if RUNGS in drawn:
            drawn[RUNGS] = drawn[RUNGS].reshape(*drawn["log_likelihood"].shape, -1)
        common = {"model": model, "schema": schema, "settings": settings, "states": tuple(states)}
        return cls(**common, **drawn, **own, **{"monitored": monitored, "recorded": recorded})

    @classmethod
    def _fields_of(cls, parts: Sequence[Sequence[Part]], model: Any, schema: Any) -> dict[str, Any]:
        """The fields that are no arrays of draws, taken out of what the chains recorded."""
        return {}

    def check(self) -> Self:
        """Raise InputError where the parts do not belong together; gives the posterior itself."""
        shape, settings = self.log_likelihood.shape, self.settings
        if len(shape) != 2 or 0 in shape or not settings.chains == shape[0] == len(self.states):
            raise InputError("draws or states are missing")
        if settings.temperatures > 1 and not self.model.tempers:
            raise InputError("chains of this model are not tempered")
        rungs = self.rung_log_likelihood
        if self.tempered and (rungs is None or rungs.shape != (*shape, settings.temperatures)):
            raise InputError("the log-likelihoods of the rungs are missing")
        try:
            if self.has_chains and not all(map(self._goes_on, self.states)):
                raise InputError("the states of the chains do not fit their draws")
            self._check()
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise InputError(f"the states of the chains cannot be read ({error!r})") from error
        return self

    def _goes_on(self, state: Mapping[str, Any]) -> bool:
        """Whether a chain could go on from a state, as far as all families have one."""
        rungs, shares = self._rungs_of(state), self.model.shares
        counts = [rung[name] for rung in rungs for name in ("turns", "accepted")] if shares else []
        whole = len(rungs) == self.settings.temperatures and {len(count) for count in counts} <= {len(shares)}
        whole = whole and all(type(number) is int and 0 <= number < 2**63 for count in counts for number in count)
        whole = whole and (state["warmed"], state["drawn"]) == (self.settings.warmup, self.log_likelihood.shape[1])
        whole = whole and type(state["toward"]) is int and 0 <= state["toward"] < self.settings.thin
        return whole and (not self.model.tempers or is_position(state["position"], len(rungs)))

    @abstractmethod
    def _check(self) -> None:
        """Raise InputError where what a family has besides does not belong together, or to the states."""

    @property
    @abstractmethod
    def _numbers(self) -> int:
        """About how many numbers the draws are."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file; an existing one is replaced only when the new one is complete."""
        header = model_header(self.model, self.schema, self.settings) | {"diagnostics": self.diagnostics().to_dict()}
        writer = ModelWriter.create(path, header)
        try:
            for draws in self._blocks():
                writer.append(draws, self.states)
        except BaseException:
            writer.discard()
            raise
        writer.finish()

    def _blocks(self) -> Iterator[list[Part]]:
        """The draws of every chain in blocks, as `from_parts` takes them."""
        blocks = min(self.draws, self._numbers // self.chains // NUMBERS_PER_BLOCK + 1)
        edges = np.linspace(0, self.draws, blocks + 1).astype(int)
        for begin, end in pairwise(edges.tolist()):
            yield [self.part(chain, begin, end) for chain in range(self.chains)]


def model_header(model: AnyModel, schema: Any, settings: RunSettings) -> dict[str, Any]:
    """What a model file says besides the draws."""
    return {"model": model.to_dict(), "schema": schema.to_dict(), "settings": asdict(settings)}


def taken(parts: Sequence[Sequence[Part]], name: str) -> np.ndarray:
    """An array of all draws, taken out of what the chains recorded, shape (chains, draws, …)."""
    return np.stack([np.concatenate([part.pop(name) for part in chain]) for chain in parts])
