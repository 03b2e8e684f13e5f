"""Runs that were not finished, and how they go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from ..errors import FileError, InputError
from ..mcmc.contract import AnyModel
from ..mcmc.settings import RunSettings
from ..posterior.registry import read_header
from ..storage import is_begun, open_model, partial_path
from ..text import listed
from .declaring import option
from .families import AnyFamily, family_of
from .knowledge import EnsembleKnowledgeOptions
from .options import FitOptions

# What a run that is resumed goes on with, besides its model.
PLANNED = ("chains", "draws", "ladder", "seed")
# And where it does not find these by itself.
FOUND = ("warmup", "thin", "temperatures")
KNOWLEDGE = {field.name for field in fields(EnsembleKnowledgeOptions)}


@contextmanager
def telling_how_to_resume(asked: FitOptions, path: Path) -> Iterator[None]:
    """Where Ctrl-C leaves a run that can be finished, say by which command."""
    try:
        yield
    except KeyboardInterrupt as error:
        if not partial_path(path).exists():
            raise
        said, again = str(error) or "interrupted", asked.fit_again({"resume": True})
        raise KeyboardInterrupt(f"{said}; to go on: {again}") from error


def unfinished(path: Path) -> tuple[AnyModel, RunSettings] | None:
    """What the unfinished run of a model file was begun with; None where it was killed before it wrote that."""
    partial = partial_path(path)
    if not partial.exists():
        finished = f"; {path} is finished" if path.exists() else ""
        raise FileError(f"--resume: there is no unfinished run {partial}{finished}; leave --resume out")
    if not is_begun(partial):
        return None
    with open_model(partial) as reader:
        model, _, settings = read_header(reader)
    return model, settings


def require_same(
    asked: FitOptions, family: AnyFamily, model: AnyModel, begun: AnyModel, settings: RunSettings, path: Path
) -> None:
    """Refuse options that contradict the unfinished run: its settings stand."""
    before = family_of(begun, path)
    if family is not before:
        raise InputError(f"--resume: the run was begun with --model {before.name}; leave --model out, or begin anew")
    planned = PLANNED if settings.effort is not None else PLANNED + FOUND
    effort = asked.length()["effort"]
    wanted = {**family.settings(model)} | {name: getattr(asked, name, None) for name in planned} | {"effort": effort}
    stands = {**family.settings(begun)} | {name: getattr(settings, name) for name in (*planned, "effort")}
    known = [option(name) for name in asked.written if name in KNOWLEDGE]
    if known and wanted["knowledge"] != stands["knowledge"]:
        raise InputError(f"--resume: the run was begun with other knowledge; leave {listed(known)} out, or begin anew")
    for name in asked.written:
        if name in wanted and wanted[name] != (stood := stands[name]):
            written, shown = option(name), str(stood) if isinstance(stood, str | float | None) else repr(stood)
            how = f"without {written}" if stood in ("", None, False) else f"with {written} {shown}"
            raise InputError(f"--resume: the run was begun {how}; leave {written} out, or begin anew")
