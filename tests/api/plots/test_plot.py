"""`bt.plot`: the numbers behind the pictures, and what the axes hold."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.diagnostics.trace import Trace
from baytree.interpret import calibration, predictive_check
from baytree.plots import trees as drawing
from families import EVERY, GROUPS, drawn


@pytest.fixture(autouse=True)
def pyplot() -> Iterator[Any]:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def title(ax: Any) -> str:
    return str(ax.get_title(loc="left"))


def grown(leaves: int, generator: np.random.Generator) -> list[str | None]:
    """The questions of a random tree in preorder."""
    if leaves == 1:
        return [None]
    left = int(generator.integers(1, leaves))
    question = f"a_long_column_{generator.integers(20)} <= {generator.normal():.4g}"
    return [question, *grown(left, generator), *grown(leaves - left, generator)]


def overlaps(ax: Any) -> list[tuple[str, str]]:
    """Pairs of texts in a picture that lie on each other."""
    ax.figure.canvas.draw()
    texts = [text for part in (ax, *ax.child_axes) for text in part.texts if text.get_text()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    return [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if a.overlaps(b)]


@pytest.mark.parametrize("leaves", [2, 30])
def test_nothing_of_a_tree_overlaps(leaves: int) -> None:
    generator = np.random.default_rng(leaves)
    questions = grown(leaves, generator)
    values = generator.normal(size=leaves)
    said = drawing.Leaves("price", values, (), np.stack([values - 1, values + 1], axis=1), 0.9)
    ax = drawing.tree(None, questions, [10] * len(questions), said, "A tree")
    assert overlaps(ax) == []
    # The saboteur: questions of twice the height do lie on each other.
    for text in ax.texts:
        text.set_fontsize(40)
    assert overlaps(ax)


def test_leaves_have_the_intervals_of_their_parameters() -> None:
    """Against draws of the leaves' parameters, of the same statistics."""
    for name in ("cart: numbers", "cart: three classes"):
        posterior = drawn(name)
        tree = posterior.top_trees(1)[0].tree
        place = next(at for at in range(len(posterior.trees)) if posterior.trees[at] == tree)
        statistics = posterior.statistics[posterior.forest.leaves_of(np.array([place]))]
        many = np.repeat(statistics[:1], 20_000, axis=0)
        parameters = posterior.model.leaf.draw(many, np.random.default_rng(0))
        values = posterior.model.leaf.expected(parameters)
        low, high = np.quantile(values.reshape(len(many), -1)[:, 0], [0.05, 0.95])
        first = tree.intervals[0]
        ends = first if isinstance(first, list) else next(iter(first.values()))
        assert ends == pytest.approx([low, high], abs=0.06 * (high - low))


@pytest.mark.parametrize("name", ["cart: every tree", "cart: three classes"])
def test_the_map_has_the_probabilities_of_the_trees(name: str) -> None:
    posterior = drawn(name)
    found = posterior.posterior_map(trees=1000, levels=3)
    roots = {node.question: node.probability for node in found.paths if node.question is not None}
    trees = posterior.top_trees(1000)
    for question, probability in roots.items():
        asked = [
            top.probability for top in trees if top.tree.rules[0] and top.tree.question(top.tree.rules[0]) == question
        ]
        assert probability == pytest.approx(sum(asked))
    assert found.held == pytest.approx(sum(top.probability for top in trees))
    for level, node in found.walk():
        if node.below:
            assert sum(below.probability for below in node.below) == pytest.approx(node.probability)
            assert node.below[0].begin == pytest.approx(node.begin)
        assert level < len(found.places)
    assert found.to_dict()["trees"] == len(trees)
    assert str(found).startswith("Trees for y by decision path: ")
    with pytest.raises(bt.InputError, match="levels=6"):
        posterior.posterior_map(levels=6)


def test_ranks_of_chains_that_agree_are_even_and_of_others_not() -> None:
    generator = np.random.default_rng(0)
    # Few distinct values, such as numbers of leaves.
    same = generator.integers(0, 4, size=(4, 4000)).astype(float)
    ranks = Trace({"leaves": same}).ranks(10)["leaves"]
    assert ranks.sum() == same.size and (ranks.sum(axis=1) == 4000).all()
    assert (np.abs(ranks - 400) < 4 * np.sqrt(400)).all()
    other = same + np.array([[0], [0], [0], [1]])
    assert (np.abs(Trace({"leaves": other}).ranks(10)["leaves"] - 400) > 4 * np.sqrt(400)).any()


