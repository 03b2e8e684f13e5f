"""``baytree predict``: new rows, one prediction each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from .data import require_file, require_folder
from .errors import session

if TYPE_CHECKING:
    import polars as pl

    from ..posterior import Posterior

SEPARATORS = {".csv": ",", ".tsv": "\t"}


def command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that [bold]baytree fit[/bold] wrote.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A table with the columns of the training table.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A .csv, .tsv or .parquet file to write.", show_default="CSV to the terminal"
        ),
    ] = None,
    prob: Annotated[float, typer.Option(help="Probability of the intervals of a regression.")] = 0.9,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Predict every row of a table.

    Classes: the most probable one and the probability of each. Numbers: their mean, a credible interval of that mean
    (lower, upper), and an interval for a new value (predictive_lower, predictive_upper).
    """
    with session(json=as_json) as output:
        from ..families import load
        from ..files import read_file
        from ..words import counted

        if not 0 < prob < 1:
            raise InputError(f"--prob {prob:g}: choose a probability between 0 and 1")
        if out is not None:
            _require_place(out, model, new)
        posterior = load(model)
        require_file(new)
        table = read_file(
            new, text=[column.name for column in posterior.schema.columns if column.kind == "categorical"]
        )
        predictions = predict_table(posterior, table, prob)
        if out is not None:
            _write(predictions, out)
            output.say(f"{counted(predictions.height, 'prediction')} written to {out}")
            output.result({"rows": predictions.height, "out": str(out)})
        elif as_json:
            output.result({"rows": predictions.height, "predictions": predictions.to_dicts()})
        else:
            output.write(predictions.write_csv())


def predict_table(posterior: Posterior, table: pl.DataFrame, prob: float) -> pl.DataFrame:
    """The predictions of every row, with a column for each thing that is predicted.

    Parameters
    ----------
    posterior : Posterior
        The model.
    table : polars.DataFrame
        New rows.
    prob : float
        The probability of a regression's intervals.

    Returns
    -------
    polars.DataFrame
    """
    import polars as pl

    mean = posterior.predict(table)
    classes = posterior.schema.response.classes
    if classes is not None:
        columns = {"prediction": pl.Series(classes[mean.argmax(axis=1)])}
        return pl.DataFrame(columns | {f"P({label})": mean[:, k] for k, label in enumerate(classes)})
    lower, upper = posterior.predict(table, kind="interval", prob=prob).T
    new_lower, new_upper = posterior.predict(table, kind="predictive_interval", prob=prob).T
    return pl.DataFrame(
        {"mean": mean, "lower": lower, "upper": upper, "predictive_lower": new_lower, "predictive_upper": new_upper}
    )


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
