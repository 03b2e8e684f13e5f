"""Runs that were not finished, and how they go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import FileError, InputError
from ..text import listed
from .choosing import family_of, settings_of
from .knowledge import PARAMETERS
from .options import fit_again, given, option

if TYPE_CHECKING:
    from ..mcmc.contract import AnyModel as Model
    from ..mcmc.settings import RunSettings

# What a run that is resumed goes on with, besides its model.
PLANNED = ("chains", "draws", "warmup", "thin", "temperatures", "ladder", "seed")


def require_no_unfinished(path: Path) -> None:
    """Refuse to begin anew where a run can still be finished."""
    from ..storage import partial_path

    partial = partial_path(path)
    if partial.exists():
        raise FileError(f"{partial}: an unfinished run is there; finish it with --resume, or remove the file")


@contextmanager
def telling_how_to_resume(context: typer.Context, path: Path) -> Iterator[None]:
    """Where Ctrl-C leaves a run that can be finished, say by which command."""
    from ..storage import partial_path

    try:
        yield
    except KeyboardInterrupt as error:
        if not partial_path(path).exists():
            raise
        said = str(error) or "interrupted"
        raise KeyboardInterrupt(f"{said}; to go on: {fit_again(context, without=('resume',))} --resume") from error


def unfinished(path: Path) -> tuple[Model, RunSettings]:
    """What the unfinished run of a model file was begun with."""
    from ..posterior.registry import read_header
    from ..storage import open_model, partial_path

    if not partial_path(path).exists():
        finished = f"; {path} is finished" if path.exists() else ""
        raise FileError(f"--resume: there is no unfinished run {partial_path(path)}{finished}; leave --resume out")
    with open_model(partial_path(path)) as reader:
        model, _, settings = read_header(reader)
    return model, settings


def require_same(context: typer.Context, model: Model, begun: Model, settings: RunSettings) -> None:
    """Refuse options that contradict the unfinished run: its settings stand."""
    if family_of(model) != family_of(begun):
        raise InputError(
            f"--resume: the run was begun with --model {family_of(begun)}; leave --model out, or begin anew"
        )
    # A run that goes on until its chains agree has had more warm-up, and lies further apart, than was asked for.
    planned = [name for name in PLANNED if not context.params["until_converged"] or name not in ("warmup", "thin")]
    asked = settings_of(model) | {name: context.params[name] for name in planned}
    stands = settings_of(begun) | {name: getattr(settings, name) for name in planned}
    known = [option(name) for name in PARAMETERS if given(context, name)]
    if known and any(asked.get(part) != stands.get(part) for part in ("knowledge", "text")):
        raise InputError(f"--resume: the run was begun with other knowledge; leave {listed(known)} out, or begin anew")
    for name, value in asked.items():
        if given(context, name) and value != (before := stands.get(name)):
            written, shown = option(name), repr(before) if name == "edit" else str(before)
            how = f"without {written}" if shown in ("", "None", "False") else f"with {written} {shown}"
            raise InputError(f"--resume: the run was begun {how}; leave {written} out, or begin anew")
