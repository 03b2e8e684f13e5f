"""Which trees a move can reach from which: the communicating classes that a chain of that move alone stays in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from reference.trees.enumeration import Tree


def subtree_end(tree: Tree, node: int) -> int:
    """The position behind the last node of the subtree at ``node``."""
    open_nodes = 1
    while open_nodes:
        open_nodes += -1 if tree[node] is None else 1
        node += 1
    return node


def internal_children(tree: Tree, node: int) -> Iterator[int]:
    """The children of an internal node that are internal themselves."""
    for child in (node + 1, subtree_end(tree, node + 1)):
        if tree[child] is not None:
            yield child


def changed(tree: Tree) -> Iterator[Hashable]:
    """A change redraws one rule: two trees are neighbours where they agree with that rule masked."""
    for node, rule in enumerate(tree):
        if rule is not None:
            yield (*tree[:node], "changed", *tree[node + 1 :])


def changed_nogs(tree: Tree) -> Iterator[Hashable]:
    """The same for a split of two leaves, the only one that a sum of trees changes."""
    for node in range(len(tree) - 2):
        if tree[node] is not None and tree[node + 1] is None and tree[node + 2] is None:
            yield (*tree[:node], "changed", *tree[node + 1 :])


def swapped(tree: Tree) -> Iterator[Hashable]:
    """A swap exchanges the rules of an internal node and one internal child of it."""
    for node, rule in enumerate(tree):
        if rule is not None:
            for child in internal_children(tree, node):
                exchanged = list(tree)
                exchanged[node], exchanged[child] = exchanged[child], exchanged[node]
                yield frozenset([tree, tuple(exchanged)])


def born(tree: Tree) -> Iterator[Hashable]:
    """A birth splits a leaf in two leaves, and a death takes it back."""
    yield tree
    for node in range(len(tree) - 2):
        if tree[node] is not None and tree[node + 1] is None and tree[node + 2] is None:
            yield (*tree[:node], None, *tree[node + 3 :])


def inserted(tree: Tree) -> Iterator[Hashable]:
    """An insertion puts a split above a node, with a leaf on the other side, and a deletion takes both away."""
    yield tree
    for node, rule in enumerate(tree):
        if rule is not None:
            end = subtree_end(tree, node)
            left, right = tree[node + 1 : subtree_end(tree, node + 1)], tree[subtree_end(tree, node + 1) : end]
            for leaf, kept in ((left, right), (right, left)):
                if leaf == (None,):
                    yield (*tree[:node], *kept, *tree[end:])


def regrown(_: Tree) -> Iterator[Hashable]:
    """Regrowing from the first choice point reaches every tree."""
    yield "any"


MEETING_POINTS = {
    "change": changed,
    "change_nogs": changed_nogs,
    "swap": swapped,
    "birth_death": born,
    "gbirth": born,
    "gchange": changed,  # beside change: alone it never exchanges rules that divide the rows alike
    "insert_delete": inserted,
}
GROWING = ("birth_death", "gbirth", "insert_delete")


def classes(trees: Sequence[Tree], moves: Iterable[str]) -> NDArray[np.int32]:
    """The communicating class of each tree under the moves together.

    Each move names the places where a tree meets its neighbours, and trees that share a place are connected. Only
    trees of positive prior probability are listed, so a move out of the space, which is never accepted, connects
    nothing: the place of a birth or an insertion is the smaller tree itself, and must be in the list for the two to
    meet there by one move.
    """
    places: dict[Hashable, list[int]] = defaultdict(list)
    listed = set(trees)
    for move in moves:
        for position, tree in enumerate(trees):
            for place in MEETING_POINTS.get(move, regrown)(tree):
                if move not in GROWING or place in listed:
                    places[move, place].append(position)
    edges = [(first, other) for first, *others in places.values() for other in others]
    start, end = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(start)), (start, end)), shape=(len(trees), len(trees)))
    return connected_components(graph, directed=False)[1]
