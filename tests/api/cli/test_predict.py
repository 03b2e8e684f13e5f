"""Predictions of tables that come in parts: what the whole says, to the bit, and the cell that is wrong."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from api.cli.commands import failure, invoke, predicted
from baytree.data import files
from baytree.posterior import prediction
from baytree.posterior.prediction import BY_DRAWS
from families import EVERY, drawn

NAMES = [name for name in EVERY if not name.startswith("hmdt")]


def in_parts(name: str, kinds: list[str], times: int, cuts: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a posterior says of a table that is whole, and that is cut up."""
    posterior, case = drawn(name), EVERY[name]
    rows = np.concatenate([posterior.schema.encode(case.rows)] * times)
    given = {key: np.concatenate([np.asarray(values, float)] * times) for key, values in case.options.items()}
    whole = posterior.prediction.predict(rows, kinds, **given)
    edges = [0, *cuts, len(rows)]
    parts = [
        (rows[begin:end], {key: values[begin:end] for key, values in given.items()}) for begin, end in pairwise(edges)
    ]
    found = list(posterior.prediction.in_blocks(parts, kinds))
    return whole, {
        kind: np.concatenate([part[kind] for part in found], axis=2 if kind in BY_DRAWS else 0) for kind in kinds
    }


def kinds_of(name: str) -> list[str]:
    one_draw = drawn(name).log_likelihood.size == 1
    return [kind for kind in drawn(name).prediction.kinds if not (one_draw and kind == "interval")]


@pytest.mark.filterwarnings("ignore:column")
@pytest.mark.parametrize("numbers", [4_000_000, 2_000])
@pytest.mark.parametrize("name", NAMES)
def test_parts_say_what_the_whole_says(name: str, numbers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the table and the blocks are cut; of all kinds together, and of the mean alone."""
    monkeypatch.setattr(prediction, "BLOCK_NUMBERS", numbers)
    monkeypatch.setattr(prediction, "MOST_ROWS", 7 if numbers < 10**6 else 1 << 16)
    for kinds in (kinds_of(name), ["mean"]):
        for cuts in ([], [1, 5, 5, 9]):
            whole, found = in_parts(name, kinds, 3, cuts)
            for kind in kinds:
                np.testing.assert_array_equal(found[kind], whole[kind])


TABLES = {
    "plain": "a,b\n" + "".join(f"{i},{i / 7}\n" for i in range(50)),
    "quoted": "a,b\n" + "".join(f'"line\n{i}, and ""more""",{i}\n' for i in range(50)),
    "blank lines": "a,b\n" + "".join(f"{i},x\n" + "\n" * (i % 4) for i in range(50)) + "\n \n\n",
    "no end": "a,b\n1,2\n3,4",
    "carriage returns": "a,b\r\n" + "".join(f"{i}, {i}\r\n" for i in range(50)),
    "one column": "a\n1\n\n\n2\n3\n",
    "only a header": "a,b\n",
}


@pytest.mark.parametrize("size", [1, 7, 30, 10**6])
@pytest.mark.parametrize("table", TABLES)
def test_tables_in_parts_have_the_same_rows(table: str, size: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(TABLES[table].encode())
    whole = files.read_file(path, text=["a"])
    parts = list(files.read_blocks(path, ["a"], size))
    assert [part["a"].to_list() for part in [whole]] == [[cell for part in parts for cell in part["a"].to_list()]]
    assert sum(part.height for part in parts) == whole.height
    assert size > 1 or table not in ("plain", "quoted", "carriage returns") or len(parts) > 10


def test_parquet_in_parts(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": range(100), "b": [None, "x"] * 50})
    table.write_parquet(tmp_path / "t.parquet")
    parts = list(files.read_blocks(tmp_path / "t.parquet", size=160))
    assert len(parts) == 10
    assert pl.concat(parts).equals(table)


@pytest.fixture
def model(folder: Path) -> Path:
    """A sum of few trees, beside a table that is larger than a part."""
    data = bt.datasets.friedman(n=150)
    data.X.with_columns(pl.Series("y", data.y)).write_csv("t.csv")
    run = ["--draws", 20, "--warmup", 20, "--chains", 2, "--seed", 1, "--quiet"]
    invoke("fit", "t.csv", "--target", "y", "--model", "bart", "--trees", 5, *run, "--out", "m.baytree")
    return folder / "m.baytree"


@pytest.mark.parametrize("kind", ["auto", "draws", "predictive"])
def test_a_command_that_reads_parts_writes_the_same(kind: str, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole: dict[str, Any] = {}
    for size in (1 << 24, 500):
        monkeypatch.setattr(files.read_blocks, "__defaults__", ((), size))
        for out in ("o.csv", "o.tsv", "o.parquet"):
            invoke("predict", model, "t.csv", "--kind", kind, "--out", out)
            content = Path(out).read_bytes() if out != "o.parquet" else pl.read_parquet(out).write_csv()
            assert whole.setdefault(out, content) == content
        printed = invoke("predict", model, "t.csv", "--kind", kind).stdout
        assert whole.setdefault("printed", printed) == printed == whole["o.csv"].decode()
        assert sorted(path.name for path in model.parent.iterdir()) == sorted(
            ["m.baytree", "o.csv", "o.parquet", "o.tsv", "t.csv"]
        )


@pytest.mark.parametrize("size", [1 << 24, 500])
def test_a_wrong_cell_is_named_by_its_row(size: int, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.read_blocks, "__defaults__", ((), size))
    lines = Path("t.csv").read_text().splitlines()
    for cell in ("oops", "inf"):
        wrong = [*lines[:101], ",".join([cell, *lines[101].split(",")[1:]]), *lines[102:]]
        Path("new.csv").write_text("\n".join(wrong) + "\n")
        said = failure("predict", model, "new.csv", "--out", "o.csv")
        assert said.startswith(f"column 'x1', row 101: '{cell}'" if cell == "oops" else "column 'x1', row 101: inf")
        assert not Path("o.csv").exists()


def test_kinds_that_a_model_offers(model: Path) -> None:
    said = failure("predict", model, "t.csv", "--kind", "moan")
    assert said.startswith(f"--kind moan: {model} does not offer that. Did you mean 'mean'? It offers\n  auto: ")
    assert [line.split(":")[0].strip() for line in said.splitlines()[1:]] == [
        *("auto", "mean", "interval", "draws", "predictive", "predictive_interval", "sd", "sigma")
    ]
    assert predicted(model, "t.csv", "--kind", "sigma").columns == ["sigma"]
