"""``baytree data``: the bundled data sets."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from ... import datasets
from ...data.columns import frame_of
from ...datasets import Dataset
from ...errors import InputError
from ..files import require_folder
from ..output import Output, session
from ..terminal import next_steps, plain_table, section

FIRST_ROWS = 5
SHOWN_COLUMNS = 8


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A data set; all are listed without.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Write the data set as a CSV file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the bundled data sets, look at one, or write it as CSV."""
    with session(json=as_json) as output:
        if name is None:
            if out is not None:
                raise InputError(
                    f"--out {out}: say which data set to write; choose from: {', '.join(datasets.names())}"
                )
            _list(output)
        elif out is None:
            _describe(datasets.load(name), output)
        else:
            _write(datasets.load(name), out, output)


def _table(dataset: Dataset) -> Any:
    """Predictors and responses side by side."""
    columns = [dataset.y] if dataset.y.ndim == 1 else list(dataset.y.T)
    return frame_of(
        {name: dataset.X[name] for name in dataset.X.columns} | dict(zip(dataset.outputs, columns, strict=True))
    )


def _record(dataset: Dataset) -> dict[str, Any]:
    """What the list says of a set, as JSON-safe values."""
    return {
        "name": dataset.name,
        "title": dataset.title,
        "rows": dataset.X.height,
        "columns": dataset.X.width,
        "response": dataset.target,
    }


def _full_record(dataset: Dataset) -> dict[str, Any]:
    """What the description says of a set."""
    design = dataset.design()
    return _record(dataset) | {
        "task": design.response.task,
        "source": dataset.source,
        "caution": dataset.caution,
        "column_names": list(design.names),
        "categorical": [column.name for column in design.columns if column.kind == "categorical"],
        "responses": list(dataset.outputs),
        "test_rows": 0 if dataset.test is None else dataset.test.X.height,
    }


def _list(output: Output) -> None:

    sets = [datasets.load(name) for name in datasets.names()]
    table = plain_table(2)
    for title, side in (("name", "left"), ("rows", "right"), ("columns", "right"), ("response", "left")):
        table.add_column(title, justify="right" if side == "right" else "left", no_wrap=True)
    table.add_column("what it is")
    for dataset in sets:
        table.add_row(
            Text(dataset.name, style="bold"),
            f"{dataset.X.height:,}",
            str(dataset.X.width),
            ", ".join(dataset.outputs) if len(dataset.outputs) < 3 else f"{dataset.outputs[0]} … {dataset.outputs[-1]}",
            dataset.title,
        )
    output.say(table, Text("\nbaytree data NAME says more; with --out NAME.csv it writes the file.", style="dim"))
    output.result({"datasets": [_record(dataset) for dataset in sets]})


def _describe(dataset: Dataset, output: Output) -> None:

    output.say(Text(dataset.title, style="bold"))
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_row(Text("data", style="dim"), "; ".join(dataset.design().describe().splitlines()))
    if dataset.test is not None:
        facts.add_row("", f"{dataset.test.X.height:,} rows for testing come with it in Python")
    facts.add_row(Text("source and licence", style="dim"), dataset.source)
    if dataset.caution:
        facts.add_row(Text("caution", style="bold yellow"), Text(dataset.caution, style="yellow"))
    output.say(facts, *section("The first rows", _first_rows(dataset)))
    output.say(next_steps(_steps(dataset, None)))
    output.result(_full_record(dataset))


def _first_rows(dataset: Dataset) -> Table:

    shown = dataset.X.columns[:SHOWN_COLUMNS]
    hidden = dataset.X.width - len(shown)
    frame = _table(dataset).head(FIRST_ROWS)
    table = plain_table(2)
    for column in (*shown, *([f"{hidden} more"] if hidden else []), *dataset.outputs):
        table.add_column(Text(column), justify="right", style="bold" if column in dataset.outputs else "")
    for row in frame.iter_rows(named=True):
        cells = [*(row[column] for column in shown), *(["…"] if hidden else []), *(row[y] for y in dataset.outputs)]
        table.add_row(*(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells))
    return table


def _write(dataset: Dataset, out: Path, output: Output) -> None:

    if out.suffix != ".csv":
        raise InputError(f"--out {out}: the data are written as CSV; end the name in .csv")
    require_folder(out)
    frame = _table(dataset)
    frame.write_csv(out)
    output.say(Text(f"{frame.height:,} rows and {frame.width} columns written to {out}"))
    if dataset.caution:
        output.note(dataset.caution)
    output.say(next_steps(_steps(dataset, out)))
    output.result(_full_record(dataset) | {"out": str(out)})


def _steps(dataset: Dataset, out: Path | None) -> list[tuple[str, str]]:
    path = out or Path(f"{dataset.name}.csv")
    options = [f"--target {dataset.target}"]
    options += [f"--task {dataset.task}"] if dataset.task != "auto" else []
    options += [f"--categorical {name}" for name in dataset.categorical]
    options += [f"--drop {name}" for name in dataset.outputs if name != dataset.target]
    fit = (f"baytree fit {shlex.quote(str(path))} {' '.join(options)}", "learn trees from it")
    return [fit] if out else [(f"baytree data {dataset.name} --out {path}", "write it as a file"), fit]
