"""What is certain of a posterior whose trees are too many to be added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import _core
from ..data.design import Design, require_design
from ..data.to_core import native_design
from ..errors import InputError
from ..priors.grow_tree import GrowTree
from ..trees.forest import Forest
from ..trees.tree import Tree
from ..validation import require_whole, threads_of
from .model import CART
from .posterior import fitted_tree
from .summed import why_chains

# No more bytes are stored than this, for the evidence and then for the mode, whatever the budget.
MOST_BYTES = 2**32


class Interval(NamedTuple):
    """The least and the most that a number can be.

    Attributes
    ----------
    low, high : float
        Its ends.
    """

    low: float
    high: float


@dataclass(frozen=True)
class Bounds:
    """What is certain of a posterior, from `bounds`.

    Attributes
    ----------
    log_evidence : Interval
        log P(y | x), with the power that the likelihood has.
    log_mode : Interval
        The log of prior times likelihood of the most probable tree; the lower end is that of `tree`.
    tree : Tree or None
        The most probable tree that was found; None where none was, as where the root must split and the budget is 1.
    sets : int
        How many sets of rows were looked at, for the evidence and for the mode together.
    """

    log_evidence: Interval
    log_mode: Interval
    tree: Tree | None
    sets: int

    @property
    def certified(self) -> bool:
        """Whether no tree is more probable than `tree`."""
        return self.tree is not None and self.gap == 0.0

    @property
    def gap(self) -> float:
        """How much larger the log probability of another tree may be, at most: 0 where `tree` is certified."""
        return self.log_mode.high - self.log_mode.low

    @property
    def probability(self) -> Interval:
        """The posterior probability of `tree`."""
        low, high = (float(np.exp(min(self.log_mode.low - end, 0.0))) for end in reversed(self.log_evidence))
        return Interval(low, high)

    def describe(self) -> str:
        """All of it in words."""
        low, high = self.log_evidence
        lines = [f"log P(y | x) lies between {low:.5f} and {high:.5f}"]
        if self.tree is not None:
            least, most = self.probability
            lines.append(f"the most probable tree that was found has a probability from {least:.2%} to {most:.2%}")
            lines.append(
                "no tree is more probable"
                if self.certified
                else f"no tree is more probable by more than {self.gap:.2f} in logs"
            )
        lines.append(f"{self.sets:,} sets of rows were looked at")
        return "\n".join(lines)


def bounds(model: CART, design: Design, *, budget: int = 200_000, threads: int | None = None) -> Bounds:
    """Bound the evidence of a single tree's posterior, and the probability of its mode, with certainty.

    Every tree counts, looked at or not; what is uncertain is looked into where it matters most, until nothing is left
    or the budget is used up. More of it never makes an interval larger.

    Parameters
    ----------
    model : CART
        The model; its method does not matter. What `method="exact"` cannot take, this cannot.
    design : Design
        The data.
    budget : int
        How many sets of rows to look at, for the evidence and again for the mode. A million take from ten seconds to a
        minute and some 200 MB.
    threads : int, optional
        How many may share the work; by default one for each processor. They make no difference to what is found.

    Returns
    -------
    Bounds
    """
    require_design(design)
    if not isinstance(model, CART):
        raise InputError(f"bounds: {type(model).__name__} is not a model of single trees; give a CART")
    if (reason := why_chains(model)) is not None:
        raise InputError(f"bounds: {reason}, which needs chains; see bt.sample")
    if design.offset is not None:
        raise InputError("bounds: a single tree takes no offset: leave it out, or use a sum of trees")
    require_whole("budget", budget, 1)
    model, threads = model.resolve(design), threads_of(threads)
    assert model.leaf is not None
    evidence = _within(_core.Goal.evidence, model, design, budget, threads)
    log_evidence, sets = Interval(evidence.log_low, evidence.log_high), evidence.sets
    del evidence  # both together may be too much
    mode = _within(_core.Goal.mode, model, design, budget, threads)
    found = mode.best()
    forest = Forest(**found["forest"])
    tree = None
    if len(forest):
        means = model.leaf.means(found["statistics"].reshape(int(forest.leaves[0]), -1))
        tree = fitted_tree(design.schema, forest, 0, means)
    return Bounds(log_evidence, Interval(mode.log_low, mode.log_high), tree, sets + mode.sets)


def bounded_evidence(model: CART, design: Design, budget: int, threads: int) -> Interval:
    """An interval for log P(y | x) of a resolved model that a sum over sets of rows can take."""
    found = _within(_core.Goal.evidence, model, design, budget, threads)
    return Interval(found.log_low, found.log_high)


def _within(goal: _core.Goal, model: CART, design: Design, budget: int, threads: int) -> _core.ExactBounds:
    assert model.leaf is not None
    assert isinstance(model.prior, GrowTree)
    prior, power = model.prior.native(design.schema), float(model.power)
    leaf = model.leaf.native(design)
    try:
        return _core.ExactBounds(native_design(design), leaf, prior, power, goal, budget, MOST_BYTES, threads)
    except MemoryError:
        raise MemoryError(f"bounds: budget={budget:,} takes more memory than there is: give a smaller one") from None
