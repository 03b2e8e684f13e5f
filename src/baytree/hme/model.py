"""Hierarchical mixtures of experts: what is fitted, as a small frozen description."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError, is_number, require_whole, unknown_choice
from ..subset.design import LinearDesign
from ..subset.model import require_linear
from .inputs import Inputs
from .outputs import OF_CLASSES, OF_NUMBERS, Outputs
from .start import Splits

METHODS = ("em", "em2", "online")
INITS = ("auto", "cart", "random")
MOST_LEAVES = 4096
# The penalty where none is given. Logit models of few rows are undecided without a strong one.
RIDGE = {"regression": 0.1, "classification": 5.0}

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class HME:
    """A tree of soft decisions over simple models: P(y | x) = Σ over leaves P(leaf | x) P(y | x, leaf) [1]_.

    Parameters
    ----------
    depth, branching : int
        Levels of gates, and children of each.
    expert : {"auto", "linear", "constant", "poisson", "gamma", "logistic", "multinomial"}
        The models at the leaves; by itself linear ones for numbers and multinomial ones for classes.
    method : {"em", "em2", "online"}
        EM with gates by IRLS, whose penalised likelihood never falls; EM with gates by least squares on ln h, which is
        quicker; or one row at a time by recursive least squares, for linear experts.
    init : {"auto", "cart", "random"} or a fitted decision tree
        Where EM begins: at the splits of a decision tree, made soft, or at random ones; by itself at a tree where the
        response is a number. A tree of scikit-learn on the same columns may be given.
    ridge : float or "auto"
        The penalty on coefficients of columns in standard units; by itself 0.1 for numbers and 5 for classes.
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

    References
    ----------
    .. [1] Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm, Neural Computation 6,
       181–214.
    """

    depth: int = 2
    branching: int = 2
    expert: str = "auto"
    method: str = "em"
    init: Any = "auto"
    ridge: float | str = "auto"
    epochs: int = 100
    tol: float = 1e-5
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    n_init: int = 1
    decay: float = 0.999

    def __post_init__(self) -> None:
        require_whole("depth", self.depth, 0)
        require_whole("branching", self.branching, 2)
        if self.leaves > MOST_LEAVES:
            raise InputError(
                f"depth={self.depth}, branching={self.branching}: {self.leaves:,} leaves; choose at most "
                f"{MOST_LEAVES:,}"
            )
        if self.expert not in (experts := ("auto", *OF_NUMBERS, *OF_CLASSES)):
            raise unknown_choice("expert", self.expert, experts)
        if self.method not in METHODS:
            raise unknown_choice("method", self.method, METHODS)
        if self.method == "online" and self.expert not in ("auto", "linear", "constant"):
            raise InputError(f"method='online' is for linear and constant experts, not {self.expert!r}; choose 'em'")
        self._check_init()
        if self.ridge != "auto" and (not is_number(self.ridge) or not 0 <= self.ridge < np.inf):  # type: ignore[operator]
            raise InputError(f"ridge={self.ridge!r}: choose 0 or more, or 'auto'")
        if not is_number(self.tol) or not 0 <= self.tol < np.inf:
            raise InputError(f"tol={self.tol!r}: choose 0 or more")
        for name in ("validation_fraction", "decay"):
            value = getattr(self, name)
            if not is_number(value) or not 0 < value <= 1 or (name == "validation_fraction" and value == 1):
                raise InputError(f"{name}={value!r}: choose a number between 0 and 1")
        for name in ("epochs", "n_iter_no_change", "n_init"):
            require_whole(name, getattr(self, name), 1)

    def _check_init(self) -> None:
        if isinstance(self.init, str) and self.init not in INITS:
            raise unknown_choice("init", self.init, (*INITS, "a fitted decision tree"))
        if not isinstance(self.init, str | Splits):
            if not hasattr(self.init, "tree_"):
                raise InputError(
                    f"init={self.init!r}: give {', '.join(INITS)}, or a fitted decision tree of scikit-learn"
                )
            object.__setattr__(self, "init", Splits.of(self.init, int(self.depth)))
        if self.init not in ("auto", "random") and self.branching != 2 and self.depth > 0:
            raise InputError(f"init: decision trees have two branches, not {self.branching}; choose 'random'")

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int(self.branching) ** int(self.depth)

    def resolve(self, design: LinearDesign) -> HME:
        """The model with everything that was left open chosen for this design."""
        require_linear(design)
        task = design.response.task
        choices = OF_NUMBERS if task == "regression" else OF_CLASSES
        expert = choices[0] if task == "regression" else choices[1]
        expert = expert if self.expert == "auto" else self.expert
        if expert not in choices:
            raise InputError(f"expert={expert!r} is not for a {task}; choose from: auto, {', '.join(choices)}")
        if self.method == "online" and task == "classification":
            raise InputError("method='online' is for numbers; choose 'em'")
        init = self.init
        if init == "auto":
            init = "cart" if task == "regression" and self.branching == 2 else "random"
        return replace(self, expert=expert, init=init, ridge=RIDGE[task] if self.ridge == "auto" else self.ridge)

    def rows(self, design: LinearDesign, inputs: Inputs, outputs: Outputs) -> Rows:
        """Inputs, outputs and weights of a design."""
        weight = np.ones(design.rows) if design.weight is None else design.weight
        return inputs.of_matrix(design.matrix), outputs.matrix(design), weight
