"""Hidden Markov decision trees as scikit-learn estimators: decisions that last, for sequences of numbers or classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.frames import table_of
from ..data.matrix import LinearDesign
from ..data.response import response_vector
from ..data.values import column_values, plain_array
from ..errors import InputError
from ..estimators import Estimator
from ..hme.em import Settings
from ..hme.inputs import Inputs
from ..hme.mixture_quantiles import quantile
from ..hme.model import HME, RIDGE
from ..hme.outputs import OF_CLASSES, OF_NUMBERS, Outputs, design_of_outputs, indicators_of
from ..plots.decisions import decisions_over_time
from ..text import counted
from ..validation import require_prob, require_whole, seed_of, unknown_choice
from . import em as markov_em
from .inference import DecisionPath, Decisions, Inference, asked, is_exact
from .initialisation import initial_markov_trees
from .sequences import Joined, Sequences, joined, seen
from .tree import MarkovTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INITS = ("stretches", "cart", "random")
KINDS = ("mean", "sd", "predictive_interval")

_PARAMETERS = """
    Parameters
    ----------
    depth : int
        Levels of gates, at least one.
    branching : int
        Children of each gate.
    expert : {experts}
        The models at the leaves.
    method : {{"auto", "exact", "mean_field"}}
        How sums over decisions are taken: exactly over the joint states of all nodes, of which there may be at most
        4,096, or by a chain for each node, fitted to those of the others, which gives a lower bound of the likelihood.
        By itself the exact one where it can be.
    init : {{"stretches", "cart", "random"}} or a fitted decision tree
        Where EM begins: with experts that were each fitted to a short stretch of time; with the gates of a decision
        tree, made soft; or with random ones. A tree of scikit-learn on the same columns may be given.
    ridge : float
        The penalty on coefficients of columns in standard units, and on the terms of the transitions.
    epochs : int
        The most passes over the rows.
    tol : float
        EM ends when an epoch gains less than this a row.
    n_init : int
        How many random trees to begin at; the best end counts.
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        Columns whose numbers are labels. Text and categorical types are categorical without saying so.
    n_jobs : int, optional
        Threads that share the sequences; the results do not depend on them.
    random_state : int, RandomState or None
        An integer gives the same tree each time.

    Attributes
    ----------
    tree_ : MarkovTree
        Gates, transitions and experts, for inputs and outputs in standard units.
    method_ : {{"exact", "mean_field"}}
        How sums over decisions are taken.
    transitions_ : numpy.ndarray of shape (nodes, branching, branching)
        P(decision | the one before) of each node where all inputs are average.
    initial_ : numpy.ndarray of shape (nodes, branching)
        P(decision) of each node at the first row of a sequence, likewise.
    log_likelihood_ : float
        log P(y | x) of the training rows, in the units of y; by ``"mean_field"`` a lower bound of it.
    objective_ : tuple of float
        The penalised log-likelihood, or its bound, in standard units before each epoch, and at the end.
    n_iter_ : int
        The epochs of the best beginning.
    inputs_, outputs_ : Inputs, Outputs
        How rows become inputs, and responses outputs.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : numpy.ndarray
        Their names, when X had any.
