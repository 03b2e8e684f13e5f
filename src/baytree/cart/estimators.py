"""Bayesian classification and regression trees as scikit-learn estimators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin

from ..estimators import Classifier, TreeEstimator
from ..mcmc.mixtures import MixtureSpec
from ..priors.edit_tree import EditTree
from ..priors.grow_tree import GrowTree
from ..sampling.api import sample
from ..slp import Program
from .leaves import Leaf
from .model import CART
from .posterior import Posterior

_PARAMETERS = """
    Parameters
    ----------
    prior : GrowTree, EditTree or Program, optional
        The prior over trees; ``GrowTree()`` by default. A program comes from `baytree.slp.load`.
    leaf : {leaf}, optional
        The leaf model; ``{leaf}()`` by default.
    proposal : str or mapping of str to float
        What the chains propose: ``"auto"``, a name, or names with weights; see `baytree.cart.proposals.parse_proposal`.
    chains, warmup, draws, thin : int
        Chains; iterations of each to throw away first; draws of each to keep; iterations between draws.
    temperatures : int
        Temperatures of each chain; 1 is no tempering. 12, say, where chains do not agree: see `baytree.sample`.
    ladder : {{"adaptive", "mrbayes"}}
        How the temperatures are chosen.
    max_cuts : int or None
        The most cut points of a numeric column; None for every one.
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        Columns whose numbers are labels. Text and categorical types are categorical without saying so.
    random_state : int, RandomState or None
        An integer gives the same draws each time.
    n_jobs : int or None
        Threads, as joblib counts them; None for one a chain, at most one a processor.
    verbose : bool
        Whether to show progress.
    monotonic_cst : array-like of int, dict of str to int, or None
        For each column, or for some by name: 1 where the prediction never falls as the column grows, −1 where it never
        rises, 0 where it is free. With classes, of which there must be two, the probability of the second is meant.
    interaction_cst : {{"pairwise", "no_interactions"}}, sequence of sequences of int or str, or None
        Groups of columns, by position or name; the columns on a path from the root to a leaf all lie in one of them.
        Columns that are in none form one more group. ``"pairwise"`` stands for all pairs of columns,
        ``"no_interactions"`` for each column alone. Both parameters add to what the prior knows.

    Attributes
    ----------
    posterior_ : Posterior
        The draws: trees, their probabilities, summaries, prediction, files.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : numpy.ndarray
        Their names, when X had any.
    """


class _CART(TreeEstimator):
    """What the classifier and the regressor share: they validate and delegate."""

    def __init__(
        self,
        prior: GrowTree | EditTree | Program | None = None,
        leaf: Leaf | None = None,
        proposal: MixtureSpec = "auto",
        chains: int = 4,
        warmup: int = 1000,
        draws: int = 1000,
        thin: int = 1,
        temperatures: int = 1,
        ladder: str = "adaptive",
        max_cuts: int | None = 255,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
    ) -> None:
        self._take(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Draw from the posterior.

        Parameters
        ----------
        X : frame or array-like of shape (rows, columns)
            Numbers, booleans, strings or categories; missing values are part of the model.
        y : array-like of shape (rows,)
            The response.
        sample_weight : array-like of shape (rows,), optional
            How many copies of itself each row counts as in the likelihood.
        """
        design = self._design(X, y, sample_weight)
        model = CART(self.prior or GrowTree(), self.leaf, self.proposal)
        model = replace(model, prior=model.prior & self._known(design))
        self.posterior_: Posterior = sample(model, design, **self._run())
        return self


class CARTClassifier(Classifier, _CART):
    __doc__ = f"""Bayesian classification tree: the average over many trees, drawn with their probabilities.
    {_PARAMETERS.format(leaf="Categorical")}
    classes_ : numpy.ndarray
        The class labels.

    Examples
    --------
    >>> import baytree as bt
    >>> data = bt.datasets.load("kyphosis")
    >>> model = bt.CARTClassifier(draws=100, random_state=0).fit(data.X, data.y)
    >>> model.predict_proba(data.X).shape
    (81, 2)
    """

    _task = "classification"

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(
        self, X: Any, kind: Literal["mean", "vote", "interval", "draws"] = "mean", prob: float = 0.9
    ) -> np.ndarray:
        """Class probabilities; see `Posterior.predict` for the kinds.

        Parameters
        ----------
        X : frame or array-like
            New rows.
        kind : {"mean", "vote", "interval", "draws"}
            Averages, shares of trees that vote for a class, credible intervals, or draws.
        prob : float
            The probability of the intervals.
        """
        return self._predict(X, kind, prob)


class CARTRegressor(RegressorMixin, _CART):
    __doc__ = f"""Bayesian regression tree: the average over many trees, drawn with their probabilities.
    {_PARAMETERS.format(leaf="Gaussian")}
    Examples
    --------
    >>> import baytree as bt
    >>> data = bt.datasets.friedman(200)
    >>> model = bt.CARTRegressor(draws=100, random_state=0).fit(data.X, data.y)
    >>> model.predict(data.X, kind="interval", prob=0.8).shape
    (200, 2)
    """

    _task = "regression"

    def predict(
        self,
        X: Any,
        kind: Literal["mean", "interval", "draws", "predictive", "predictive_interval"] = "mean",
        prob: float = 0.9,
    ) -> np.ndarray:
        """Predict new rows; see `Posterior.predict` for the kinds.

        Parameters
        ----------
        X : frame or array-like
            New rows.
        kind : {"mean", "interval", "draws", "predictive", "predictive_interval"}
            The mean response, its credible intervals, its draws, draws of new responses, or intervals of those.
        prob : float
            The probability of the intervals.
        """
        return self._predict(X, kind, prob)
