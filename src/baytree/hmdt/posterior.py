"""The posterior of a hidden Markov decision tree: the one tree that EM found, and what it says of sequences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.design import AnyDesign
from ..data.matrix import LinearSchema
from ..diagnostics.comparison import Rows
from ..diagnostics.convergence import Diagnostics
from ..errors import InputError
from ..hme.data.inputs import Inputs
from ..hme.data.outputs import Outputs, expert_for
from ..hme.interpret.expert_words import ExpertWords, expert_words
from ..hme.tree.layout import PARAMETERS
from ..hme.tree.soft_tree import SoftTree
from ..mcmc.settings import RunSettings
from ..plots.decisions import decisions_over_time
from ..posterior.arviz import Variable, with_prior
from ..posterior.base import BasePosterior
from ..posterior.prediction import BY_DRAWS, Kind, kinds_of
from ..posterior.report import Report
from ..text import counted
from ..validation import require_field_types, require_whole, threads_of
from .data.design import SequenceDesign, require_sequences
from .data.reading import Joined, joined, responses_of
from .data.sequences import Sequences
from .model import HMDT
from .prediction import MarkovPrediction
from .summary import HMDTSummary, lengths_of
from .tree.inference import DecisionPath, Decisions, Inference, asked
from .tree.markov_tree import MarkovTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How many standard deviations a new response may lie from those of the fit: its square stays a number.
FARTHEST = 1e100


@dataclass(frozen=True)
class Went:
    """How EM went, as the state of the posterior keeps it.

    Attributes
    ----------
    objective, converged
        As `HMDTPosterior` has them.
    sequences, seen : int
        How many sequences there were, and rows whose response was seen.
    """

    objective: list[float]
    converged: bool
    sequences: int
    seen: int

    def check(self, rows: int) -> None:
        """Raise InputError where a model file has what no fit to so many rows keeps."""
        require_field_types(self)
        if not self.objective or not 0 < self.sequences <= rows or not 0 < self.seen <= rows:
            raise InputError("the state does not say how EM went, and of what data")


@dataclass(frozen=True, eq=False)
class HMDTPosterior(BasePosterior):
    """A hidden Markov decision tree, as one draw of one chain.

    Gates and experts are for inputs and outputs in standard units, which `inputs` and `outputs` make.

    *Sequences* are given as one table in the order of time with `groups`, or as a list of tables and a list of
    responses; results are lists then, too. Responses that were not seen are NaN or None; where y is left out, none was.

    Attributes
    ----------
    model : HMDT
        The model, with everything that was left open filled in.
    schema : LinearSchema
        The training table's names, levels and response.
    settings : RunSettings
        The seed, and what the data were.
    gates : numpy.ndarray
        The coefficients of gates and transitions, shape (1, 1, numbers): node by node, branch by branch but the last.
    coefficients : numpy.ndarray
        Those of the experts, likewise: leaf by leaf, then input by input and output by output; of classes, class by
        class but the last and input by input.
    variance : numpy.ndarray or None
        The variances of linear and constant experts, leaf by leaf and output by output.
    log_likelihood, log_prior : numpy.ndarray
        log P(y | x) of the training rows, of outputs in standard units, by a mean field its lower bound; and minus the
        penalty; shape (1, 1).
    states : tuple of dict
        How EM went.
    monitored, recorded
        See `BasePosterior`.
    """

    model: HMDT
    schema: LinearSchema
    settings: RunSettings
    gates: np.ndarray
    coefficients: np.ndarray
    log_likelihood: np.ndarray
    log_prior: np.ndarray
    states: tuple[dict[str, Any], ...]
    variance: np.ndarray | None = None
    monitored: Rows | None = None
    recorded: Diagnostics | None = None

    of_draws = (*PARAMETERS, "log_likelihood", "log_prior")
    size = "log-prior"

    def __repr__(self) -> str:
        return f"<HMDTPosterior: one tree by {self.model.method} sums, response {self.schema.response.name!r}>"

    @property
    def has_chains(self) -> bool:
        """Whether the draws come from chains, which can go on: no."""
        return False

    @property
    def inputs(self) -> Inputs:
        """How rows become inputs."""
        return self.model.inputs(self.schema)

    @property
    def outputs(self) -> Outputs:
        """How responses become outputs."""
        return self.model.outputs

    # ---- the tree -------------------------------------------------------------------------------------------------

    def tree(self) -> MarkovTree:
        """Gates, transitions and experts."""
        there = {name: getattr(self, name) for name in PARAMETERS if getattr(self, name) is not None}
        return self.model.layout.markov_tree({name: values[0, 0] for name, values in there.items()})

    def experts(self) -> tuple[ExpertWords, ...]:
        """What the experts say, in the units of the table; ``print`` one."""
        leaves = SoftTree((), self.tree().experts)
        return expert_words(leaves, self.inputs, self.outputs, self.schema.response)

    @property
    def transitions(self) -> np.ndarray:
        """P(decision | the one before) of each node where inputs are average, shape (nodes, branching, branching)."""
        return self.tree().at_average()[1]

    @property
    def initial(self) -> np.ndarray:
        """P(decision) of each node at the first row of a sequence, likewise, shape (nodes, branching)."""
        return self.tree().at_average()[0]

    @property
    def stays(self) -> np.ndarray:
        """P(decision | the same one before) of each node, likewise, shape (nodes, branching)."""
        return self.transitions.diagonal(axis1=1, axis2=2)

    @property
    def lengths(self) -> np.ndarray:
        """How many rows each decision of a node lasts on average, likewise."""
        return lengths_of(self.stays)

    # ---- sequences ------------------------------------------------------------------------------------------------

    def read(self, X: Any, y: Any = None, groups: Any = None) -> tuple[Joined, Sequences]:
        """New sequences: as they were given, and as inputs and outputs.

        Parameters
        ----------
        X, y, groups
            As for `predict`.
        """
        given = joined(X, y, groups)
        inputs = self.inputs.matrix(given.X)
        width = len(self.outputs.scale)
        if given.y is None:
            values, was_seen = np.ones((len(inputs), width)), np.zeros(len(inputs), dtype=bool)
        else:
            values, was_seen = responses_of(given.y, self.schema.response, self.model.calibrated.one_output)
        if values.shape != (len(inputs), width):
            raise InputError(
                f"y has {counted(len(values), 'row')} of {counted(values.shape[1], 'response')}, and X has "
                f"{counted(len(inputs), 'row')}; give {counted(width, 'response')} for each row"
            )
        standard = self.outputs.standard(values)
        if (far := (np.abs(standard) > FARTHEST).any(axis=1) & was_seen).any():
            row = int(far.argmax())
            raise InputError(
                f"y: {values[row].max():g} at row index {row} is too far from the responses of the fit; correct it"
            )
        return given, Sequences(inputs, standard, was_seen, given.begin)

    @property
    def inference(self) -> Inference:
        """What sums over decisions are taken by."""
        return Inference(self.tree(), self.model.exact, threads_of(None))

    @property
    def prediction(self) -> MarkovPrediction:
        """What the tree says of rows from the rows before them."""
        return MarkovPrediction(self.model, self.inputs, self.inference, self.settings.seed)

    def predict(self, X: Any, kind: Kind = "mean", prob: float = 0.9, *, y: Any = None, groups: Any = None) -> Any:
        """Predict each row one step ahead, from the rows before it in its sequence.

        Parameters
        ----------
        X : path, frame or array-like, or list of them
            New rows in the order of time, or a table for each sequence; frames are matched by column name.
        kind : {"mean", "sd", "draws", "predictive", "predictive_interval"}
            One, or several, which are then made together.
            ``"mean"``: E(y_t | x_1 … x_t, y_1 … y_{t−1}), shape (rows,), or (rows, outputs) of several; with classes
            their probabilities, (rows, classes).
            ``"sd"``: of numbers, the standard deviation of y_t given these, likewise.
            ``"predictive_interval"``: of numbers, an equal-tailed interval of y_t given these, with a last axis of 2.
            ``"predictive"``: a new y_t given these, with leading axes (1, 1); with classes, a position in the classes.
            ``"draws"``: the mean, likewise: there is one tree.
        prob : float
            The probability of an interval.
        y : array-like, or list of them, optional
            Their responses, NaN or None where they were not seen; left out, none was.
        groups : array-like, optional
            Of one table, the sequence of each row; rows of a sequence lie together. Left out, all are one sequence.

        Returns
        -------
        numpy.ndarray
            For a list of sequences a list of them; of several kinds, each by its name.
        """
        given, sequences = self.read(X, y, groups)
        found = self.prediction.predict(sequences.X, kinds_of(kind), prob, sequences=sequences)
        parts = {one: given.given_back(values, 2 if one in BY_DRAWS else 0) for one, values in found.items()}
        return parts[kind] if isinstance(kind, str) else parts

    def predict_proba(self, X: Any, *, y: Any = None, groups: Any = None) -> Any:
        """Class probabilities one step ahead, as `predict` gives them; an error where the response is a number."""
        if self.schema.response.classes is None:
            raise InputError(f"{self.schema.response.name!r} is a number and has no classes; use predict")
        return self.predict(X, y=y, groups=groups)

    def filter(self, X: Any, y: Any = None, groups: Any = None, ahead: bool = False) -> Decisions | Any:
        """What is known of the decisions from the rows up to each one: the forward pass, P(· | x_1 … x_t, y_1 … y_t).

        Parameters
        ----------
        X, y, groups
            Sequences, as for `predict`.
        ahead : bool
            Whether to leave out the row's own y.

        Returns
        -------
        Decisions
            For a list of sequences a list of them.
        """
        given, sequences = self.read(X, y, groups)
        found = self.inference.ahead(sequences)
        kind = (found.leaf_ahead, found.decision_ahead) if ahead else (found.leaf, found.decision)
        return _given_back(given, Decisions, *kind)

    def smooth(self, X: Any, y: Any = None, groups: Any = None) -> Decisions | Any:
        """What is known of the decisions from all rows of their sequence, by forward–backward: P(· | all x, all y).

        Parameters
        ----------
        X, y, groups
            Sequences, as for `predict`.

        Returns
        -------
        Decisions
            For a list of sequences a list of them.
        """
        given, sequences = self.read(X, y, groups)
        found = self.inference.smooth(sequences)
        return _given_back(given, Decisions, found.leaf, found.decision)

    def viterbi(self, X: Any, y: Any = None, groups: Any = None) -> DecisionPath | Any:
        """The most probable decisions of all nodes at all times together: the Viterbi path.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `predict`.

        Returns
        -------
        DecisionPath
            For a list of sequences a list of them.
        """
        given, sequences = self.read(X, y, groups)
        found = self.inference.best_path(sequences)
        return _given_back(given, DecisionPath, found.leaf, found.decision)

    def log_likelihood_of(self, X: Any, y: Any, groups: Any = None) -> np.ndarray:
        """log P(y_1 … y_T | x_1 … x_T) of each sequence in the units of y, by a mean field its lower bound (ELBO).

        Parameters
        ----------
        X, y, groups
            Sequences, as for `predict`.
        """
        _, sequences = self.read(X, y, groups)
        units = self._log_unit * sequences.totals(sequences.seen.astype(float))
        return self.inference.log_likelihood(sequences) + units

    @property
    def log_likelihood_in_units(self) -> float:
        """log P(y | x) of the training rows in the units of y, by a mean field a lower bound of it."""
        return float(self.log_likelihood[0, 0]) + self._log_unit * self._went.seen

    @property
    def _log_unit(self) -> float:
        """What changing from standard units to those of y adds to the log density of a row."""
        return -float(np.sum(np.log(self.outputs.scale)))

    def plot_decisions(
        self, X: Any, y: Any = None, groups: Any = None, sequence: int = 0, ax: Axes | None = None
    ) -> Axes:
        """Draw the decisions of every node over time, one band for each from the root down.

        The colour is the branch that is expected given all rows, faint where the node is hardly asked; the line is the
        branch on the most probable path, where that asks the node.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `predict`.
        sequence : int
            Which of them.
        ax : matplotlib axes, optional
            Where to draw; by default in a new figure.
        """
        given, sequences = self.read(X, y, groups)
        count = len(given.begin) - 1
        require_whole("sequence", sequence, 0)
        if sequence >= count:
            raise InputError(f"sequence={sequence}: there are {count}; choose from 0 to {count - 1}")
        rows = slice(given.begin[sequence], given.begin[sequence + 1])
        known, path = self.inference.smooth(sequences), self.inference.best_path(sequences)
        decision = known.decision[rows]
        nodes, branching = decision.shape[1:]
        reached = known.leaf[rows] @ asked(np.arange(known.leaf.shape[1]), nodes, branching)
        on_path = asked(path.leaf[rows], nodes, branching)
        title = f"Decisions over time for {self.schema.response.name}"
        return decisions_over_time(decision, reached, path.decision[rows], on_path, ax, title)

    # ---- how it went ----------------------------------------------------------------------------------------------

    @cached_property
    def _went(self) -> Went:
        """How EM went, and of what data."""
        return Went(**self.states[0])

    @property
    def objective(self) -> tuple[float, ...]:
        """The penalised log-likelihood, or its bound, in standard units before each epoch, and at the end."""
        return tuple(self._went.objective)

    @property
    def epochs(self) -> int:
        """Passes over the data."""
        return len(self.objective) - 1

    @property
    def converged(self) -> bool:
        """Whether EM ended by itself."""
        return self._went.converged

    def summary(self) -> HMDTSummary:
        """What was found: what the leaves say, and how long each decision lasts; ``print`` it."""
        return HMDTSummary.of(
            self,
            sequences=self._went.sequences,
            seen=self._went.seen,
            epochs=self.epochs,
            converged=self.converged,
            log_likelihood=self.log_likelihood_in_units,
            stays=tuple(map(tuple, self.stays.tolist())),
            experts=self.experts(),
        )

    def reported(self, data: Any = None, **options: Any) -> Report[Any]:
        """The report before it is a file."""
        from .report import HMDTReport

        return HMDTReport(self, data, **options)

    @property
    def series(self) -> dict[str, np.ndarray]:
        """The log-likelihood and the log prior."""
        return {"log-likelihood": self.log_likelihood, "log-prior": self.log_prior}

    @property
    def sample_stats(self) -> dict[str, Variable]:
        """What else is known of the tree: its prior."""
        return super().sample_stats | with_prior(self.log_likelihood, self.log_prior)

    def given_by(self, design: AnyDesign) -> dict[str, Any]:
        """What predictions at a design take from it besides its rows: where sequences begin, and what was seen."""
        require_sequences(design)
        assert isinstance(design, SequenceDesign)
        return {"sequences": self.model.sequences(design)}

    # ---- files ----------------------------------------------------------------------------------------------------

    @property
    def _numbers(self) -> int:
        return self.gates.size + self.coefficients.size

    def _check(self) -> None:
        """Raise InputError where the tree is none of the model, or not one."""
        self.model.calibrated.check(self.schema)
        if expert_for(self.model.expert, self.schema.response.task) != self.model.expert:
            raise InputError("the model leaves its experts open")
        if self.model.method == "auto":
            raise InputError("the model leaves its method open")
        self.model.layout.check({name: getattr(self, name) for name in PARAMETERS}, (1, 1))
        for values in (self.log_likelihood, self.log_prior):
            if values.shape != (1, 1) or not np.isfinite(values).all():
                raise InputError("the log-likelihood or the log prior is damaged")
        self._went.check(self.settings.rows)


def _given_back(given: Joined, kind: type, *arrays: np.ndarray) -> Any:
    """Results about rows, in the form in which the sequences were given."""
    parts = [given.given_back(array) for array in arrays]
    return [kind(*each) for each in zip(*parts, strict=True)] if given.listed else kind(*parts)
