"""Exact posteriors: processor seconds to add up every tree, and what certain bounds close, one table after the other.

- seconds: of one core, the best of three runs; only the sum itself, without what is asked of it afterwards.
- sets, bytes a set: of rows that were stored, and all memory of the memo divided by them.
- two threads: how much faster two are than one, by the clock, the best runs of each, if the machine does nothing else.

The binary tables of the CP4IM project are not bundled: `--cp4im` names a folder that has them. Their prior is that of
MAPTree, ``GrowTree(0.95, 0.5, min_leaf=1)`` with ``Categorical(2.5)``. ``--bounds`` bounds evidence and mode, of trees
of all depths, instead. ``python -m benchmarks.exact``.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

import baytree as bt
from baytree import _core
from baytree.data.to_core import native_design

SETS, BYTES = 50_000_000, 2**33
MAPTREE = bt.CART(bt.GrowTree(0.95, 0.5, min_leaf=1), leaf=bt.Categorical(2.5))
CP4IM = Path(__file__).parents[1] / ".." / "shared" / "data" / "cp4im"


@dataclass(frozen=True)
class Case:
    """A table and the deepest trees that are added up.

    Attributes
    ----------
    name : str
        A bundled data set, or a table of CP4IM.
    depth : int or None
        The most splits on a path; None for all.
    target : float or None
        The seconds that we set out to reach; without one it has to finish.
    toy : float or None
        The seconds that a scratch program took, measured before.
    """

    name: str
    depth: int | None = None
    target: float | None = None
    toy: float | None = None
    cp4im: bool = True


CASES = [
    Case("kyphosis", None, 0.4, 1.35, cp4im=False),
    Case("primary-tumor", None, 0.3, 1.04),
    Case("zoo-1", None, None, 0.16),
    Case("hepatitis", 6, None, 6.0),
    Case("tic-tac-toe", 7, 2.0, 10.1),
    Case("soybean", 7, 10.0, 55.0),
    Case("heart-cleveland", 4, None, 0.8),
    Case("australian-credit", 4, None, 3.5),
    Case("breast_cancer", 4, None, 4.3, cp4im=False),
    Case("breast_cancer", 5, None, None, cp4im=False),
    Case("heart", 3, None, 2.6, cp4im=False),
    Case("heart", 4, None, None, cp4im=False),
]
BOUNDED = [
    "zoo-1",
    "hepatitis",
    "primary-tumor",
    "tic-tac-toe",
    "vote",
    "soybean",
    "heart-cleveland",
    "australian-credit",
]


def read_cp4im(folder: Path, name: str) -> bt.Design | None:
    """A binary table, its columns as booleans; None where the folder lacks it."""
    path = folder / f"{name}.csv.gz"
    if not path.exists():
        return None
    table = pl.read_csv(path)
    X = table.drop("class").cast(pl.Boolean)
    return bt.make_design(X, table["class"], task="classification")


def problem(case: Case, folder: Path) -> tuple[bt.CART, bt.Design] | None:
    """A model and its data; None where the data are not there."""
    if case.cp4im:
        design, model = read_cp4im(folder, case.name), MAPTREE
    else:
        # All columns as numbers, and every cut.
        data, model = bt.datasets.load(case.name), bt.CART()
        design = bt.make_design(data.X, data.y, task="classification", max_cuts=None)
    if design is None:
        return None
    if case.depth is not None:
        model = bt.CART(model.prior & bt.MaxDepth(case.depth), leaf=model.leaf)
    return model.resolve(design), design


def sums(model: bt.CART, design: bt.Design, threads: int) -> tuple[_core.ExactSums, float, float]:
    """All trees added up, and the seconds of the processor and of the clock."""
    assert model.leaf is not None and isinstance(model.prior, bt.GrowTree)
    native, leaf, prior = native_design(design), model.leaf.native(design), model.prior.native(design.schema)
    cpu, clock = time.process_time(), time.perf_counter()
    found = _core.ExactSums(native, leaf, prior, 1.0, SETS, BYTES, threads)
    return found, time.process_time() - cpu, time.perf_counter() - clock


def add_up(cases: list[Case], folder: Path, repeats: int) -> Table:
    """Measure the sums."""
    heads = ("table", "rows × columns", "depth", "sets", "seconds", "aim", "toy", "two threads", "bytes a set")
    table = Table(*heads, "log evidence", box=MARKDOWN)
    for case in cases:
        made = problem(case, folder)
        depth = "all" if case.depth is None else f"≤ {case.depth}"
        if made is None:
            table.add_row(case.name, f"left out: no {folder / case.name}.csv.gz", depth)
            continue
        one, two = [], []
        for _ in range(repeats):
            found, *took = sums(*made, 1)
            evidence, sets, size = found.log_evidence, found.sets, found.bytes
            del found
            one.append(took)
            again, *took = sums(*made, 2)
            assert again.log_evidence == evidence
            del again
            two.append(took)
        design = made[1]
        seconds, faster = min(cpu for cpu, _ in one), min(clock for _, clock in one) / min(clock for _, clock in two)
        table.add_row(
            case.name, f"{design.rows} × {len(design.columns)}", depth, f"{sets:,}", f"{seconds:.2f}",
            "" if case.target is None else f"{case.target}", "" if case.toy is None else f"{case.toy}",
            f"{faster:.2f}", f"{size / sets:.0f}", f"{evidence:.5f}",
        )  # fmt: skip
    return table


def bound(names: list[str], folder: Path, budget: int) -> Table:
    """Measure the bounds of trees of all depths."""
    table = Table("table", "budget", "seconds", "sets", "log evidence", "log mode", "gap", "certified", box=MARKDOWN)
    for name in names:
        design = read_cp4im(folder, name)
        if design is None:
            table.add_row(name, f"left out: no {folder / name}.csv.gz")
            continue
        began = time.process_time()
        found = bt.bounds(MAPTREE, design, budget=budget, threads=1)
        seconds = time.process_time() - began
        (low, high), (least, most) = found.log_evidence, found.log_mode
        table.add_row(
            name, f"{budget:,}", f"{seconds:.1f}", f"{found.sets:,}", f"{low:.5f} … {high:.5f}",
            f"{least:.5f} … {most:.5f}", f"{found.gap:.3f}", "yes" if found.certified else "no",
        )  # fmt: skip
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cp4im", type=Path, default=CP4IM, help="the folder with the tables of CP4IM")
    parser.add_argument("--only", nargs="+", help="names of tables")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each")
    parser.add_argument("--bounds", type=int, metavar="SETS", help="bound instead, by so many sets of rows")
    asked = parser.parse_args()
    wanted = (lambda name: True) if asked.only is None else asked.only.__contains__
    if asked.bounds is None:
        table = add_up([case for case in CASES if wanted(case.name)], asked.cp4im, asked.repeats)
    else:
        table = bound([name for name in BOUNDED if wanted(name)], asked.cp4im, asked.bounds)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
