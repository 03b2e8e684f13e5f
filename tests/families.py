"""Every family on small tables: what the tests of all families are run on.

Whoever enters a family here has it held to all that every family promises: the same bits however a run is cut up
(`equality/test_families.py`), files that are damaged or hostile (`robustness/test_families.py`), scikit-learn's checks,
pickles, summaries and kinds of prediction (`api/test_families.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import baytree as bt
from baytree.data.design import AnyDesign
from baytree.mcmc.contract import AnyModel


@dataclass(frozen=True)
class Table:
    """A small table: rows as a person has them, and what models take. An offset is added to predictions."""

    rows: Any
    design: AnyDesign
    offset: Any = None


@dataclass(frozen=True)
class Case:
    """A model of a family, a small table, and how its chains are run where that matters."""

    model: AnyModel
    table: Table
    settings: Mapping[str, Any] = field(default_factory=dict)
    has_chains: bool = True

    @property
    def design(self) -> AnyDesign:
        """The table as the model takes it."""
        return self.table.design

    def sample(self, **options: Any) -> Any:
        """The posterior of a short run."""
        usual = {"warmup": 70, "draws": 12, "thin": 3, "chains": 2, "seed": 5, "progress": False}
        return bt.sample(self.model, self.design, **usual | dict(self.settings) | options)


GENERATOR = np.random.default_rng(3)
FRIEDMAN = bt.datasets.friedman(103, seed=3)
NUMBERS = Table(FRIEDMAN.X, FRIEDMAN.design())
WEIGHT, OFFSET = GENERATOR.uniform(0.5, 2, 103), GENERATOR.random(103)
WEIGHTED = Table(
    FRIEDMAN.X, bt.make_design(FRIEDMAN.X, FRIEDMAN.y, task="regression", sample_weight=WEIGHT, offset=OFFSET), OFFSET
)
LABELS = np.array(["low", "mid", "top"])[np.digitize(FRIEDMAN.y, [11, 17])]
CLASSES = Table(FRIEDMAN.X, bt.make_design(FRIEDMAN.X, LABELS, task="classification"))
CHILDREN = bt.datasets.load("kyphosis")
KYPHOSIS = Table(CHILDREN.X, CHILDREN.design())

BACKTRACK = bt.slp.load("growtree.slp")
REJECT = bt.slp.load("growtree.slp", semantics="reject")
ORDERED = bt.GrowTree() & bt.Monotone(x4=1, x5=-1)
ORDERED_PROGRAM = BACKTRACK & bt.Monotone(x4=1)
ADAPTIVE = {"temperatures": 3, "swap_every": 7}
MRBAYES = ADAPTIVE | {"ladder": "mrbayes"}

SPARSE = bt.GrowTree(beta=2.0) & bt.Weights("sparse")
FEW = {"trees": 5}
PROGRAM = FEW | {"moves": {"subtree": 1.5}}

PLACES = GENERATOR.normal(size=(40, 2))
RESPONSE = np.where(PLACES[:, 0] > 0, PLACES[:, 1], -PLACES[:, 1]) + 0.2 * GENERATOR.normal(size=40)


def matrix(y: np.ndarray, **options: Any) -> Table:
    """Two lines that cross, as the matrix of a linear model."""
    return Table(PLACES, bt.make_linear_design(PLACES, y, **options))


LINEAR = matrix(RESPONSE, interactions="all")
PLANE = matrix(RESPONSE)
PLANE_OF_TWO = matrix(np.where(RESPONSE > 0, "a", "b"), task="classification")
PLANE_OF_THREE = matrix(np.digitize(RESPONSE, [-0.5, 0.5]), task="classification")
GIBBS = bt.HME(depth=2, method="gibbs")

CASES: dict[str, dict[str, Case]] = {
    "cart": {
        "numbers": Case(bt.CART(), NUMBERS),
        "classes": Case(bt.CART(), KYPHOSIS),
        "one move": Case(bt.CART(proposal="uc"), NUMBERS),
        "cycle": Case(bt.CART(proposal="cycle(4)"), CLASSES),
        "edits": Case(bt.CART(bt.EditTree("x3 <= 0.5?\n├─ yes: 0.0 (50 rows)\n└─ no:  1.0 (53 rows)")), NUMBERS),
        "program": Case(bt.CART(REJECT), KYPHOSIS),
        "program, address": Case(bt.CART(REJECT, proposal="address"), NUMBERS),
        "program, cycle": Case(bt.CART(BACKTRACK, proposal="cycle(4)"), CLASSES),
        "monotone": Case(bt.CART(ORDERED), NUMBERS),
        "monotone classes": Case(bt.CART(bt.GrowTree() & bt.Monotone(age=1)), KYPHOSIS),
        "monotone program": Case(bt.CART(ORDERED_PROGRAM), NUMBERS),
        "tempered": Case(bt.CART(), KYPHOSIS, ADAPTIVE),
        "tempered, fixed ladder": Case(bt.CART(), NUMBERS, MRBAYES),
        "tempered program": Case(bt.CART(REJECT), NUMBERS, ADAPTIVE),
        "tempered monotone": Case(bt.CART(ORDERED), NUMBERS, ADAPTIVE),
        "tempered monotone program": Case(bt.CART(ORDERED_PROGRAM), NUMBERS, MRBAYES),
    },
    "bart": {
        "numbers": Case(bt.BART(trees=20), NUMBERS),
        "weights and offset": Case(bt.BART(**FEW), WEIGHTED),
        "two classes": Case(bt.BART(**FEW), KYPHOSIS),
        "three classes": Case(bt.BART(**FEW), CLASSES),
        "sparse": Case(bt.BART(**FEW, prior=SPARSE, k="learned"), NUMBERS),
        "sparse classes": Case(bt.BART(**FEW, prior=SPARSE), KYPHOSIS),
        "monotone": Case(bt.BART(**FEW, prior=bt.GrowTree(beta=2.0) & bt.Monotone(x3=1)), NUMBERS),
        "grown": Case(bt.BART(**FEW, init="grow"), NUMBERS),
        "grown classes": Case(bt.BART(**FEW, init="grow"), CLASSES),
        "variance": Case(bt.BART(**FEW, prior=SPARSE, variance="forest", variance_trees=3, k="learned"), NUMBERS),
        "soft": Case(bt.BART(**FEW, prior=SPARSE, split="soft", k="learned"), NUMBERS),
        "soft classes": Case(bt.BART(**FEW, split="soft"), KYPHOSIS),
        "program": Case(bt.BART(**PROGRAM, prior=BACKTRACK), NUMBERS),
        "program, weights": Case(bt.BART(**PROGRAM, prior=REJECT & bt.MaxDepth(3)), WEIGHTED),
        "program, two classes": Case(bt.BART(**PROGRAM, prior=BACKTRACK), KYPHOSIS),
        "program, three classes": Case(bt.BART(**PROGRAM, prior=BACKTRACK), CLASSES),
        "monotone program": Case(bt.BART(**PROGRAM, prior=ORDERED_PROGRAM), NUMBERS),
    },
    "subset": {
        "enumerated": Case(bt.Subset(), LINEAR, has_chains=False),
        "sampled": Case(bt.Subset(method="sample"), LINEAR),
        "ridge": Case(bt.Subset(coefficients=bt.Ridge(), method="sample", moves={"informed": 2}), LINEAR),
        "heredity": Case(bt.Subset(heredity="weak", method="sample"), LINEAR),
        "tempered": Case(bt.Subset(method="sample"), LINEAR, ADAPTIVE),
    },
    "hme": {
        "one tree": Case(bt.HME(depth=1), PLANE, has_chains=False),
        "mean field": Case(bt.HME(depth=1, method="variational"), PLANE, has_chains=False),
        "numbers": Case(GIBBS, PLANE),
        "constant": Case(bt.HME(depth=1, branching=3, expert="constant", method="gibbs"), PLANE),
        "two classes": Case(GIBBS, PLANE_OF_TWO),
        "three classes": Case(GIBBS, PLANE_OF_THREE),
        "tempered": Case(GIBBS, PLANE, ADAPTIVE),
    },
}