"""


class _HMDT(Estimator):
    """What the regressor and the classifier share."""

    _task: Literal["classification", "regression"]
    _experts: tuple[str, ...]

    def fit(self, X: Any, y: Any, groups: Any = None) -> Any:
        """Learn gates, transitions and experts.

        Parameters
        ----------
        X : frame or array-like of shape (rows, columns), or list of them
            The rows in the order of time; a list has one table for each sequence. Where values are missing, the mean
            takes their place and an indicator of that is one more input.
        y : array-like of shape (rows,), for numbers also (rows, outputs), or list of them
            The responses, NaN or None where they were not seen.
        groups : array-like of shape (rows,), optional
            Of one table, the sequence of each row; rows of a sequence lie together. Left out, all are one sequence.
        """
        model = self._model()
        given = joined(X, y, groups)
        values, was_seen = seen(given.y)
        design = design_of_outputs(given.X, values, self._task, None, self.categorical_features)
        validate_data(self, given.X, skip_check_array=True)
        self._describe(design)
        model = model.resolve(design)
        self.inputs_ = Inputs.of(design)
        of_seen = LinearDesign(design.schema, design.matrix[was_seen], design.y[was_seen], None)
        self.outputs_ = Outputs.of(of_seen, model.expert)
        inputs = self.inputs_.of_matrix(design.matrix)
        sequences = Sequences(inputs, self.outputs_.matrix(design), was_seen, given.begin)
        exact = is_exact(str(self.method), model.depth, model.branching)
        settings = Settings(ridge=float(model.ridge), epochs=int(model.epochs), tolerance=float(model.tol))
        generator = np.random.default_rng(seed_of(self._seed()))
        fits = [
            markov_em.fit(begin, sequences, settings, exact, self._threads())
            for begin in initial_markov_trees(model, self._by_stretches, sequences, self.inputs_, generator)
        ]
        best = max(fits, key=lambda fit: fit.objective[-1])
        self.method_ = "exact" if exact else "mean_field"
        self.tree_: MarkovTree = best.tree
        self.objective_ = best.objective
        self.n_iter_ = max(len(best.objective) - 1, 1)
        self.log_likelihood_ = best.log_likelihood + self._log_unit * int(was_seen.sum())
        average = np.zeros((2, inputs.shape[1]))
        first, later = np.exp(self.tree_.log_transitions(average, np.array([True, False])))
        self.initial_, self.transitions_ = first[:, 0], later
        return self

    def _model(self) -> HME:
        """The parameters, checked, as those of a mixture without memory."""
        require_whole("depth", self.depth, 1)
        if self.expert not in self._experts:
            raise unknown_choice("expert", self.expert, self._experts)
        if isinstance(self.init, str) and self.init not in INITS:
            raise unknown_choice("init", self.init, (*INITS, "a fitted decision tree"))
        shared = ("depth", "branching", "expert", "ridge", "epochs", "tol", "n_init")
        init = "random" if self._by_stretches else self.init
        return HME(**{name: getattr(self, name) for name in shared}, init=init)

    @property
    def _by_stretches(self) -> bool:
        return isinstance(self.init, str) and self.init == "stretches"

    def _threads(self) -> int:
        return 1 if self.n_jobs is None else effective_n_jobs(self.n_jobs)

    @property
    def _log_unit(self) -> float:
        """What changing from standard units to those of y adds to the log density of a row."""
        return -float(np.sum(np.log(self.outputs_.scale)))

    def _describe(self, design: LinearDesign) -> None:
        """Keep what the design says about the response."""
        raise NotImplementedError

    def _responses(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Responses as numbers, shape (rows, outputs), and which were seen."""
        raise NotImplementedError

    def _read(self, X: Any, y: Any, groups: Any) -> tuple[Joined, Sequences]:
        """New sequences."""
        check_is_fitted(self)
        given = joined(X, y, groups)
        table_of(given.X)  # first, as its errors about the shape say more
        validate_data(self, given.X, reset=False, skip_check_array=True)
        inputs = self.inputs_.matrix(given.X)
        width = len(self.outputs_.scale)
        if given.y is None:
            values, was_seen = np.ones((len(inputs), width)), np.zeros(len(inputs), dtype=bool)
        else:
            values, was_seen = self._responses(given.y)
        if values.shape != (len(inputs), width):
            raise InputError(
                f"y has {counted(len(values), 'row')} of {counted(values.shape[1], 'response')}, and X has "
                f"{counted(len(inputs), 'row')}; give {counted(width, 'response')} for each row"
            )
        return given, Sequences(inputs, self.outputs_.standard(values), was_seen, given.begin)

    def filter(self, X: Any, y: Any = None, groups: Any = None, ahead: bool = False) -> Decisions | list[Decisions]:
        """What is known of the decisions from the rows up to each one, P(· | x_1 … x_t, y_1 … y_t).

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`; where y is left out, no response was seen.
        ahead : bool
            Whether to leave out the row's own y.

        Returns
        -------
        Decisions
            For a list of sequences a list of them.
        """
        given, sequences = self._read(X, y, groups)
        found = self._inference().ahead(sequences)
        kind = (found.leaf_ahead, found.decision_ahead) if ahead else (found.leaf, found.decision)
        return self._given_back(given, Decisions, *kind)

    def smooth(self, X: Any, y: Any = None, groups: Any = None) -> Decisions | list[Decisions]:
        """What is known of the decisions from all rows of their sequence, P(· | x_1 … x_T, y_1 … y_T).

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`; where y is left out, no response was seen.

        Returns
        -------
        Decisions
            For a list of sequences a list of them.
        """
        given, sequences = self._read(X, y, groups)
        found = self._inference().smooth(sequences)
        return self._given_back(given, Decisions, found.leaf, found.decision)

    def viterbi(self, X: Any, y: Any = None, groups: Any = None) -> DecisionPath | list[DecisionPath]:
        """The most probable decisions of all nodes at all times together.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`; where y is left out, no response was seen.

        Returns
        -------
        DecisionPath
            For a list of sequences a list of them.
        """
        given, sequences = self._read(X, y, groups)
        found = self._inference().best_path(sequences)
        return self._given_back(given, DecisionPath, found.leaf, found.decision)

    def log_likelihood(self, X: Any, y: Any, groups: Any = None) -> np.ndarray:
        """log P(y_1 … y_T | x_1 … x_T) of each sequence in the units of y, by a mean field a lower bound of it.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`.
        """
        _, sequences = self._read(X, y, groups)
        units = self._log_unit * sequences.totals(sequences.seen.astype(float))
        return self._inference().log_likelihood(sequences) + units

    def plot_decisions(
        self, X: Any, y: Any = None, groups: Any = None, sequence: int = 0, ax: Axes | None = None
    ) -> Axes:
        """Draw the decisions of every node over time, one band for each from the root down.

        The colour is the branch that is expected given all rows, faint where the node is hardly asked; the line is the
        branch on the most probable path, where that asks the node.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`; where y is left out, no response was seen.
        sequence : int
            Which of them.
        ax : matplotlib axes, optional
            Where to draw; by default in a new figure.
        """
        given, sequences = self._read(X, y, groups)
        count = len(given.begin) - 1
        require_whole("sequence", sequence, 0)
        if sequence >= count:
            raise InputError(f"sequence={sequence}: there are {count}; choose from 0 to {count - 1}")
        rows = slice(given.begin[sequence], given.begin[sequence + 1])
        inference = self._inference()
        known, path = inference.smooth(sequences), inference.best_path(sequences)
        decision = known.decision[rows]
        nodes, branching = decision.shape[1:]
        reached = known.leaf[rows] @ asked(np.arange(known.leaf.shape[1]), nodes, branching)
        on_path = asked(path.leaf[rows], nodes, branching)
        return decisions_over_time(decision, reached, path.decision[rows], on_path, ax)

    def _inference(self) -> Inference:
        return Inference(self.tree_, self.method_ == "exact", self._threads())

    @staticmethod
    def _given_back(given: Joined, kind: type, *arrays: np.ndarray) -> Any:
        """Results about rows, in the form in which the sequences were given."""
        parts = [given.given_back(array) for array in arrays]
        return [kind(*each) for each in zip(*parts, strict=True)] if given.listed else kind(*parts)