def test_a_check_counts_new_responses_as_observed_ones() -> None:
    posterior, design = drawn("bart: numbers"), EVERY["bart: numbers"].design
    found = predictive_check(posterior, design, bars=7, draws=None, prob=0.8)
    assert found.observed.sum() == design.rows and found.mean.sum() == pytest.approx(design.rows)
    new = posterior.prediction.predict(posterior.bins_of(design), "predictive").reshape(-1, design.rows)
    inner = np.array([np.histogram(one, found.edges)[0][1:-1] for one in new])
    np.testing.assert_allclose(found.mean[1:-1], inner.mean(axis=0))
    np.testing.assert_allclose(found.interval[1:-1], np.quantile(inner, [0.1, 0.9], axis=0).T)
    classes = predictive_check(drawn("bart: three classes"), EVERY["bart: three classes"].design)
    assert classes.labels == ("0", "1", "2") and classes.observed.sum() == design.rows
    assert "of 3 classes" in str(classes)
    with pytest.raises(bt.InputError, match="2 responses"):
        predictive_check(drawn("hme: two outputs"), EVERY["hme: two outputs"].design)


def test_calibration_of_what_is_right_lies_in_its_band() -> None:
    """Shares are those of the rows, and where responses are new draws of the posterior most points lie in the band."""
    posterior, design = drawn("bart: two classes"), EVERY["bart: two classes"].design
    found = calibration(posterior, design, groups=5)
    share = posterior.predict(EVERY["bart: two classes"].rows)[:, 1]
    assert found.said @ found.rows == pytest.approx(share.sum())
    assert found.seen @ found.rows == pytest.approx((design.y == 1).sum())
    other = calibration(posterior, design, groups=5, of="no")
    assert other.said @ other.rows == pytest.approx(design.rows - share.sum())
    numbers = drawn("bart: numbers")
    coverage = calibration(numbers, EVERY["bart: numbers"].design, draws=None)
    low, high = numbers.predict(EVERY["bart: numbers"].rows, "predictive_interval", 0.5).T
    inside = ((EVERY["bart: numbers"].design.y >= low) & (EVERY["bart: numbers"].design.y <= high)).mean()
    assert coverage.seen[np.isclose(coverage.said, 0.5)] == pytest.approx(inside, abs=2 / 60)
    with pytest.raises(bt.InputError, match="has no classes"):
        calibration(numbers, EVERY["bart: numbers"].design, of="yes")


