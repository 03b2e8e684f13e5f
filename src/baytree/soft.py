"""Hierarchical mixtures of experts as scikit-learn estimators: soft trees for numbers and for classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .errors import InputError, is_number, require_prob, require_whole, unknown_choice
from .hme import em, online, start
from .hme.inputs import Inputs
from .hme.mixture_quantiles import quantile
from .hme.soft_tree import SoftTree
from .subset.design import LinearDesign, linear_design_of
from .tables import table_of
from .training import training_of_arrays
from .words import counted

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
    inputs_ : Inputs
        How rows become inputs.
    objective_ : tuple of float
        The penalised log-likelihood before each epoch, and at the end.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : numpy.ndarray
        Their names, when X had any.
    """


class _HME(BaseEstimator):
    """What the regressor and the classifier share."""

    _task: Literal["classification", "regression"]
    _experts: tuple[str, ...]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn the gates and the experts.

        Parameters
        ----------
        X : frame or array-like of shape (rows, columns)
            Numbers, booleans, strings or categories. Where values are missing, the mean takes their place and an
            indicator of that is one more input.
        y : array-like of shape (rows,), or for numbers (rows, outputs)
            The response.
        sample_weight : array-like of shape (rows,), optional
            How many copies of itself each row counts as.
        """
        self._check()
        design, outputs = self._read(X, y, sample_weight)
        self.inputs_ = Inputs.of(design)
        inputs = self.inputs_.of_matrix(design.matrix)
        weight = np.ones(design.rows) if design.weight is None else design.weight
        outputs = self._standard_outputs(outputs, weight)
        generator = np.random.default_rng(self._seed())
        if self.method == "online":
            self._forget()
            self._learn_rows(inputs, outputs, generator)
            return self
        kept, held_out = self._divide(len(inputs), generator)
        other = (inputs[held_out], outputs[held_out], weight[held_out]) if len(held_out) else None
        rows = inputs[kept], outputs[kept], weight[kept]
        fits = [em.fit(begin, *rows, self._settings(), other) for begin in self._beginnings(*rows, generator)]
        best = max(fits, key=lambda fit: max(fit.held_out) if fit.held_out else fit.objective[-1])
        self.tree_: SoftTree = best.tree
        self.objective_, self.held_out_ = best.objective, best.held_out
        self.n_iter_ = max(len(best.objective) - 1, 1)
        return self

    def _check(self) -> None:
        require_whole("depth", self.depth, 0)
        require_whole("branching", self.branching, 2)
        if self.branching**self.depth > MOST_LEAVES:
            raise InputError(
                f"depth={self.depth}, branching={self.branching}: {self.branching**self.depth:,} leaves; choose at "
                f"most {MOST_LEAVES:,}"
            )
        if self.expert not in self._experts:
            raise unknown_choice("expert", self.expert, self._experts)
        if self.method not in METHODS:
            raise unknown_choice("method", self.method, METHODS)
        if self.method == "online" and self.expert not in ("linear", "constant"):
            raise InputError(f"method='online' is for linear and constant experts, not {self.expert!r}; choose 'em'")
        if isinstance(self.init, str) and self.init not in ("cart", "random"):
            raise unknown_choice("init", self.init, ("cart", "random", "a fitted decision tree"))
        if self.init != "random" and self.branching != 2 and not (isinstance(self.init, str) and self.depth == 0):
            raise InputError(
                f"init={self.init!r}: decision trees have two branches, not {self.branching}; choose 'random'"
            )
        for name, least in (("ridge", 0), ("tol", 0)):
            value = getattr(self, name)
            if not is_number(value) or not least <= value < np.inf:
                raise InputError(f"{name}={value!r}: choose 0 or more")
        for name in ("validation_fraction", "decay"):
            value = getattr(self, name)
            if not is_number(value) or not 0 < value <= 1 or (name == "validation_fraction" and value == 1):
                raise InputError(f"{name}={value!r}: choose a number between 0 and 1")
        for name in ("epochs", "n_iter_no_change", "n_init"):
            require_whole(name, getattr(self, name), 1)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[LinearDesign, np.ndarray]:
        raise NotImplementedError

    def _design(self, X: Any, y: Any, sample_weight: Any) -> tuple[LinearDesign, Any]:
        """The design, and which rows it keeps."""
        training = training_of_arrays(
            X,
            y,
            task=self._task,
            names=None,
            target="y",
            sample_weight=sample_weight,
            offset=None,
            categorical_features=self.categorical_features,
        )
        design = linear_design_of(training)
        validate_data(self, X, skip_check_array=True)
        return design, training.kept

    def _standard_outputs(self, outputs: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return outputs

    def _settings(self) -> em.Settings:
        return em.Settings(
            algorithm="em2" if self.method == "em2" else "em",
            ridge=float(self.ridge),
            epochs=int(self.epochs),
            tolerance=float(self.tol),
            patience=int(self.n_iter_no_change),
        )

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _divide(self, rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows to learn from, and rows to hold out."""
        if not self.early_stopping:
            return np.arange(rows), np.arange(0)
        held_out = max(1, round(self.validation_fraction * rows))
        if rows - held_out < 2:
            raise InputError(f"early_stopping: {counted(rows, 'row')} cannot be divided; leave it out")
        order = generator.permutation(rows)
        return np.sort(order[held_out:]), np.sort(order[:held_out])

    def _beginnings(
        self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, generator: np.random.Generator
    ) -> Iterator[SoftTree]:
        if self.init == "random" or self.depth == 0:
            for _ in range(int(self.n_init)):
                yield start.random_tree(self._family, X, Y, weight, int(self.depth), int(self.branching), generator)
            return
        if isinstance(self.init, str):
            splits = start.splits_of(self._hard_tree(X[:, :-1], Y, weight, generator), int(self.depth))
        else:
            splits = self._given_splits(X.shape[1] - 1)
        yield start.tree_from_splits(self._family, X, Y, weight, splits)

    @property
    def _family(self) -> str:
        """Of the experts."""
        return str(self.expert)

    def _hard_tree(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, generator: np.random.Generator) -> Any:
        raise NotImplementedError

    def _given_splits(self, columns: int) -> list[list[Any]]:
        """The splits of the tree that was given, in standard units."""
        if not hasattr(self.init, "tree_"):
            raise InputError(f"init={self.init!r}: give 'cart', 'random', or a fitted decision tree of scikit-learn")
        if self.init.n_features_in_ != columns or len(self.inputs_.schema.columns) != columns:
            raise InputError(
                f"init: the tree was fitted to {counted(int(self.init.n_features_in_), 'column')}, and there are "
                f"{counted(columns, 'input')}; give one for the same numeric columns"
            )
        centre, scale = self.inputs_.centre, self.inputs_.scale
        return [
            [None if rule is None else (rule[0], (rule[1] - centre[rule[0]]) / scale[rule[0]]) for rule in level]
            for level in start.splits_of(self.init, int(self.depth))
        ]

    def _forget(self) -> None:
        for name in ("tree_", "state_"):
            if hasattr(self, name):
                delattr(self, name)

    def _learn_rows(self, X: np.ndarray, Y: np.ndarray, generator: np.random.Generator) -> None:
        """The recursions over the rows, as often as there are epochs."""
        if not hasattr(self, "tree_"):
            self.tree_ = next(iter(self._beginnings(X, Y, np.ones(len(X)), generator)))
            self.state_ = online.first_state(self.tree_)
        for _ in range(int(self.epochs) if self.method == "online" else 1):
            for row in generator.permutation(len(X)):
                self.tree_, self.state_ = online.learn_row(self.tree_, self.state_, X[row], Y[row], float(self.decay))
        self.objective_ = (float(np.sum(self.tree_.log_likelihood(X, Y))),)
        self.n_iter_ = int(self.epochs)

    def _inputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        table_of(X)  # first, as its errors about the shape say more
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.inputs_.matrix(X)

    def responsibilities(self, X: Any) -> np.ndarray:
        """P(leaf | x) of each row, shape (rows, leaves)."""
        inputs = self._inputs(X)
        return np.exp(self.tree_.log_paths(inputs)).T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


