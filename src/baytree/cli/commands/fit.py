"""``baytree fit``: from a table to a model file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from ...data.files import SEPARATORS
from ...sampling import api as sampling
from ..choosing import chosen_family
from ..declaring import RAW, Command, asked_of, words
from ..families import FAMILIES, AnyFamily, family_named, family_of
from ..files import require_file, require_no_unfinished, require_place
from ..options import FitOptions, PredictOptions, require_numbers
from ..output import Output, session
from ..reading import say_read
from ..report import drawn_lines, verdict
from ..resuming import require_same, telling_how_to_resume, unfinished
from ..spoken import spoken
from ..terminal import next_steps

EPILOG = "\n\n".join(
    ["The options of each family; without --model the options or the table decide:"]
    + [f"  [cyan]baytree fit --model {one.name} --help[/cyan]  [dim]# {one.about}[/dim]" for one in FAMILIES.values()]
)


class FitCommand(Command):
    """The command, whose family is chosen by an option."""

    options, families = FitOptions, FAMILIES

    def concerned(self, context: Any) -> Iterable[AnyFamily]:
        """The family that was chosen."""
        return [family for name, family in FAMILIES.items() if name == context.meta[RAW].get("model")]


def command(context: typer.Context) -> None:
    """Learn trees, linear models or mixtures of experts from a table and write a model file.

    Ctrl-C during the draws keeps what was drawn. A run that was interrupted in its warm-up, or killed, goes on with
    --resume, to the same result.
    """
    first: FitOptions = context.obj
    with session(json=first.as_json, quiet=first.quiet) as output:
        # Whatever can be refused is refused before the table is read.
        path = first.out or _default_out(first.file)
        begun = unfinished(path) if first.resume else None
        if first.resume and begun is None:
            output.note(f"the run of {path} was killed before it began: it begins now, with the options given here")
        require_place(path)
        require_file(first.file)
        if begun is None:
            require_no_unfinished(path)
        length = first.length()
        require_numbers(first, first.seed, chains=1, draws=1, thin=1, warmup=0)
        design, why = None, ""
        if first.model is not None:
            family = family_named(first.model)
        elif begun is not None:
            family = family_of(begun[0], path)
        else:
            family, design, why = chosen_family(context, output)
        asked = asked_of(context, family)
        model, tempering = family.build(asked, output), asked.tempering()
        if begun is not None:
            require_same(asked, family, model, *begun, path)
        design = family.read(asked) if design is None else design
        if output.chatty:
            say_read(asked, design, output)
        if why and output.chatty:
            output.say(Text.assemble("Model: ", why))
        began = time.monotonic()
        run = {"threads": asked.threads, "progress": output.chatty}
        with telling_how_to_resume(asked, path):
            if begun is not None:
                posterior = sampling.resume(path, design, time_limit=length["time_limit"], **run)
            else:
                if path.exists():
                    output.note(f"replacing the model {path}")
                posterior = sampling.sample(
                    model,
                    design,
                    warmup=asked.warmup,
                    draws=asked.draws,
                    thin=asked.thin,
                    chains=asked.chains,
                    seed=asked.seed,
                    checkpoint=path,
                    **length,
                    **tempering,
                    **run,
                )
        if output.chatty:
            _say_learned(asked, family, posterior, path, time.monotonic() - began, output)
        if output.json:
            output.result(posterior.summary().to_dict() | {"file": str(asked.file), "model_file": str(path)})


def _default_out(file: Path) -> Path:
    ending = next((ending for ending in (*SEPARATORS, ".parquet") if file.name.lower().endswith(ending)), file.suffix)
    return Path(file.name[: len(file.name) - len(ending)] + ".baytree")


def _say_learned(
    asked: FitOptions, family: AnyFamily, posterior: Any, path: Path, seconds: float, output: Output
) -> None:
    summary = posterior.summary()
    how, *tempered = drawn_lines(summary)
    size = path.stat().st_size
    written = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size // 1000, 1)} kB"
    output.say(
        Text(f"{how}; {seconds:.1f} s"),
        *tempered,
        verdict(summary),
        *family.describe(posterior, summary),
        Text.assemble("\nModel written to ", (str(path), "bold"), f" ({written})"),
        next_steps(_steps(asked, family, summary, path)),
    )


def _steps(asked: FitOptions, family: AnyFamily, summary: Any, path: Path) -> list[tuple[str, str]]:
    model, table = shlex.quote(str(path)), shlex.quote(str(asked.file))
    # Where predictions need what the fit had, such as an offset.
    names = {field.name for field in fields(family.predict)} - {field.name for field in fields(PredictOptions)}
    again = shlex.join(word for name in asked.written if name in names for word in words(name, getattr(asked, name)))
    added = f" {again}" if again else ""
    # A table is known as that of the fit by its weights, too.
    weighed = f" {shlex.join(words('weight', asked.weight))}" if asked.weight is not None else ""
    steps = [
        (f"baytree show {model}", "see what was learned, and the diagnostics"),
        (f"baytree report {model} --data {table}{weighed}{added}", "a page of it, to show others"),
        (f"baytree predict {model} {table}{added}", "predict rows, these or new ones"),
    ]
    if asked.resume:  # what the run was begun with need not be among the options
        return steps
    without = ("resume", "until_converged")
    return steps + [(asked.fit_again(remedy.options, without), spoken(remedy.what)) for remedy in summary.remedies]
