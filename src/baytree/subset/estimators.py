"""Subset selection in the linear model as scikit-learn estimators: a regressor that averages, and a selector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.matrix import make_linear_design
from ..errors import InputError
from ..estimators import SAID, Estimator, Importances
from ..mcmc.mixtures import MixtureSpec
from ..validation import is_number, is_whole
from .model import Subset
from .posterior import SubsetPosterior
from .priors import BetaBinomial, HyperGN, ModelPrior, ParameterPrior

_PARAMETERS = """
    Parameters
    ----------
    model_prior : ModelPrior or float, optional
        How likely models are: ``BetaBinomial(1, 1)`` by default, `Independent`, `SizePrior`, `ExpectedSize`, or a
        number of columns to expect.
    coefficients : ParameterPrior, optional
        The prior of the coefficients: ``HyperGN(3)`` by default, `HyperG`, `GPrior`, `Ridge`.
    always : iterable of str or int
        Columns that are in every model.
    interactions : None, "all", or iterable of pairs
        Pairs of columns whose interactions may enter.
    heredity : {{None, "weak", "strong"}}
        Whether an interaction needs none, one or both of its columns in the model.
    fit_intercept : bool
        Whether there is an intercept.
    nu, scale : float, or "auto"
        The prior of the noise: see `baytree.Subset`.
    method : {{"auto", "enumerate", "sample"}}
        Whether all subsets are looked at, by itself up to 25 columns, or sampled.
    proposal : str or mapping of str to float
        How chains move: see `baytree.Subset`.
    {run}
    {time_limit}
    {temperatures}{selection}
    {categorical_features} The indicators
        of a factor enter together.
    {random_state}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    posterior_ : SubsetPosterior
        The draws: inclusion probabilities, the best models, coefficients, prediction, files.
    {importances}
    {columns_}
    """


class _Subset(Importances, Estimator):
    """What the regressor and the selector share."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the probability of the models.

        Parameters
        ----------
        X : frame or array-like of shape (rows, columns)
            Numbers, booleans, strings or categories. Where values are missing, an indicator of that enters with the
            column.
        y : array-like of shape (rows,)
            Numbers.
        sample_weight : array-like of shape (rows,), optional
            The noise of a row of weight w has variance σ²/w.
        """
        if y is None:
            raise InputError("requires y to be passed, but the target y is None")
        design = make_linear_design(
            X,
            y,
            sample_weight=sample_weight,
            categorical_features=self.categorical_features,
            interactions=self.interactions,
        )
        validate_data(self, X, skip_check_array=True)
        model = Subset(
            model_prior=BetaBinomial() if self.model_prior is None else self.model_prior,
            coefficients=HyperGN() if self.coefficients is None else self.coefficients,
            always=self.always,
            heredity=self.heredity,
            fit_intercept=self.fit_intercept,
            nu=self.nu,
            scale=self.scale,
            proposal=self.proposal,
            method=self.method,
        )
        self.posterior_: SubsetPosterior = self._sample(model, design)
        return self


class SubsetRegressor(RegressorMixin, _Subset):
    __doc__ = f"""Linear regression that averages over all subsets of the columns, each with its probability.
    {_PARAMETERS.format(**SAID, selection="")}
    Examples
    --------
    >>> import baytree as bt
    >>> data = bt.datasets.load("concrete")
    >>> model = bt.SubsetRegressor(random_state=0).fit(data.X, data.y)
    >>> model.posterior_.median_model()[:3]
    ('cement', 'slag', 'fly_ash')
    """

    def __init__(
        self,
        model_prior: ModelPrior | float | None = None,
        coefficients: ParameterPrior | None = None,
        always: Iterable[str | int] = (),
        interactions: Any = None,
        heredity: str | None = None,
        fit_intercept: bool = True,
        nu: float = 3.0,
        scale: float | str = "auto",
        method: str = "auto",
        proposal: MixtureSpec = "auto",
        effort: str | float | None = None,
        chains: int = 4,
        warmup: int | str = "auto",
        draws: int = 1000,
        thin: int | str = "auto",
        time_limit: float | None = None,
        temperatures: int | str = "auto",
        ladder: str = "adaptive",
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self._take(locals())

    def predict(
        self,
        X: Any,
        kind: Literal["mean", "sd", "interval", "draws", "predictive", "predictive_interval", "sigma"] = "mean",
        prob: float = 0.9,
        return_std: bool = False,
    ) -> Any:
        """Predict new rows; see `SubsetPosterior.predict` for the kinds.

        Parameters
        ----------
        X : frame or array-like
            New rows.
        kind : {"mean", "sd", "interval", "draws", "predictive", "predictive_interval", "sigma"}
            The mean response, its credible intervals, its draws, draws of new responses, intervals of those, or the
            mean standard deviation of the noise.
        prob : float
            The probability of the intervals.
        return_std : bool
            Whether to give a pair: the mean, and the standard deviation of a new response.
        """
        return self._with_std(X, kind, prob, return_std)


class SubsetSelector(SelectorMixin, _Subset):
    __doc__ = f"""A feature selector that keeps the columns that are probably in the linear model.
    {
        _PARAMETERS.format(
            **SAID,
            selection='''
    threshold : float
        Columns whose probability exceeds it are kept; 0.5 keeps the median-probability model.
    max_features : int or None
        The most columns to keep, the most probable ones; None for no limit.''',
        )
    }
    inclusion_ : numpy.ndarray
        The probability of each column; of one with interactions, the largest of its own and theirs.

    Examples
    --------
    >>> import baytree as bt
    >>> data = bt.datasets.friedman(200)
    >>> selector = bt.SubsetSelector(random_state=0).fit(data.X, data.y)
    >>> selector.transform(data.X).shape[0]
    200
    """

    def __init__(
        self,
        model_prior: ModelPrior | float | None = None,
        coefficients: ParameterPrior | None = None,
        always: Iterable[str | int] = (),
        interactions: Any = None,
        heredity: str | None = None,
        fit_intercept: bool = True,
        nu: float = 3.0,
        scale: float | str = "auto",
        method: str = "auto",
        proposal: MixtureSpec = "auto",
        effort: str | float | None = None,
        chains: int = 4,
        warmup: int | str = "auto",
        draws: int = 1000,
        thin: int | str = "auto",
        time_limit: float | None = None,
        temperatures: int | str = "auto",
        ladder: str = "adaptive",
        threshold: float = 0.5,
        max_features: int | None = None,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self._take(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        if not is_number(self.threshold) or not 0 <= self.threshold <= 1:
            raise InputError(f"threshold={self.threshold!r}: choose a probability")
        if self.max_features is not None and not (is_whole(self.max_features) and self.max_features >= 1):
            raise InputError(f"max_features={self.max_features!r}: choose a whole number, 1 or more, or None")
        super().fit(X, y, sample_weight)
        self.inclusion_: np.ndarray = self.posterior_.column_inclusion()
        return self

    fit.__doc__ = _Subset.fit.__doc__

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        kept = self.inclusion_ > self.threshold
        if self.max_features is not None:
            order = np.argsort(-self.inclusion_, kind="stable")
            kept[order[self.max_features :]] = False
        return kept
