"""Walks over the nodes of a tree, and how it is drawn as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def fold(
    nodes: Sequence[Any], visit_split: Callable[[int, Any, Any], Any], visit_leaf: Callable[[int, int], Any]
) -> Any:
    """What `Tree.walk` promises, of any nodes in preorder, None being a leaf."""
    folded: list[Any] = []
    leaf = (len(nodes) + 1) // 2
    for node in range(len(nodes) - 1, -1, -1):
        if nodes[node] is None:
            leaf -= 1
            folded.append(visit_leaf(node, leaf))
        else:
            left, right = folded.pop(), folded.pop()
            folded.append(visit_split(node, left, right))
    return folded[0]


def outline(nodes: Sequence[Any], question: Callable[[Any, int], str], leaf: Callable[[int, int], str]) -> str:
    """Nodes in preorder, drawn with lines; at each question *yes* comes first.

    Parameters
    ----------
    nodes : sequence
        None is a leaf.
    question : callable (split, node)
        The line of a split.
    leaf : callable (node, leaf)
        The line of a leaf.
    """

    def indent(answer: str, lines: list[str], last: bool) -> list[str]:
        corner, bar = ("└─ ", "   ") if last else ("├─ ", "│  ")
        return [f"{corner}{answer} {lines[0]}"] + [bar + line for line in lines[1:]]

    def split(node: int, left: list[str], right: list[str]) -> list[str]:
        return [question(nodes[node], node), *indent("yes:", left, False), *indent("no: ", right, True)]

    return "\n".join(fold(nodes, split, lambda node, place: [leaf(node, place)]))


def depths_of(nodes: Sequence[Any]) -> tuple[int, ...]:
    """The depth of each node in preorder; the root has 0."""
    depths, pending = [], [0]
    for node in nodes:
        depth = pending.pop()
        depths.append(depth)
        if node is not None:
            pending += [depth + 1, depth + 1]
    return tuple(depths)