ROWS = EVERY["cart: numbers"].rows
ON_ONE = {
    "tree": ("cart: numbers", lambda post, ax: bt.plot.tree(post, ax)),
    "map": ("cart: every tree", lambda post, ax: bt.plot.posterior_map(post, ax)),
    "importance": ("cart: two classes", lambda post, ax: bt.plot.importance(post, ax)),
    "use": ("bart: numbers", lambda post, ax: bt.plot.importance(post, ax)),
    "terms": ("subset: enumerated", lambda post, ax: bt.plot.importance(post, ax)),
    "interactions": ("cart: numbers", lambda post, ax: bt.plot.interactions(post, ax)),
    "pairs": ("bart: numbers", lambda post, ax: bt.plot.interactions(post, ax, kind="dots")),
    "dependence": ("cart: numbers", lambda post, ax: bt.plot.dependence(post, ROWS, "x0", ax=ax)),
    "both": ("bart: two classes", lambda post, ax: bt.plot.dependence(post, ROWS, "x0", "x2", ax=ax)),
    "shap": ("bart: numbers", lambda post, ax: bt.plot.shap(post, ROWS, ax)),
    "inclusion": ("subset: sampled", lambda post, ax: bt.plot.inclusion(post, ax)),
    "models": ("subset: sampled", lambda post, ax: bt.plot.models(post, 5, ax)),
    "coefficients": ("subset: enumerated", lambda post, ax: bt.plot.coefficients(post, ax)),
    "experts": ("hme: numbers", lambda post, ax: bt.plot.experts(post, ax)),
    "explanation": ("hme: one tree", lambda post, ax: bt.plot.explanation(post, EVERY["hme: one tree"].rows[1], ax)),
    "decisions": (
        "hmdt: exact",
        lambda post, ax: bt.plot.decisions(post, EVERY["hmdt: exact"].rows, ax=ax, groups=GROUPS),
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:column 'x0'")
@pytest.mark.parametrize(("name", "draw"), ON_ONE.values(), ids=ON_ONE)
def test_drawn_on_new_axes_and_on_given_ones(name: str, draw: Any, pyplot: Any) -> None:
    posterior = drawn(name)
    ax = draw(posterior, None)
    ax.figure.canvas.draw()
    assert title(ax)
    given = pyplot.figure().subplots()
    assert draw(posterior, given) is given and title(given) == title(ax)


@pytest.mark.parametrize("name", ["cart: numbers", "subset: sampled", "hme: numbers", "bart: two classes"])
def test_of_every_family(name: str) -> None:
    posterior, design = drawn(name), EVERY[name].design
    assert len(bt.plot.trace(posterior)) == len(posterior.series)
    for draw in (bt.plot.predictive_check, bt.plot.calibration):
        assert title(draw(posterior, design))
    with pytest.raises(bt.InputError, match="say nothing: draw 40 or more"):
        bt.plot.rank(posterior)


def test_chains_and_trees_side_by_side(pyplot: Any) -> None:
    posterior = EVERY["cart: two classes"].sample(draws=50)
    assert len(bt.plot.rank(posterior)) == 2 * len(posterior.series)
    axes = bt.plot.top_trees(posterior, 3)
    assert [title(ax)[:2] for ax in axes] == ["1.", "2.", "3."]
    given = pyplot.figure().subplots(1, 2).ravel().tolist()
    assert bt.plot.top_trees(posterior, 2, given) == given


@pytest.mark.parametrize(
    ("draw", "name", "said"),
    [
        (bt.plot.tree, "bart: numbers", "no most probable tree"),
        (bt.plot.importance, "hme: numbers", "no rules or terms"),
        (bt.plot.inclusion, "cart: numbers", "no linear models"),
        (bt.plot.inclusion, "hme: one tree", "no linear models"),
        (bt.plot.experts, "cart: numbers", "no soft gates"),
    ],
)
def test_what_there_is_no_picture_of(draw: Any, name: str, said: str) -> None:
    with pytest.raises(bt.InputError, match=said):
        draw(drawn(name))


def test_pictures_say_the_name_of_the_response() -> None:
    """Estimators keep the name that y has, be it of pandas or polars."""
    import pandas as pd

    generator = np.random.default_rng(0)
    X = pd.DataFrame({"age": generator.normal(size=60), "dose": generator.normal(size=60)})
    y = pd.Series(X["age"] + generator.normal(size=60), name="pressure")
    few: dict[str, Any] = {"draws": 50, "warmup": 20, "chains": 2, "random_state": 0}
    fitted: list[Any] = [
        bt.CARTRegressor(**few).fit(X, y),
        bt.BARTRegressor(trees=5, **few).fit(X, pl.Series("pressure", y.to_numpy())),
        bt.SubsetRegressor(random_state=0).fit(X, y),
        bt.HMERegressor(depth=1, random_state=0).fit(X, y),
        bt.HMDTRegressor(depth=1, n_init=1, epochs=3, random_state=0).fit([X, X], [y, y]),
        bt.HMDTRegressor(depth=1, n_init=1, epochs=3, random_state=0).fit(X, y),
    ]
    assert {model.posterior_.schema.response.name for model in fitted} == {"pressure"}
    assert {model.posterior_.summary().response for model in fitted} == {"pressure"}
    assert "pressure" in title(bt.plot.tree(fitted[0].posterior_))
    assert "pressure" in title(bt.plot.importance(fitted[1].posterior_))
    # What has no name, or a number for one, is called y.
    for unnamed in (y.to_numpy(), y.rename(3), y.rename(None)):
        assert bt.make_design(X, unnamed, task="regression").response.name == "y"
    assert bt.make_design(X, y, task="regression", target="other").response.name == "other"


def test_matplotlib_is_imported_when_something_is_drawn() -> None:
    code = "import sys, baytree as bt; bt.plot.tree; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_shap_values_as_the_package_has_them() -> None:
    shap = pytest.importorskip("shap", reason="the package shap is not installed")
    rows = EVERY["bart: numbers"].rows
    found = drawn("bart: numbers").shap(rows)
    explained = found.to_explanation()
    assert isinstance(explained, shap.Explanation)
    np.testing.assert_array_equal(explained.values, found.mean)
    np.testing.assert_allclose(
        explained.values.sum(axis=1) + explained.base_values, drawn("bart: numbers").predict(rows)
    )
    np.testing.assert_array_equal(explained.data[:, 2], rows[:, 2])
    shap.plots.bar(explained, show=False)
    shap.plots.waterfall(explained[0], show=False)
