"""``baytree predict``: new rows, one prediction each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from ...data.columns import frame_of, has_polars
from ...data.files import read_blocks
from ...errors import CellError, InputError
from ...posterior.prediction import BY_DRAWS
from ...posterior.registry import load
from ...text import counted
from ...validation import did_you_mean
from ..declaring import Command, asked_of
from ..families import FAMILIES, AnyFamily, family_of
from ..files import require_file, require_folder
from ..options import PredictOptions
from ..output import session

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = {".csv": ",", ".tsv": "\t"}
# Where a draw comes from.
PLACES = ("row", "chain", "draw")
AUTO = "auto"
# What each kind is, for whom asks for one that there is not.
MEANING = {
    AUTO: "what most people want",
    "mean": "the mean of a new value, or the probability of each class",
    "interval": "where that mean or probability lies",
    "draws": "that mean or probability of every draw, a line each",
    "predictive": "a new value or class of every draw, a line each",
    "predictive_interval": "where a new value lies",
    "vote": "the share of trees that vote for each class",
    "sigma": "the standard deviation of the noise",
    "sd": "the standard deviation of a new value",
}


class PredictCommand(Command):
    """The command, whose family is that of the file."""

    options, families = PredictOptions, FAMILIES


def command(context: typer.Context) -> None:
    """Predict every row of a table.

    Classes: the most probable one and the probability of each. Numbers: their mean, a credible interval of that mean
    (lower, upper), and an interval for a new value (predictive_lower, predictive_upper). With --kind draws or
    predictive there is one line for each row, chain and draw.
    """
    first: PredictOptions = context.obj
    with session(json=first.as_json) as output:
        out = first.out
        if not 0 < first.prob < 1:
            raise InputError(f"--prob {first.prob:g}: choose a probability between 0 and 1")
        if out is not None:
            _require_place(out, first.model, first.new)
        require_file(first.new)
        posterior = load(first.model)
        family = family_of(posterior.model, first.model)
        asked = asked_of(context, family, first.model)
        labels = [column.name for column in posterior.schema.columns if column.kind == "categorical"]
        kinds = _kinds(family, posterior, asked)
        tables = read_blocks(asked.new, labels)
        predictions = predicted_blocks(family, posterior, tables, kinds, asked)
        if out is not None:
            rows = _write(predictions, out)
            output.say(f"{counted(rows, 'prediction')} written to {out}")
            output.result({"rows": rows, "out": str(out)})
        elif output.json:
            found = [line for part in predictions for line in part.to_dicts()]
            output.result({"rows": len(found), "predictions": found})
        else:
            for place, part in enumerate(predictions):
                if not output.write(part.write_csv(include_header=place == 0)):
                    break


def _kinds(family: AnyFamily, posterior: Any, asked: PredictOptions) -> tuple[str, ...]:
    """The kinds that were asked for; of one that the model does not have, say those that it has."""
    if asked.kind == AUTO:
        return family.usual(posterior)
    offered = (AUTO, *posterior.prediction.kinds)
    if asked.kind not in offered:
        near = did_you_mean(asked.kind, offered)
        lines = [f"  {kind}: {MEANING[kind]}" for kind in offered]
        raise InputError(
            "\n".join([f"--kind {asked.kind}: {asked.model} does not offer that.{near} It offers", *lines])
        )
    posterior.prediction.require_kinds((asked.kind,))
    return (asked.kind,)


def predicted_blocks(
    family: AnyFamily, posterior: Any, tables: Iterable[pl.DataFrame], kinds: Sequence[str], asked: PredictOptions
) -> Iterator[pl.DataFrame]:
    """The predictions of every row, with a column for each thing that is predicted, in parts of bounded memory.

    Each part of the table is encoded once. Together they are, to the bit, what `predict` gives of the whole.
    """
    several, classes, first = family.several(posterior), posterior.schema.response.classes, 0
    for found in posterior.prediction.in_blocks(_encoded(family, posterior, tables, asked), kinds, asked.prob):
        columns: dict[str, Any] = {}
        for kind, values in found.items():
            columns |= _of_outputs(kind, values, first) if several else _columns(kind, values, classes, first)
        first += found[kinds[0]].shape[2 if kinds[0] in BY_DRAWS else 0]
        yield frame_of(columns)


def _encoded(
    family: AnyFamily, posterior: Any, tables: Iterable[pl.DataFrame], asked: PredictOptions
) -> Iterator[tuple[np.ndarray, dict[str, Any]]]:
    """Parts of a table as the schema encodes them; a cell that is wrong is named by its place in the whole."""
    before = 0
    for table in tables:
        try:
            yield posterior.schema.encode(table), family.further(posterior, table, asked)
        except CellError as error:
            raise error.below(before) from None
        before += len(table)


def _of_outputs(kind: str, found: np.ndarray, first: int) -> dict[str, Any]:
    """What `predict` gave for several responses, each of which has its own columns."""
    axis = -2 if kind.endswith("interval") else -1
    columns: dict[str, Any] = {}
    for output in range(found.shape[axis]):
        of_one = _columns(kind, np.take(found, output, axis=axis), None, first)
        columns |= {name if name in PLACES else f"{name}[{output}]": values for name, values in of_one.items()}
    return columns


def _columns(kind: str, found: np.ndarray, classes: np.ndarray | None, first: int) -> dict[str, Any]:
    """What `predict` gave for a kind, of rows from a place on, as columns of a table."""
    if kind in BY_DRAWS:
        # A line for each row, chain and draw.
        chains, draws, rows = found.shape[:3]
        places = dict(zip(PLACES, np.indices((rows, chains, draws)).reshape(3, -1), strict=True))
        places["row"] += first
        lines = np.moveaxis(found, 2, 0).reshape(rows * chains * draws, *found.shape[3:])
        new = {"prediction": lines if classes is None else classes[lines]} if kind == "predictive" else None
        return places | (new or _values(lines, classes))
    if kind in ("interval", "predictive_interval"):
        before = kind.removesuffix("interval")
        lower, upper = (_values(found[..., side], classes) for side in (0, 1))
        of = {name: "" if classes is None else f" {name}" for name in lower}
        sides = [{f"{before}lower{of[name]}": lower[name], f"{before}upper{of[name]}": upper[name]} for name in of]
        return {name: values for both in sides for name, values in both.items()}
    if kind in ("sigma", "sd"):
        return {kind: found}
    best = {} if classes is None else {"prediction": classes[found.argmax(axis=1)]}
    return best | _values(found, classes)


def _values(found: np.ndarray, classes: np.ndarray | None) -> dict[str, np.ndarray]:
    """E(y | x), or the probability of each class, by the name of the column."""
    return {"mean": found} if classes is None else {f"P({label})": found[:, k] for k, label in enumerate(classes)}


def _require_place(out: Path, *sources: Path) -> None:
    """Refuse, before any work, a name that cannot be written or that would replace what is read."""
    if out.suffix not in (*SEPARATORS, ".parquet"):
        raise InputError(f"--out {out}: the name must end in {', '.join(SEPARATORS)} or .parquet")
    if out.suffix == ".parquet" and not has_polars():
        raise InputError(f"--out {out}: Parquet files are written by polars; install it: pip install 'baytree[polars]'")
    require_folder(out)
    if out.exists() and any(source.exists() and out.samefile(source) for source in sources):
        raise InputError(f"--out {out}: this would replace the file that is read; choose another name")


def _write(predictions: Iterable[pl.DataFrame], out: Path) -> int:
    """Write predictions as they come; gives how many lines there are. What was there stays until all are written."""
    place, rows = Path(os.path.realpath(out)), 0
    with TemporaryDirectory(prefix=f".{out.name}.", dir=place.parent) as folder:
        begun = Path(folder) / out.name
        if out.suffix == ".parquet":
            import polars as pl

            # A Parquet file cannot be added to: its parts are files of their own until they are one.
            parts: list[Path] = []
            for part in predictions:
                parts.append(Path(folder) / f"{len(parts)}.part")
                part.write_parquet(parts[-1])
                rows += part.height
            pl.scan_parquet(parts).sink_parquet(begun)
        else:
            with begun.open("wb") as file:
                for part in predictions:
                    part.write_csv(file, separator=SEPARATORS[out.suffix], include_header=not file.tell())
                    rows += part.height
        begun.replace(place)
    return rows
