"""The exact transition matrices of the kernels over the proofs of a small program, right ones and wrong ones.

A kernel picks a choice point k of the proof it is at, proposes another proof, and accepts it with probability
min(1, R · L'/L). The matrices follow the words of the design's table, pair of proofs by pair of proofs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference.slp.interpreter import Address, Choice, Path, Point, Semantics, model_of, paths, unfold, weighted, write

Matrix = NDArray[np.float64]
Pairs = frozenset[tuple[Address, int]]

CYCLE = 3
"""The last point that the cycles of ``KERNELS`` go to: behind the end of some proofs and not of others."""


@dataclass(frozen=True)
class Kernel:
    """``proposal`` is what is redrawn, and the rest says how the point is picked and the proposal accepted.

    ``ratio`` is R: ``exact`` as the table has it, ``counts`` N/N' alone, ``one``, or ``depths`` as the paper has it.
    """

    proposal: str
    ratio: str = "exact"
    clipped: bool = False
    cycle: int | None = None
    clamped: bool = False


KERNELS = {
    "sequence": Kernel("sequence"),
    "subtree": Kernel("subtree"),
    "pressing subtree": Kernel("pressing subtree"),
    "address": Kernel("address"),
    "independent": Kernel("independent"),
    "cycle sequence": Kernel("sequence", cycle=CYCLE),
    "cycle subtree": Kernel("subtree", cycle=CYCLE),
}
WRONG = {
    "sequence, R = 1": Kernel("sequence", ratio="one"),
    "subtree, R = 1": Kernel("subtree", ratio="one"),
    "address, R = 1": Kernel("address", ratio="one"),
    "sequence, R of depths": Kernel("sequence", ratio="depths"),
    "subtree, R of depths": Kernel("subtree", ratio="depths"),
    "address, R of depths": Kernel("address", ratio="depths"),
    "address, R of counts": Kernel("address", ratio="counts"),
    "sequence, clipped": Kernel("sequence", clipped=True),
    "subtree, clipped": Kernel("subtree", clipped=True),
    "address, clipped": Kernel("address", clipped=True),
    "cycle sequence, clamped": Kernel("sequence", cycle=CYCLE, clamped=True),
    "cycle subtree, clamped": Kernel("subtree", cycle=CYCLE, clamped=True),
}


def under(address: Address, top: Address) -> bool:
    return address[: len(top)] == top


def pairs(choices: Iterable[Choice]) -> Pairs:
    """What a proof is known by: given the option at each address, a run has no freedom left."""
    return frozenset((choice.address, choice.option) for choice in choices)


def alive_steps(proofs: list[Path]) -> list[tuple[float, ...]]:
    """p / A of each choice of each proof: an option is alive where some proof goes on with it."""
    alive: dict[Pairs, dict[int, float]] = {}
    for path in proofs:
        for k, choice in enumerate(path.choices):
            alive.setdefault(pairs(path.choices[:k]), {})[choice.option] = choice.probability
    return [
        tuple(c.probability / math.fsum(alive[pairs(path.choices[:k])].values()) for k, c in enumerate(path.choices))
        for path in proofs
    ]


class States:
    """The proofs of a goal under one semantics, as the states of a chain."""

    def __init__(self, text: str, goal: str, semantics: Semantics) -> None:
        self.machine, tree = unfold(text, goal)
        found = weighted(tree, semantics)
        self.paths = [path for path, _ in found]
        self.prior: Matrix = np.array([p for _, p in found])
        self.models = [model_of(goal, write(path.answer)) for path in self.paths]
        self.index = {pairs(path.choices): i for i, path in enumerate(self.paths)}
        self.steps = alive_steps(self.paths)
        without_backtracking = {pairs(path.choices) for path in paths(tree, "reject")}
        self.straight = [pairs(path.choices) in without_backtracking for path in self.paths]
        self.regrown: dict[Point, list[Path]] = {}

    def posterior(self, log_likelihood: Matrix) -> Matrix:
        weight = self.prior * np.exp(log_likelihood)
        return weight / weight.sum()

    def regrow(self, point: Point) -> list[Path]:
        """The proofs of the goal at a point alone, backtracking among themselves."""
        if point not in self.regrown:
            tree = self.machine.search(point.goal, (point.goal, point.address, None), point.bindings)
            self.regrown[point] = list(paths(tree, "backtrack"))
        return self.regrown[point]


# ---- proposals ------------------------------------------------------------------------------------------------------

Proposals = Iterator[tuple[int, float, float]]
"""The proposed proof, its probability, and R without N/N'."""


def sequence(states: States, here: int, k: int) -> Proposals:
    """Keep the first k choices and redraw all that follows, backtracking."""
    prefix = pairs(states.paths[here].choices[:k])
    for there, path in enumerate(states.paths):
        if pairs(path.choices[:k]) == prefix:
            yield there, math.prod(states.steps[there][k:]), 1.0


