"""Hierarchical mixtures of experts as scikit-learn estimators: soft trees for numbers and for classes."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..errors import InputError
from ..estimators import SAID, Classifier, Estimator
from ..posterior.prediction import Kind
from ..validation import seed_of
from .data.outputs import design_of_outputs, indicators_of, numbers_of, with_classes
from .fitting.methods import computes_with
from .interpret.pictured import Pictured
from .model import HME, RIDGE
from .numeric.arrays import Array, device, floating, is_foreign, local, namespace, to_kind_of
from .posterior import HMEPosterior
from .tree.soft_tree import SoftTree

_PARAMETERS = """
    Parameters
    ----------
    depth : int
        Levels of gates.
    branching : int
        Children of each gate.
    expert : {experts}
        The models at the leaves.
    method : {{"em", "em2", "online", "gibbs", "variational"}}
        EM with gates by IRLS, whose penalised likelihood never falls; EM with gates by least squares on ln h, which is
        quicker; one row at a time by recursive least squares; chains that draw the posterior; or a mean field, which
        bounds the evidence, shuts branches that nothing needs and gives draws. The last two are for linear, constant
        and class experts.
    init : {{"auto", "cart", "grow", "random"}} or a decision tree
        Where a fit begins: at the splits of a decision tree, made soft; at a tree that grew level by level, with EM
        between; or at random gates. By itself at a decision tree where the response is a number, but each chain at
        random. A tree for the same numeric columns may be given: one that scikit-learn fitted, a `Tree`, or a posterior
        or an estimator of single trees, of which the best tree is taken.
    keep_columns : bool
        Whether EM keeps each gate to the column that the decision tree asks about there.
    ridge : float
        The penalty on coefficients of columns in standard units.
    epochs : int
        The most passes over the rows.
    tol : float
        EM ends when an epoch gains less than this a row.
    early_stopping : bool
        Whether a share `validation_fraction` of the rows is held out, and EM ends where these fit best.
    validation_fraction : float
        That share.
    n_iter_no_change : int
        How many epochs may pass without a better fit to these rows.
    n_init : int
        How many random trees to begin at; the best end counts.
    decay : float
        λ of the recursions, at most 1.
    nu : float
        Of chains: the degrees of freedom of the prior of the experts' noise.
    scale : float, tuple of float, or "auto"
        Of chains: its scale, see `baytree.HME`; `posterior_.model` says what was chosen.
    {run}
    {time_limit}
    {temperatures}
    {categorical_features}
    {random_state}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    posterior_ : HMEPosterior
        The trees: prediction, pictures, files.
    tree_ : SoftTree
        Gates and experts of the best of them, for inputs and outputs in standard units.
    inputs_, outputs_ : Inputs, Outputs
        How rows become inputs, and responses outputs.
    objective_ : tuple of float
        The penalised log-likelihood before each epoch, and at the end; of a mean field the bound of the log evidence,
        of chains nothing.
    bound_ : float or None
        The bound of the log evidence that a mean field reached, of outputs in standard units.
    live_leaves_ : numpy.ndarray of bool
        Which leaves a mean field has not shut; of other methods all.
    {columns_}
    """


class _HME(Pictured, Estimator):
    """What the regressor and the classifier share."""

    _task: Literal["classification", "regression"]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the gates and the experts.

        Parameters
        ----------
        X : frame or array-like of shape (rows, columns)
            Numbers, booleans, strings or categories. Where values are missing, the mean takes their place and an
            indicator of that is one more input. On an array of PyTorch, CuPy or JAX, EM computes with such arrays, in
            their precision and on their device, and predictions for such an X are of its kind.
        y : array-like of shape (rows,), or for numbers (rows, outputs)
            The response.
        sample_weight : array-like of shape (rows,), optional
            How many copies of itself each row counts as.
        """
        return self._fit(X, y, sample_weight, {})

    def _learn_more(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """Go on with the recursions, or begin them."""
        epochs = self.epochs if self.method == "online" else 1
        before: HMEPosterior | None = getattr(self, "posterior_", None)
        if before is None or before.model.method != "online":
            return self._fit(X, y, sample_weight, {"method": "online", "epochs": epochs}, local(classes))
        rows = self._rows(X, y, sample_weight)
        generator = np.random.default_rng(seed_of(self._seed()))
        return self._keep(before.learn(rows, int(epochs), float(self.decay), generator))

    def _fit(self, X: Any, y: Any, sample_weight: Any, other: dict[str, Any], classes: Any = None) -> Self:
        """Fit with some parameters other than those of the estimator, and classes that later rows may have."""
        options = {name: getattr(self, name) for name in HME.__dataclass_fields__ if name != "calibration"}
        model = HME(**options | other)
        design = design_of_outputs(X, y, self._task, sample_weight, self.categorical_features)
        if classes is not None:
            design = with_classes(design, classes)
        validate_data(self, local(X), skip_check_array=True)
        self._around_mode = None
        self._learned = design if model.method == "em" else None
        return self._keep(self._sample(model, design), computes_with(model, design))

    def _keep(self, posterior: HMEPosterior, like: Array | None = None) -> Self:
        """Keep a posterior, and its tree on arrays like those that it was computed with."""
        self.posterior_ = posterior
        self.tree_: SoftTree = posterior.tree() if like is None else posterior.tree().to_kind_of(like)
        self.bound_, self.live_leaves_ = posterior.bound, posterior.live_leaves
        self.inputs_, self.outputs_ = posterior.inputs, posterior.outputs
        self.objective_, self.held_out_ = posterior.objective, posterior.held_out
        self.n_iter_ = max(posterior.epochs, 1)
        return self

    def _predict(self, X: Any, kind: Kind, prob: float, **more: Any) -> Any:
        posterior = self._fitted_to(X)
        if kind == "interval" and self._learned is not None:
            if self._around_mode is None:
                self._around_mode = posterior.normal_approximation(self._learned, int(self.draws))
            posterior = self._around_mode
        return posterior.predict(X, kind, prob, **more)

    def _require_fitted(self) -> None:
        check_is_fitted(self)

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, Any, np.ndarray]:
        table = local(X)
        inputs = self._fitted_to(table).inputs.matrix(table)
        weight = np.ones(len(inputs)) if sample_weight is None else numbers_of(local(sample_weight))[:, 0]
        outputs = None if y is None else self._outputs(local(y))
        for name, values in (("y", outputs), ("sample_weight", weight)):
            if values is not None and len(values) != len(inputs):
                raise InputError(
                    f"X and {name} have inconsistent numbers of samples: {len(inputs):,} and {len(values):,}; align "
                    "them"
                )
        return inputs, outputs, weight

    def _outputs(self, y: Any) -> np.ndarray:
        """Responses as outputs, shape (rows, outputs)."""
        raise NotImplementedError

    @property
    def _ridge(self) -> float:
        return float(self.posterior_.model.ridge)

    def responsibilities(self, X: Any) -> np.ndarray:
        """P(leaf | x) of each row in the best tree, shape (rows, leaves)."""
        table = local(X)
        return _like(X, self._fitted_to(table).responsibilities(table))


