"""No family knows in which unit or from which origin a column or the response was measured.

The same seed draws the same posterior of a table in other units, to rounding; where rounding sends the chains other
ways, up to Monte Carlo error. The numbers of the table are multiples of 2⁻¹², so that 10⁹ is added to them exactly, and
powers of two change no digit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import baytree as bt
from reference.agreement import Disagreement, assert_means_agree

ROWS = 80
# What rounding may do, in standard deviations of the response: sums of trees are added up in single precision.
ROUNDING = 1e-4


def on_grid(values: np.ndarray) -> np.ndarray:
    """Multiples of 2⁻¹²."""
    return np.round(values * 2**12) / 2**12


GENERATOR = np.random.default_rng(3)
# A number that is missing here and there, a skewed one, and one that says nothing; then labels, which have no unit.
NUMBERS = on_grid(GENERATOR.normal(size=(ROWS, 3)))
NUMBERS[:, 1] = on_grid(np.exp(NUMBERS[:, 1]))
NUMBERS[::9, 0] = np.nan
LABELS = GENERATOR.integers(0, 3, ROWS)
Y = 2 * np.nan_to_num(NUMBERS[:, 0]) + 1.5 * (NUMBERS[:, 1] > 1) + (LABELS == 2)
Y = on_grid(Y + 0.3 * GENERATOR.normal(size=ROWS))
TWO, THREE = (Y > 1).astype(int), np.digitize(Y, [0, 2])
COUNTS = np.abs(Y).round()
GROUPS = np.repeat(np.arange(4), ROWS // 4)
WEIGHT, OFFSET = np.linspace(0.5, 2, ROWS), on_grid(np.linspace(-1, 1, ROWS))


@dataclass(frozen=True)
class Unit:
    """What numbers are multiplied by, and what is added to them."""

    scale: float = 1.0
    origin: float = 0.0

    def of(self, numbers: np.ndarray) -> np.ndarray:
        return numbers * self.scale + self.origin

    def back(self, numbers: np.ndarray) -> np.ndarray:
        return (numbers - self.origin) / self.scale

    def __str__(self) -> str:
        return f"{self.scale:g}x+{self.origin:g}"


USUAL = Unit()
LARGE, SMALL, FAR = Unit(1e12), Unit(1e-12), Unit(1.0, 1e9)
EXACT = [Unit(2.0**40), Unit(2.0**-40)]


@dataclass(frozen=True)
class Case:
    """A model with its kind of design; of sums of trees with an offset, which is in the unit of the response.

    Counts have no unit, and neither have classes.
    """

    model: Any
    make: Callable[..., Any] = bt.make_design
    y: np.ndarray = field(default_factory=lambda: Y)
    options: Mapping[str, Any] = field(default_factory=dict)
    has_offset: bool = False
    counts: bool = False

    @property
    def of_numbers(self) -> bool:
        return self.y.dtype.kind == "f"

    @property
    def has_unit(self) -> bool:
        return self.of_numbers and not self.counts

    def __call__(self, response: Unit = USUAL, *columns: Unit) -> list[np.ndarray]:
        """Draws of E(y | x) and of a new y, in the usual unit, of a table in other units."""
        units = columns if len(columns) > 1 else (columns or (USUAL,)) * NUMBERS.shape[1]
        X = np.column_stack([*(unit.of(x) for unit, x in zip(units, NUMBERS.T, strict=True)), LABELS])
        y = response.of(self.y) if self.has_unit else self.y
        more: dict[str, Any] = {"offset": response.scale * OFFSET} if self.has_offset else {}
        given = {"y": y, "groups": GROUPS} if self.make is bt.make_sequence_design else more
        task = "regression" if self.of_numbers else "classification"
        design = self.make(X, y, task=task, categorical_features=[3], **self.options, **more)
        posterior = bt.sample(self.model, design, warmup=100, draws=500, chains=2, seed=5, progress=False)
        kinds = ("draws", "predictive") if self.of_numbers else ("draws",)
        said = posterior.predict(X, kinds, **given).values()
        return [response.back(found) / self.y.std() if self.has_unit else found for found in said]


LINEAR: dict[str, Any] = {"make": bt.make_linear_design}
IN_TIME: dict[str, Any] = {"make": bt.make_sequence_design, "options": {"groups": GROUPS}}
WEIGHTED: dict[str, Any] = {"options": {"sample_weight": WEIGHT}}
PAIRS: dict[str, Any] = LINEAR | {"options": {"interactions": "all"}}
FEW: dict[str, Any] = {"trees": 8}
PROGRAM = bt.slp.load("growtree.slp")
QUICK: dict[str, Any] = {"depth": 1, "epochs": 4, "n_init": 1}

CASES = {
    "cart": Case(bt.CART()),
    "cart, weights": Case(bt.CART(), **WEIGHTED),
    "cart, classes": Case(bt.CART(), y=THREE),
    "cart, monotone": Case(bt.CART(bt.GrowTree() & bt.Monotone(x0=1))),
    "cart, every tree": Case(bt.CART(bt.GrowTree(min_leaf=10), method="exact"), options={"max_cuts": 8}),
    "cart, program": Case(bt.CART(PROGRAM)),
    "bart": Case(bt.BART(**FEW), has_offset=True),
    "bart, program": Case(bt.BART(**FEW, prior=PROGRAM, proposal={"subtree": 1.5})),
    "bart, weights": Case(bt.BART(**FEW, sigma="naive", k="learned"), **WEIGHTED),
    "bart, two classes": Case(bt.BART(**FEW), y=TWO),
    "bart, three classes": Case(bt.BART(**FEW), y=THREE),
    "bart, grown": Case(bt.BART(**FEW, init="grow")),
    "bart, soft": Case(bt.BART(**FEW, split="soft")),
    "bart, variance": Case(bt.BART(**FEW, variance="forest", variance_trees=4)),
    "bart, student": Case(bt.BART(**FEW, noise="student"), has_offset=True),
    "subset": Case(bt.Subset(), **LINEAR),
    "subset, sampled": Case(bt.Subset(method="sample"), bt.make_linear_design, **WEIGHTED),
    "subset, ridge": Case(bt.Subset(coefficients=bt.Ridge()), **LINEAR),
    "subset, interactions": Case(bt.Subset(heredity="strong"), **PAIRS),
    "hme": Case(bt.HME(depth=1), bt.make_linear_design, **WEIGHTED),
    "hme, least squares": Case(bt.HME(depth=1, method="em2"), **LINEAR),
    "hme, online": Case(bt.HME(depth=1, method="online"), **LINEAR),
    "hme, mean field": Case(bt.HME(depth=1, method="variational"), **LINEAR),
    "hme, gibbs": Case(bt.HME(depth=1, method="gibbs"), **LINEAR),
    "hme, counts": Case(bt.HME(depth=1, expert="poisson"), bt.make_linear_design, COUNTS, counts=True),
    "hme, classes": Case(bt.HME(depth=1, method="gibbs"), bt.make_linear_design, TWO),
    "hmdt": Case(bt.HMDT(**QUICK), **IN_TIME),
    "hmdt, mean field": Case(bt.HMDT(**QUICK, method="mean_field"), **IN_TIME),
    "hmdt, classes": Case(bt.HMDT(**QUICK), y=THREE, **IN_TIME),
}

TIMES = on_grid(np.exp(Y / 2))
POSITIVE = {
    "hme": Case(bt.HME(depth=1, expert="gamma"), bt.make_linear_design, TIMES, WEIGHTED["options"]),
    "hmdt": Case(bt.HMDT(**QUICK, expert="gamma"), y=TIMES, **IN_TIME),
}


@cache
def usual(case: str) -> list[np.ndarray]:
    """What is said of the table in its usual units."""
    return CASES[case]()


def assert_alike(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    """Equal to rounding, or else with means that agree up to Monte Carlo error."""
    for here, there in zip(found, expected, strict=True):
        apart = (here - there).reshape(*here.shape[:2], -1)
        if np.abs(apart).max() > ROUNDING:
            if here.shape[:2] == (1, 1):
                raise Disagreement(f"one tree predicts {np.abs(apart).max():.1g} standard deviations elsewhere")
            assert_means_agree(apart, np.zeros(apart.shape[-1]))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("response", "columns"), [(SMALL, LARGE), (FAR, SMALL), (LARGE, FAR)], ids=str)
def test_units_and_origins(case: str, response: Unit, columns: Unit) -> None:
    assert_alike(CASES[case](response, columns), usual(case))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("unit", EXACT, ids=str)
def test_powers_of_two_change_no_digit(case: str, unit: Unit) -> None:
    """But of a variance that trees multiply, whose logarithm is what changes."""
    digits = 1e-5 if "variance" in case else 0
    for found, expected in zip(CASES[case](unit, unit), usual(case), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=digits)


@pytest.mark.parametrize("unit", [LARGE, SMALL, *EXACT], ids=str)
@pytest.mark.parametrize("name", POSITIVE)
def test_units_of_positive_numbers(name: str, unit: Unit) -> None:
    """Which have an origin."""
    assert_alike(POSITIVE[name](unit), POSITIVE[name]())


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("unit", [LARGE, SMALL, FAR, Unit(2.0**10, -1e9)], ids=str)
@pytest.mark.parametrize("place", range(-1, NUMBERS.shape[1]))
def test_each_by_itself(case: str, unit: Unit, place: int) -> None:
    """The response, or one column, in another unit than the rest."""
    if place < 0:
        found = CASES[case](unit)
    else:
        found = CASES[case](USUAL, *(unit if place == at else USUAL for at in range(NUMBERS.shape[1])))
    assert_alike(found, usual(case))


@pytest.mark.parametrize("unit", [LARGE, FAR], ids=str)
def test_a_prior_in_the_unit_of_the_table_is_found(unit: Unit) -> None:
    """Numbers that a person gives are in the unit of the response."""
    fixed = replace(CASES["cart"], model=bt.CART(leaf=bt.Gaussian(mean=0.0, kappa=0.1, nu=3.0, scale=1.0)))
    with pytest.raises(Disagreement):
        assert_alike(fixed(unit), fixed())
