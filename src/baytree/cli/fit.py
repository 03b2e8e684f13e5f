"""``baytree fit``: from a table to a model file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import FileError, InputError
from ..files import SEPARATORS
from .data import require_file, require_folder
from .errors import session
from .knowledge import (
    PARAMETERS,
    BoxOption,
    ColumnWeightOption,
    ForbidBelowOption,
    ForbidOption,
    InteractOption,
    KnowledgeOption,
    MaxDepthOption,
    MaxLeavesOption,
    MonotoneOption,
    OnlyOption,
    read_options,
)

if TYPE_CHECKING:
    from ..data import Design
    from ..knowledge import Knowledge
    from ..models import CART
    from ..posterior import Posterior
    from ..slp import Program
    from ..summary import Summary
    from .output import Output

# Names of tables, which a model would make unreadable for other programs.
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".gz")


class Family(StrEnum):
    """The models that can be fitted."""

    CART = "cart"


class TaskChoice(StrEnum):
    """What kind of response it is."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class RuleChoice(StrEnum):
    """How the prior chooses a question."""

    VARIABLE = "variable"
    UNIFORM = "uniform"


class SemanticsChoice(StrEnum):
    """What it means that a program's choice leads nowhere."""

    BACKTRACK = "backtrack"
    REJECT = "reject"


def _cuts(text: str) -> int | None:
    if text == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise InputError(f"--max-cuts {text}: choose a whole number, or 'all'") from None


def _require_numbers(counts: dict[str, int], warmup: int, seed: int | None) -> None:
    for name, number in counts.items():
        if number < 1:
            raise InputError(f"{_option(name)} {number}: choose a whole number, 1 or more")
    if warmup < 0:
        raise InputError(f"--warmup {warmup}: choose a whole number, 0 or more")
    if seed is not None and not 0 <= seed < 2**64:
        raise InputError(f"--seed {seed}: choose a whole number from 0 to 2**64 - 1")


DATA, MODEL, SAMPLING = "The data", "The model", "Sampling"


