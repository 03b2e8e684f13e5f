"""Every family on a small table: what the tests of all families are run on.

Whoever enters a family here has it held to all that every family promises: the same bits however a run is cut up
(`equality/test_families.py`), files that are damaged, hostile or old (`robustness/test_families.py`), posteriors and
predictions (`api/posterior`), and scikit-learn's checks (`api/test_estimators.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import baytree as bt
from baytree.data.design import AnyDesign
from baytree.hme.data.outputs import design_of_outputs
from baytree.mcmc.contract import AnyModel

GENERATOR = np.random.default_rng(0)
ROWS = 60
# A number that is missing here and there, labels, and a number that says nothing.
X = np.column_stack([GENERATOR.normal(size=ROWS), GENERATOR.integers(0, 3, ROWS), GENERATOR.random(ROWS)])
X[::9, 0] = np.nan
NUMBERS = 10 + np.nan_to_num(X[:, 0]) + 2 * (X[:, 1] == 1) + GENERATOR.normal(scale=0.3, size=ROWS)
TWO = np.where(NUMBERS > 10.5, "yes", "no")
THREE = np.digitize(NUMBERS, [9.9, 11])
COUNTS = np.round(NUMBERS)
OUTLYING = np.where(np.arange(ROWS) == 7, 1e5, NUMBERS)
PAIRS = np.column_stack([NUMBERS, -3 * NUMBERS + X[:, 2]])
GAPS = np.where(np.arange(ROWS) % 11 == 5, np.nan, NUMBERS)
WEIGHT, WHOLE_WEIGHT, OFFSET = np.linspace(0.5, 2, ROWS), 1 + np.arange(ROWS) % 3, np.linspace(-1, 1, ROWS)
GROUPS = np.repeat(np.arange(3), ROWS // 3)


@dataclass(frozen=True)
class Case:
    """A model of a family, its table, how its chains are run where that matters, and what its predictions need."""

    model: AnyModel
    design: AnyDesign
    settings: Mapping[str, Any] = field(default_factory=dict)
    has_chains: bool = True
    rows: Any = field(default_factory=lambda: X)
    options: Mapping[str, Any] = field(default_factory=dict)

    def sample(self, **options: Any) -> Any:
        """The posterior of a short run."""
        usual = {"warmup": 70, "draws": 15, "thin": 3, "chains": 2, "seed": 5, "progress": False}
        return bt.sample(self.model, self.design, **usual | dict(self.settings) | options)


def task_of(y: np.ndarray) -> Any:
    return "regression" if y.dtype.kind == "f" else "classification"


def bins(y: np.ndarray = NUMBERS, **more: Any) -> bt.Design:
    """The table as trees have it."""
    return bt.make_design(X, y, task=task_of(y), categorical_features=[1], **more)


def matrix(y: np.ndarray = NUMBERS, **more: Any) -> bt.LinearDesign:
    """The table as linear models have it."""
    return bt.make_linear_design(X, y, task=task_of(y), categorical_features=[1], **more)


def remembering(model: bt.HMDT, y: np.ndarray, groups: np.ndarray | None = None) -> Case:
    """Of the rows as sequences, each predicted from those before it."""
    design = bt.make_sequence_design(X, y, groups=groups, task=task_of(y), categorical_features=[1])
    return Case(model, design, has_chains=False, options={"y": y, "groups": groups})


BACKTRACK, REJECT = (bt.slp.load("growtree.slp", semantics=how) for how in ("backtrack", "reject"))
MONOTONE = bt.GrowTree() & bt.Monotone(x0=1, x2=-1)
MONOTONE_PROGRAM = BACKTRACK & bt.Monotone(x0=1)
EDITS = bt.EditTree("x0 <= 0.5?\n├─ yes: 0.0 (40 rows)\n└─ no:  1.0 (20 rows)")
INFORMED = {"gbirth": 1, "gchange": 2, "insert_delete": 1}
ADAPTIVE = {"temperatures": 3, "swap_every": 7}
MRBAYES = ADAPTIVE | {"ladder": "mrbayes"}

FEW: dict[str, Any] = {"trees": 6}
PROGRAM = FEW | {"proposal": {"subtree": 1.5}}
SPARSE = bt.GrowTree(beta=2.0) & bt.Weights("sparse")
ADDED: dict[str, Any] = {"options": {"offset": OFFSET}}
GIBBS = bt.HME(depth=2, method="gibbs")
NO_CHAINS: dict[str, Any] = {"has_chains": False}

CASES: dict[str, dict[str, Case]] = {
    "cart": {
        "numbers": Case(bt.CART(), bins()),
        "weights": Case(bt.CART(), bins(sample_weight=WEIGHT)),
        "two classes": Case(bt.CART(), bins(TWO)),
        "three classes": Case(bt.CART(), bins(THREE)),
        "one move": Case(bt.CART(proposal="uc"), bins()),
        "cycle": Case(bt.CART(proposal="cycle(4)"), bins(THREE)),
        "rules by likelihood": Case(bt.CART(proposal=INFORMED), bins(sample_weight=WEIGHT)),
        "rules by likelihood, two classes": Case(bt.CART(proposal=INFORMED), bins(TWO)),
        "edits": Case(bt.CART(EDITS), bins()),
        "program": Case(bt.CART(REJECT), bins(TWO)),
        "program, address": Case(bt.CART(REJECT, proposal="address"), bins()),
        "program, cycle": Case(bt.CART(BACKTRACK, proposal="cycle(4)"), bins(THREE)),
        "monotone": Case(bt.CART(MONOTONE), bins()),
        "monotone classes": Case(bt.CART(MONOTONE), bins(TWO)),
        "monotone program": Case(bt.CART(MONOTONE_PROGRAM), bins()),
        "every tree": Case(
            bt.CART(bt.GrowTree(min_leaf=12), method="exact"), bins(THREE, sample_weight=WEIGHT), **NO_CHAINS
        ),
        "tempered": Case(bt.CART(), bins(TWO), ADAPTIVE),
        "tempered, fixed ladder": Case(bt.CART(), bins(), MRBAYES),
        "tempered program": Case(bt.CART(REJECT), bins(), ADAPTIVE),
        "tempered monotone": Case(bt.CART(MONOTONE), bins(), ADAPTIVE),
        "tempered monotone program": Case(bt.CART(MONOTONE_PROGRAM), bins(), MRBAYES),
    },
    "bart": {
        "numbers": Case(bt.BART(trees=20), bins()),
        "weights and offset": Case(bt.BART(**FEW), bins(sample_weight=WEIGHT, offset=OFFSET), **ADDED),
        "weights": Case(bt.BART(**FEW), bins(sample_weight=WEIGHT)),
        "two classes": Case(bt.BART(**FEW), bins(TWO, sample_weight=WHOLE_WEIGHT)),
        "two classes, offset": Case(bt.BART(**FEW), bins(TWO, offset=OFFSET), **ADDED),
        "three classes": Case(bt.BART(**FEW), bins(THREE)),
        "sparse": Case(bt.BART(**FEW, prior=SPARSE, k="learned"), bins()),
        "sparse classes": Case(bt.BART(**FEW, prior=SPARSE), bins(TWO)),
        "monotone": Case(bt.BART(**FEW, prior=MONOTONE), bins()),
        "grown": Case(bt.BART(**FEW, init="grow"), bins()),
        "grown classes": Case(bt.BART(**FEW, init="grow"), bins(THREE)),
        "variance": Case(
            bt.BART(**FEW, prior=SPARSE, variance="forest", variance_trees=3, k="learned"),
            bins(sample_weight=WEIGHT, offset=OFFSET),
            **ADDED,
        ),
        "student": Case(bt.BART(**FEW, noise="student"), bins(OUTLYING, sample_weight=WEIGHT, offset=OFFSET), **ADDED),
        "student, soft": Case(bt.BART(**FEW, noise="student", split="soft", nu=30.0), bins(OUTLYING)),
        "soft": Case(bt.BART(**FEW, prior=SPARSE, split="soft", k="learned"), bins(offset=OFFSET), **ADDED),
        "soft classes": Case(bt.BART(**FEW, split="soft"), bins(THREE)),
        "program": Case(bt.BART(**PROGRAM, prior=BACKTRACK), bins()),
        "program, weights": Case(bt.BART(**PROGRAM, prior=REJECT & bt.MaxDepth(3)), bins(sample_weight=WEIGHT)),
        "program, two classes": Case(bt.BART(**PROGRAM, prior=BACKTRACK), bins(TWO)),
        "program, three classes": Case(bt.BART(**PROGRAM, prior=BACKTRACK), bins(THREE)),
        "monotone program": Case(bt.BART(**PROGRAM, prior=MONOTONE_PROGRAM), bins()),
    },
    "subset": {
        "enumerated": Case(bt.Subset(fit_intercept=False), matrix(), **NO_CHAINS),
        "sampled": Case(bt.Subset(method="sample"), matrix(sample_weight=WEIGHT)),
        "ridge": Case(bt.Subset(coefficients=bt.Ridge(), method="sample", proposal={"informed": 2}), matrix()),
        "heredity": Case(bt.Subset(heredity="weak", method="sample"), matrix(interactions="all")),
        "tempered": Case(bt.Subset(method="sample"), matrix(interactions="all"), ADAPTIVE),
    },
    "hme": {
        "one tree": Case(bt.HME(depth=1), matrix(sample_weight=WEIGHT), **NO_CHAINS),
        "counts": Case(bt.HME(depth=1, expert="poisson"), matrix(COUNTS), **NO_CHAINS),
        "online": Case(bt.HME(depth=1, method="online"), matrix(), **NO_CHAINS),
        "mean field": Case(bt.HME(depth=1, method="variational"), matrix(), **NO_CHAINS),
        "mean field, two classes": Case(bt.HME(depth=1, method="variational"), matrix(TWO), **NO_CHAINS),
        "numbers": Case(GIBBS, matrix()),
        "two outputs": Case(GIBBS, design_of_outputs(X[:, 1:], PAIRS, "regression", None, [0]), rows=X[:, 1:]),
        "constant": Case(bt.HME(depth=1, branching=3, expert="constant", method="gibbs"), matrix()),
        "two classes": Case(GIBBS, matrix(TWO)),
        "three classes": Case(GIBBS, matrix(THREE)),
        "tempered": Case(GIBBS, matrix(), ADAPTIVE),
    },
    "hmdt": {
        "exact": remembering(bt.HMDT(epochs=4, n_init=2), GAPS, GROUPS),
        "mean field": remembering(bt.HMDT(depth=1, method="mean_field", epochs=4, n_init=1), GAPS),
        "classes": remembering(bt.HMDT(depth=1, epochs=3, n_init=1), THREE, GROUPS),
        "two outputs": remembering(bt.HMDT(depth=1, epochs=3, n_init=1), PAIRS, GROUPS),
    },
}
EVERY = {f"{family}: {name}": case for family, cases in CASES.items() for name, case in cases.items()}


@cache
def drawn(name: str) -> Any:
    """The posterior of one of them, drawn once."""
    return EVERY[name].sample()


@dataclass(frozen=True)
class Estimator:
    """An estimator that is quick, and the checks of scikit-learn that it must fail, each with the reason."""

    estimator: BaseEstimator
    fails: Mapping[str, str] = field(default_factory=dict)


WEIGHTED = "check_sample_weight_equivalence_on_dense_data"
LEAVES_COUNT_ROWS = {
    WEIGHTED: "A weight counts for the likelihood, but min_leaf counts rows and cut points come from distinct rows: "
    "three copies of a row make a leaf of three, one row of weight 3 makes a leaf of one."
}
NOISE_COUNTS_ROWS = {
    WEIGHTED: "A weight is a precision: a row of weight 3 is one row with a third of the noise's variance, not three "
    "rows, which would say more about the noise."
}
BEGINS_AT_A_TREE = {
    WEIGHTED: "EM begins at a decision tree of scikit-learn, which breaks ties by the order of the rows."
}
TAKES_NO_WEIGHTS = dict.fromkeys(
    (WEIGHTED, "check_sample_weights_list", "check_sample_weights_not_overwritten"),
    "Chains take no weights, and say so.",
)
IN_TIME = {
    "check_methods_sample_order_invariance": "The order of the rows is that of time.",
    "check_methods_subset_invariance": "A prediction depends on the rows before it.",
}
QUICK: dict[str, Any] = {"chains": 2, "warmup": 30, "draws": 40, "random_state": 0}
QUICK_GIBBS: dict[str, Any] = QUICK | {"method": "gibbs", "depth": 1, "warmup": 20, "draws": 20}

ESTIMATORS = {
    "cart: numbers": Estimator(bt.CARTRegressor(random_state=0), LEAVES_COUNT_ROWS),
    "cart: classes": Estimator(bt.CARTClassifier(random_state=0), LEAVES_COUNT_ROWS),
    "bart: numbers": Estimator(bt.BARTRegressor(trees=10, **QUICK), LEAVES_COUNT_ROWS),
    "bart: classes": Estimator(bt.BARTClassifier(trees=10, **QUICK), LEAVES_COUNT_ROWS),
    "subset: numbers": Estimator(bt.SubsetRegressor(random_state=0), NOISE_COUNTS_ROWS),
    "subset: selector": Estimator(bt.SubsetSelector(random_state=0)),
    "hme: numbers": Estimator(bt.HMERegressor(random_state=0), BEGINS_AT_A_TREE),
    "hme: numbers, begun at random": Estimator(bt.HMERegressor(init="random", random_state=0)),
    "hme: classes": Estimator(bt.HMEClassifier(random_state=0)),
    "hme: numbers by Gibbs": Estimator(bt.HMERegressor(**QUICK_GIBBS), TAKES_NO_WEIGHTS),
    "hme: classes by Gibbs": Estimator(bt.HMEClassifier(ridge=0.1, **QUICK_GIBBS), TAKES_NO_WEIGHTS),
    "hmdt: numbers": Estimator(bt.HMDTRegressor(depth=1, n_init=1, random_state=0), IN_TIME),
    "hmdt: classes": Estimator(bt.HMDTClassifier(n_init=1, random_state=0), IN_TIME),
}