def subtree(states: States, here: int, k: int) -> Proposals:
    """Prove the goal at k anew, as if it stood alone, and keep every other choice; stay where that is no proof."""
    path = states.paths[here]
    retained = pairs(c for c in path.choices if not under(c.address, path.choices[k].address))
    for inside in states.regrow(path.points[k]):
        there = states.index.get(retained | pairs(inside.choices))
        if there is not None:
            yield there, math.prod(inside.steps), 1.0


def pressing_subtree(states: States, here: int, k: int) -> Proposals:
    """Like ``subtree``, but backtrack into the goal at k until the rest of the proof holds as well."""
    path = states.paths[here]
    retained = pairs(c for c in path.choices if not under(c.address, path.choices[k].address))
    fitting = [inside for inside in states.regrow(path.points[k]) if retained | pairs(inside.choices) in states.index]
    for inside, steps in zip(fitting, alive_steps(fitting), strict=True):
        yield states.index[retained | pairs(inside.choices)], math.prod(steps), 1.0


def address(states: States, here: int, k: int) -> Proposals:
    """Redraw what lies under k, replay what else is still a choice, draw what is new; stay where a run fails."""
    choices = states.paths[here].choices
    retained = {c.address: c for c in choices if not under(c.address, choices[k].address)}
    for there, path in enumerate(states.paths):
        if not states.straight[there]:
            continue
        q, reused = 1.0, 1.0
        for choice in path.choices:
            old = retained.get(choice.address)
            if old is None:
                q *= choice.probability
            elif old.option == choice.option:
                reused *= choice.probability / old.probability
            else:
                q = 0.0
        if q > 0:
            yield there, q, reused


def independent(states: States, _: int, __: int) -> Proposals:
    """Draw a proof from the program."""
    for there, q in enumerate(states.prior):
        yield there, q, 1.0


PROPOSALS = {
    "sequence": sequence,
    "subtree": subtree,
    "address": address,
    "pressing subtree": pressing_subtree,
    "independent": independent,
}


# ---- matrices -------------------------------------------------------------------------------------------------------


def depth(choices: tuple[Choice, ...]) -> int:
    """The most choice points that lie under one another."""
    return max((sum(under(c.address, top.address) for top in choices) for c in choices), default=0)


def proposal_ratio(states: States, kernel: Kernel, here: int, there: int, own: float) -> float:
    """R: of the numbers of points where one is picked among all, times what the proposal itself adds."""
    if kernel.ratio == "one" or kernel.cycle is not None or kernel.proposal == "independent":
        return 1.0
    before, after = states.paths[here].choices, states.paths[there].choices
    if kernel.ratio == "depths":
        return depth(before) / depth(after)
    counts = len(before) / len(after)
    return counts if kernel.ratio == "counts" else counts * own


def picked(kernel: Kernel, points: int, turn: int | None) -> list[tuple[int, float]]:
    """The points that may be picked, with their probabilities; none means to stay."""
    if kernel.proposal == "independent":
        return [(0, 1.0)]
    if turn is None:
        return [(k, 1 / points) for k in range(points)]
    if turn < points:
        return [(turn, 1.0)]
    return [(points - 1, 1.0)] if kernel.clamped and points else []


def step_matrix(states: States, kernel: Kernel, log_likelihood: Matrix, turn: int | None) -> Matrix:
    """One step from every proof to every other."""
    size = len(states.paths)
    matrix = np.zeros((size, size))
    for here in range(size):
        for k, share in picked(kernel, len(states.paths[here].choices), turn):
            for there, q, own in PROPOSALS[kernel.proposal](states, here, k):
                if there == here:
                    continue
                likelihood = math.exp(log_likelihood[there] - log_likelihood[here])
                if kernel.clipped:
                    likelihood = min(1.0, likelihood)
                ratio = proposal_ratio(states, kernel, here, there, own)
                matrix[here, there] += share * q * min(1.0, likelihood * ratio)
        matrix[here, here] = 1 - matrix[here].sum()
    return matrix


def transition(states: States, kernel: Kernel, log_likelihood: Matrix | None = None) -> Matrix:
    """The transition matrix of a kernel, likelihood off or on; that of a cycle is of one whole turn."""
    if log_likelihood is None:
        log_likelihood = np.zeros(len(states.paths))
    if kernel.cycle is None:
        return step_matrix(states, kernel, log_likelihood, None)
    turns = [step_matrix(states, kernel, log_likelihood, k) for k in range(kernel.cycle + 1)]
    return np.linalg.multi_dot(turns)


def stationarity_gap(matrix: Matrix, distribution: Matrix) -> float:
    """How far one step takes a chain away from the distribution, in total variation."""
    return float(np.abs(distribution @ matrix - distribution).sum() / 2)