def command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv, .csv.gz, .tsv, .tsv.gz or .parquet file.")],
    target: Annotated[str, typer.Option(metavar="COL", help="The column to predict.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="The model file to write.", show_default="FILE's name with .baytree"),
    ] = None,
    task: Annotated[
        TaskChoice,
        typer.Option(help="auto: numbers with more than two values are regressed.", rich_help_panel=DATA),
    ] = TaskChoice.AUTO,
    weight: Annotated[
        str | None, typer.Option(metavar="COL", help="How many rows each row counts as.", rich_help_panel=DATA)
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Numbers that are labels. May be repeated.", rich_help_panel=DATA),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COL", help="Leave out. May be repeated.", rich_help_panel=DATA)
    ] = None,
    max_cuts: Annotated[
        str, typer.Option(metavar="N|all", help="The most cut points of a numeric column.", rich_help_panel=DATA)
    ] = "255",
    model: Annotated[Family, typer.Option(help="cart: one tree.", rich_help_panel=MODEL)] = Family.CART,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.slp", help="A logic program as the prior, yours or a shipped one.", rich_help_panel=MODEL
        ),
    ] = None,
    semantics: Annotated[
        SemanticsChoice,
        typer.Option(help="Of --prior: what a choice that fails means.", rich_help_panel=MODEL),
    ] = SemanticsChoice.BACKTRACK,
    alpha: Annotated[float, typer.Option(help="Probability that the root splits.", rich_help_panel=MODEL)] = 0.95,
    beta: Annotated[
        float, typer.Option(help="How fast that falls with depth: alpha / (1 + depth)^beta.", rich_help_panel=MODEL)
    ] = 1.0,
    min_leaf: Annotated[int, typer.Option(help="The fewest rows of a leaf.", rich_help_panel=MODEL)] = 5,
    rule: Annotated[
        RuleChoice,
        typer.Option(help="Choose a column and then its question, or among all questions.", rich_help_panel=MODEL),
    ] = RuleChoice.VARIABLE,
    box: BoxOption = None,
    monotone: MonotoneOption = None,
    interact: InteractOption = None,
    forbid: ForbidOption = None,
    forbid_below: ForbidBelowOption = None,
    only: OnlyOption = None,
    max_depth: MaxDepthOption = None,
    max_leaves: MaxLeavesOption = None,
    column_weight: ColumnWeightOption = None,
    knowledge: KnowledgeOption = None,
    proposal: Annotated[
        str,
        typer.Option(
            help="auto, uc, q0, 'cycle(n)', birth_death, change, swap, or several with weights: uc=2,change=1; "
            "with --prior: auto, subtree, sequence, address, independent, 'cycle(n)'",
            rich_help_panel=SAMPLING,
        ),
    ] = "auto",
    chains: Annotated[int, typer.Option(help="Chains, to be compared.", rich_help_panel=SAMPLING)] = 4,
    draws: Annotated[int, typer.Option(help="Draws to keep of each chain.", rich_help_panel=SAMPLING)] = 1000,
    warmup: Annotated[int, typer.Option(help="Iterations to throw away first.", rich_help_panel=SAMPLING)] = 1000,
    thin: Annotated[int, typer.Option(help="Iterations between draws.", rich_help_panel=SAMPLING)] = 1,
    seed: Annotated[
        int | None,
        typer.Option(help="The same seed gives the same draws.", show_default="random", rich_help_panel=SAMPLING),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Processors to use.", show_default="one a chain", rich_help_panel=SAMPLING),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Finish a run that was interrupted or killed.", rich_help_panel=SAMPLING)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Learn trees from a table and write a model file.

    Ctrl-C during the draws keeps what was drawn. A run that was interrupted in its warm-up, or killed, goes on with
    --resume, to the same result.
    """
    with session(json=as_json, quiet=quiet) as output:
        from .. import data, sampling
        from ..models import CART
        from ..priors import GrowTree

        # Whatever can be refused is refused before the table is read.
        path = out or _default_out(file)
        known = read_options(context)
        if prior is None:
            if _given(context, "semantics"):
                raise InputError("--semantics is for a program; name it by --prior, or leave --semantics out")
            tree_model = CART(prior=GrowTree(alpha, beta, min_leaf, rule.value) & known, proposal=proposal)
        else:
            program = _program(context, prior, semantics) & known
            for problem in program.warnings():
                output.note(str(problem))
            tree_model = CART(prior=program, proposal=proposal)
        cuts = _cuts(max_cuts)
        _require_numbers({"chains": chains, "draws": draws, "thin": thin}, warmup, seed)
        _require_place(path)
        require_file(file)
        if resume:
            _require_same(context, path, tree_model)
        else:
            _require_no_unfinished(path)
        design = data.read(
            file,
            target,
            task=task.value,
            weight=weight,
            categorical=categorical or (),
            drop=drop or (),
            max_cuts=cuts,
        )
        _say_read(file, design, known, output)
        if prior is not None:
            # The built-in prior checks what it knows itself; a program would find less, and say it as a fact's error.
            known.check(design.schema)
        began = time.monotonic()
        with _telling_how_to_resume(context, path):
            if resume:
                posterior = sampling.resume(path, design, threads=threads, progress=output.chatty)
            else:
                if path.exists():
                    output.note(f"replacing the model {path}")
                posterior = sampling.sample(
                    tree_model,
                    design,
                    warmup=warmup,
                    draws=draws,
                    thin=thin,
                    chains=chains,
                    seed=seed,
                    threads=threads,
                    progress=output.chatty,
                    checkpoint=path,
                )
        if output.chatty:
            _say_learned(context, posterior, path, time.monotonic() - began, output)
        output.result(posterior.summary().to_dict() | {"file": str(file), "model_file": str(path)} if as_json else {})


def _program(context: typer.Context, file: str, semantics: SemanticsChoice) -> Program:
    """The program that is the prior; it says itself what the native prior's options would."""
    from ..slp import load

    for name in ("alpha", "beta", "min_leaf", "rule"):
        if _given(context, name):
            raise InputError(f"{_option(name)} is for the built-in prior; with --prior, write it into {file}")
    return load(file, semantics.value)


def _default_out(file: Path) -> Path:
    ending = next((ending for ending in (*SEPARATORS, ".parquet") if file.name.lower().endswith(ending)), file.suffix)
    return Path(file.name[: len(file.name) - len(ending)] + ".baytree")


def _require_place(path: Path) -> None:
    """Refuse to write over anything but a model, before any time is spent on sampling."""
    from ..storage import open_model

    if path.is_dir():
        raise FileError(f"--out {path}: this is a folder; name a file in it")
    if path.suffix.lower() in TABLE_ENDINGS:
        raise InputError(f"--out {path}: a model is not a table; choose a name that ends in .baytree")
    require_folder(path)
    if path.exists():
        try:
            with open_model(path):
                pass
        except FileError as error:
            raise FileError(f"--out {path}: exists and is not a model; choose another name or remove it") from error