class HMDTRegressor(RegressorMixin, _HMDT):
    __doc__ = f"""A hidden Markov decision tree for sequences of numbers: a mixture of experts whose decisions last.
    {_PARAMETERS.format(experts='{"linear", "constant", "poisson", "gamma"}')}
    Examples
    --------
    >>> import numpy as np
    >>> import baytree as bt
    >>> generator = np.random.default_rng(0)
    >>> x = generator.normal(size=400)
    >>> slope = np.where(np.arange(400) // 50 % 2, 2.0, -1.0)  # changes every 50 rows
    >>> y = slope * x + 0.1 * generator.normal(size=400)
    >>> model = bt.HMDTRegressor(depth=1, random_state=0).fit(x[:, None], y)
    >>> leaf = model.viterbi(x[:, None], y).leaf
    >>> int(np.sum(leaf[1:] != leaf[:-1]))
    7
    """

    _task = "regression"
    _experts = OF_NUMBERS

    def __init__(
        self,
        depth: int = 2,
        branching: int = 2,
        expert: str = "linear",
        method: str = "auto",
        init: Any = "stretches",
        ridge: float = RIDGE["regression"],
        epochs: int = 200,
        tol: float = 1e-5,
        n_init: int = 5,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.depth = depth
        self.branching = branching
        self.expert = expert
        self.method = method
        self.init = init
        self.ridge = ridge
        self.epochs = epochs
        self.tol = tol
        self.n_init = n_init
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _describe(self, design: LinearDesign) -> None:
        self._one_output = design.y.ndim == 1

    def _responses(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        columns = [y] if self._one_output else list(np.asarray(y).T)
        cells = [column_values("y", plain_array("y", response_vector(column))) for column in columns]
        for each in cells:
            if each.kind == "categorical":
                raise InputError(f"y: responses must be numbers, not text such as {each.values[0]!r}")
        was_seen = ~np.any([each.missing for each in cells], axis=0)
        values = np.column_stack([np.asarray(each.values, dtype=np.float64) for each in cells])
        return np.where(was_seen[:, None], values, 1.0), was_seen

    def predict(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        kind: Literal["mean", "sd", "predictive_interval"] = "mean",
        prob: float = 0.9,
    ) -> Any:
        """Predict each row one step ahead, from the rows before it in its sequence.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`. The prediction of y_t uses x_1 … x_t and y_1 … y_{t−1}; where y is left out, none
            of these was seen.
        kind : {"mean", "sd", "predictive_interval"}
            ``"mean"``: E(y_t | x_1 … x_t, y_1 … y_{t−1}), shape (rows,), or (rows, outputs) of several.
            ``"sd"``: the standard deviation of y_t given these, likewise.
            ``"predictive_interval"``: an equal-tailed interval of y_t given these, with a last axis of 2.
        prob : float
            The probability of the interval.

        Returns
        -------
        numpy.ndarray
            For a list of sequences a list of them.
        """
        given, sequences = self._read(X, y, groups)
        if kind not in KINDS:
            raise unknown_choice("kind of prediction", kind, KINDS)
        require_prob(prob)
        mixed = self._inference().one_step(sequences)
        if kind == "mean":
            found = self.outputs_.original(mixed.means(sequences.X))
        elif kind == "sd":
            found = np.sqrt(mixed.variances(sequences.X)) * self.outputs_.scale
        else:
            ends = [quantile(mixed, sequences.X, share) for share in ((1 - prob) / 2, (1 + prob) / 2)]
            found = np.stack([self.outputs_.original(end) for end in ends], axis=-1)
        return given.given_back(found[:, 0] if self._one_output else found)

    def score(self, X: Any, y: Any, groups: Any = None) -> float:
        """R² of the predictions one step ahead, at the rows that were seen.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`.
        """
        from sklearn.metrics import r2_score

        _, sequences = self._read(X, y, groups)
        mean = self._inference().one_step(sequences).means(sequences.X)
        return float(r2_score(sequences.Y[sequences.seen], mean[sequences.seen]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class HMDTClassifier(ClassifierMixin, _HMDT):
    __doc__ = f"""A hidden Markov decision tree for sequences of classes: logit models whose turns last.
    {_PARAMETERS.format(experts='{"auto", "logistic", "multinomial"}')}
    classes_ : numpy.ndarray
        The class labels.

    Examples
    --------
    >>> import numpy as np
    >>> import baytree as bt
    >>> generator = np.random.default_rng(0)
    >>> x = generator.normal(size=600)
    >>> y = np.where((x > 0) == (np.arange(600) // 60 % 2 == 0), "up", "down")
    >>> model = bt.HMDTClassifier(depth=1, random_state=0).fit(x[:, None], y)
    >>> model.predict_proba(x[:, None], y).shape
    (600, 2)
    """

    _task = "classification"
    _experts = ("auto", *OF_CLASSES)

    def __init__(
        self,
        depth: int = 1,
        branching: int = 2,
        expert: str = "auto",
        method: str = "auto",
        init: Any = "stretches",
        ridge: float = 1.0,
        epochs: int = 200,
        tol: float = 1e-5,
        n_init: int = 5,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.depth = depth
        self.branching = branching
        self.expert = expert
        self.method = method
        self.init = init
        self.ridge = ridge
        self.epochs = epochs
        self.tol = tol
        self.n_init = n_init
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _describe(self, design: LinearDesign) -> None:
        self.classes_: np.ndarray = np.asarray(design.classes)

    def _responses(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        labels = plain_array("y", response_vector(y))
        was_seen = ~column_values("y", labels).missing
        return indicators_of(np.where(was_seen, labels, self.classes_[0]), self.classes_), was_seen

    def predict_proba(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Class probabilities of each row one step ahead, P(y_t | x_1 … x_t, y_1 … y_{t−1}), shape (rows, classes).

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`; where y is left out, no response was seen.

        Returns
        -------
        numpy.ndarray
            For a list of sequences a list of them.
        """
        given, sequences = self._read(X, y, groups)
        return given.given_back(self._inference().one_step(sequences).means(sequences.X))

    def predict(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """The most probable class of each row one step ahead.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`; where y is left out, no response was seen.

        Returns
        -------
        numpy.ndarray
            For a list of sequences a list of them.
        """
        given, sequences = self._read(X, y, groups)
        best = self._inference().one_step(sequences).means(sequences.X).argmax(axis=1)
        return given.given_back(self.classes_[best])

    def score(self, X: Any, y: Any, groups: Any = None) -> float:
        """The share of rows, of those that were seen, whose class was predicted one step ahead.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`.
        """
        _, sequences = self._read(X, y, groups)
        best = self._inference().one_step(sequences).means(sequences.X).argmax(axis=1)
        right = sequences.Y[np.arange(sequences.rows), best] > 0
        return float(np.mean(right[sequences.seen]))
