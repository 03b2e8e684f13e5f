"""A table that is read by a schema is the design that was read by itself."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.data.again import read_again

GENERATOR = np.random.default_rng(2)
TABLE = pl.DataFrame(
    {
        "a": [None if at % 7 == 0 else float(at % 11) for at in range(50)],
        "yes": [at % 3 == 0 for at in range(50)],
        "label": ["abc"[at % 3] for at in range(50)],
        "w": [float(at % 4) for at in range(50)],
        "o": np.linspace(-1, 1, 50),
        "number": GENERATOR.normal(size=50),
        "class": ["no" if at % 5 else "yes" for at in range(50)],
        "flag": [at % 4 == 1 for at in range(50)],
        "digit": [at % 3 for at in range(50)],
    }
)
TARGETS = ["number", "class", "flag", "digit"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("read", [bt.read, bt.read_linear])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_training_table_is_known_again(target: str, read: Any, weighted: bool, tmp_path: Path) -> None:
    task: Any = {"task": "regression" if target == "number" else "classification"}
    drop = [name for name in (*TARGETS, "o", *([] if weighted else ["w"])) if name != target]
    more = {"weight": "w"} if weighted else {}
    design = read(TABLE, target, drop=drop, **task, **more)
    assert read_again(design.schema, TABLE, **more).fingerprint() == design.fingerprint()
    shuffled = TABLE.reverse()
    assert read_again(design.schema, shuffled, **more).fingerprint() != design.fingerprint()
    TABLE.write_csv(tmp_path / "t.csv")
    from_file = read(tmp_path / "t.csv", target, drop=drop, **task, **more)
    assert read_again(from_file.schema, tmp_path / "t.csv", **more).fingerprint() == from_file.fingerprint()


def test_offsets() -> None:
    design = bt.read(TABLE, "number", offset="o", drop=["w", "class", "flag", "digit"])
    assert read_again(design.schema, TABLE, offset="o").fingerprint() == design.fingerprint()
    assert read_again(design.schema, TABLE).fingerprint() != design.fingerprint()


def test_what_does_not_fit_is_told() -> None:
    design = bt.read(TABLE, "class", drop=["w", "o", "number", "flag", "digit"])
    with pytest.raises(bt.InputError, match="class"):
        read_again(design.schema, TABLE.with_columns(pl.lit("perhaps").alias("class")))
    with pytest.raises(bt.InputError, match="missing"):
        read_again(design.schema, TABLE.with_columns(pl.lit(None, dtype=pl.Utf8).alias("class")))
    with pytest.raises(bt.InputError, match="class"):
        read_again(design.schema, TABLE.drop("class"))
    with pytest.raises(bt.InputError, match="named columns"):
        read_again(design.schema, np.zeros((3, 4)))
    with pytest.raises(bt.InputError, match="no rows"):
        read_again(design.schema, TABLE.clear())