def _require_no_unfinished(path: Path) -> None:
    """Refuse to begin anew where a run can still be finished."""
    from ..storage import partial_path

    partial = partial_path(path)
    if partial.exists():
        raise FileError(f"{partial}: an unfinished run is there; finish it with --resume, or remove the file")


@contextmanager
def _telling_how_to_resume(context: typer.Context, path: Path) -> Iterator[None]:
    """Where Ctrl-C leaves a run that can be finished, say by which command."""
    from ..storage import partial_path

    try:
        yield
    except KeyboardInterrupt as error:
        if not partial_path(path).exists():
            raise
        said = str(error) or "interrupted"
        raise KeyboardInterrupt(f"{said}; to go on: {_again(context, {})} --resume") from error


def _require_same(context: typer.Context, path: Path, model: CART) -> None:
    """Refuse options that contradict the unfinished run: its settings stand."""
    from ..posterior import read_header
    from ..storage import open_model, partial_path

    if not partial_path(path).exists():
        finished = f"; {path} is finished" if path.exists() else ""
        raise FileError(f"--resume: there is no unfinished run {partial_path(path)}{finished}; leave --resume out")
    with open_model(partial_path(path)) as reader:
        begun, _, plan = read_header(reader)
    prior, begun_prior = model.prior.to_dict(), begun.prior.to_dict()
    given = [_option(name) for name in PARAMETERS if _given(context, name)]
    if given and any(prior.get(part) != begun_prior.get(part) for part in ("knowledge", "text")):
        listed = " and ".join(given)
        raise InputError(f"--resume: the run was begun with other knowledge; leave {listed} out, or begin anew")
    settings: dict[str, Any] = {
        **{name: (context.params[name], getattr(plan, name)) for name in ("chains", "draws", "warmup", "thin", "seed")},
        **{name: (prior[name], begun_prior.get(name)) for name in prior if name not in PARAMETERS},
        "prior": tuple(one.get("text", "the built-in one") for one in (prior, begun_prior)),
        "proposal": tuple(
            ",".join(sorted(f"{part}={part.weight:g}" for part in one.components())) for one in (model, begun)
        ),
    }
    for name, (asked, stands) in settings.items():
        if _given(context, name) and asked != stands:
            option = _option(name)
            raise InputError(f"--resume: the run was begun with {option} {stands}; leave {option} out, or begin anew")


def _say_read(file: Path, design: Design, known: Knowledge, output: Output) -> None:
    from rich.text import Text

    from . import drawing

    rows, columns, missing, response = design.describe().splitlines()
    output.say(Text.assemble("Read ", (file.name, "bold"), f": {rows}, {columns}; {missing}"), Text(f"R{response[1:]}"))
    output.say(*drawing.known_lines(known))


def _say_learned(context: typer.Context, posterior: Posterior, path: Path, seconds: float, output: Output) -> None:
    from rich.text import Text

    from . import drawing

    summary = posterior.summary()
    output.say(
        Text(f"{drawing.draws_line(summary)}; {seconds:.1f} s"),
        drawing.heading("How likely a tree asks about a column"),
        drawing.indented(drawing.bar_chart(summary.inclusion, most=6)),
        Text(""),
        drawing.size_line(posterior),
        drawing.verdict(summary),
        Text.assemble("\nModel written to ", (str(path), "bold"), f" ({_size(path)})"),
        drawing.next_steps(_steps(context, summary, path)),
    )


def _steps(context: typer.Context, summary: Summary, path: Path) -> list[tuple[str, str]]:
    model, table = shlex.quote(str(path)), shlex.quote(str(context.params["file"]))
    steps = [
        (f"baytree show {model}", "see the best tree and the diagnostics"),
        (f"baytree predict {model} {table}", "predict rows, these or new ones"),
    ]
    return steps + [(_again(context, remedy.options), remedy.what) for remedy in summary.remedies]


def _again(context: typer.Context, changes: dict[str, int]) -> str:
    """The command that is running, with some options changed."""
    words = ["baytree", "fit", str(context.params["file"])]
    for name, value in context.params.items():
        if _given(context, name) and name not in ("file", "resume", *changes):
            for item in value if isinstance(value, (list, tuple)) else [value]:
                words += [_option(name)] if item is True else [_option(name), str(item)]
    for name, number in changes.items():
        words += [_option(name), str(number)]
    return shlex.join(words)


def _given(context: typer.Context, name: str) -> bool:
    """Whether a person wrote this option, rather than leaving it at its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _option(name: str) -> str:
    return f"--{name.removeprefix('as_').replace('_', '-')}"


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size // 1000, 1)} kB"
