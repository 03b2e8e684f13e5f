"""Throws mutants of model files at whatever reads them, in processes of their own, and counts what comes of it.

PYTHONPATH=tests python -m robustness.fuzz_models                 # 8,000 mutants
PYTHONPATH=tests python -m robustness.fuzz_models mutate "cart: numbers" 17         # one again, to see why
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import shlex
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import baytree as bt
from baytree.cli.output import as_json
from families import EVERY, Case
from fixtures.make import FIXTURES, FOLDER, NEW
from robustness.damage import content
from robustness.mutants import WAYS

# What the files are of that are damaged: of every family as it is, and of every release.
RELEASE = "released: "
RELEASED = {
    f"{RELEASE}{path.stem}": Case(fixture.model, fixture.design, rows=NEW, options=fixture.asked)
    for name, fixture in FIXTURES.items()
    for path in sorted(FOLDER.glob(f"{name}-*.baytree"))
}
CASES = EVERY | RELEASED
NAMES = tuple(CASES)
# What one mutant may take; a machine under load is given its time.
SECONDS, MEMORY = 60, 6 * 2**30
REFUSED, SAME, SENSIBLE = "refused", "same", "sensible"


class Nonsense(Exception):
    """What a posterior said, of which nobody was told that it is wrong."""


def outcome(way: str, name: str, seed: int, path: Path) -> str:
    """What comes of one mutant: a named error, or answers that make sense; anything else is raised."""
    path.write_bytes(undamaged(name))
    usual = answers(name)
    said = WAYS[way](path, seed)
    try:
        found = use(name, path)
    except bt.InputError as error:
        if not str(error) or any(not letter.isprintable() and letter not in "\n\t" for letter in str(error)):
            raise Nonsense(f"{said}: the error has signs that a terminal obeys: {error!r}") from error
        return REFUSED
    except Exception as error:
        error.add_note(said)
        raise
    return SAME if all(np.array_equal(found[kind], usual[kind]) for kind in usual) else SENSIBLE


def undamaged(name: str) -> bytes:
    """What the file of a case holds before it is damaged."""
    if name not in RELEASED:
        return content(name)
    return (FOLDER / f"{name.removeprefix(RELEASE)}.baytree").read_bytes()


@cache
def answers(name: str) -> dict[str, np.ndarray]:
    """What it predicts then."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.baytree"
        path.write_bytes(undamaged(name))
        return predicted(name, bt.load(path))


def predicted(name: str, posterior: Any) -> dict[str, np.ndarray]:
    """What a posterior predicts, in the kinds that it has; a single tree has no error bars."""
    asked = ("mean", "interval", "predictive_interval") if posterior.log_likelihood.size > 1 else ("mean",)
    kinds = [kind for kind in asked if kind in posterior.prediction.kinds]
    found: dict[str, np.ndarray] = posterior.predict(CASES[name].rows, kinds, **CASES[name].options)
    return found


def use(name: str, path: Path) -> dict[str, np.ndarray]:
    """All that is done with a model file: load, show, predict and go on; gives what it predicts."""
    posterior: Any = bt.load(path)
    found = predicted(name, posterior)
    require_sense(posterior, found)
    str(posterior.summary())
    as_json(posterior.summary().to_dict())
    # A run may have been asked for that takes years, and then does.
    if posterior.has_chains and posterior.settings.thin < 1000:
        longer = bt.extend(posterior, CASES[name].design, draws=2, progress=False)
        require_sense(longer, predicted(name, longer))
    return found


def require_sense(posterior: Any, predicted: dict[str, np.ndarray]) -> None:
    """Predictions are numbers, and probabilities are some."""
    for kind, values in predicted.items():
        values = np.asarray(values, dtype=float)
        if not np.isfinite(values).all():
            raise Nonsense(f"{kind} that is no number")
        if posterior.schema.response.classes is not None and not ((values >= -1e-6) & (values <= 1 + 1e-6)).all():
            raise Nonsense(f"{kind} that is no probability")


def worker() -> None:
    """Try the mutants that standard input names, one after the other, and say what came of each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for way, name, seed in json.loads(sys.stdin.readline()):
            try:
                found = outcome(way, name, seed, Path(folder) / "mutant.baytree")
            except Exception as error:
                notes = "; ".join(getattr(error, "__notes__", ()))
                found = f"{type(error).__name__}: {error} [{notes}] {where(error)}"
            print(json.dumps(found), flush=True)


def where(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"({Path(last.filename).name}:{last.lineno})"


def fuzz(mutants: list[tuple[str, str, int]]) -> Iterator[str]:
    """The outcome of each of these mutants; a process that crashes or hangs is begun again behind the one at fault."""
    done = 0
    while done < len(mutants):
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
        environment = os.environ | one_thread | {"PYTHONPATH": str(Path(__file__).parents[1])}
        command = [sys.executable, "-m", "robustness.fuzz_models", "worker"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(mutants[done:]).encode() + b"\n")
        process.stdin.flush()
        for line in lines(process.stdout.fileno()):
            yield json.loads(line)
            done += 1
        hung = process.poll() is None and done < len(mutants)
        process.kill()
        process.communicate()
        if done < len(mutants):
            yield "hang" if hung else f"crash: exit code {process.returncode}"
            done += 1


def lines(stream: int) -> Iterator[bytes]:
    """The lines of a stream until it ends, or is silent for too long."""
    selector, held = selectors.DefaultSelector(), b""
    selector.register(stream, selectors.EVENT_READ)
    while selector.select(SECONDS):
        read = os.read(stream, 65536)
        if not read:
            return
        *whole, held = (held + read).split(b"\n")
        yield from whole


def count(mutants: int, way: str = "mutate") -> tuple[Counter[str], list[str]]:
    """The outcomes of so many mutants, evenly of every file, and a line for each that should not have been."""
    chosen = [(way, NAMES[seed % len(NAMES)], seed) for seed in range(mutants)]
    outcomes, faults = Counter[str](), []
    for (_, name, seed), found in zip(chosen, fuzz(chosen), strict=True):
        good = found in (REFUSED, SAME, SENSIBLE)
        outcomes[found if good else found.split(":")[0]] += 1
        if not good:
            faults.append(f"{way} {shlex.quote(name)} {seed}: {found}")
    return outcomes, faults


def main(*arguments: str) -> None:
    if arguments == ("worker",):
        worker()
    elif len(arguments) == 3:
        way, name, seed = arguments
        with tempfile.TemporaryDirectory() as folder:
            print(outcome(way, name, int(seed), Path(folder) / "mutant.baytree"))
    else:
        outcomes, faults = count(int(arguments[0]) if arguments else 8000)
        print(*faults, dict(outcomes), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
