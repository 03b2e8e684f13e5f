"""What the scikit-learn estimators of all families share: they validate and delegate."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .data.design import Design, make_design
from .data.frames import table_of
from .errors import InputError
from .knowledge import Knowledge
from .knowledge.sklearn import from_scikit_learn

# The parameters of `sample` that are an estimator's, too, where it has chains.
RUN = ("chains", "warmup", "draws", "thin", "temperatures", "ladder")


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
            "threads": None if self.n_jobs is None else effective_n_jobs(self.n_jobs),
            "progress": given.get("verbose", False),
        }

    def _seed(self) -> int | None:
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return None if self.random_state is None else int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _predict(self, X: Any, kind: str, prob: float, **more: Any) -> np.ndarray:
        return self._fitted_to(X).predict(X, kind, prob, **more)

    def _fitted_to(self, X: Any) -> Any:
        """The posterior, which new rows have the columns for."""
        check_is_fitted(self)
        table_of(X)  # first, as its errors about the shape say more
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.posterior_

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


class TreeEstimator(Estimator):
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
