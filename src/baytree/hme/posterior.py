"""The posterior of a hierarchical mixture of experts: draws of soft trees, or the one tree that a method found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..data.matrix import LinearDesign, LinearSchema
from ..diagnostics.comparison import Rows
from ..diagnostics.convergence import Diagnostics
from ..errors import InputError
from ..interpret.explanation import ExplainsRows, Reasons
from ..mcmc.settings import RunSettings
from ..posterior.arviz import Variable, with_prior
from ..posterior.base import RUNGS
from ..posterior.prediction import Kind
from ..posterior.report import Report
from ..validation import require_place, require_whole
from .data.inputs import Inputs
from .data.outputs import Outputs
from .explanation import reasons_of, spreads_of
from .fitting.em import penalty
from .fitting.methods import Fitted, learn_rows
from .fitting.online import OnlineState, first_state
from .fitting.recording import OF_MODE, RECURSION, Went, centre_of, part_of, recorded
from .fitting.sem import Problem, error_bars, to_mode
from .interpret.expert_words import ExpertWords, expert_words
from .interpret.gate_directions import GateDirections, gate_directions
from .model import BY_CHAINS, HME, TrainingRows
from .prediction import SoftPrediction
from .summary import HMESummary
from .tree.layout import PARAMETERS
from .tree.soft_tree import SoftTree


@dataclass(frozen=True, eq=False)
class HMEPosterior(ExplainsRows):
    """Draws of soft trees.

    Methods that end with one tree give one draw of one chain, a mean field independent draws of one. Gates and
    experts are for inputs and outputs in standard units, which `inputs` and `outputs` make. Labels switch: leaf 3
    of one draw need not be leaf 3 of another, so parameters are not averaged over draws, but predictions are.

    Attributes
    ----------
    model : HME
        The model, with everything that was left open filled in.
    schema : LinearSchema
        The training table's names, levels and response.
    settings : RunSettings
        How the draws were asked for.
    gates : numpy.ndarray
        The coefficients of the gates, shape (chains, draws, numbers): level by level, node by node, branch by branch
        but the last, input by input.
    coefficients : numpy.ndarray
        Those of the experts, likewise: leaf by leaf, then input by input and output by output; of classes, class by
        class but the last and input by input.
    variance : numpy.ndarray or None
        The variances of linear and constant experts, leaf by leaf and output by output.
    log_likelihood, log_prior : numpy.ndarray
        log P(y | x) of the training rows, of outputs in standard units, and the log prior or minus the penalty, of
        each draw.
    rung_log_likelihood : numpy.ndarray or None
        Of tempered chains, log P(y | decisions) of every rung, shape (chains, draws, rungs).
    states : tuple of dict
        Where each chain stopped, so that it can go on; of methods without chains, how the fit went.
    monitored, recorded
        See `BasePosterior`.
    recursion : numpy.ndarray, optional
        Of a tree that learns row by row, what the recursions carry besides it, shape (1, 1, numbers).
    """

    model: HME
    schema: LinearSchema
    settings: RunSettings
    gates: np.ndarray
    coefficients: np.ndarray
    log_likelihood: np.ndarray
    log_prior: np.ndarray
    states: tuple[dict[str, Any], ...]
    variance: np.ndarray | None = None
    rung_log_likelihood: np.ndarray | None = None
    monitored: Rows | None = None
    recorded: Diagnostics | None = None
    recursion: np.ndarray | None = None

    of_draws = (*PARAMETERS, "log_likelihood", "log_prior", RUNGS, RECURSION)
    size = "log-prior"

    def __repr__(self) -> str:
        size = f"{self.chains} chains × {self.draws:,} draws" if self.chains * self.draws > 1 else "one tree"
        return f"<HMEPosterior by {self.model.method}: {size}, response {self.schema.response.name!r}>"

    @property
    def inputs(self) -> Inputs:
        """How rows become inputs."""
        return self.model.inputs(self.schema)

    @property
    def outputs(self) -> Outputs:
        """How responses become outputs."""
        return self.model.outputs

    # ---- trees ----------------------------------------------------------------------------------------------------

    @property
    def best(self) -> tuple[int, int]:
        """The chain and the draw of highest log-likelihood plus log prior."""
        chain, draw = np.unravel_index(np.argmax(self.log_likelihood + self.log_prior), self.log_likelihood.shape)
        return int(chain), int(draw)

    def tree(self, chain: int | None = None, draw: int | None = None) -> SoftTree:
        """The soft tree of one draw.

        Parameters
        ----------
        chain, draw : int, optional
            Which one; by default the best, or the one that the draws of a mean field or of a normal approximation are
            around.
        """
        if (chain is None) != (draw is None):
            raise InputError("give both the chain and the draw, or neither for the best one")
        if chain is None or draw is None:
            if self._went is not None and self._went.centre is not None:
                return self.model.layout.tree({name: np.array(values) for name, values in self._went.centre.items()})
            chain, draw = self.best
        for name, value, size in (("chain", chain, self.chains), ("draw", draw, self.draws)):
            require_place(name, value, size)
        return self.prediction.tree(int(chain), int(draw))

    def responsibilities(self, X: Any, chain: int | None = None, draw: int | None = None) -> np.ndarray:
        """P(leaf | x) of each row in one draw, shape (rows, leaves).

        Parameters
        ----------
        X : path, frame or array-like
            Rows; frames are matched by column name.
        chain, draw : int, optional
            Which draw; by default the best. Labels switch, so leaves are not those of other draws.
        """
        return np.exp(self.tree(chain, draw).log_paths(self.inputs.matrix(X))).T

    def experts(self, chain: int | None = None, draw: int | None = None) -> tuple[ExpertWords, ...]:
        """What the experts of one draw say, in the units of the table; ``print`` one.

        Parameters
        ----------
        chain, draw : int, optional
            Which draw; by default the best.
        """
        return expert_words(self.tree(chain, draw), self.inputs, self.outputs, self.schema.response)

    def gate_directions(self, chain: int | None = None, draw: int | None = None) -> GateDirections:
        """What each gate of one draw asks, above what its experts say; ``print`` or ``plot`` it.

        Parameters
        ----------
        chain, draw : int, optional
            Which draw; by default the best.
        """
        live = self.live_leaves
        said = tuple(str(words) if live[leaf] else "shut" for leaf, words in enumerate(self.experts(chain, draw)))
        return gate_directions(self.tree(chain, draw), self.inputs.names, said)

    # ---- prediction -----------------------------------------------------------------------------------------------

    @cached_property
    def prediction(self) -> SoftPrediction:
        """What the draws say about rows of the matrix."""
        drawn = {name: getattr(self, name) for name in PARAMETERS if getattr(self, name) is not None}
        return SoftPrediction(self.model, self.inputs, drawn, self.settings.seed)

    def predict(self, X: Any, kind: Kind = "mean", prob: float = 0.9) -> Any:
        """Predict new rows, averaging over the draws.

        Parameters
        ----------
        X : path, frame or array-like
            New rows; frames are matched by column name.
        kind : {"mean", "sd", "interval", "draws", "predictive", "predictive_interval"}
            ``"mean"``: E(y | x), shape (rows,), or (rows, outputs) of several; with classes their probabilities,
            (rows, classes).
            ``"sd"``: of numbers, the standard deviation of a new y: the experts' noise, their differences and those of
            the draws.
            ``"interval"``: an equal-tailed credible interval of E(y | x), with a last axis of 2; not of a single tree.
            ``"draws"``: draws of E(y | x), with leading axes (chains, draws).
            ``"predictive"``: draws of a new y, likewise; with classes, positions in the classes.
            ``"predictive_interval"``: of numbers, an equal-tailed interval of a new y.
        prob : float
            The probability of an interval.
        """
        return super().predict(X, kind, prob)

    def predict_proba(self, X: Any, kind: Kind = "mean", prob: float = 0.9) -> Any:
        """Class probabilities, as `predict` gives them; an error where the response is a number."""
        if self.schema.response.classes is None:
            raise InputError(f"{self.schema.response.name!r} is a number and has no classes; use predict")
        return self.predict(X, kind, prob)

    def normal_approximation(self, design: LinearDesign, draws: int = 1000) -> HMEPosterior:
        """Draws around EM's mode: a normal approximation, whose curvature SEM finds from EM's own steps.

        EM goes on until the tree is the mode, which is the centre. Credible intervals of the result are error bars of
        what the tree predicts; they know nothing of other modes.

        Parameters
        ----------
        design : LinearDesign
            The data it was fitted to.
        draws : int
            How many.
        """
        require_whole("draws", draws, 1)
        if self.model.method != "em" or self.model.early_stopping or self.model.keep_columns:
            named = "early_stopping" if self.model.early_stopping else f"method={self.model.method!r}"
            named = "keep_columns" if self.model.keep_columns else named
            raise InputError(f"{named} does not end at a mode, which error bars need; choose method='em' without it")
        if self.settings.data != design.fingerprint():
            raise InputError("these are not the data that the tree was fitted to; give the same table")
        rows = self.model.rows(design)
        problem = Problem(*rows, float(self.model.ridge))
        bars = error_bars(to_mode(self.tree(), problem), problem)
        drawn = bars.draws(int(draws), np.random.default_rng([self.settings.seed, OF_MODE]))
        part = part_of(self.model, drawn, [-penalty(tree, problem.ridge) for tree in drawn], rows)
        assert self._went is not None
        went = replace(self._went, centre=centre_of(self.model, bars.tree))
        settings = replace(self.settings, draws=int(draws))
        return self.from_parts(self.model, self.schema, settings, [[part]], [went.to_state()], self.monitored)

    def _reasons(self, values: Sequence[Any], rows: np.ndarray, place: int, prob: float) -> Reasons:
        return reasons_of(self, rows, place)

    def _spreads(self) -> list[tuple[float, float]]:
        return spreads_of(self)

    # ---- how it went ----------------------------------------------------------------------------------------------

    @property
    def has_chains(self) -> bool:
        """Whether the draws come from chains, which can go on."""
        return self.model.method in BY_CHAINS

    @cached_property
    def _went(self) -> Went | None:
        """How a fit without chains went; None of chains."""
        return None if self.has_chains else Went(**self.states[0])

    @property
    def objective(self) -> tuple[float, ...]:
        """What a method without chains maximised, before each epoch and at the end; of chains nothing."""
        return () if self._went is None else tuple(self._went.objective)

    @property
    def bound(self) -> float | None:
        """The bound of the log evidence that a mean field reached, of outputs in standard units; None of others."""
        return self.objective[-1] if self.model.method == "variational" else None

    @property
    def live_leaves(self) -> np.ndarray:
        """Which leaves there are: all, or of a mean field those that it has not shut."""
        live = None if self._went is None else self._went.live
        return np.ones(self.model.leaves, dtype=bool) if live is None else np.array(live)

    @property
    def held_out(self) -> tuple[float, ...]:
        """The mean log-likelihood of the rows that early stopping held out, likewise."""
        return () if self._went is None else tuple(self._went.held_out)

    @property
    def epochs(self) -> int:
        """Passes over the data of a method without chains; 0 of chains."""
        return 0 if self._went is None else self._went.epochs

    @property
    def converged(self) -> bool:
        """Whether such a method ended by itself; true of chains, which `summary` judges."""
        return self._went is None or self._went.converged

    def summary(self) -> HMESummary:
        """What was found, and whether the chains agree; ``print`` it."""
        return HMESummary.of(
            self,
            has_chains=self.has_chains,
            epochs=self.epochs,
            converged=self.converged,
            live_leaves=int(self.live_leaves.sum()),
            log_likelihood=float(self.log_likelihood.mean()),
            gates=self.gate_directions(),
            experts=self.experts(),
        )

    def reported(self, data: Any = None, **options: Any) -> Report[Any]:
        """The report before it is a file."""
        from .report import HMEReport

        return HMEReport(self, data, **options)

    @property
    def series(self) -> dict[str, np.ndarray]:
        """The log-likelihood and the log prior of each draw."""
        return {"log-likelihood": self.log_likelihood, "log-prior": self.log_prior}

    @property
    def variables(self) -> dict[str, Variable]:
        """Gates and experts as they are stored. Labels switch: no mean of them means anything, and no R-hat."""
        found = {name: getattr(self, name) for name in PARAMETERS}
        return {
            name: Variable(values, {f"{name}_number": range(values.shape[2])})
            for name, values in found.items()
            if values is not None and values.size
        }

    @property
    def sample_stats(self) -> dict[str, Variable]:
        """What else is known of each draw: its prior."""
        return super().sample_stats | with_prior(self.log_likelihood, self.log_prior)

    # ---- files ----------------------------------------------------------------------------------------------------

    @property
    def _numbers(self) -> int:
        return self.gates.size + self.coefficients.size

    def _check(self) -> None:
        """Raise InputError where the parameters of the draws do not belong to the model."""
        self.model.calibrated.check(self.schema)
        if isinstance(scales := self.model.scale, tuple) and len(scales) != len(self.outputs.scale):
            raise InputError("the scales of the noise do not fit the outputs")
        self.model.layout.check({name: getattr(self, name) for name in PARAMETERS}, (self.chains, self.draws))
        for values in (self.log_likelihood, self.log_prior):
            if values.shape != self.log_likelihood.shape or not np.isfinite(values).all():
                raise InputError("the log-likelihoods or log priors of the draws are damaged")
        if self._went is not None:
            self._went.check(self.model.layout)
        self._check_recursion()

    def _check_recursion(self) -> None:
        """Of what the recursions carry besides the tree."""
        if (self.recursion is None) != (self.model.method != "online"):
            raise InputError("what the recursions carry is missing")
        if self.recursion is not None:
            shape = (1, 1, len(first_state(self.tree()).packed()))
            if self.recursion.shape != shape or not np.isfinite(self.recursion).all():
                raise InputError("what the recursions carry is damaged")

    def learn(self, rows: TrainingRows, epochs: int, decay: float, generator: np.random.Generator) -> HMEPosterior:
        """The posterior whose one tree has learned more rows by the recursions, which go on where they are.

        Parameters
        ----------
        rows, epochs, decay, generator
            As for `baytree.hme.fitting.methods.learn_rows`.
        """
        found = learn_rows(self._recursion(), rows, epochs, decay, generator)
        part, went = recorded(self.model, found, rows)
        return self.from_parts(self.model, self.schema, self.settings, [[part]], [went.to_state()])

    def _recursion(self) -> Fitted:
        """Where the recursions are."""
        tree = self.tree()
        assert self.recursion is not None
        return Fitted(tree, (), epochs=self.epochs, state=OnlineState.of(self.recursion[0, 0], tree))
