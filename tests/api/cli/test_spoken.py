"""What the library says for Python, in the words of the command line."""

from __future__ import annotations

import pytest

from baytree.cli.declaring import CONCERNED
from baytree.cli.families import FAMILIES
from baytree.cli.spoken import spoken


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_cuts=-3; choose a number, or None for all", "--max-cuts -3; choose a number, or all"),
        ("with split='soft' choose init='root'", "with --split soft choose --init root"),
        ("k=2.0.", "--k 2.0."),
        ("less; lower min_leaf", "less; lower --min-leaf"),
        ("column 'min_leaf': set task='classification'", "column 'min_leaf': set --task classification"),
        ("row index 39, row at index 1,000", "row 40, row 1,001"),
        ("--max-depth -1: MaxDepth: most=-1: choose more", "--max-depth -1: choose more"),
        ("limit it (MaxDepth(3), say), or use Forbid", "limit it (--max-depth 3, say), or use --forbid"),
        ("take effort='default' (at most", "take --effort default (at most"),
        ("between 1 and 2; bt.bounds gives more", "between 1 and 2"),
        ("again.baytree.partial: a run is there", "again.baytree.partial: a run is there"),
        ("such as {'birth_death': 1, 'change': 0.1}", "such as birth_death=1, change=0.1"),
        ("no column 'Box'. Choose from: Box=1", "no column 'Box'. Choose from: Box=1"),
    ],
)  # fmt: skip
def test_messages(text: str, said: str) -> None:
    CONCERNED.set(None)
    assert spoken(text) == said


def test_names_are_those_of_the_family() -> None:
    """A parameter of a prior of linear models is called as an option of sums of trees is."""
    CONCERNED.set(FAMILIES["subset"].fit)
    assert spoken("k=-2.0: choose a positive number; nu=1") == "k=-2.0: choose a positive number; --nu 1"
    for family in FAMILIES.values():
        for asks in (family.fit, family.show, family.predict):
            CONCERNED.set(asks)
            assert (
                spoken("not enough memory: Unable to allocate 3 MiB") == "not enough memory: Unable to allocate 3 MiB"
            )
