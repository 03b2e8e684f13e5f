"""Arguments of runs, posteriors and what explains them that cannot be used."""

# What is given is of a wrong type on purpose.
# mypy: disable-error-code="arg-type,call-overload,type-var"

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import baytree as bt

from .case import Case, in_little_memory
from .given import BART, EM, GIBBS, SHORT, THREE, TWO, X, Y, drawn, lines, steps, trees

InputError, FileError = bt.InputError, bt.FileError
NAN, INF = float("nan"), float("inf")


def sums() -> Any:
    return drawn(model=BART)


def again(**options: Any) -> Any:
    """Draws that go on."""
    design = trees()
    return bt.extend(drawn(design), design, **{"progress": False} | options)


def on(**options: Any) -> Any:
    """Draws that go on until their chains agree."""
    design = trees()
    return bt.converge(drawn(design, chains=2), design, **{"progress": False} | options)


def taken(path: str) -> Any:
    """A checkpoint in a place where something is."""
    Path("notes").write_text("x", encoding="utf-8")
    return drawn(checkpoint=path)


RUNS = [
    # ---- sample ---------------------------------------------------------------------------------------------------
    Case("no draws", lambda: drawn(draws=0), InputError, "draws=0: choose a whole number, 1 or more"),
    Case("draws in words", lambda: drawn(draws="many"), InputError, "draws='many'"),
    Case("draws that are a float", lambda: drawn(draws=100.0), InputError, "draws=100.0"),
    Case("draws that are true", lambda: drawn(draws=True), InputError, "draws=True"),
    Case("draws past 32 bits", lambda: drawn(draws=2**31), InputError, "from 1 to 2,147,483,647"),
    Case("draws of a whole number of NumPy", lambda: drawn(draws=np.int64(2)).draws == 2),
    Case("draws that fill the memory", in_little_memory(lambda: drawn(draws=2**31 - 1)), InputError, "GB of memory"),
    Case("a negative warm-up", lambda: drawn(warmup=-1), InputError, "warmup=-1"),
    Case("no warm-up", lambda: drawn(warmup=0).draws == 3),
    Case("no thinning", lambda: drawn(thin=0), InputError, "thin=0"),
    Case("no chains", lambda: drawn(chains=0), InputError, "chains=0"),
    Case("a negative seed", lambda: drawn(seed=-1), InputError, "seed=-1"),
    Case("a seed in words", lambda: drawn(seed="1"), InputError, "seed='1'"),
    Case("a seed past 64 bits", lambda: drawn(seed=2**64), InputError, "2**64 - 1"),
    Case("no threads", lambda: drawn(threads=0), InputError, "threads=0"),
    Case("a million threads", lambda: drawn(threads=10**6), InputError, "from 1 to 4,096"),
    Case("threads in parts", lambda: drawn(threads=1.5), InputError, "threads=1.5"),
    Case("no temperatures", lambda: drawn(temperatures=0), InputError, "temperatures=0"),
    Case("a ladder that is none", lambda: drawn(ladder="rope"), InputError, "no ladder 'rope'"),
    Case("no iterations between swaps", lambda: drawn(temperatures=3, swap_every=0), InputError, "swap_every=0"),
    Case("temperatures of sums of trees", lambda: drawn(model=BART, temperatures=3), InputError, "temper"),
    Case("a model that is a word", lambda: bt.sample("cart", trees()), InputError, "model='cart' is not a model"),
    Case("a class for a model", lambda: bt.sample(bt.CART, trees()), InputError, "is not a model"),
    Case("no design", lambda: bt.sample(bt.CART(), None, **SHORT), InputError, "NoneType"),
    Case("a beginning that is no tree", lambda: drawn(init="leaf"), InputError, "a node is a dictionary"),
    Case("a beginning at a leaf", lambda: drawn(init={}).draws == 3),
    Case("a beginning of sums of trees", lambda: drawn(model=BART, init={}), InputError, "leave init out"),
    Case("a beginning of linear models", lambda: drawn(lines(), bt.Subset(), init={}), InputError, "leave init out"),
    Case("a checkpoint in no folder", lambda: drawn(checkpoint="no/m.baytree"), FileError, "no"),
    Case("a checkpoint over notes", lambda: taken("notes"), FileError, "exists and is not a model"),
    Case("a checkpoint in a file", lambda: taken("notes/m.baytree"), FileError, "notes"),
    Case("a checkpoint that is a number", lambda: drawn(checkpoint=3), InputError, "3 is no name of a model file"),
    # ---- bounds ---------------------------------------------------------------------------------------------------
    Case("a budget of nothing", lambda: bt.bounds(bt.CART(), trees(), budget=0), InputError, "budget=0"),
    Case("a budget that is a float", lambda: bt.bounds(bt.CART(), trees(), budget=1e5), InputError, "budget=100000.0"),
    Case("bounds of a sum of trees", lambda: bt.bounds(BART, trees()), InputError, "not a model of single trees"),
    Case("bounds of no design", lambda: bt.bounds(bt.CART(), X), InputError, "a Design is needed"),
    # ---- extend, converge, resume ---------------------------------------------------------------------------------
    Case("no more draws", lambda: again(draws=0), InputError, "draws=0"),
    Case(
        "more draws of one tree",
        lambda: bt.extend(drawn(lines(), EM), lines(), progress=False),
        InputError,
        "has no chains that could go on",
    ),
    Case(
        "more draws of sequences",
        lambda: bt.extend(drawn(steps(), bt.HMDT(depth=1, epochs=2, n_init=1)), steps()),
        InputError,
        "has no chains",
    ),
    Case(
        "more draws of no posterior",
        lambda: bt.extend("m.baytree", trees()),
        InputError,
        "posterior='m.baytree' is not a posterior",
    ),
    Case("a time limit of zero", lambda: on(time_limit=0), InputError, "time_limit=0"),
    Case("a time limit of NaN", lambda: on(time_limit=NAN), InputError, "time_limit=nan"),
    Case("a time limit in words", lambda: on(time_limit="1h"), InputError, "time_limit='1h'"),
    Case("no run to resume", lambda: bt.resume("m.baytree", trees()), FileError, "no unfinished run"),
    Case("a run to resume of a number", lambda: bt.resume(3, trees()), InputError, "3 is no name"),
    Case("a model file of a number", lambda: bt.load(3), InputError, "give a path"),
    Case("a model file of nothing", lambda: bt.load(""), FileError, ""),
    # ---- predict --------------------------------------------------------------------------------------------------
    Case("a kind that is none", lambda: drawn().predict(X, "median"), InputError, "no kind of prediction 'median'"),
    Case("a kind that is a number", lambda: drawn().predict(X, 3), InputError, "kind=3"),
    Case("no kinds", lambda: drawn().predict(X, ()) == {}),
    Case("a kind among others", lambda: drawn().predict(X, ("mean", "modes")), InputError, "'modes'"),
    Case("a probability of zero", lambda: drawn().predict(X, "interval", 0), InputError, "prob=0"),
    Case("a probability in words", lambda: drawn().predict(X, "interval", "90%"), InputError, "prob='90%'"),
    Case("a probability of NaN", lambda: drawn().predict(X, "interval", NAN), InputError, "prob=nan"),
    Case("a probability in an array", lambda: drawn().predict(X, "interval", np.array([0.5, 0.9])), InputError, "prob"),
    Case(
        "a predictive interval of classes",
        lambda: drawn(trees(y=THREE)).predict(X, "predictive_interval"),
        InputError,
        "predictive_interval",
    ),
    Case("a vote of numbers", lambda: drawn().predict(X, "vote"), InputError, "vote"),
    # ---- what explains --------------------------------------------------------------------------------------------
    Case("a tree that is not there", lambda: drawn().tree(0, 99), InputError, "draw=99: there are 3"),
    Case("a tree of no chain", lambda: drawn().tree(-1, 0), InputError, "-1"),
    Case("a tree of a sum that is not there", lambda: sums().tree(0, 0, 3), InputError, "3"),
    Case("a tree of words", lambda: drawn().tree("first", 0), InputError, "chain='first'"),
    Case("a soft tree that is not there", lambda: drawn(lines(), GIBBS).tree(0, 99), InputError, "99"),
    Case("less than no trees", lambda: drawn().top_trees(-1), InputError, "-1"),
    Case("less than no models", lambda: drawn(lines(), bt.Subset()).top_models(-1), InputError, "-1"),
    Case("diagnostics of no rows", lambda: drawn().diagnostics(X[:0]), InputError, "0 rows"),
    Case("diagnostics of no draws", lambda: drawn().diagnostics(X, draws=0), InputError, "draws=0"),
    Case("swaps of plain chains", lambda: drawn().swaps(), InputError, "were not tempered"),
    Case("a curve of no column", lambda: sums().partial_dependence(X, "z"), InputError, "'z'"),
    Case("a curve of a column by its place", lambda: sums().partial_dependence(X, 9), InputError, "9"),
    Case("a curve at no points", lambda: sums().partial_dependence(X, "x0", grid=0), InputError, "grid=0"),
    Case(
        "a curve at words",
        lambda: sums().partial_dependence(X, "x0", grid="all"),
        InputError,
        "'a' is text, but the column is numeric",
    ),
    Case("a curve of no rows", lambda: sums().partial_dependence(X[:0], "x0"), InputError, "row"),
    Case(
        "a curve of a class that is none",
        lambda: drawn(trees(y=TWO), BART).partial_dependence(X, "x0", of="maybe"),
        InputError,
        "maybe",
    ),
    Case("a curve of a class of numbers", lambda: sums().partial_dependence(X, "x0", of="yes"), InputError, "yes"),
    Case("a surface of one column", lambda: sums().two_way_dependence(X, "x0", "x0"), InputError, "x0"),
    Case("Shapley values of no rows", lambda: sums().shap(X[:0]), InputError, "row"),
    Case("Shapley values of no draws", lambda: sums().shap(X, draws=0), InputError, "draws=0"),
    Case("a share of use past 1", lambda: sums().variable_use(prob=2), InputError, "prob=2"),
    Case("interactions of probability zero", lambda: sums().interactions(prob=0), InputError, "prob=0"),
    Case("a summary of no leaves", lambda: drawn().summary_tree(trees(), max_leaves=0), InputError, "max_leaves=0"),
    Case("a summary of a forest", lambda: sums().summary_tree(trees(), max_leaves=99), InputError, "64 or fewer"),
    Case("a summary of a table", lambda: drawn().summary_tree(X), InputError, "a Design is needed"),
    Case("a summary of another table", lambda: sums().summary_tree(trees(y=TWO)), InputError, "the same design"),
    Case("a null of no repeats", lambda: bt.additive_null(BART, trees(), repeats=0), InputError, "repeats=0"),
    Case("a null of a tree", lambda: bt.permutation_null(bt.CART(), trees()), InputError, "BART"),
    Case("a null by another word", lambda: bt.permutation_null(BART, trees(), permute="rows"), InputError, "rows"),
    Case(
        "a bound of no iterations",
        lambda: drawn().independence_bound(0),
        InputError,
        "needs chains that reach the prior",
    ),
    # ---- files and data sets --------------------------------------------------------------------------------------
    Case("a model saved in no folder", lambda: drawn().save("no/m.baytree"), FileError, "no/m.baytree"),
    Case("a model saved over a folder", lambda: drawn().save("."), FileError, "."),
    Case("a data set that is none", lambda: bt.datasets.load("iris"), InputError, "no data set 'iris'"),
    Case("a data set of a number", lambda: bt.datasets.load(3), InputError, "no data set 3"),
    Case("no rows of a simulation", lambda: bt.datasets.friedman(n=0), InputError, "n=0"),
    Case("trees of a prior of no table", lambda: bt.GrowTree().sample(X, 3), InputError, "ndarray"),
    Case("no trees of a prior", lambda: bt.GrowTree().sample(trees(), 0), InputError, "n=0"),
    Case(
        "groups of a list to read by sequences",
        lambda: drawn(steps(), bt.HMDT(depth=1, epochs=2, n_init=1)).smooth([X], groups=[1]),
        InputError,
        "leave it out",
    ),
    Case(
        "a response of another length to score",
        lambda: drawn().pointwise_log_likelihood(lines()),
        InputError,
        "give the same design",
    ),
    Case(
        "responses of a mixture to learn that are none",
        lambda: drawn(lines(), EM).normal_approximation(lines(), draws=0),
        InputError,
        "draws=0",
    ),
    Case(
        "responses past what was seen",
        lambda: np.isfinite(drawn().pointwise_log_likelihood(trees(y=Y * 1.0, task="regression"))).all(),
    ),
]
