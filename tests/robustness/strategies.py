"""Hypothesis strategies for tables and options: what a person might give, sense or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st

import baytree as bt

MOST_ROWS, MOST_COLUMNS = 12, 4
NAMES = st.one_of(
    st.sampled_from(["a", "b", "x0", "y", "", " ", "a b", "é", "\x1b[2J", "(missing)"]), st.text(max_size=3)
)
FLOATS = st.floats() | st.floats(-10, 10) | st.sampled_from([0.0, -0.0, 1e308, -1e308, 5e-324, 1e15, 2.0**53])
CELLS = (
    FLOATS
    | st.integers(-(2**70), 2**70)
    | st.booleans()
    | st.none()
    | st.text(max_size=4)
    | st.sampled_from([b"x", 1j, object, [1], {"a": 1}, np.datetime64("2026-01-01"), pd.NA, pd.NaT])
)
# Columns of one kind, as most tables have them, and of any.
USUAL = [st.floats(-10, 10), st.integers(-3, 3), st.booleans(), st.sampled_from("pqr")]
KINDS = [*USUAL, FLOATS, st.text(max_size=2)]
FRAMES = (
    lambda columns: pl.DataFrame(columns, strict=False),
    pd.DataFrame,
    lambda c: np.column_stack(list(c.values())),
)


@dataclass(frozen=True)
class Given:
    """A table, its response and what to make of them."""

    X: Any
    y: Any
    task: str
    weight: Any
    model: Any
    settings: dict[str, Any]


@st.composite
def columns(draw: st.DrawFn, rows: int, odd: bool) -> list[Any]:
    """The cells of a column."""
    cells = draw(st.sampled_from([*KINDS, CELLS] if odd else USUAL))
    missing = draw(st.booleans())
    return draw(st.lists(cells | st.none() if missing else cells, min_size=rows, max_size=rows))


@st.composite
def tables(draw: st.DrawFn, rows: int, odd: bool) -> Any:
    """A table of some library or none, as far as that makes one."""
    names = draw(st.lists(NAMES, min_size=0 if odd else 1, max_size=MOST_COLUMNS, unique=True))
    found = {name: draw(columns(rows, odd)) for name in names}
    try:
        return draw(st.sampled_from(FRAMES))(found)
    except Exception:  # the library refused; a list of rows is taken by all
        return [list(row) for row in zip(*found.values(), strict=True)]


NUMBERS = st.sampled_from([0, 1, 2, 3, -1, 0.5, 1e300, 1e-300, np.nan, np.inf, "auto", None, True, 2**40])
GROWN: Any = st.builds(
    dict, alpha=st.sampled_from([0.0, 0.5, 0.95]), beta=st.sampled_from([0.0, 2.0, 50.0]), min_leaf=st.integers(1, 4)
)


@st.composite
def priors(draw: st.DrawFn) -> Any:
    """A prior of trees, and perhaps something that is known."""
    prior = bt.GrowTree(**draw(GROWN))
    known = draw(st.sampled_from([None] * 8 + [("x0", 1), ("a", -1), (0, 1), (1, 1)]))
    return prior if known is None else prior & bt.Monotone({known[0]: known[1]})


@st.composite
def models(draw: st.DrawFn) -> Any:
    """A family, parameters of it, and one more that may be refused."""
    family, prior = draw(st.sampled_from([bt.CART, bt.BART, bt.Subset, bt.HME, bt.HMDT])), draw(priors())
    usual: dict[Any, dict[str, Any]] = {
        bt.CART: {"prior": prior},
        bt.BART: {"prior": prior, "trees": 3, "split": draw(st.sampled_from(["hard", "soft"]))},
        bt.Subset: {
            "method": draw(st.sampled_from(["auto", "sample"])),
            "coefficients": draw(st.sampled_from([bt.GPrior(), bt.HyperG(), bt.Ridge()])),
        },
        bt.HMDT: {"depth": 1, "epochs": 3, "n_init": 1, "method": draw(st.sampled_from(["auto", "mean_field"]))},
        bt.HME: {
            "depth": draw(st.integers(0, 2)),
            "method": draw(st.sampled_from(["em", "em2", "online", "gibbs", "variational"])),
            "epochs": 5,
        },
    }
    odd = {
        bt.CART: ["power"],
        bt.BART: ["k", "nu", "q", "sigma", "bandwidth", "power"],
        bt.Subset: ["nu", "scale", "power"],
        bt.HME: ["ridge", "tol", "nu", "scale", "decay"],
        bt.HMDT: ["ridge", "tol"],
    }
    return family, usual[family], {draw(st.sampled_from(odd[family])): draw(NUMBERS)}


@st.composite
def given(draw: st.DrawFn) -> Given:
    """All that a fit needs."""
    odd = draw(st.sets(st.sampled_from(["rows", "table", "response", "weight", "model", "settings"]), max_size=2))
    rows = draw(st.integers(0, MOST_ROWS) if "rows" in odd else st.integers(6, MOST_ROWS))
    least = 0 if "settings" in odd else 1
    counts = {name: draw(st.integers(least, 3)) for name in ("chains", "draws", "warmup")}
    task = draw(st.sampled_from(["auto", "regression", "classification"]))
    family, parameters, changed = draw(models())
    return Given(
        draw(tables(rows, "table" in odd)),
        draw(columns(rows, odd=True)) if "response" in odd else draw(responses(rows, task)),
        task,
        draw(weights(rows)) if "weight" in odd else None,
        (family, parameters | (changed if "model" in odd else {})),
        counts | {"temperatures": draw(st.sampled_from([1, 1, 2, 0])) if "settings" in odd else 1, "seed": 1},
    )


def responses(rows: int, task: str) -> st.SearchStrategy[list[Any]]:
    """Responses that suit a task."""
    cells = st.sampled_from("pq") if task == "classification" else st.floats(-10, 10)
    return st.lists(cells, min_size=rows, max_size=rows)


def weights(rows: int) -> st.SearchStrategy[Any]:
    return st.lists(st.floats(0, 10) | FLOATS, min_size=rows, max_size=rows)
