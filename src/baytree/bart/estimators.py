"""BART as scikit-learn estimators: sums of many small trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin

from ..errors import InputError
from ..estimators import SAID, Classifier, TreeEstimator
from ..knowledge import Constraint, Knowledge
from ..mcmc.mixtures import MixtureSpec
from ..priors.grow_tree import GrowTree
from ..slp import Program
from .model import BART
from .posterior import BARTPosterior

_PARAMETERS = """
    Parameters
    ----------
    trees : int
        Number of trees in the sum{of_classes}.
    k : float or "learned"
        {k} ``"learned"`` draws the spread of leaf values as well, which suits soft rules.
    alpha, beta : float
        A node of depth d of a tree splits with probability ``alpha * (1 + d) ** -beta``.
    min_leaf : int
        The fewest rows a leaf may hold.
    knowledge : constraint or Knowledge, optional
        What is known about every tree: `Box`, `Monotone`, `Interact`, `Forbid`, `Only`, `MaxDepth`, `MaxLeaves` and
        `Weights`, joined by ``&``. ``Weights("sparse")`` learns which columns matter.
    split : {{"hard", "soft"}}
        Whether a row goes one way at a rule, or both ways in part, which suits smooth functions: see `baytree.BART`.
    bandwidth : float
        The mean of the bandwidths of soft rules, whose prior is exponential.
    prior : GrowTree or Program, optional
        The prior of each tree instead of `alpha`, `beta` and `min_leaf`: see `baytree.BART`.{noise}
    {run}
    {time_limit}
    proposal : str or mapping of str to float
        How many proposals of each kind a visit of a tree makes: see `baytree.BART`.
    init : {{"root", "grow"}}
        Whether chains begin with trees of one leaf, or with trees grown to the data.
    {max_cuts}
    {categorical_features}
    {random_state}
    n_jobs : int or None
        Threads, as joblib counts them; None for one a processor. Chains run side by side first; what threads are left
        share the rows of a chain.
    {verbose}
    monotonic_cst, interaction_cst
        As scikit-learn has them: see `CARTRegressor`.

    Attributes
    ----------
    posterior_ : BARTPosterior
        The draws: sums of trees, what they use, summaries, prediction, files.
    {importances}
    {columns_}
    """

_NOISE = """
    nu, q, sigma
        The prior of the noise: σ² ~ νλ/χ²_ν with P(σ < σ̂) = q, where σ̂ is the residual standard deviation of a linear
        fit (``"linear"``), the standard deviation of y (``"naive"``), or a number.
    noise : {"normal", "student"}
        The distribution of the noise; Student's learns its degrees of freedom and withstands outliers.
    variance : {"constant", "forest"}
        Whether the noise is the same everywhere, or its variance is a product of trees as well.
    variance_trees : int
        Number of trees of that product."""


class _BART(TreeEstimator):
    """What the classifier and the regressor share."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Self:
        """Draw from the posterior.

        Parameters
        ----------
        X : frame or array-like of shape (rows, columns)
            Numbers, booleans, strings or categories; missing values are part of the model.
        y : array-like of shape (rows,)
            The response.
        sample_weight : array-like of shape (rows,), optional
            With numbers, the noise of a row of weight w has variance σ²/w, as if the row were the mean of w rows. With
            classes whole numbers: how many rows each one stands for.
        offset : array-like of shape (rows,), optional
            What is added to the sum of trees of each row; with classes there must be two.
        """
        design = self._design(X, y, sample_weight, offset)
        if self.knowledge is not None and not isinstance(self.knowledge, (Constraint, Knowledge)):
            raise InputError(f"knowledge={self.knowledge!r}: give a constraint, or several joined by &")
        model = BART(
            trees=self.trees,
            prior=self.prior or GrowTree(self.alpha, self.beta, self.min_leaf),
            k=self.k,
            proposal=self.proposal,
            init=self.init,
            split=self.split,
            bandwidth=self.bandwidth,
            **self._noise(),
        )
        known = self._known(design) & (self.knowledge or Knowledge())
        model = replace(model, prior=model.prior & known)
        self.posterior_: BARTPosterior = self._sample(model, design)
        return self

    def _noise(self) -> dict[str, Any]:
        """What the model says about the noise."""
        return {}


