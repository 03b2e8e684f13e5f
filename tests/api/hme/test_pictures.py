"""Pictures of soft trees: the numbers behind them, held against sums over paths, and what the axes hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import baytree as bt
from baytree.hme.interpret.deviance_tree import DevianceTree
from baytree.hme.interpret.gate_directions import gate_directions
from baytree.hme.tree.experts import Gaussian
from baytree.hme.tree.soft_tree import SoftTree

ROWS = 200


def bent(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    X = generator.uniform(-2, 2, size=(ROWS, 3))
    y = 100 + 20 * np.abs(X[:, 0]) + 5 * X[:, 1] * (X[:, 0] > 0) + generator.normal(size=ROWS)
    return X, y


X, Y = bent()
WEIGHT = np.random.default_rng(1).uniform(0.5, 2, size=ROWS)
MODEL = bt.HMERegressor(depth=2, random_state=0, epochs=15).fit(X, Y, sample_weight=WEIGHT)


@pytest.fixture
def pyplot() -> Iterator[Any]:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def path_densities(model: bt.HMERegressor) -> tuple[np.ndarray, np.ndarray]:
    """P(leaf | x) and P(y | x, leaf) of each row in the units of y, by plain sums along the four paths."""
    inputs = np.column_stack([(X - model.inputs_.centre) / model.inputs_.scale, np.ones(ROWS)])
    paths, densities = [], []
    for leaf, (first, second) in enumerate(product((0, 1), (0, 1))):
        root = 1 / (1 + np.exp(-inputs @ model.tree_.gates[0][0, 0]))
        below = 1 / (1 + np.exp(-inputs @ model.tree_.gates[1][first, 0]))
        paths.append((1 - root if first else root) * (1 - below if second else below))
        experts = model.tree_.experts
        assert isinstance(experts, Gaussian)
        mean = inputs @ experts.coefficients[leaf, :, 0] * model.outputs_.scale + model.outputs_.centre
        densities.append(stats.norm.pdf(Y, mean, np.sqrt(experts.variance[leaf, 0]) * model.outputs_.scale))
    return np.array(paths), np.array(densities)


def test_mass_and_histograms_add_up_to_the_rows() -> None:
    paths, densities = path_densities(MODEL)
    posterior = paths * densities / (paths * densities).sum(axis=0)
    for found, leaves in (
        (MODEL.histogram_tree(X, Y, WEIGHT), posterior),
        (MODEL.histogram_tree(X, None, WEIGHT), paths),
    ):
        for mass in found.mass:
            assert mass.sum() == pytest.approx(WEIGHT.sum())
        np.testing.assert_allclose(found.mass[2], leaves @ WEIGHT)
        for mass, histogram in zip(found.mass, found.histogram, strict=False):
            np.testing.assert_allclose(histogram.sum(axis=2), np.repeat(mass[:, None], 2, axis=1))
        expected, _ = np.histogram(np.minimum(leaves[:2].sum(axis=0), 1), bins=20, range=(0, 1), weights=WEIGHT)
        np.testing.assert_allclose(found.histogram[0][0, 0], expected)
    assert not np.allclose(MODEL.histogram_tree(X, Y, WEIGHT).mass[2], paths @ WEIGHT, rtol=1e-3)


def left_over(found: DevianceTree) -> float:
    """What one expert leaves less all that the gates remove."""
    return float(found.alone[0][0] - sum(removed.sum() for removed in found.removed))


def test_the_deviance_that_gates_remove_adds_up() -> None:
    paths, densities = path_densities(MODEL)
    expected = -2 * WEIGHT @ np.log((paths * densities).sum(axis=0))
    found = MODEL.deviance_tree(X, Y, WEIGHT)
    assert left_over(found) == pytest.approx(expected, rel=1e-10)
    assert found.total == pytest.approx(expected, rel=1e-10)
    assert all((price >= 0).all() for price in found.price)
    # One expert for all rows is weighted least squares, but for a weak ridge.
    design = np.column_stack([X, np.ones(ROWS)])
    root = np.sqrt(WEIGHT)
    coefficients = np.linalg.lstsq(design * root[:, None], Y * root, rcond=None)[0]
    squares = WEIGHT * (Y - design @ coefficients) ** 2
    alone = WEIGHT.sum() * (np.log(2 * np.pi * squares.sum() / WEIGHT.sum()) + 1)
    assert found.alone[0][0] == pytest.approx(alone, abs=0.01)
    # Saboteur: without the price of decisions it does not add up, nor with the gates' probabilities for h.
    free = sum(single.sum() for single in found.alone[2:])
    assert free != pytest.approx(expected, rel=1e-3)
    by_gates = -2 * (WEIGHT * paths * np.log(densities + 1e-300)).sum()
    assert by_gates != pytest.approx(expected, rel=1e-3)


def test_the_deviance_of_classes_and_counts_adds_up() -> None:
    generator = np.random.default_rng(2)
    labels = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    classes = bt.HMEClassifier(depth=2, ridge=0.1, random_state=0).fit(X, labels)
    found = classes.deviance_tree(X, labels)
    share = classes.predict_proba(X)[np.arange(ROWS), (labels == "same").astype(int)]
    assert left_over(found) == pytest.approx(-2 * np.log(share).sum())
    counts = generator.poisson(np.exp(X[:, 0]))
    model = bt.HMERegressor(depth=1, expert="poisson", random_state=0).fit(X, counts)
    found = model.deviance_tree(X, counts)
    assert left_over(found) == pytest.approx(found.total)
    with pytest.raises(bt.InputError, match="'blue' is no class of the fit; its classes are other, same"):
        classes.deviance_tree(X, np.full(ROWS, "blue"))
    with pytest.raises(bt.InputError, match="X and y have inconsistent numbers of samples: 200 and 3"):
        model.deviance_tree(X, counts[:3])


def test_directions_are_those_of_the_log_odds() -> None:
    found = MODEL.gate_directions()
    points = np.random.default_rng(3).normal(size=(50, 4))
    points[:, -1] = 1
    for level, gates in enumerate(MODEL.tree_.gates):
        for node in range(len(gates)):
            odds = points @ gates[node, 0]
            along = points[:, :-1] @ found.direction[level][node] - found.cut[level][node]
            np.testing.assert_allclose(odds, found.sharpness[level][node] * along)
            assert np.linalg.norm(found.direction[level][node]) == pytest.approx(1)
    places, share = found.curve(0, 0)
    expected = 1 / (1 + np.exp(-found.sharpness[0][0] * (places - found.cut[0][0])))
    np.testing.assert_allclose(share[:, 0], expected)


def test_of_several_branches_the_sharpest_pair_is_told() -> None:
    gates = np.array([[[1.0, 0, 5], [0, -4.0, 1]]])
    tree = SoftTree((gates,), MODEL.tree_.experts)
    found = gate_directions(tree, ("a", "b"), ("", "", ""))
    assert found.pair[0].tolist() == [[0, 1]]
    assert found.sharpness[0][0] == pytest.approx(np.sqrt(17))
    assert found.cut[0][0] == pytest.approx(-4 / np.sqrt(17))
    assert [name for name, _ in found.terms(0, 0)] == ["b", "a"]
    assert str(found).splitlines()[1:] == ["+0.97 b +0.24 a; 4.12; -0.97", "├─ leaf 1: ", "├─ leaf 2: ", "└─ leaf 3: "]
    nothing = gate_directions(SoftTree((0 * gates,), MODEL.tree_.experts), ("a", "b"), ("", "", ""))
    assert nothing.sharpness[0][0] == 0 and "nothing; 0; nan" in str(nothing)


def test_the_plane_is_what_rows_there_get() -> None:
    generator = np.random.default_rng(4)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    frame["colour"] = np.where(generator.uniform(size=ROWS) < 0.7, "red", "blue")
    frame.loc[::7, ["a", "c"]] = np.nan
    model = bt.HMERegressor(depth=1, random_state=0).fit(frame, Y)
    plane = model.responsibility_plane(frame, ("b", "a"), grid=5)
    rows = pd.DataFrame(list(product(*plane.grids)), columns=["b", "a"])
    rows = rows.assign(c=frame["c"].median(), colour="red")[["a", "b", "c", "colour"]]
    np.testing.assert_allclose(plane.share.reshape(25, 2), model.responsibilities(rows))
    assert plane.columns == ("b", "a")
    for columns, said in (
        (("b", "e"), "no column 'e'"),
        (("b", "colour"), "'colour' is categorical"),
        ((1, 1), "both are 'b'"),
        ((1, 9), "no column 9"),
    ):
        with pytest.raises(bt.InputError, match=said):
            model.responsibility_plane(frame, columns)


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_pictures_show_what_they_are_made_of(pyplot: Any) -> None:
    directions = MODEL.gate_directions()
    ax: Any = directions.plot()
    assert len(ax.child_axes) == 3 and len(ax.lines) == 6
    assert texts(ax)[0].startswith(f"sharpness {directions.sharpness[0][0]:.2g}\n")
    assert texts(ax)[3] == f"leaf 1\n{directions.leaves[0].split(' (')[0]}"
    np.testing.assert_allclose(ax.child_axes[0].lines[0].get_ydata(), directions.curve(0, 0)[1][:, 0])

    spread = MODEL.histogram_tree(X, Y)
    ax = spread.plot()
    assert texts(ax)[0] == "100%" and len(texts(ax)) == 7
    np.testing.assert_allclose(ax.child_axes[0].patches[0].get_data().values, spread.histogram[0][0, 0])
    widths = [line.get_linewidth() for line in ax.lines]
    assert (widths[0] > widths[1]) == (spread.mass[1][0] > spread.mass[1][1])

    deviance = MODEL.deviance_tree(X, Y)
    ax = deviance.plot()
    assert [axes.patches[0].get_width() for axes in ax.child_axes] == pytest.approx(
        np.abs(np.concatenate(deviance.removed)).tolist()
    )
    assert f"{deviance.total:,.0f} of the tree" in ax.get_title(loc="left")

    plane = MODEL.responsibility_plane(X, (0, 1), grid=7)
    _, own = pyplot.subplots()
    assert plane.plot(own) is own
    assert (own.get_xlabel(), own.get_ylabel()) == ("x0", "x1")
    assert own.images[0].get_array().shape == (7, 7, 3)
    assert len(own.get_legend().get_texts()) == 4


def test_labels_do_not_overlap_at_depth_four(pyplot: Any) -> None:
    names = [f"a long name {i}" for i in range(3)]
    model = bt.HMERegressor(depth=4, random_state=0, epochs=2).fit(pd.DataFrame(X, columns=names), Y)
    frame = pd.DataFrame(X, columns=names)
    pictures = (model.gate_directions(), model.histogram_tree(frame, Y), model.deviance_tree(frame, Y))
    for ax in (picture.plot() for picture in pictures):
        ax.figure.canvas.draw()
        boxes = [text.get_window_extent() for text in ax.texts] + [inset.get_window_extent() for inset in ax.child_axes]
        for i, one in enumerate(boxes):
            assert not any(one.overlaps(other) for other in boxes[:i]), ax.get_title()


def test_of_a_deep_tree_the_upper_levels_are_drawn(pyplot: Any) -> None:
    model = bt.HMERegressor(depth=7, init="random", random_state=0, epochs=1).fit(X, Y)
    assert len(model.deviance_tree(X, Y).plot().child_axes) == 31
    assert len(bt.HMERegressor(depth=0).fit(X, Y).histogram_tree(X, Y).plot().child_axes) == 0
