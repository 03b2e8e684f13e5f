"""Learn trees that tell benign from malignant biopsies, keep a fifth aside, and see how sure the answers are.

Run by ``make demo``; writes breast_cancer.baytree into the current folder.
"""

import time

import numpy as np
from rich.text import Text

import baytree as bt
from baytree.cli.families.cart import tree_table
from baytree.cli.output import Output
from baytree.cli.report import agreement, verdict
from baytree.cli.terminal import bar_chart, heading, indented, next_steps, section
from baytree.cli.tree_drawing import draw_tree, leaves, size_line

MODEL = "breast_cancer.baytree"

data = bt.datasets.load("breast_cancer")
held_out = np.random.default_rng(0).random(len(data.y)) < 0.2
test, train = np.flatnonzero(held_out), np.flatnonzero(~held_out)
new, answers = data.X[test], data.y[test]

began = time.monotonic()
posterior = bt.sample(
    bt.CART(), bt.make_design(data.X[train], data.y[train], task="classification", target=data.target), seed=1
)
seconds = time.monotonic() - began
posterior.save(MODEL)

summary, best = posterior.summary(), posterior.best_tree()
say = Output().say
say(
    Text(f"\n{data.title}", style="bold green"),
    Text(f"{len(train)} of them to learn from, {len(test)} held out"),
    Text(f"{summary.how}; {seconds:.1f} s"),
    *section(f"The best tree found ({leaves(best.n_leaves)})", draw_tree(best)),
    *section("It is one of many: how likely a tree asks about a score", bar_chart(summary.inclusion)),
    size_line(posterior.n_leaves),
    *section("The trees drawn most often, and how little even they weigh", tree_table(posterior.top_trees(3))),
)

share = posterior.predict(new)
classes = np.asarray(posterior.schema.response.classes)
right = classes[share.argmax(axis=1)] == answers
sure = share.max(axis=1) > 0.95
unsure = int(np.abs(share[:, 1] - 0.5).argmin())
low, high = posterior.predict(new[[unsure]], kind="interval")[0, 1]
scores = ", ".join(f"{name} {new[name][unsure]}" for name in best.features)
say(
    heading("On the biopsies held out"),
    Text(f"  The average over all trees is right on {right.sum()} of {len(right)} ({right.mean():.1%})."),
    Text(f"  Of the {sure.sum()} it is more than 95% sure about it has {right[sure].sum()} right."),
    heading("And it knows where it does not know"),
    Text(f"  The least certain: {scores}, …"),
    Text(f"  {classes[1]} with probability {share[unsure, 1]:.2f}; nine in ten draws say {low:.2f} to {high:.2f}."),
    Text(f"  It was {answers[unsure]}."),
    *agreement(summary),
    indented(verdict(summary)),
)
say(
    next_steps(
        [
            (f".venv/bin/baytree show {MODEL}", "look at the model again"),
            (".venv/bin/baytree data breast_cancer --out breast_cancer.csv", "the data as a file"),
            (f".venv/bin/baytree predict {MODEL} breast_cancer.csv --out predictions.csv", "predict all rows"),
            (".venv/bin/baytree data", "other data to try"),
        ]
    ),
)
