"""Shapley values of sums of trees against their definition over all subsets of columns."""

import dataclasses

import numpy as np
import pytest

from exact.bart.native import draws_of, forest_of, predictor_of
from reference.bart.random_sums import (
    COLUMNS,
    Column,
    RandomSums,
    random_codes,
    random_sums,
    shapley_by_subsets,
    sums_by_walking,
)
from reference.trees.enumeration import Rule

# A byte, two bytes, missing values, levels: columns enough that paths are long and some are never asked about.
FIVE = (COLUMNS[0], COLUMNS[1], COLUMNS[3], COLUMNS[4], COLUMNS[6])


def shapley(sums: RandomSums, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, expected = predictor_of(sums).shapley(bins, draws_of(sums))
    shape = (len(sums.tree_index), sums.outputs)
    return values.reshape(*shape, len(bins), len(sums.columns)), expected.reshape(shape)


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("leaves", [[1, 2], [3, 4, 2, 5], [12], [40]], ids=str)
def test_the_definition(leaves: list[int], soft: bool) -> None:
    generator = np.random.default_rng(sum(leaves))
    sums = random_sums(leaves, 2, generator, columns=FIVE, soft=soft)
    bins = random_codes(FIVE, 4, generator)
    values, expected = shapley_by_subsets(sums, bins)
    found, found_expected = shapley(sums, bins)
    # Gates are in single precision, all else in double.
    tolerance = 1e-5 if soft else 1e-12
    assert np.abs(found - values).max() < tolerance
    assert np.abs(found_expected - expected).max() < 1e-12


def test_several_outputs() -> None:
    generator = np.random.default_rng(1)
    sums = random_sums([2, 3, 3, 2], 3, generator, columns=FIVE, outputs=2)
    bins = random_codes(FIVE, 3, generator)
    values, expected = shapley_by_subsets(sums, bins)
    found, found_expected = shapley(sums, bins)
    assert np.allclose(found, values, rtol=0, atol=1e-12)
    assert np.allclose(found_expected, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("leaves", [2, 9, 40, 255])
def test_they_add_up_to_the_prediction(leaves: int) -> None:
    """Over more columns than subsets could be tried of, and rows of several blocks."""
    generator = np.random.default_rng(leaves)
    columns = [Column(False, 50, False)] * 60
    sums = random_sums([leaves] * 2, 2, generator, columns=columns)
    bins = random_codes(columns, 300, generator)
    values, expected = shapley(sums, bins)
    assert np.allclose(values.sum(axis=-1) + expected[..., None], sums_by_walking(sums, bins), rtol=0, atol=1e-10)
    never_asked = ~forest_of(sums).asks(60).any(axis=0)
    assert not values[..., never_asked].any()


def test_a_path_of_all_columns() -> None:
    """A tree that asks about 254 columns one after the other: the longest polynomial there can be."""
    generator = np.random.default_rng(2)
    columns = [Column(False, 2, False)] * 254
    sums = random_sums([255], 1, generator, columns=columns)
    path = (*(node for feature in range(254) for node in (Rule(feature, 0, 0, False), None)), None)
    rows = (*(number for above in range(509, 1, -2) for number in (above, 1)), 1)
    sums = dataclasses.replace(sums, stored=[path], rows=[rows])
    bins = (generator.random((50, 254)) < 0.98).astype(np.uint32)
    values, expected = shapley(sums, bins)
    assert np.allclose(values.sum(axis=-1) + expected[..., None], sums_by_walking(sums, bins), rtol=0, atol=1e-10)


def test_nodes_without_training_rows() -> None:
    generator = np.random.default_rng(3)
    sums = random_sums([2], 1, generator, columns=FIVE)
    empty = dataclasses.replace(sums, rows=[(0, 0, 0)])
    _, expected = shapley(empty, random_codes(FIVE, 1, generator))
    assert expected.item() == pytest.approx(float(sums.values.mean()))
