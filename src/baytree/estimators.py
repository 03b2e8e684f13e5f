"""What the scikit-learn estimators of all families share: they validate and delegate."""

from __future__ import annotations

import warnings
from typing import Any, Literal, cast

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .data.design import AnyDesign, Design, make_design
from .data.frames import table_of
from .errors import ConvergenceWarning, InputError
from .knowledge import Knowledge
from .knowledge.sklearn import from_scikit_learn
from .mcmc.contract import Model, PosteriorType
from .posterior.base import BasePosterior
from .posterior.prediction import Kind
from .sampling.api import sample
from .validation import is_whole

# The parameters of `sample` that are an estimator's, too, where it has chains.
RUN = ("effort", "chains", "warmup", "draws", "thin", "temperatures", "ladder", "time_limit")

# What estimators of several families say in the same words: entries that the templates of their docstrings name.
SAID = {
    "run": """effort : {"quick", "default", "thorough", "unlimited"}, float or None
        How much work the fit may take until the chains agree: about 1 second, 20 seconds, 5 minutes, or no limit; see
        `baytree.sample`. Where they do not agree by then, the fit ends with a `ConvergenceWarning`.
    chains : int
        Number of chains.
    warmup : int or "auto"
        Iterations of each chain to throw away first (burn-in). A number stands, and there is one round.
    draws : int
        Draws of each chain to keep.
    thin : int or "auto"
        Iterations between draws.""",
    "temperatures": """temperatures : int or "auto"
        Temperatures of each chain; 1 is no tempering (replica exchange).
    ladder : {"adaptive", "mrbayes"}
        How the temperatures are chosen: see `baytree.sample`.""",
    "time_limit": """time_limit : float or None
        Seconds after which to stop in any case.""",
    "max_cuts": """max_cuts : int or None
        The most cut points of a numeric column; None for every one.""",
    "categorical_features": """categorical_features : None, "from_dtype", or array-like of bool, int or str
        Columns whose numbers are labels. Text and categorical types are categorical without saying so.""",
    "random_state": """random_state : int, RandomState or None
        An integer gives the same result each time.""",
    "n_jobs": """n_jobs : int or None
        Threads, as joblib counts them; None for one a chain, at most one a processor.""",
    "verbose": """verbose : bool
        Whether to show progress.""",
    "importances": """feature_importances_ : numpy.ndarray
        Of each column the posterior mean of its share of the rules, or of a linear model's terms.""",
    "columns_": """n_features_in_ : int
        Number of columns.
    feature_names_in_ : numpy.ndarray
        Their names, when X had any.""",
}


class Estimator(BaseEstimator):
    """An estimator that fits a posterior to a table."""

    def _take(self, parameters: dict[str, Any]) -> None:
        """Keep what a constructor was given, as it is: its ``locals()``."""
        for name, value in parameters.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def _run(self) -> dict[str, Any]:
        """What estimators tell `sample`."""
        given = self.get_params(deep=False)
        return {name: given[name] for name in RUN if name in given} | {
            "seed": self._seed(),
            "threads": None if self.n_jobs is None else self._threads(),
            "progress": given.get("verbose", False),
        }

    def _sample(self, model: Model[PosteriorType, Any], design: AnyDesign) -> PosteriorType:
        """The posterior of a model; warns where chains do not agree, for nobody who fits an estimator looks."""
        posterior = sample(model, design, **self._run())
        found = cast(BasePosterior, posterior)
        if found.has_chains and found.chains > 1:
            summary = found.summary()
            if summary.grade == "not yet":
                warnings.warn(summary.verdict, ConvergenceWarning, stacklevel=4)
        return posterior

    def _threads(self) -> int:
        if not is_whole(self.n_jobs) or self.n_jobs == 0:
            raise InputError(f"n_jobs={self.n_jobs!r}: choose a number of processors, -1 for all, or None")
        return effective_n_jobs(self.n_jobs)

    def _seed(self) -> int | None:
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return None if self.random_state is None else int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _predict(self, X: Any, kind: Kind, prob: float, **more: Any) -> Any:
        return self._fitted_to(X).predict(X, kind, prob, **more)

    def _with_std(self, X: Any, kind: str, prob: float, return_std: bool, **more: Any) -> Any:
        """What a regressor predicts; as scikit-learn wants it, also with the standard deviation of a new response."""
        if not return_std:
            return self._predict(X, kind, prob, **more)
        if kind != "mean":
            raise InputError(f"return_std=True goes with the mean, and kind={kind!r} was asked for; leave one out")
        found: Any = self._predict(X, ("mean", "sd"), prob, **more)
        return found["mean"], found["sd"]

    def _fitted_to(self, X: Any) -> Any:
        """The posterior, which new rows have the columns for."""
        check_is_fitted(self)
        table_of(X)  # first, as its errors about the shape say more
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.posterior_

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._posterior_html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**options)
        return shown | ({"text/html": shown["text/html"] + self._posterior_html()} if "text/html" in shown else {})

    def _posterior_html(self) -> str:
        """What stands below scikit-learn's diagram in a notebook, once there is a posterior."""
        posterior = getattr(self, "posterior_", None)
        return "" if posterior is None else posterior._repr_html_()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class Classifier(ClassifierMixin):
    """A classifier whose posterior knows the classes."""

    posterior_: Any  # each estimator says of which family

    @property
    def classes_(self) -> np.ndarray:
        """The class labels."""
        return np.asarray(self.posterior_.schema.response.classes)


class Importances:
    """An estimator whose posterior says how much each column is used."""

    posterior_: Any  # each estimator says of which family

    @property
    def feature_importances_(self) -> np.ndarray:
        """Of each column the posterior mean of its share of the rules, or of a linear model's terms."""
        check_is_fitted(self)
        return self.posterior_.variable_use().mean


class TreeEstimator(Importances, Estimator):
    """An estimator that fits a posterior over trees, or sums of them."""

    _task: Literal["classification", "regression"]

    def _design(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> Design:
        if y is None:
            raise InputError("requires y to be passed, but the target y is None")
        design = make_design(
            X,
            y,
            task=self._task,
            sample_weight=sample_weight,
            offset=offset,
            categorical_features=self.categorical_features,
            max_cuts=self.max_cuts,
        )
        validate_data(self, X, skip_check_array=True)
        return design

    def _known(self, design: Design) -> Knowledge:
        """What scikit-learn's parameters say about the columns."""
        known = from_scikit_learn(self.monotonic_cst, self.interaction_cst, design.names)
        return known.resolve(design.schema)