class BARTRegressor(RegressorMixin, _BART):
    __doc__ = f"""Bayesian additive regression trees: y is a sum of many small trees plus noise.
    {
        _PARAMETERS.format(
            **SAID,
            of_classes="",
            k="How many standard deviations of the sum of trees reach to the ends of the response's range.",
            noise=_NOISE,
        )
    }
    Examples
    --------
    >>> import baytree as bt
    >>> data = bt.datasets.friedman(200)
    >>> model = bt.BARTRegressor(trees=50, draws=100, random_state=0).fit(data.X, data.y)
    >>> model.predict(data.X, kind="interval", prob=0.8).shape
    (200, 2)
    """

    _task = "regression"

    def __init__(
        self,
        trees: int = 200,
        k: float | str = 2.0,
        alpha: float = 0.95,
        beta: float = 2.0,
        min_leaf: int = 1,
        knowledge: Constraint | Knowledge | None = None,
        prior: GrowTree | Program | None = None,
        split: str = "hard",
        bandwidth: float = 0.1,
        nu: float = 3.0,
        q: float = 0.9,
        sigma: str | float = "linear",
        noise: str = "normal",
        variance: str = "constant",
        variance_trees: int = 40,
        effort: str | float | None = None,
        chains: int = 4,
        warmup: int | str = "auto",
        draws: int = 1000,
        thin: int | str = "auto",
        time_limit: float | None = None,
        proposal: MixtureSpec = "auto",
        init: str = "root",
        max_cuts: int | None = 255,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
    ) -> None:
        self._take(locals())

    def _noise(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("nu", "q", "sigma", "noise", "variance", "variance_trees")}

    def predict(
        self,
        X: Any,
        kind: Literal["mean", "sd", "interval", "draws", "predictive", "predictive_interval", "sigma"] = "mean",
        prob: float = 0.9,
        offset: Any = None,
        return_std: bool = False,
    ) -> Any:
        """Predict new rows; see `BARTPosterior.predict` for the kinds.

        Parameters
        ----------
        X : frame or array-like
            New rows.
        kind : {"mean", "sd", "interval", "draws", "predictive", "predictive_interval", "sigma"}
            The mean response, the standard deviation of a new one, the mean's credible intervals, its draws, draws of
            new responses, intervals of those, or the
            mean standard deviation of the noise.
        prob : float
            The probability of the intervals.
        offset : array-like, optional
            What is added to the sum of trees of each row; needed where `fit` had one.
        return_std : bool
            Whether to give a pair: the mean, and the standard deviation of a new response.
        """
        return self._with_std(X, kind, prob, return_std, offset=offset)


class BARTClassifier(Classifier, _BART):
    __doc__ = f"""Bayesian additive classification trees: classes are told apart by sums of trees plus normal noise.

    Two classes are the signs of such variables (probit); of several, each has its own sum of trees, and the class is
    that of the largest variable.
    {
        _PARAMETERS.format(
            **SAID,
            of_classes="; with more than two classes, of each class",
            k="How many standard deviations of the sum of trees reach to ±3, on the scale of the noise.",
            noise="",
        )
    }
    classes_ : numpy.ndarray
        The class labels.

    Examples
    --------
    >>> import baytree as bt
    >>> data = bt.datasets.load("kyphosis")
    >>> model = bt.BARTClassifier(trees=50, draws=100, random_state=0).fit(data.X, data.y)
    >>> model.predict_proba(data.X).shape
    (81, 2)
    """

    _task = "classification"

    def __init__(
        self,
        trees: int = 200,
        k: float | str = 2.0,
        alpha: float = 0.95,
        beta: float = 2.0,
        min_leaf: int = 1,
        knowledge: Constraint | Knowledge | None = None,
        prior: GrowTree | Program | None = None,
        split: str = "hard",
        bandwidth: float = 0.1,
        effort: str | float | None = None,
        chains: int = 4,
        warmup: int | str = "auto",
        draws: int = 1000,
        thin: int | str = "auto",
        time_limit: float | None = None,
        proposal: MixtureSpec = "auto",
        init: str = "root",
        max_cuts: int | None = 255,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
    ) -> None:
        self._take(locals())

    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """The most probable class of each row."""
        best = self.predict_proba(X, offset=offset).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(
        self, X: Any, kind: Literal["mean", "interval", "draws"] = "mean", prob: float = 0.9, offset: Any = None
    ) -> np.ndarray:
        """Class probabilities; see `BARTPosterior.predict` for the kinds.

        Parameters
        ----------
        X : frame or array-like
            New rows.
        kind : {"mean", "interval", "draws"}
            Averages, credible intervals, or draws.
        prob : float
            The probability of the intervals.
        offset : array-like, optional
            What is added to the sum of trees of each row; needed where `fit` had one.
        """
        return self._predict(X, kind, prob, offset=offset)
