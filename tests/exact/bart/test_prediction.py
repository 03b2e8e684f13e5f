"""Sums of trees by the core's wide loops against a walk of every row down every tree, to the bit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree import _core
from exact.bart.native import design_of, draws_of, forest_of, predictor_of
from reference.bart.random_sums import COLUMNS, Column, random_codes, random_sums, sums_by_walking

WIDTHS = list(_core.Simd)


@pytest.mark.parametrize("widest", WIDTHS, ids=lambda simd: simd.name)
@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 256, 257, 700])
def test_any_number_of_rows(rows: int, widest: _core.Simd) -> None:
    generator = np.random.default_rng(rows)
    sums = random_sums([1, 2, 3, 2, 4, 8, 9], 4, generator)
    bins = random_codes(COLUMNS, rows, generator)
    expected = sums_by_walking(sums, bins)
    predictor = predictor_of(sums, widest)
    assert np.array_equal(predictor.sums(bins, draws_of(sums)), expected.ravel())
    assert np.array_equal(predictor.mean(bins, draws_of(sums)), expected.mean(axis=0, dtype=np.float64).ravel())


@pytest.mark.parametrize("widest", WIDTHS, ids=lambda simd: simd.name)
@pytest.mark.parametrize("leaves", [1, 2, 8, 9, 16, 17, 40, 255])
def test_trees_of_any_size(leaves: int, widest: _core.Simd) -> None:
    generator = np.random.default_rng(leaves)
    sums = random_sums([leaves] * 3, 3, generator)
    bins = random_codes(COLUMNS, 130, generator)
    assert np.array_equal(predictor_of(sums, widest).sums(bins, draws_of(sums)), sums_by_walking(sums, bins).ravel())


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_each_kind_of_column_alone(column: Column) -> None:
    generator = np.random.default_rng(3)
    sums = random_sums([2, 3, 6, 20], 5, generator, columns=[column])
    bins = random_codes([column], 300, generator)
    # Anything behind the missing code counts as missing too.
    bins[::7] += 1000 * (bins[::7] == column.observed).astype(np.uint32)
    assert np.array_equal(predictor_of(sums).sums(bins, draws_of(sums)), sums_by_walking(sums, bins).ravel())


def test_several_outputs() -> None:
    generator = np.random.default_rng(5)
    sums = random_sums([2, 3, 1, 4, 2, 2], 7, generator, outputs=3)
    bins = random_codes(COLUMNS, 100, generator)
    expected = sums_by_walking(sums, bins)
    assert np.array_equal(predictor_of(sums).sums(bins, draws_of(sums)), expected.ravel())
    assert np.allclose(predictor_of(sums).mean(bins, draws_of(sums)), expected.mean(axis=0, dtype=np.float64).ravel())


def test_more_trees_than_are_kept() -> None:
    generator = np.random.default_rng(6)
    sums = random_sums([2] * 1500, 3, generator)
    bins = random_codes(COLUMNS, 20, generator)
    assert np.array_equal(predictor_of(sums).sums(bins, draws_of(sums)), sums_by_walking(sums, bins).ravel())


def test_rounding_is_that_of_the_order_of_the_trees() -> None:
    generator = np.random.default_rng(7)
    sums = random_sums([2, 3, 4, 20] * 10, 3, generator)
    sums = replace(sums, values=generator.normal(size=sums.values.size).astype("f4"))
    bins = random_codes(COLUMNS, 100, generator)
    expected = sums_by_walking(sums, bins).ravel()
    for widest in WIDTHS:
        assert np.array_equal(predictor_of(sums, widest).sums(bins, draws_of(sums)), expected)


def test_a_narrow_path_is_taken_when_asked_for() -> None:
    sums = random_sums([2], 1, np.random.default_rng(0))
    assert predictor_of(sums, _core.Simd.plain).simd == _core.Simd.plain
    assert predictor_of(sums, _core.Simd.avx2).simd != _core.Simd.avx512


def test_unusable_arrays() -> None:
    generator = np.random.default_rng(8)
    sums = random_sums([2, 3], 2, generator)
    bins = random_codes(COLUMNS, 10, generator)
    predictor = predictor_of(sums)
    index, values = sums.tree_index, sums.values

    def refused(message: str, tree_index: np.ndarray = index, values: np.ndarray = values, **others: Any) -> None:
        rows = others.pop("bins", bins)
        with pytest.raises(bt.InputError, match=message):
            predictor.sums(rows, _core.SumDraws(tree_index, values, **others))
        with pytest.raises(bt.InputError, match=message):
            predictor.mean(rows, _core.SumDraws(tree_index, values, **others))

    refused("there is no tree 99", np.full_like(index, 99))
    refused("there is no tree -1", np.full_like(index, -1))
    refused("9 leaf values for 10 leaves", values=values[:-1])
    refused("11 leaf values for 10 leaves", values=np.append(values, np.float32(0)))
    refused("give a row of trees", index.ravel())
    refused("are no draws", index[:, :0])
    refused("3 outputs", outputs=3)
    refused("0 outputs", outputs=0)
    refused("codes for 10 rows of 9 columns", bins=np.ascontiguousarray(bins[:, :-1]))
    refused("give a row of codes", bins=bins.ravel())
    with pytest.raises(bt.InputError, match="no draws to average"):
        predictor.mean(bins, _core.SumDraws(index[:0], values[:0]))
    assert predictor.sums(bins, _core.SumDraws(index[:0], values[:0])).size == 0
    with pytest.raises(TypeError):
        predictor.sums(bins.astype(np.int64), draws_of(sums))
    with pytest.raises(TypeError):
        _core.SumDraws(index.astype(np.int64), values)


def test_rows_beyond_any_memory() -> None:
    leaf = {"feature": -1, "cut": 0, "subset": 0, "missing_left": 0, "rows": 1, "begin": 0}
    types = {"feature": "i4", "cut": "u4", "subset": "u8", "missing_left": "u1", "rows": "u4", "begin": "u8"}
    forest = {name: np.array([value], types[name]) for name, value in leaf.items()}
    predictor = _core.SumPredictor(_core.Design(0), forest)
    draws = _core.SumDraws(np.zeros((64, 1), "i4"), np.ones(64, "f4"))
    assert predictor.mean(np.empty((3, 0), "u4"), draws).tolist() == [1, 1, 1]
    with pytest.raises(bt.InputError, match="too many; take fewer rows"):
        predictor.sums(np.empty((2**60, 0), "u4"), draws)


def test_trees_that_are_too_large_or_broken() -> None:
    generator = np.random.default_rng(9)
    large = random_sums([256], 1, generator)
    with pytest.raises(bt.InputError, match="256 leaves; a tree of a sum has at most 255"):
        predictor_of(large)
    broken = forest_of(random_sums([3], 1, generator)).arrays()
    with pytest.raises(bt.InputError, match="behind its last leaf"):
        _core.SumPredictor(design_of(COLUMNS), {**broken, "feature": np.full_like(broken["feature"], -1)})
