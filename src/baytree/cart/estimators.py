"""Bayesian classification and regression trees as scikit-learn estimators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin

from ..estimators import SAID, Classifier, TreeEstimator
from ..mcmc.mixtures import MixtureSpec
from ..priors.edit_tree import EditTree
from ..priors.grow_tree import GrowTree
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
    {run}
    {time_limit}
    {temperatures}
    {max_cuts}
    {categorical_features}
    {random_state}
    {n_jobs}
    {verbose}
    monotonic_cst : array-like of int, dict of str to int, or None
        For each column, or for some by name: 1 where the prediction never falls as the column grows, −1 where it never
        rises, 0 where it is free. With classes, of which there must be two, the probability of the second is meant.
    interaction_cst : {{"pairwise", "no_interactions"}}, sequence of sequences of int or str, or None
        Groups of columns, by position or name; the columns on a path from the root to a leaf all lie in one of them.
        Columns that are in none form one more group. ``"pairwise"`` stands for all pairs of columns,
        ``"no_interactions"`` for each column alone. Both parameters add to what the prior knows.
    method : {{"auto", "exact", "chains"}}
        Whether every tree of a small table is added up, or chains draw: see `CART`.

    Attributes
    ----------
    posterior_ : Posterior
        The draws: trees, their probabilities, summaries, prediction, files.
    {importances}
    {columns_}
    """


class _CART(TreeEstimator):
    """What the classifier and the regressor share: they validate and delegate."""

    def __init__(
        self,
        prior: GrowTree | EditTree | Program | None = None,
        leaf: Leaf | None = None,
        proposal: MixtureSpec = "auto",
        effort: str | float | None = None,
        chains: int = 4,
        warmup: int | str = "auto",
        draws: int = 1000,
        thin: int | str = "auto",
        time_limit: float | None = None,
        temperatures: int | str = "auto",
        ladder: str = "adaptive",
        max_cuts: int | None = 255,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        method: str = "auto",
    ) -> None:
        self._take(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        model = CART(self.prior or GrowTree(), self.leaf, self.proposal, method=self.method)
        model = replace(model, prior=model.prior & self._known(design))
        self.posterior_: Posterior = self._sample(model, design)
        return self


class CARTClassifier(Classifier, _CART):
    __doc__ = f"""Bayesian classification tree: the average over many trees, drawn with their probabilities.
    {_PARAMETERS.format(**SAID, leaf="Categorical")}
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
    {_PARAMETERS.format(**SAID, leaf="Gaussian")}
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
        kind: Literal["mean", "sd", "interval", "draws", "predictive", "predictive_interval"] = "mean",
        prob: float = 0.9,
        return_std: bool = False,
    ) -> Any:
        """Predict new rows; see `Posterior.predict` for the kinds.

        Parameters
        ----------
        X : frame or array-like
            New rows.
        kind : {"mean", "sd", "interval", "draws", "predictive", "predictive_interval"}
            The mean response, the standard deviation of a new one, the mean's credible intervals, its draws, draws of
            new responses, or intervals of those.
        prob : float
            The probability of the intervals.
        return_std : bool
            Whether to give a pair: the mean, and the standard deviation of a new response.
        """
        return self._with_std(X, kind, prob, return_std)
