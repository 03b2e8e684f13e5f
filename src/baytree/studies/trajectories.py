"""How chains move, log-likelihood against iteration: Angelopoulos and Cussens 2005, figures 6 to 8.

Figure 6 shows q0-7 on the breast-cancer data, which is ``cycle(7)`` here. Figure 7 shows the EDITTREE prior beside
GROWTREE, both with the older proposal that redraws all that follows a point in the sequence of choices: the kernel
``sequence`` over the programs. The paper does not give its initial tree; here it is rpart's. Figure 8 begins at
Denison's tree of log-likelihood -343 for the Pima data, which is not public, with two values of beta that are not
legible in our copies; here the chains begin at the first tree as good that a search finds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import slp
from ..cart.model import CART
from ..cart.posterior import Posterior
from ..data.design import Design
from ..plots.figures import Curve, Figure, Panel
from ..priors.edit_tree import EditTree
from ..priors.grow_tree import GrowTree
from ..slp import SHIPPED
from ..trees.tree import Tree
from . import Number, Outcome, Table
from .runs import recorded, whole

# What rpart 4.1.19 grows on the breast-cancer data by default; its log-likelihood is -94.97.
RPART_TREE = """\
cell_size <= 2.5?
├─ yes: bare_nuclei <= 5.5?
│  ├─ yes: leaf
│  └─ no:  leaf
└─ no:  cell_shape <= 2.5?
   ├─ yes: bland_chromatin <= 3.5?
   │  ├─ yes: leaf
   │  └─ no:  leaf
   └─ no:  cell_size <= 4.5?
      ├─ yes: bare_nuclei <= 2.5?
      │  ├─ yes: leaf
      │  └─ no:  leaf
      └─ no:  leaf
