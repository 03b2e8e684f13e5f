"""Sums of trees with soft rules against a walk that goes down both ways."""

import dataclasses

import numpy as np
import pytest

import baytree as bt
from baytree import _core
from exact.bart.native import draws_of, predictor_of
from reference.bart.random_sums import COLUMNS, Column, random_codes, random_sums, soft_sums_by_walking, sums_by_walking

WIDTHS = list(_core.Simd)
# Single precision: each gate and each product is good to a few units in the last place, values are below 1.
TOLERANCE = 5e-6


@pytest.mark.parametrize("columns", [COLUMNS, *([column] for column in COLUMNS)], ids=str)
def test_every_kind_of_column(columns: list[Column]) -> None:
    generator = np.random.default_rng(1)
    sums = random_sums([1, 2, 3, 4, 7], 3, generator, columns=columns, soft=True)
    bins = random_codes(columns, 70, generator)
    expected = soft_sums_by_walking(sums, bins)
    found = [predictor_of(sums, widest).sums(bins, draws_of(sums)) for widest in WIDTHS]
    assert np.abs(found[0] - expected.ravel()).max() < TOLERANCE
    assert all(np.array_equal(other, found[0]) for other in found)
    mean = predictor_of(sums).mean(bins, draws_of(sums))
    assert np.allclose(mean, found[0].reshape(3, -1).mean(axis=0, dtype=np.float64), rtol=0, atol=1e-12)


@pytest.mark.parametrize("leaves", [16, 17, 255])
def test_large_trees(leaves: int) -> None:
    generator = np.random.default_rng(leaves)
    sums = random_sums([leaves], 1, generator, soft=True)
    bins = random_codes(COLUMNS, 10, generator)
    found = [predictor_of(sums, widest).sums(bins, draws_of(sums)) for widest in WIDTHS]
    assert np.abs(found[0] - soft_sums_by_walking(sums, bins).ravel()).max() < TOLERANCE
    assert all(np.array_equal(other, found[0]) for other in found)


def test_blocks_and_outputs() -> None:
    generator = np.random.default_rng(2)
    sums = random_sums([2, 3, 2, 4], 3, generator, outputs=2, soft=True)
    bins = random_codes(COLUMNS, 300, generator)
    whole = predictor_of(sums).sums(bins, draws_of(sums)).reshape(3, 2, -1)
    assert np.abs(whole - soft_sums_by_walking(sums, bins)).max() < TOLERANCE
    parts = [predictor_of(sums).sums(bins[at : at + 37], draws_of(sums)).reshape(3, 2, -1) for at in range(0, 300, 37)]
    assert np.array_equal(np.concatenate(parts, axis=2), whole)


def test_the_ends_of_bandwidths() -> None:
    """A narrow gate is a hard rule, to the bit; a wide one halves."""
    generator = np.random.default_rng(3)
    sums = random_sums([2, 3, 8], 4, generator, soft=True)
    bins = random_codes(COLUMNS, 200, generator)
    assert sums.bandwidths is not None
    for tiny in (1e-8, 1e-45, 0.0):
        hard = dataclasses.replace(sums, bandwidths=np.full_like(sums.bandwidths, tiny))
        assert np.array_equal(predictor_of(hard).sums(bins, draws_of(hard)), sums_by_walking(sums, bins).ravel())
    column = [Column(False, 100, False)]
    halves = random_sums([2], 1, generator, columns=column, soft=True)
    halves = dataclasses.replace(halves, bandwidths=np.array([3e38], dtype=np.float32))
    seen = np.arange(100, dtype=np.uint32)[:, None]
    assert np.array_equal(predictor_of(halves).sums(seen, draws_of(halves)), np.full(100, halves.values.mean()))


def test_unusable_bandwidths() -> None:
    generator = np.random.default_rng(4)
    sums = random_sums([2, 3], 2, generator, soft=True)
    bins = random_codes(COLUMNS, 5, generator)
    assert sums.bandwidths is not None
    for bad in (-1.0, np.nan, np.inf):
        bandwidths = sums.bandwidths.copy()
        bandwidths[3] = bad
        with pytest.raises(bt.InputError, match="is not a number of 0 or more"):
            predictor_of(sums).sums(bins, draws_of(dataclasses.replace(sums, bandwidths=bandwidths)))
    with pytest.raises(bt.InputError, match="5 bandwidths for 6 splits"):
        predictor_of(sums).sums(bins, draws_of(dataclasses.replace(sums, bandwidths=sums.bandwidths[:-1])))
