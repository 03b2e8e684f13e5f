"""Marginal log-likelihoods of known trees on real data, and the chain's search for the proven best one.

The reference files print six decimals; the exact values are recomputed here from whole-number class counts.
"""

import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
FILES = ("rpart_trees.json", "reference_trees.json")
MISSING_FILES = [name for name in FILES if not (DATA / name).exists()]

pytestmark = pytest.mark.skipif(bool(MISSING_FILES), reason=f"no {', '.join(MISSING_FILES)} in {DATA}")

# The printed values are rounded to six decimals.
PRINTED = 5.0001e-7


def reference(name: str) -> dict[str, Any]:
    return json.loads((DATA / name).read_text(encoding="utf-8")) if not MISSING_FILES else {"trees": {}}


def oriented(tree: dict[str, Any]) -> dict[str, Any]:
    """The tree with small values on the left.

    rpart sends ``x < threshold`` or ``x >= threshold`` left as its node says; no training value equals a threshold, so
    that ``<`` and ``<=`` are one.
    """
    if tree["leaf"]:
        return tree
    left, right = oriented(tree["left"]), oriented(tree["right"])
    if tree.get("direction") == "left if x >= threshold":
        left, right = right, left
    return tree | {"left": left, "right": right}


def cases() -> list[Any]:
    """(data file, tree, printed log marginal), with a name that tells the source."""
    found = []
    for name, case in reference("rpart_trees.json")["trees"].items():
        found.append(pytest.param(case["file"], oriented(case["tree"]), case["log_marginal"], id=f"rpart-{name}"))
        single = {"leaf": True}, case["log_marginal_single_leaf"]
        found.append(pytest.param(case["file"], *single, id=f"single-leaf-{name}"))
    for case in reference("reference_trees.json")["trees"]:
        name = f"{case['data']}-{case['leaves']}-leaves"
        found.append(pytest.param(case["file"], case["tree"], case["log_marginal"], id=name))
    return found


def table(file: str) -> pl.DataFrame:
    return pl.read_csv(DATA / file)


def design(file: str) -> bt.Design:
    """The response is the last column."""
    frame = table(file)
    return bt.make_design(frame[:, :-1], frame[:, -1], task="classification", max_cuts=None)


def leaf_counts(tree: dict[str, Any], frame: pl.DataFrame) -> list[list[int]]:
    """The class counts of each leaf, by filtering the raw values; checked against the counts in the file."""
    if not tree["leaf"]:
        left = pl.col(tree["feature"]) <= tree["threshold"]
        return leaf_counts(tree["left"], frame.filter(left)) + leaf_counts(tree["right"], frame.filter(~left))
    counts = Counter(frame[:, -1].to_list())
    if "counts" in tree:
        assert {label: counts[label] for label in tree["counts"]} == tree["counts"]
    return [list(counts.values())]


def exact_log_marginal(leaves: list[list[int]], classes: int) -> float:
    """log Π over leaves of (K − 1)! Π n_k! / (n + K − 1)!, each an exact fraction."""

    def log_leaf(counts: list[int]) -> float:
        top = math.factorial(classes - 1) * math.prod(map(math.factorial, counts))
        leaf = Fraction(top, math.factorial(sum(counts) + classes - 1))
        return math.log(leaf.numerator) - math.log(leaf.denominator)

    return math.fsum(map(log_leaf, leaves))


@pytest.mark.parametrize(("file", "tree", "printed"), cases())
def test_log_likelihood_of_a_known_tree(file: str, tree: dict[str, Any], printed: float) -> None:
    frame = table(file)
    exact = exact_log_marginal(leaf_counts(tree, frame), frame[:, -1].n_unique())
    assert exact == pytest.approx(printed, abs=PRINTED)
    value = bt.CART(leaf=bt.Categorical()).log_likelihood(design(file), tree)
    assert value == pytest.approx(printed, abs=PRINTED)
    assert value == pytest.approx(exact, abs=1e-9)


def search(chains: int) -> bt.Posterior:
    """Chains on kyphosis that look for likely trees.

    A power of the likelihood above one makes a chain search; what it scores stays the plain likelihood. The best tree
    is deep and far from the other modes, so the prior is flatter in depth than the default one.
    """
    model = bt.CART(
        prior=bt.GrowTree(alpha=0.95, beta=0.5, min_leaf=5),
        leaf=bt.Categorical(),
        proposal={"uc": 1, "birth_death": 2, "change": 6, "swap": 2},
        power=3.0,
    )
    kyphosis = design("kyphosis.csv")
    return bt.sample(model, kyphosis, warmup=0, draws=2000, thin=50, chains=chains, seed=1, progress=False)


def test_no_tree_is_better_than_the_proven_best() -> None:
    """The maxima by number of leaves are proven, and every leaf number that a chain can draw is listed."""
    post = search(chains=8)
    proven = reference("reference_trees.json")["best_by_leaves"]["K, exact"]
    for leaves, value in proven.items():
        drawn = post.log_likelihood[post.n_leaves == int(leaves)]
        assert np.all(drawn <= value + 5.0001e-5), f"a tree of {leaves} leaves better than the best one"
    assert post.n_leaves.max() <= max(map(int, proven))
    assert post.log_likelihood.max() > -29


def test_a_chain_finds_the_best_tree() -> None:
    """About three chains in a hundred reach the proven maximum, so that none of 200 is one run in some hundreds."""
    assert search(chains=200).log_likelihood.max() == pytest.approx(-27.042821, abs=1e-6)
