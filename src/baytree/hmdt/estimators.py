"""Hidden Markov decision trees as scikit-learn estimators: decisions that last, for sequences of numbers or classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from ..estimators import SAID, Classifier, Estimator
from .data.design import make_sequence_design
from .data.reading import tables_of
from .data.sequences import Sequences
from .model import HMDT, RIDGE
from .posterior import HMDTPosterior
from .tree.inference import DecisionPath, Decisions
from .tree.markov_tree import MarkovTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    {categorical_features}
    n_jobs : int or None
        Threads that share the sequences in the fit, as joblib counts them; None for one a processor. The results do not
        depend on them.
    {random_state}

    Attributes
    ----------
    posterior_ : HMDTPosterior
        The tree: prediction, decisions, summary, files.
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
        The epochs of the best initialisation.
    inputs_, outputs_ : Inputs, Outputs
        How rows become inputs, and responses outputs.
    {columns_}
"""


class _HMDT(Estimator):
    """What the regressor and the classifier share."""

    _task: Literal["classification", "regression"]

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
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
        model = HMDT(**{name: getattr(self, name) for name in HMDT.__dataclass_fields__ if name != "calibration"})
        design = make_sequence_design(
            X, y, groups=groups, task=self._task, categorical_features=self.categorical_features
        )
        validate_data(self, tables_of(X)[0], skip_check_array=True)
        posterior = self._sample(model, design)
        self.posterior_: HMDTPosterior = posterior
        self.method_: str = posterior.model.method
        self.tree_: MarkovTree = posterior.tree()
        self.initial_, self.transitions_ = posterior.initial, posterior.transitions
        self.inputs_, self.outputs_ = posterior.inputs, posterior.outputs
        self.objective_ = posterior.objective
        self.n_iter_ = max(posterior.epochs, 1)
        self.log_likelihood_ = posterior.log_likelihood_in_units
        return self

    def _fitted_to(self, X: Any) -> HMDTPosterior:
        for table in tables_of(X):
            super()._fitted_to(table)
        return self.posterior_

    def _one_step(self, X: Any, y: Any, groups: Any) -> tuple[Sequences, np.ndarray]:
        """Sequences, and what each row is expected to be from the rows before, in standard units."""
        posterior = self._fitted_to(X)
        _, sequences = posterior.read(X, y, groups)
        return sequences, posterior.inference.one_step(sequences).mean

    def filter(self, X: Any, y: Any = None, groups: Any = None, ahead: bool = False) -> Decisions | Any:
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
        return self._fitted_to(X).filter(X, y, groups, ahead)

    def smooth(self, X: Any, y: Any = None, groups: Any = None) -> Decisions | Any:
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
        return self._fitted_to(X).smooth(X, y, groups)

    def viterbi(self, X: Any, y: Any = None, groups: Any = None) -> DecisionPath | Any:
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
        return self._fitted_to(X).viterbi(X, y, groups)

    def log_likelihood(self, X: Any, y: Any, groups: Any = None) -> np.ndarray:
        """log P(y_1 … y_T | x_1 … x_T) of each sequence in the units of y, by a mean field a lower bound of it.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`.
        """
        return self._fitted_to(X).log_likelihood_of(X, y, groups)

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
        return self._fitted_to(X).plot_decisions(X, y, groups, sequence, ax)


class HMDTRegressor(RegressorMixin, _HMDT):
    __doc__ = f"""A hidden Markov decision tree for sequences of numbers: a mixture of experts whose decisions last.
    {_PARAMETERS.format(**SAID, experts='{"linear", "constant", "poisson", "gamma"}')}
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
        self._take(locals())

    def predict(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        kind: Literal["mean", "sd", "predictive_interval"] = "mean",
        prob: float = 0.9,
        return_std: bool = False,
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
        return_std : bool
            Whether to give a pair: the mean, and the standard deviation of a new response.

        Returns
        -------
        numpy.ndarray
            For a list of sequences a list of them.
        """
        return self._with_std(X, kind, prob, return_std, y=y, groups=groups)

    def score(self, X: Any, y: Any, groups: Any = None) -> float:
        """R² of the predictions one step ahead, at the rows that were seen.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`.
        """
        from sklearn.metrics import r2_score

        sequences, mean = self._one_step(X, y, groups)
        return float(r2_score(sequences.Y[sequences.seen], mean[sequences.seen]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class HMDTClassifier(Classifier, _HMDT):
    __doc__ = f"""A hidden Markov decision tree for sequences of classes: logit models whose turns last.
    {_PARAMETERS.format(**SAID, experts='{"auto", "logistic", "multinomial"}')}
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

    def __init__(
        self,
        depth: int = 1,
        branching: int = 2,
        expert: str = "auto",
        method: str = "auto",
        init: Any = "stretches",
        ridge: float = RIDGE["classification"],
        epochs: int = 200,
        tol: float = 1e-5,
        n_init: int = 5,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self._take(locals())

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
        return self._fitted_to(X).predict(X, y=y, groups=groups)

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
        shares = self.predict_proba(X, y, groups)
        if isinstance(shares, list):
            return [self.classes_[each.argmax(axis=1)] for each in shares]
        return self.classes_[shares.argmax(axis=1)]

    def score(self, X: Any, y: Any, groups: Any = None) -> float:
        """The share of rows, of those that were seen, whose class was predicted one step ahead.

        Parameters
        ----------
        X, y, groups
            Sequences, as for `fit`.
        """
        sequences, shares = self._one_step(X, y, groups)
        right = sequences.Y[np.arange(sequences.rows), shares.argmax(axis=1)] > 0
        return float(np.mean(right[sequences.seen]))
