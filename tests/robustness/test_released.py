"""Files of every release: later ones read them, say the same of new rows, and go on from where their chains stopped."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.posterior.registry import FAMILIES
from fixtures.make import FIXTURES, FOLDER, answer

FILES = sorted(FOLDER.glob("*.baytree"))
EVERY = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def name_of(path: Path) -> str:
    return path.stem.split("-")[0]


def test_every_family_and_fixture_has_a_file() -> None:
    assert {name_of(path) for path in FILES} == set(FIXTURES)
    assert {fixture.model.family for fixture in FIXTURES.values()} == set(FAMILIES)


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    """Numbers are nearly the same, and all else is the same; a later version may say more, as intervals of leaves."""
    if isinstance(expected, dict):
        assert expected.keys() <= found.keys()
        for key in expected:
            assert_close(found[key], expected[key], tolerance)
    elif isinstance(expected, list) and expected and not isinstance(expected[0], str):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other, tolerance)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=tolerance, abs=1e-12)
    else:
        assert found == expected


@EVERY
@pytest.mark.filterwarnings("ignore:the ladders made 0 round trips")
@pytest.mark.filterwarnings("ignore:column 'x1'. 1 value missing or never seen")
def test_it_says_the_same(path: Path) -> None:
    expected, posterior = json.loads(path.with_suffix(".json").read_text()), bt.load(path)
    # Sums of trees are in single precision.
    tolerance = 1e-6 if isinstance(posterior, bt.BARTPosterior) else 1e-12
    questions = expected.keys() - {"X", "offset"}
    assert "mean" in questions
    for question in questions:
        assert_close(json.loads(json.dumps(answer(posterior, question, expected))), expected[question], tolerance)


@EVERY
def test_it_goes_on(path: Path) -> None:
    posterior, design = bt.load(path), FIXTURES[name_of(path)].design
    if posterior.has_chains:
        longer = bt.extend(posterior, design, draws=2, progress=False)
        np.testing.assert_array_equal(longer.log_likelihood[:, :-2], posterior.log_likelihood)
