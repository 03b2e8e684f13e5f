"""``baytree predict``: new rows, one prediction each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from ...data.columns import frame_of, has_polars
from ...data.files import read_file
from ...errors import InputError
from ...posterior.registry import load
from ...text import counted
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
        predictions = predict_table(family, posterior, read_file(asked.new, text=labels), asked)
        if out is not None:
            _write(predictions, out)
            output.say(f"{counted(predictions.height, 'prediction')} written to {out}")
            output.result({"rows": predictions.height, "out": str(out)})
        elif output.json:
            output.result({"rows": predictions.height, "predictions": predictions.to_dicts()})
        else:
            output.write(predictions.write_csv())


def predict_table(family: AnyFamily, posterior: Any, table: pl.DataFrame, asked: PredictOptions) -> pl.DataFrame:
    """The predictions of every row, with a column for each thing that is predicted."""
    kinds = family.usual(posterior) if asked.kind == "auto" else (asked.kind,)
    several, classes = family.several(posterior), posterior.schema.response.classes
    predictions = posterior.predict(table, kinds, asked.prob, **family.further(posterior, table, asked))
    columns: dict[str, Any] = {}
    for kind, found in predictions.items():
        columns |= _of_outputs(kind, found) if several else _columns(kind, found, classes)
    return frame_of(columns)


def _of_outputs(kind: str, found: np.ndarray) -> dict[str, Any]:
    """What `predict` gave for several responses, each of which has its own columns."""
    axis = -2 if kind.endswith("interval") else -1
    columns: dict[str, Any] = {}
    for output in range(found.shape[axis]):
        of_one = _columns(kind, np.take(found, output, axis=axis), None)
        columns |= {name if name in PLACES else f"{name}[{output}]": values for name, values in of_one.items()}
    return columns


def _columns(kind: str, found: np.ndarray, classes: np.ndarray | None) -> dict[str, Any]:
    """What `predict` gave for a kind as columns of a table."""
    if kind in ("draws", "predictive"):
        # A line for each row, chain and draw.
        chains, draws, rows = found.shape[:3]
        places = dict(zip(PLACES, np.indices((rows, chains, draws)).reshape(3, -1), strict=True))
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
    require_folder(out)
    if out.exists() and any(source.exists() and out.samefile(source) for source in sources):
        raise InputError(f"--out {out}: this would replace the file that is read; choose another name")


def _write(predictions: pl.DataFrame, out: Path) -> None:
    if out.suffix == ".parquet":
        if not has_polars():
            raise InputError(
                f"--out {out}: Parquet files are written by polars; install it: pip install 'baytree[polars]'"
            )
        predictions.write_parquet(out)
    else:
        predictions.write_csv(out, separator=SEPARATORS[out.suffix])
