"""The ways that a row takes through the gates of a mixture of experts, and what the experts at their ends say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..interpret.explanation import Path, Reasons
from ..text import percent
from .tree.experts import Classes
from .tree.soft_tree import SoftTree

if TYPE_CHECKING:
    from .posterior import HMEPosterior

# How many inputs of a gate are named.
NAMED = 2
BRANCHES = ("left", "right")


def reasons_of(posterior: HMEPosterior, row: np.ndarray, place: int) -> Reasons:
    """The leaves of the best tree, those that answer for most of the row first, with the gates above them.

    Parameters
    ----------
    posterior : HMEPosterior
        The draws.
    row : numpy.ndarray of shape (1, columns of the matrix)
        The row.
    place : int
        With classes, which of them is explained.
    """
    tree, inputs = posterior.tree().to_numpy(), posterior.inputs
    x = inputs.of_matrix(row)
    share = np.exp(tree.log_paths(x))[:, 0]
    means = tree.experts.means(x)[:, 0]
    values = means if isinstance(tree.experts, Classes) else posterior.outputs.original(means)
    experts = posterior.experts()
    live = np.flatnonzero(posterior.live_leaves)
    paths = []
    for leaf in live[np.argsort(-share[live], kind="stable")].tolist():
        value = float(values[leaf, place])
        said = f"leaf {leaf + 1} says {value:.4g}; of an average row {experts[leaf]}"
        paths.append(Path(_gates(tree, leaf, x, inputs.names), float(share[leaf]), value, said))
    of = "the best tree" if posterior.chains * posterior.draws > 1 else "the tree"
    return Reasons(tuple(paths), titles=(f"Ways through the gates of {of}, and what the expert at their end says", ""))


def _gates(tree: SoftTree, leaf: int, x: np.ndarray, names: Sequence[str]) -> tuple[str, ...]:
    """What each gate above a leaf does with a row, and for which inputs most."""
    said = []
    for level, log_gate in enumerate(tree.log_gates(x)):
        node, branch = divmod(leaf // tree.branching ** (tree.depth - level - 1), tree.branching)
        way = BRANCHES[branch] if tree.branching == len(BRANCHES) else f"branch {branch + 1}"
        branches = np.concatenate([tree.gates[level][node], np.zeros_like(tree.gates[level][node][:1])])
        # Against the average of the other branches; what is the same for all inputs is the gate's own.
        apart = (branches[branch] - np.delete(branches, branch, axis=0).mean(axis=0))[:-1] * x[0, :-1]
        largest = [at for at in np.argsort(-np.abs(apart), kind="stable")[:NAMED] if abs(apart[at]) > 0]
        why = ", ".join(f"{names[at]} {apart[at]:+.2g}".replace("-", "−") for at in largest)
        share = percent(float(np.exp(log_gate[node, 0, branch])))
        said.append(
            f"{'root' if not level else f'gate {level + 1}.{node + 1}'} {way} {share}{f' ({why})' if why else ''}"
        )
    return tuple(said)


def spreads_of(posterior: HMEPosterior) -> list[tuple[float, float]]:
    """The mean and the standard deviation of the numbers of each column, over the training rows."""
    inputs, schema = posterior.inputs, posterior.schema
    known: dict[int, tuple[Any, Any]] = dict(
        zip(inputs.kept.tolist(), zip(inputs.centre.tolist(), inputs.scale.tolist(), strict=True), strict=True)
    )
    return [known.get(unit.begin, (0.0, 1.0)) for unit in schema.units[: len(schema.columns)]]