"""
# The axes of the published figures.
AXES = {"EDITTREE": (-100.0, -60.0), "GROWTREE": (-300.0, -50.0)}
DENISON = -343.0
BETAS = (0.5, 1.0)
FALL = 10.0


@dataclass(frozen=True)
class Size:
    """How much is run."""

    iterations: int
    search: int
    seeds: int


FULL = Size(iterations=60_000, search=50_000, seeds=20)
QUICK = Size(iterations=500, search=500, seeds=2)


@dataclass(frozen=True)
class Stretches:
    """How a chain stood still.

    Attributes
    ----------
    longest : int
        The most iterations in a row at one tree.
    trees : int
        The number of distinct trees.
    """

    longest: int
    trees: int

    @classmethod
    def of(cls, posterior: Posterior) -> Stretches:
        """Those of the first chain."""
        tree = posterior.forest.identity[posterior.tree_index[0]]
        moves = np.flatnonzero(np.diff(tree)) + 1
        return cls(int(np.diff([0, *moves, len(tree)]).max()), len(np.unique(tree)))


def run(*, quick: bool, seed: int, tell: Callable[[str], object]) -> Outcome:
    """The chains of the three figures."""
    size = QUICK if quick else FULL
    rng = np.random.default_rng(seed)

    def chain(design: Design, prior: Any, proposal: str, chains: int = 1, **options: Any) -> Posterior:
        return recorded(
            CART(prior, proposal=proposal),
            design,
            warmup=0,
            draws=size.iterations,
            chains=chains,
            seed=int(rng.integers(2**63)),
            **options,
        )

    bcw, pima = whole("BCW"), whole("PIMA")
    cycle = chain(bcw, GrowTree(), "cycle(7)")
    plain = chain(bcw, GrowTree(), "uc")
    tell("figure 6 done")
    edited = chain(bcw, EditTree(RPART_TREE), "sequence")
    tell("figure 7, EDITTREE, done")
    grown = chain(bcw, slp.load(SHIPPED / "growtree.slp"), "sequence")
    tell("figure 7, GROWTREE, done")
    start = good_tree(pima, size.search, int(rng.integers(2**63)))
    drifts = {beta: chain(pima, GrowTree(beta=beta), "uc", size.seeds, init=start) for beta in BETAS}
    tell("figure 8 done")
    initial = CART(GrowTree()).log_likelihood(bcw, EditTree(RPART_TREE).tree.on(bcw.schema).to_dict())
    figure7 = {"EDITTREE": edited, "GROWTREE": grown}
    return _outcome(size, cycle, plain, figure7, drifts, initial, CART().log_likelihood(pima, start), start)


def good_tree(design: Design, iterations: int, seed: int) -> Tree:
    """The first tree as good as Denison's that a search visits, or the best where there is none.

    The likelihood is squared, so that good trees are worth more than small ones.
    """
    posterior = recorded(CART(power=2.0), design, warmup=0, draws=iterations, chains=1, seed=seed)
    found = posterior.log_likelihood[0]
    as_good = np.flatnonzero(found >= DENISON)
    return posterior.tree(0, int(as_good[0] if len(as_good) else np.argmax(found)))


def first_below(trajectory: np.ndarray, level: float) -> int:
    """The first iteration below a level, counted from 1; their number where there is none."""
    below = np.flatnonzero(trajectory < level)
    return int(below[0]) + 1 if len(below) else len(trajectory)


def _outcome(
    size: Size,
    cycle: Posterior,
    plain: Posterior,
    figure7: dict[str, Posterior],
    drifts: dict[float, Posterior],
    initial: float,
    start: float,
    start_tree: Tree,
) -> Outcome:
    stuck, moving = Stretches.of(cycle), Stretches.of(plain)
    ranges = {name: np.quantile(posterior.log_likelihood[0], [0, 0.05, 0.95, 1]) for name, posterior in figure7.items()}
    at_initial = np.abs(figure7["EDITTREE"].log_likelihood[0] - initial) < 1e-6
    returns = int(np.sum(np.diff(at_initial.astype(int)) == 1))
    fell = {beta: [first_below(x, start - FALL) for x in drift.log_likelihood] for beta, drift in drifts.items()}
    late = {beta: drift.log_likelihood[:, size.iterations // 2 :].mean(axis=1) for beta, drift in drifts.items()}
    weak, strong = BETAS
    faster = np.median(fell[strong]) < np.median(fell[weak])
    further = late[strong].mean() < late[weak].mean()
    drifted = all(np.all(means < start) for means in late.values())
    inside = {name: _inside(ranges[name][1:3], AXES[name]) for name in figure7}
    trees = [(name, Stretches.of(posterior)) for name, posterior in figure7.items()]
    return Outcome(
        setup=(
            f"{size.iterations:,} iterations a chain without warm-up, alpha 0.95, beta 1, at least 5 rows a leaf; "
            "figure 7 with the proposal sequence, EDITTREE with 4 edits on average of rpart's tree; figure 8 with "
            f"{size.seeds} seeds from a tree of log-likelihood {start:.1f} and {start_tree.n_leaves} leaves"
        ),
        tables=(
            Table(
                ("chain", "longest stretch at one tree", "distinct trees", "lowest", "highest"),
                tuple(
                    (name, Number(found.longest, places=0), Number(found.trees, places=0), *_ends(posterior))
                    for name, found, posterior in (
                        ("q0-7, figure 6", stuck, cycle),
                        ("q_uc, for comparison", moving, plain),
                    )
                ),
                "Figure 6, BCW: published is “stuck at one model for long stretches”",
            ),
            Table(
                ("prior", "published axis", "lowest", "5%", "95%", "highest", "longest stretch", "distinct trees"),
                tuple(
                    (
                        name,
                        f"{AXES[name][0]:.0f} to {AXES[name][1]:.0f}",
                        *(Number(float(value)) for value in ranges[name]),
                        Number(found.longest, places=0),
                        Number(found.trees, places=0),
                    )
                    for name, found in trees
                ),
                f"Figure 7, BCW, sequence-based proposals: log-likelihoods (the initial tree has {initial:.1f})",
            ),
            Table(
                ("beta", f"first {FALL:.0f} below the start, median", "least", "most", "mean of the last half"),
                tuple(
                    (
                        f"{beta:g}",
                        *(Number(float(f(fell[beta])), places=0) for f in (np.median, np.min, np.max)),
                        Number(float(late[beta].mean()), float(late[beta].std(ddof=1) / np.sqrt(size.seeds))),
                    )
                    for beta in BETAS
                ),
                "Figure 8, Pima: published is “both drift away from the start, the stronger prior faster”",
            ),
        ),
        findings=(
            f"Figure 6: q0-7 stands still for as many as {stuck.longest:,} iterations and sees {stuck.trees:,} trees; "
            f"q_uc for at most {moving.longest:,}, and sees {moving.trees:,}.",
            f"Figure 7: nine tenths of the log-likelihoods lie {inside['EDITTREE']} the published axis under EDITTREE, "
            f"{inside['GROWTREE']} it under GROWTREE; EDITTREE comes back to the initial tree's level {returns} times, "
            f"and is there in {100 * at_initial.mean():.1f}% of the iterations.",
            f"Figure 8: {'all chains drift' if drifted else 'not every chain drifts'} away from the start; the "
            f"stronger prior (beta {strong:g}) falls {'sooner' if faster else 'no sooner'} than the weaker (beta "
            f"{weak:g}), and ends {'lower' if further else 'no lower'}.",
        ),
        agrees=bool(stuck.longest > moving.longest and drifted and faster),
        runs=tuple(
            {
                "figure": figure,
                "chain": name,
                "seed": number + 1,
                "mean": float(x.mean()),
                "lowest": float(x.min()),
                "highest": float(x.max()),
                "first_below": first_below(x, start - FALL) if figure == 8 else None,
            }
            for figure, name, posterior in (
                (6, "q0-7", cycle),
                (6, "q_uc", plain),
                *((7, name, posterior) for name, posterior in figure7.items()),
                *((8, f"beta {beta:g}", drift) for beta, drift in drifts.items()),
            )
            for number, x in enumerate(posterior.log_likelihood)
        ),
        figures=(
            Figure(
                "figure-6",
                tuple(_panel(f"BCW, GROWTREE, {name}", {"": x}) for name, x in (("q0-7", cycle), ("q_uc", plain))),
            ),
            Figure(
                "figure-7",
                tuple(_panel(f"BCW, {name}", {"": x, "rpart's tree": initial}) for name, x in figure7.items()),
            ),
            Figure(
                "figure-8",
                (_panel("Pima", {f"beta {beta:g}": x for beta, x in drifts.items()} | {"the start": start}),),
            ),
        ),
    )


def _inside(quantiles: np.ndarray, axis: tuple[float, float]) -> str:
    return "inside" if axis[0] <= quantiles[0] and quantiles[1] <= axis[1] else "not all inside"


def _ends(posterior: Posterior) -> tuple[Number, Number]:
    return Number(float(posterior.log_likelihood.min())), Number(float(posterior.log_likelihood.max()))


def _panel(title: str, shown: Mapping[str, Posterior | float]) -> Panel:
    """The first chain of each posterior, and levels, by their labels."""
    draws = max(x.draws for x in shown.values() if isinstance(x, Posterior))
    curves = [
        Curve(label, np.arange(x.draws), x.log_likelihood[0])
        if isinstance(x, Posterior)
        else Curve(label, np.array([0, draws]), np.full(2, x))
        for label, x in shown.items()
    ]
    return Panel(title, "iteration", "log-likelihood", tuple(curves))
