"""``baytree predict``: new rows, one prediction each."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ...errors import InputError
from ..files import require_file, require_folder
from ..session import session

if TYPE_CHECKING:
    import polars as pl

    from ...posterior.base import BasePosterior as AnyPosterior

SEPARATORS = {".csv": ",", ".tsv": "\t"}
# Where a draw comes from.
PLACES = ("row", "chain", "draw")


class KindChoice(StrEnum):
    """What is predicted: the kinds of a posterior's `predict`, or those of them that most people want."""

    AUTO = "auto"
    MEAN = "mean"
    INTERVAL = "interval"
    DRAWS = "draws"
    PREDICTIVE = "predictive"
    PREDICTIVE_INTERVAL = "predictive_interval"
    VOTE = "vote"
    SIGMA = "sigma"
    SD = "sd"


def command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that [bold]baytree fit[/bold] wrote.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A table with the columns of the training table.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A .csv, .tsv or .parquet file to write.", show_default="CSV to the terminal"
        ),
    ] = None,
    kind: Annotated[KindChoice, typer.Option(help="auto: means, and of numbers also intervals.")] = KindChoice.AUTO,
    prob: Annotated[float, typer.Option(help="Probability of the intervals.")] = 0.9,
    offset: Annotated[
        str | None, typer.Option(metavar="COL", help="Of a sum of trees: the column of NEW that is added to it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Predict every row of a table.

    Classes: the most probable one and the probability of each. Numbers: their mean, a credible interval of that mean
    (lower, upper), and an interval for a new value (predictive_lower, predictive_upper). With --kind draws or
    predictive there is one line for each row, chain and draw.
    """
    with session(json=as_json) as output:
        from ...data.files import read_file
        from ...posterior.registry import load
        from ...text import counted

        if not 0 < prob < 1:
            raise InputError(f"--prob {prob:g}: choose a probability between 0 and 1")
        if out is not None:
            _require_place(out, model, new)
        posterior = load(model)
        require_file(new)
        table = read_file(
            new, text=[column.name for column in posterior.schema.columns if column.kind == "categorical"]
        )
        predictions = predict_table(posterior, table, kind.value, prob, offset)
        if out is not None:
            _write(predictions, out)
            output.say(f"{counted(predictions.height, 'prediction')} written to {out}")
            output.result({"rows": predictions.height, "out": str(out)})
        elif as_json:
            output.result({"rows": predictions.height, "predictions": predictions.to_dicts()})
        else:
            output.write(predictions.write_csv())


def predict_table(
    posterior: AnyPosterior, table: pl.DataFrame, kind: str, prob: float, offset: str | None = None
) -> pl.DataFrame:
    """The predictions of every row, with a column for each thing that is predicted.

    Parameters
    ----------
    posterior : Posterior, BARTPosterior, SubsetPosterior or HMEPosterior
        The model.
    table : polars.DataFrame
        New rows.
    kind : str
        ``"auto"``, or what `predict` of the posterior takes.
    prob : float
        The probability of intervals.
    offset : str, optional
        The column that is added to a sum of trees.

    Returns
    -------
    polars.DataFrame
    """
    import polars as pl

    if offset is None and posterior.settings.offset and kind != "sigma":
        raise InputError(
            "the model was fitted with an offset, so new rows need theirs: name the column by --offset, 0 in it adds "
            "nothing"
        )
    more = {} if offset is None else {"offset": _offset(posterior, table, offset)}
    classes = posterior.schema.response.classes
    # One tree has no error bars.
    bars = [] if posterior.chains * posterior.draws == 1 else ["interval"]
    usual = ["mean", *bars, "predictive_interval"] if classes is None else ["mean"]
    columns: dict[str, Any] = {}
    for one, found in posterior.predict(table, usual if kind == "auto" else [kind], prob, **more).items():
        columns |= _of_outputs(one, found) if _has_outputs(posterior) else _columns(one, found, classes)
    return pl.DataFrame(columns)


def _has_outputs(posterior: AnyPosterior) -> bool:
    """Whether each row has several responses."""
    from ...hme.posterior import HMEPosterior

    return isinstance(posterior, HMEPosterior) and not posterior.model.calibrated.one_output


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


def _offset(posterior: AnyPosterior, table: pl.DataFrame, name: str) -> np.ndarray:
    """The numbers of a column, to be added to a sum of trees."""
    from ...bart.posterior import BARTPosterior
    from ...cart.posterior import Posterior
    from ...data.frames import table_of
    from ...data.response import learn_offset
    from ...hme.posterior import HMEPosterior
    from ...subset.posterior import SubsetPosterior

    if not isinstance(posterior, BARTPosterior):
        kinds = {Posterior: "single tree", SubsetPosterior: "linear model", HMEPosterior: "mixture of experts"}
        what = kinds[type(posterior)]
        raise InputError(f"--offset {name}: a {what} takes no offset; leave it out")
    source = table_of(table)
    return learn_offset(name, source.raw(source.position(name)), source.rows)


def _require_place(out: Path, *sources: Path) -> None:
    """Refuse, before any work, a name that cannot be written or that would replace what is read."""
    if out.suffix not in (*SEPARATORS, ".parquet"):
        raise InputError(f"--out {out}: the name must end in {', '.join(SEPARATORS)} or .parquet")
    require_folder(out)
    if out.exists() and any(source.exists() and out.samefile(source) for source in sources):
        raise InputError(f"--out {out}: this would replace the file that is read; choose another name")


def _write(predictions: pl.DataFrame, out: Path) -> None:
    if out.suffix == ".parquet":
        predictions.write_parquet(out)
    else:
        predictions.write_csv(out, separator=SEPARATORS[out.suffix])
