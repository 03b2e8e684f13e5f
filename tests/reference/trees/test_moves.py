"""The communicating classes, against moves made one at a time."""

import numpy as np
import pytest

from reference.trees.enumeration import Rule, Tree
from reference.trees.moves import classes, internal_children, subtree_end
from reference.trees.spaces import FORCED, GAP, MISSING_LEVELS, TIES, Space

A, B, C = (Rule(0, cut, 0, False) for cut in range(3))


def step(tree: Tree, other: Tree, move: str) -> bool:
    """Whether one move leads from one tree to the other, by their difference alone."""
    if move == "birth_death":
        small, large = sorted((tree, other), key=len)
        return len(large) == len(small) + 2 and any(
            small[node] is None
            and large[:node] == small[:node]
            and large[node + 1 : node + 3] == (None, None)
            and large[node + 3 :] == small[node + 1 :]
            for node in range(len(small))
        )
    if move == "insert_delete":
        small, large = sorted((tree, other), key=len)
        return len(large) == len(small) + 2 and any(
            large
            in (
                (*small[:node], rule, None, *small[node:]),
                (*small[:node], rule, *small[node:end], None, *small[end:]),
            )
            for node in range(len(small))
            for end in [subtree_end(small, node)]
            for rule in [large[node]]
        )
    if [rule is None for rule in tree] != [rule is None for rule in other]:
        return False
    differ = [node for node in range(len(tree)) if tree[node] != other[node]]
    if move == "change":
        return len(differ) == 1
    return (
        len(differ) == 2
        and differ[1] in internal_children(tree, differ[0])
        and (tree[differ[0]], tree[differ[1]]) == (other[differ[1]], other[differ[0]])
    )


def test_preorder() -> None:
    tree = (A, B, None, None, C, None, None)
    assert subtree_end(tree, 0) == 7 and subtree_end(tree, 1) == 4
    assert list(internal_children(tree, 0)) == [1, 4]
    assert list(internal_children(tree, 1)) == []


@pytest.mark.parametrize("move", ["change", "swap", "birth_death", "insert_delete"])
@pytest.mark.parametrize("space", [GAP, FORCED, MISSING_LEVELS], ids=lambda space: space.name)
def test_classes_are_the_closure_of_single_moves(space: Space, move: str) -> None:
    trees = list(space.trees)
    reach = [{j for j, other in enumerate(trees) if step(tree, other, move)} for tree in trees]
    labels = np.full(len(trees), -1)
    for start in range(len(trees)):
        if labels[start] < 0:
            todo = [start]
            while todo:
                here = todo.pop()
                if labels[here] < 0:
                    labels[here] = start
                    todo += reach[here]
    found = classes(trees, [move])
    assert len(set(zip(labels, found, strict=True))) == len(set(labels)) == len(set(found))


def test_what_is_irreducible_alone() -> None:
    """Birth and death reach every tree unless the root must split; change and swap keep the shape."""
    assert set(classes(list(TIES.trees), ["birth_death"])) == {0}
    assert set(classes(list(TIES.trees), ["uc"])) == {0}
    assert len(set(classes(list(FORCED.trees), ["birth_death"]))) > 1
    for move in ("change", "swap"):
        found = classes(list(TIES.trees), [move])
        for label in set(found):
            shapes = {tuple(r is None for r in tree) for tree, c in zip(TIES.trees, found, strict=True) if c == label}
            assert len(shapes) == 1
