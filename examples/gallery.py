"""The pictures of docs/gallery.md, drawn from the bundled data, each by one line of ``bt.plot``.

Run by ``make gallery``; writes PNG files into the folder that is named, by default the current one. With ``--quick``
few draws are taken.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from PIL import Image

import baytree as bt

mpl.use("agg")
quick = "--quick" in sys.argv
folder = Path(next((word for word in sys.argv[1:] if not word.startswith("-")), "."))
run: dict[str, Any] = {"seed": 1, "progress": False} | ({"warmup": 50, "draws": 60} if quick else {})


def save(name: str, draw: Callable[[], Any]) -> None:
    """Draw a picture, and write it."""
    from matplotlib import pyplot

    drawn = draw()
    axes = drawn if hasattr(drawn, "figure") else drawn[0]
    path = folder / f"{name}.png"
    axes.figure.savefig(path, dpi=100)
    with Image.open(path) as picture:  # few colours make small files
        picture.convert("RGB").quantize(96).save(path, optimize=True)
    pyplot.close("all")
    print(f"{name}.png")


# Single trees: which biopsies are malignant?
biopsies = bt.datasets.load("breast_cancer").design()
save("tree", lambda: bt.plot.tree(bt.sample(bt.CART(), biopsies, **{"effort": "quick"} | run)))

# Which children have kyphosis after an operation of the spine?
children = bt.datasets.load("kyphosis").design()
trees = bt.sample(bt.CART(), children, **run)
save("top_trees", lambda: bt.plot.top_trees(trees, 4))
save("posterior_map", lambda: bt.plot.posterior_map(trees))
save("trace", lambda: bt.plot.trace(trees))
save("rank", lambda: bt.plot.rank(trees))
save("predictive_check_classes", lambda: bt.plot.predictive_check(trees, children))
save("explanation_trees", lambda: bt.plot.explanation(trees, bt.datasets.load("kyphosis").X[11]))

# Every tree over few cut points, added up: exact probabilities.
coarse = bt.datasets.load("kyphosis").design(max_cuts=4)
exact = bt.sample(bt.CART(bt.GrowTree(min_leaf=5), method="exact"), coarse, seed=1)
save("posterior_map_exact", lambda: bt.plot.posterior_map(exact))

# Sums of trees: Friedman's function, of which five of ten columns matter.
data = bt.datasets.friedman(n=300, seed=1)
half = data.design().take(np.arange(0, 300, 2))
held_out = data.design().take(np.arange(1, 300, 2))
sums = bt.sample(bt.BART(trees=20 if quick else 50), half, **run)
save("importance", lambda: bt.plot.importance(sums))
save("interactions", lambda: bt.plot.interactions(sums))
save("dependence", lambda: bt.plot.dependence(sums, half, "x4"))
save("dependence_two", lambda: bt.plot.dependence(sums, half, "x1", "x2"))
save("shap", lambda: bt.plot.shap(sums, half))
save("predictive_check", lambda: bt.plot.predictive_check(sums, held_out))
save("calibration", lambda: bt.plot.calibration(sums, held_out))
save("summary_tree", lambda: bt.plot.tree(sums.summary_tree(half, max_leaves=6)))
save("explanation", lambda: bt.plot.explanation(sums, data.X[5]))

# Classes: the biopsies again.
rows = np.arange(biopsies.rows)
classes = bt.sample(bt.BART(trees=20 if quick else 50), biopsies.take(rows[::2]), **run)
save("calibration_classes", lambda: bt.plot.calibration(classes, biopsies.take(rows[1::2]), groups=8))

# Linear models: what makes house prices?
linear = bt.make_linear_design(data.X, data.y, target="y", interactions=[("x1", "x2")])
subsets = bt.sample(bt.Subset(), linear, seed=1, progress=False)
save("inclusion", lambda: bt.plot.inclusion(subsets))
save("models", lambda: bt.plot.models(subsets, 20))
save("coefficients", lambda: bt.plot.coefficients(subsets))

# Soft trees: a mixture of experts, and decisions that last.
generator = np.random.default_rng(0)
x = generator.uniform(-2, 2, size=(400, 2))
bent = 100 + 20 * np.abs(x[:, 0]) + 5 * x[:, 1] * (x[:, 0] > 0) + generator.normal(size=400)
experts = bt.sample(bt.HME(depth=2), bt.make_linear_design(x, bent, names=["load", "slope"], target="strain"), seed=0)
save("experts", lambda: bt.plot.experts(experts))
slope = np.array([2.0, -1.0, 0.5, -3.0])[np.arange(400) // 50 % 4]
turns = slope * x[:, 0] + 0.1 * generator.normal(size=400)
sequence = bt.make_sequence_design(x[:, :1], turns, names=["load"], target="strain")
lasting = bt.sample(bt.HMDT(depth=2), sequence, seed=0)
save("decisions", lambda: bt.plot.decisions(lasting, x[:, :1], turns))