METHODS = ("em", "em2", "online")
MOST_LEAVES = 4096


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
    _experts = ("linear", "constant", "poisson", "gamma")

    def __init__(
        self,
        depth: int = 3,
        branching: int = 2,
        expert: str = "linear",
        method: str = "em",
        init: Any = "cart",
        ridge: float = 0.1,
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
        if hasattr(self, "state_"):
            outputs = _numbers(y, len(table_of(X).raw(0)))
            inputs = self._inputs(X)
            self._learn_rows(inputs, (outputs - self.centre_) / self.scale_, np.random.default_rng(self._seed()))
            return self
        self._check()
        if self.expert not in ("linear", "constant"):
            raise InputError(f"partial_fit is for linear and constant experts, not {self.expert!r}; use fit")
        design, outputs = self._read(X, y, None)
        self.inputs_ = Inputs.of(design)
        self._forget()
        standard = self._standard_outputs(outputs, np.ones(design.rows))
        self._learn_rows(self.inputs_.of_matrix(design.matrix), standard, np.random.default_rng(self._seed()))
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[LinearDesign, np.ndarray]:
        several = getattr(y, "ndim", 1) == 2 and y.shape[1] > 1
        self._one_output = not several
        if not several:
            design, _ = self._design(X, y, sample_weight)
            return design, design.y[:, None]
        outputs = _numbers(y, len(np.asarray(y)))
        varying = np.flatnonzero(np.ptp(outputs, axis=0) > 0)
        if not len(varying):
            raise InputError("y: every output is the same in all rows; a regression needs values that differ")
        design, kept = self._design(X, outputs[:, varying[0]], sample_weight)
        return design, outputs[kept]

    def _standard_outputs(self, outputs: np.ndarray, weight: np.ndarray) -> np.ndarray:
        if self.expert == "poisson" and ((outputs < 0).any() or (outputs % 1).any()):
            raise InputError(f"expert='poisson' is for counts, and the response has {_odd(outputs):g}; choose another")
        if self.expert == "gamma" and (outputs <= 0).any():
            raise InputError(f"expert='gamma' is for positive numbers, and the response has {outputs.min():g}")
        if self.expert in ("poisson", "gamma") and outputs.shape[1] > 1:
            raise InputError(f"expert={self.expert!r} has one output, and y has {outputs.shape[1]}; fit one at a time")
        width = outputs.shape[1]
        self.centre_, self.scale_ = np.zeros(width), np.ones(width)
        if self.expert in ("linear", "constant"):
            self.centre_ = np.average(outputs, axis=0, weights=weight)
            spread = np.sqrt(np.average((outputs - self.centre_) ** 2, axis=0, weights=weight))
            self.scale_ = np.where(spread > 0, spread, 1.0)
        return (outputs - self.centre_) / self.scale_

    def _hard_tree(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, generator: np.random.Generator) -> Any:
        from sklearn.tree import DecisionTreeRegressor

        seed = int(generator.integers(2**31))
        return DecisionTreeRegressor(
            max_depth=int(self.depth), min_weight_fraction_leaf=_least_share(weight), random_state=seed
        ).fit(X, Y, sample_weight=weight)

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
        inputs = self._inputs(X)
        if kind not in KINDS:
            raise unknown_choice("kind of prediction", kind, KINDS)
        require_prob(prob)
        if kind == "mean":
            found = self.tree_.means(inputs) * self.scale_ + self.centre_
        elif kind == "sd":
            found = np.sqrt(self.tree_.variances(inputs)) * self.scale_
        else:
            ends = [quantile(self.tree_, inputs, share) for share in ((1 - prob) / 2, (1 + prob) / 2)]
            found = np.stack([end * self.scale_ + self.centre_ for end in ends], axis=-1)
        return found[:, 0] if self._one_output else found

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
    _experts = ("auto", "logistic", "multinomial")

    def __init__(
        self,
        depth: int = 2,
        branching: int = 2,
        expert: str = "auto",
        method: str = "em",
        init: Any = "random",
        ridge: float = 5.0,
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

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[LinearDesign, np.ndarray]:
        design, _ = self._design(X, y, sample_weight)
        self.classes_: np.ndarray = np.asarray(design.response.classes)
        if self.expert == "logistic" and len(self.classes_) > 2:
            raise InputError(f"expert='logistic' is for two classes, and y has {len(self.classes_)}; choose 'auto'")
        return design, np.eye(len(self.classes_))[design.y]

    @property
    def _family(self) -> str:
        return "multinomial"

    def _hard_tree(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, generator: np.random.Generator) -> Any:
        from sklearn.tree import DecisionTreeClassifier

        seed = int(generator.integers(2**31))
        return DecisionTreeClassifier(
            max_depth=int(self.depth), min_weight_fraction_leaf=_least_share(weight), random_state=seed
        ).fit(X, Y.argmax(axis=1), sample_weight=weight)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of each row, shape (rows, classes)."""
        inputs = self._inputs(X)
        return self.tree_.means(inputs)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


KINDS = ("mean", "sd", "predictive_interval")


def _numbers(y: Any, rows: int) -> np.ndarray:
    """Outputs as numbers, shape (rows, outputs)."""
    try:
        outputs = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"y: outputs must be numbers ({error})") from error
    outputs = outputs.reshape(len(outputs), -1)
    if len(outputs) != rows:
        raise InputError(f"X and y have inconsistent numbers of samples: {rows:,} and {len(outputs):,}; align them")
    if not np.isfinite(outputs).all():
        raise InputError("y contains NaN or infinity; drop these rows first")
    return outputs


def _least_share(weight: np.ndarray) -> float:
    """The share of the weight that a leaf of a decision tree has at least: that of five rows."""
    return min(5 / float(weight.sum()), 0.4)


def _odd(outputs: np.ndarray) -> float:
    """An output that is no count."""
    return float(outputs[(outputs < 0) | (outputs % 1 != 0)][0])
