"""Hierarchical mixtures of experts as scikit-learn estimators: soft trees for numbers and for classes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .errors import InputError, require_prob, unknown_choice
from .hme.fitting import ON_ANY_ARRAYS, Fitted, fit, learn_rows
from .hme.inputs import Inputs
from .hme.mixture_quantiles import quantile
from .hme.model import HME, RIDGE
from .hme.numeric import device, floating, is_foreign, local, namespace, to_kind_of, to_numpy
from .hme.outputs import OF_CLASSES, OF_NUMBERS, Outputs, design_of_outputs, indicators_of, numbers_of
from .hme.pictured import Pictured
from .hme.soft_tree import SoftTree
from .subset.design import LinearDesign
from .tables import table_of

_PARAMETERS = """
    Parameters
    ----------
    depth : int
        Levels of gates.
    branching : int
        Children of each gate.
    expert : {experts}
        The models at the leaves.
    method : {{"em", "em2", "online"}}
        EM with gates by IRLS, whose penalised likelihood never falls; EM with gates by least squares on ln h, which is
        quicker; or one row at a time by recursive least squares, for linear experts.
    init : {{"cart", "random"}} or a fitted decision tree
        Where EM begins: at the splits of a decision tree, made soft, or at random ones. A tree of scikit-learn on the
        same columns may be given.
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
        Random beginnings, of which the best end counts.
    decay : float
        λ of the recursions, at most 1.
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        Columns whose numbers are labels. Text and categorical types are categorical without saying so.
    random_state : int, RandomState or None
        An integer gives the same tree each time.

    Attributes
    ----------
    tree_ : SoftTree
        Gates and experts, for inputs and outputs in standard units.
    inputs_, outputs_ : Inputs, Outputs
        How rows become inputs, and responses outputs.
    objective_ : tuple of float
        The penalised log-likelihood before each epoch, and at the end.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : numpy.ndarray
        Their names, when X had any.
    """


class _HME(Pictured, BaseEstimator):
    """What the regressor and the classifier share."""

    _task: Literal["classification", "regression"]
    _experts: tuple[str, ...]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
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

    def _fit(self, X: Any, y: Any, sample_weight: Any, other: dict[str, Any]) -> Any:
        """Fit with some parameters other than those of the estimator."""
        if self.expert not in self._experts:
            raise unknown_choice("expert", self.expert, self._experts)
        model = HME(**{name: getattr(self, name) for name in HME.__dataclass_fields__} | other)
        table = local(X)
        design = design_of_outputs(table, local(y), self._task, local(sample_weight), self.categorical_features)
        validate_data(self, table, skip_check_array=True)
        self._describe(design)
        self._model = model = model.resolve(design)
        self.inputs_, self.outputs_ = Inputs.of(design), Outputs.of(design, model.expert)
        rows = model.rows(design, self.inputs_, self.outputs_)
        if is_foreign(X) and model.method in ON_ANY_ARRAYS:
            inputs, outputs, weight = (to_kind_of(floating(X), each) for each in rows)
            rows = inputs, outputs, weight
        return self._keep(fit(model, rows, self.inputs_, np.random.default_rng(self._seed())))

    def _describe(self, design: LinearDesign) -> None:
        """Keep what the design says about the response."""
        raise NotImplementedError

    def _keep(self, found: Fitted) -> Any:
        self.tree_: SoftTree = found.tree
        self.objective_, self.held_out_ = found.objective, found.held_out
        self.n_iter_ = max(len(found.objective) - 1, 1) if found.state is None else int(self.epochs)
        self._fitted = found
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _require_fitted(self) -> None:
        check_is_fitted(self)

    def _inputs(self, X: Any) -> np.ndarray:
        self._require_fitted()
        X = local(X)
        table_of(X)  # first, as its errors about the shape say more
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.inputs_.matrix(X)

    def _inputs_of_tree(self, X: Any) -> Any:
        """Inputs as arrays of the kind on which the tree was fitted."""
        inputs = self._inputs(X)
        return to_kind_of(self.tree_.experts.coefficients, inputs)

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, Any, np.ndarray]:
        inputs = self._inputs(X)
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
        return float(self._model.ridge)

    def responsibilities(self, X: Any) -> np.ndarray:
        """P(leaf | x) of each row, shape (rows, leaves)."""
        inputs = self._inputs_of_tree(X)
        return _like(X, np.exp(to_numpy(self.tree_.log_paths(inputs))).T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class HMERegressor(RegressorMixin, _HME):
    __doc__ = f"""A hierarchical mixture of experts for numbers: a tree of soft decisions over simple models.
    {_PARAMETERS.format(experts='{"linear", "constant", "poisson", "gamma"}')}
    Examples
    --------
    >>> import baytree as bt
    >>> data = bt.datasets.friedman(300)
    >>> model = bt.HMERegressor(depth=2, random_state=0).fit(data.X, data.y)
    >>> model.predict(data.X, kind="predictive_interval").shape
    (300, 2)
    """

    _task = "regression"
    _experts = OF_NUMBERS

    def __init__(
        self,
        depth: int = 3,
        branching: int = 2,
        expert: str = "linear",
        method: str = "em",
        init: Any = "cart",
        ridge: float = RIDGE["regression"],
        epochs: int = 100,
        tol: float = 1e-5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        n_init: int = 1,
        decay: float = 0.999,
        categorical_features: Any = None,
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
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_init = n_init
        self.decay = decay
        self.categorical_features = categorical_features
        self.random_state = random_state

    def partial_fit(self, X: Any, y: Any) -> HMERegressor:
        """Learn more rows by the recursions; the first ones say how inputs and outputs are scaled.

        Parameters
        ----------
        X, y
            Rows, as for `fit`.
        """
        epochs = self.epochs if self.method == "online" else 1
        before: Fitted | None = getattr(self, "_fitted", None)
        if before is None or before.state is None:
            if self.expert not in ("linear", "constant"):
                raise InputError(f"partial_fit is for linear and constant experts, not {self.expert!r}; use fit")
            return self._fit(X, y, None, {"method": "online", "epochs": epochs})
        rows = self._rows(X, y, None)
        generator = np.random.default_rng(self._seed())
        return self._keep(learn_rows(before, rows, int(epochs), float(self.decay), generator))

    def _describe(self, design: LinearDesign) -> None:
        self._one_output = design.y.ndim == 1

    def _outputs(self, y: Any) -> np.ndarray:
        return self.outputs_.standard(numbers_of(y))

    def _said(self, mean: np.ndarray) -> str:
        return "; ".join(f"{value:.3g}" for value in mean)

    def predict(
        self, X: Any, kind: Literal["mean", "sd", "predictive_interval"] = "mean", prob: float = 0.9
    ) -> np.ndarray:
        """Predict new rows.

        Parameters
        ----------
        X : frame or array-like
            New rows.
        kind : {"mean", "sd", "predictive_interval"}
            ``"mean"``: E(y | x), shape (rows,), or (rows, outputs) of several.
            ``"sd"``: the standard deviation of y given x, the experts' noise and their differences, likewise.
            ``"predictive_interval"``: an equal-tailed interval of y given x, with a last axis of 2.
        prob : float
            The probability of the interval.
        """
        inputs = self._inputs_of_tree(X)
        if kind not in KINDS:
            raise unknown_choice("kind of prediction", kind, KINDS)
        require_prob(prob)
        if kind == "mean":
            found = self.outputs_.original(to_numpy(self.tree_.means(inputs)))
        elif kind == "sd":
            found = np.sqrt(to_numpy(self.tree_.variances(inputs))) * self.outputs_.scale
        else:
            tree, inputs = self.tree_.to_numpy(), to_numpy(inputs)
            ends = [quantile(tree, inputs, share) for share in ((1 - prob) / 2, (1 + prob) / 2)]
            found = np.stack([self.outputs_.original(end) for end in ends], axis=-1)
        return _like(X, found[:, 0] if self._one_output else found)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class HMEClassifier(ClassifierMixin, _HME):
    __doc__ = f"""A hierarchical mixture of experts for classes: a tree of soft decisions over logit models.
    {_PARAMETERS.format(experts='{"auto", "logistic", "multinomial"}')}
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
    _experts = ("auto", *OF_CLASSES)

    def __init__(
        self,
        depth: int = 2,
        branching: int = 2,
        expert: str = "auto",
        method: str = "em",
        init: Any = "random",
        ridge: float = RIDGE["classification"],
        epochs: int = 100,
        tol: float = 1e-5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        n_init: int = 1,
        decay: float = 0.999,
        categorical_features: Any = None,
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
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_init = n_init
        self.decay = decay
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _describe(self, design: LinearDesign) -> None:
        self.classes_: np.ndarray = np.asarray(design.classes)

    def _outputs(self, y: Any) -> np.ndarray:
        return indicators_of(y, self.classes_)

    def _said(self, mean: np.ndarray) -> str:
        return f"{self.classes_[mean.argmax()]}; {mean.max():.2f}"

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of each row, shape (rows, classes)."""
        return _like(X, self._probabilities(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; of an X that is no NumPy array likewise, if classes are numbers."""
        share = self._probabilities(X)
        best = self.classes_[share.argmax(axis=1)]
        if is_foreign(X) and best.dtype.kind in "iufb":
            return namespace(X).asarray(best, device=device(X))
        return best

    def _probabilities(self, X: Any) -> np.ndarray:
        return to_numpy(self.tree_.means(self._inputs_of_tree(X)))


KINDS = ("mean", "sd", "predictive_interval")


def _like(X: Any, values: np.ndarray) -> Any:
    """Values as an array of the kind and on the device of X, where it is one."""
    return to_kind_of(floating(X), values) if is_foreign(X) else values