class HMERegressor(RegressorMixin, _HME):
    __doc__ = f"""A hierarchical mixture of experts for numbers: a tree of soft decisions over simple models.
    {_PARAMETERS.format(**SAID, experts='{"linear", "constant", "poisson", "gamma"}')}
    Examples
    --------
    >>> import baytree as bt
    >>> data = bt.datasets.friedman(300)
    >>> model = bt.HMERegressor(depth=2, random_state=0).fit(data.X, data.y)
    >>> model.predict(data.X, kind="predictive_interval").shape
    (300, 2)
    """

    _task = "regression"

    def __init__(
        self,
        depth: int = 3,
        branching: int = 2,
        expert: str = "linear",
        method: str = "em",
        init: Any = "auto",
        keep_columns: bool = False,
        ridge: float = RIDGE["regression"],
        epochs: int = 100,
        tol: float = 1e-5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        n_init: int = 1,
        decay: float = 0.999,
        nu: float = 3.0,
        scale: float | tuple[float, ...] | str = "auto",
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

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn more rows by the recursions; the first ones say how inputs and outputs are scaled.

        Parameters
        ----------
        X, y, sample_weight
            Rows, as for `fit`.
        """
        return self._learn_more(X, y, sample_weight)

    def _outputs(self, y: Any) -> np.ndarray:
        return self.outputs_.standard(numbers_of(y))

    def predict(
        self,
        X: Any,
        kind: Literal["mean", "sd", "interval", "draws", "predictive", "predictive_interval"] = "mean",
        prob: float = 0.9,
        return_std: bool = False,
    ) -> Any:
        """Predict new rows; see `HMEPosterior.predict` for the kinds.

        Parameters
        ----------
        X : frame or array-like
            New rows.
        kind : {"mean", "sd", "interval", "draws", "predictive", "predictive_interval"}
            The mean response, the standard deviation of new responses, credible intervals of the mean, its draws, draws
            of new responses, or intervals of those. Credible intervals after ``method="em"`` are those of a normal
            approximation at its mode, which takes a while the first time; "em2" and "online" have none.
        prob : float
            The probability of the intervals.
        return_std : bool
            Whether to give a pair: the mean, and the standard deviation of a new response.
        """
        found = self._with_std(local(X), kind, prob, return_std)
        return tuple(_like(X, one) for one in found) if return_std else _like(X, found)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class HMEClassifier(Classifier, _HME):
    __doc__ = f"""A hierarchical mixture of experts for classes: a tree of soft decisions over logit models.
    {_PARAMETERS.format(**SAID, experts='{"auto", "logistic", "multinomial"}')}
    classes_ : numpy.ndarray
        The class labels.

    Examples
    --------
    >>> import baytree as bt
    >>> data = bt.datasets.load("kyphosis")
    >>> model = bt.HMEClassifier(depth=1, random_state=0).fit(data.X, data.y)
    >>> model.predict_proba(data.X).shape
    (81, 2)
    """

    _task = "classification"

    def __init__(
        self,
        depth: int = 2,
        branching: int = 2,
        expert: str = "auto",
        method: str = "em",
        init: Any = "auto",
        keep_columns: bool = False,
        ridge: float = RIDGE["classification"],
        epochs: int = 100,
        tol: float = 1e-5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        n_init: int = 1,
        decay: float = 0.999,
        nu: float = 3.0,
        scale: float | tuple[float, ...] | str = "auto",
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

    def _outputs(self, y: Any) -> np.ndarray:
        return indicators_of(y, self.classes_)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows by the recursions; the first ones say how inputs are scaled.

        Parameters
        ----------
        X, y, sample_weight
            Rows, as for `fit`.
        classes : array-like, optional
            All classes that may come, with the first rows; by default those that the first rows have.
        """
        return self._learn_more(X, y, sample_weight, classes)

    def predict_proba(
        self, X: Any, kind: Literal["mean", "interval", "draws"] = "mean", prob: float = 0.9
    ) -> np.ndarray:
        """Class probabilities; see `HMEPosterior.predict` for the kinds.

        Parameters
        ----------
        X : frame or array-like
            New rows.
        kind : {"mean", "interval", "draws"}
            Averages, credible intervals, or draws.
        prob : float
            The probability of the intervals.
        """
        return _like(X, self._predict(local(X), kind, prob))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        shares = self._predict(local(X), "mean", 0.9)
        best = self.classes_[shares.argmax(axis=1)]
        if is_foreign(X) and best.dtype.kind in "iufb":
            return namespace(X).asarray(best, device=device(X))
        return best


def _like(X: Any, values: np.ndarray) -> Any:
    """Values as an array of the kind and on the device of X, where it is one."""
    return to_kind_of(floating(X), values) if is_foreign(X) else values
