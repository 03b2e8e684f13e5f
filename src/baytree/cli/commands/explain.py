"""``baytree explain``: why one row is predicted as it is, and what would have to change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import FileError, InputError
from ...posterior.registry import load
from ...text import counted
from ..files import require_file, require_folder
from ..options import AsJson, ModelFile
from ..output import Output, session
from ..terminal import indented, next_steps

if TYPE_CHECKING:
    from ...interpret.explanation import Explanation

TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
PICTURES = (".png", ".svg", ".pdf")


def command(
    model: ModelFile,
    row: Annotated[int, typer.Option(metavar="N", help="Which row of the table; the first is 0.")],
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The table.", show_default="the one of MODEL's name beside it"),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Of classes, the one to explain.",
            show_default="of two the second, else the likeliest",
        ),
    ] = None,
    by: Annotated[
        float | None,
        typer.Option(help="Of numbers, by how much the mean must move.", show_default="out of its interval"),
    ] = None,
    offset: Annotated[
        float | None, typer.Option(help="What is added to a sum of trees, where the fit had an offset.")
    ] = None,
    prob: Annotated[float, typer.Option(help="Probability of the intervals.")] = 0.9,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A picture to write as well: .png, .svg or .pdf.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Explain one row: what decides, and what would have to change.

    Of trees the paths that the draws take and the rules that decide; of sums of trees how much each column moves the
    prediction; of linear models what each term contributes; of mixtures of experts the ways through the gates. For each
    column the smallest change that changes the prediction, as long as the others stay as they are.
    """
    with session(json=as_json) as output:
        if out is not None:
            if out.suffix not in PICTURES:
                raise InputError(f"--out {out}: the name must end in {', '.join(PICTURES)}")
            require_folder(out)
        posterior = load(model)
        if not hasattr(posterior, "explain"):
            raise InputError(
                f"{model}: rows of sequences are predicted from those before them; none is explained alone"
            )
        given = _given(posterior, offset)
        found = posterior.explain(
            _row(posterior, _table(model, data), row), of=_label(posterior, of), by=by, prob=prob, **given
        )
        if out is not None:
            _draw(found, out)
        _say(found, row, model, out, output)
        output.result({"row": row} | found.to_dict() | ({} if out is None else {"out": str(out)}))


def _table(model: Path, data: Path | None) -> Path:
    """The table: the one that was named, or the one beside the model that has its name."""
    if data is not None:
        require_file(data)
        return data
    beside = [model.with_name(model.stem + ending) for ending in TABLES]
    for path in beside:
        if path.exists():
            return path
    raise FileError(f"{model} holds no rows, and there is no table {beside[0]} beside it; name one by --data FILE")


def _row(posterior: Any, path: Path, row: int) -> Any:
    """One row of a table, as a frame."""
    from ...data.files import read_file

    labels = [column.name for column in posterior.schema.columns if column.kind == "categorical"]
    table = read_file(path, text=labels)
    if not 0 <= row < len(table):
        raise InputError(f"--row {row}: {path} has {counted(len(table), 'row')}; choose from 0 to {len(table) - 1}")
    return table[row : row + 1]


def _label(posterior: Any, of: str | None) -> Any:
    """A class as the model has it, which may be a number."""
    classes = posterior.schema.response.classes
    if of is None or classes is None:
        return of
    return next((label for label in classes.tolist() if str(label) == of), of)


def _given(posterior: Any, offset: float | None) -> dict[str, Any]:
    if offset is not None and not posterior.settings.offset:
        raise InputError("--offset: the model was fitted without one; leave it out")
    if offset is None and posterior.settings.offset:
        raise InputError(
            "the model was fitted with an offset, so the row needs its own: give it by --offset, 0 adds nothing"
        )
    return {} if offset is None else {"offset": [offset]}


def _draw(found: Explanation, out: Path) -> None:
    figure: Any = found.plot().figure
    figure.savefig(out, dpi=150)


def _say(found: Explanation, row: int, model: Path, out: Path | None, output: Output) -> None:
    from rich.text import Text

    output.say(Text.assemble(f"Row {row}: ", (found.said, "bold")))
    for lines in (found.path_lines(), found.effect_lines(), found.change_lines()):
        if lines:
            head, *body = lines
            output.say(Text(f"\n{head}", style="bold"), *(indented(Text(line.removeprefix("  "))) for line in body))
    if out is not None:
        output.say(Text(f"\nPicture written to {out}"))
    again = f"baytree explain {model} --row {row} --out row{row}.png"
    output.say(next_steps([(again, "the same as a picture"), (f"baytree show {model}", "the model itself")]))
