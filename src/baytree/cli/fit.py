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
from ..words import listed
from . import options
from .data import require_file, require_folder
from .errors import session
from .families import (
    BandwidthOption,
    BetaOption,
    Family,
    KOption,
    ModelOption,
    MovesOption,
    NuOption,
    QOption,
    SigmaOption,
    SplitChoice,
    SplitOption,
    StartChoice,
    StartOption,
    TreesOption,
    VarianceChoice,
    VarianceOption,
    VarianceTreesOption,
    build_model,
    family_of,
    require_noise,
    settings_of,
)
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
    SparseOption,
)
from .options import (
    SAMPLING,
    RuleChoice,
    SemanticsChoice,
    TaskChoice,
    fit_again,
    given,
    max_cuts_of,
    option,
    read_design,
    require_count,
    require_seed,
    say_read,
)

if TYPE_CHECKING:
    from ..families import AnyPosterior, Model
    from ..plan import Plan
    from .drawing import AnySummary
    from .output import Output

# Names of tables, which a model would make unreadable for other programs.
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".gz")
# What a run that is resumed goes on with.
PLANNED = ("chains", "draws", "warmup", "thin", "temperatures", "ladder", "seed")


class LadderChoice(StrEnum):
    """How the temperatures of a chain are chosen."""

    ADAPTIVE = "adaptive"
    MRBAYES = "mrbayes"


def _require_numbers(counts: dict[str, int], warmup: int, seed: int | None) -> None:
    for name, number in counts.items():
        require_count(name, number)
    if warmup < 0:
        raise InputError(f"--warmup {warmup}: choose a whole number, 0 or more")
    require_seed(seed)


def command(
    context: typer.Context,
    file: options.TableArgument,
    target: options.TargetOption,
    out: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="The model file to write.", show_default="FILE's name with .baytree"),
    ] = None,
    task: options.TaskOption = TaskChoice.AUTO,
    weight: options.WeightOption = None,
    categorical: options.CategoricalOption = None,
    drop: options.DropOption = None,
    max_cuts: options.MaxCutsOption = "255",
    offset: options.OffsetOption = None,
    model: ModelOption = Family.CART,
    prior: options.PriorOption = None,
    semantics: options.SemanticsOption = SemanticsChoice.BACKTRACK,
    edit: options.EditOption = None,
    edits: options.EditsOption = 4.0,
    alpha: options.AlphaOption = 0.95,
    beta: BetaOption = None,
    min_leaf: options.MinLeafOption = 5,
    rule: options.RuleOption = RuleChoice.VARIABLE,
    trees: TreesOption = 200,
    k: KOption = 2.0,
    nu: NuOption = 3.0,
    q: QOption = 0.9,
    sigma: SigmaOption = "linear",
    variance: VarianceOption = VarianceChoice.CONSTANT,
    variance_trees: VarianceTreesOption = 40,
    split: SplitOption = SplitChoice.HARD,
    bandwidth: BandwidthOption = 0.1,
    box: BoxOption = None,
    monotone: MonotoneOption = None,
    interact: InteractOption = None,
    forbid: ForbidOption = None,
    forbid_below: ForbidBelowOption = None,
    only: OnlyOption = None,
    max_depth: MaxDepthOption = None,
    max_leaves: MaxLeavesOption = None,
    column_weight: ColumnWeightOption = None,
    sparse: SparseOption = False,
    knowledge: KnowledgeOption = None,
    proposal: Annotated[
        str,
        typer.Option(
            help="auto, uc, q0, 'cycle(n)', birth_death, change, swap, or several with weights: uc=2,change=1; "
            "with --prior or --edit: auto, subtree, sequence, address, independent, 'cycle(n)'",
            rich_help_panel=SAMPLING,
        ),
    ] = "auto",
    moves: MovesOption = "auto",
    start: StartOption = StartChoice.ROOT,
    chains: Annotated[int, typer.Option(help="Chains, to be compared.", rich_help_panel=SAMPLING)] = 4,
    draws: Annotated[int, typer.Option(help="Draws to keep of each chain.", rich_help_panel=SAMPLING)] = 1000,
    warmup: Annotated[int, typer.Option(help="Iterations to throw away first.", rich_help_panel=SAMPLING)] = 1000,
    thin: Annotated[int, typer.Option(help="Iterations between draws.", rich_help_panel=SAMPLING)] = 1,
    temperatures: Annotated[
        int,
        typer.Option(help="Temperatures of each chain; 12, say, when chains do not agree.", rich_help_panel=SAMPLING),
    ] = 1,
    ladder: Annotated[
        LadderChoice,
        typer.Option(help="adaptive: down to the prior, tuned in the warm-up.", rich_help_panel=SAMPLING),
    ] = LadderChoice.ADAPTIVE,
    until_converged: Annotated[
        bool,
        typer.Option(
            "--until-converged",
            help="Go on, twice as long each time, until the chains agree.",
            rich_help_panel=SAMPLING,
        ),
    ] = False,
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Of --until-converged: when to stop in any case.", rich_help_panel=SAMPLING
        ),
    ] = 600.0,
    seed: options.SeedOption = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Processors to use.", show_default="one a chain", rich_help_panel=SAMPLING),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Finish a run that was interrupted or killed.", rich_help_panel=SAMPLING)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Learn trees from a table and write a model file.

    Ctrl-C during the draws keeps what was drawn. A run that was interrupted in its warm-up, or killed, goes on with
    --resume, to the same result.
    """
    with session(json=as_json, quiet=quiet) as output:
        from .. import sampling
        from ..tempering import Tempering

        # Whatever can be refused is refused before the table is read.
        path = out or _default_out(file)
        begun = _unfinished(path) if resume else None
        family = model if begun is None or given(context, "model") else family_of(begun[0])
        asked = build_model(context, family, output)
        max_cuts_of(max_cuts)
        Tempering(temperatures, ladder.value)
        sampling.require_time_limit(time_limit)
        if given(context, "time_limit") and not until_converged:
            raise InputError("--time-limit is for --until-converged; add that, or leave --time-limit out")
        _require_numbers({"chains": chains, "draws": draws, "thin": thin}, warmup, seed)
        _require_place(path)
        require_file(file)
        if begun is None:
            _require_no_unfinished(path)
        else:
            _require_same(context, asked, *begun)
        design = read_design(context)
        require_noise(context, design)
        say_read(context, design, output)
        began = time.monotonic()
        with _telling_how_to_resume(context, path):
            if resume:
                posterior = sampling.resume(path, design, threads=threads, progress=output.chatty)
            else:
                if path.exists():
                    output.note(f"replacing the model {path}")
                posterior = sampling.sample(
                    asked,
                    design,
                    warmup=warmup,
                    draws=draws,
                    thin=thin,
                    chains=chains,
                    temperatures=temperatures,
                    ladder=ladder.value,
                    seed=seed,
                    threads=threads,
                    progress=output.chatty,
                    checkpoint=path,
                )
            if until_converged and posterior.draws == posterior.plan.draws:
                posterior = sampling.converge(
                    posterior, design, time_limit=time_limit, threads=threads, progress=output.chatty, checkpoint=path
                )
        if output.chatty:
            _say_learned(context, posterior, path, time.monotonic() - began, output)
        output.result(posterior.summary().to_dict() | {"file": str(file), "model_file": str(path)} if as_json else {})


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
        raise KeyboardInterrupt(f"{said}; to go on: {fit_again(context, without=('resume',))} --resume") from error


def _unfinished(path: Path) -> tuple[Model, Plan]:
    """What the unfinished run of a model file was begun with."""
    from ..families import read_header
    from ..storage import open_model, partial_path

    if not partial_path(path).exists():
        finished = f"; {path} is finished" if path.exists() else ""
        raise FileError(f"--resume: there is no unfinished run {partial_path(path)}{finished}; leave --resume out")
    with open_model(partial_path(path)) as reader:
        model, _, plan = read_header(reader)
    return model, plan


def _require_same(context: typer.Context, model: Model, begun: Model, plan: Plan) -> None:
    """Refuse options that contradict the unfinished run: its settings stand."""
    if family_of(model) != family_of(begun):
        raise InputError(
            f"--resume: the run was begun with --model {family_of(begun)}; leave --model out, or begin anew"
        )
    prior, begun_prior = model.prior.to_dict(), begun.prior.to_dict()
    stated = [option(name) for name in PARAMETERS if given(context, name)]
    if stated and any(prior.get(part) != begun_prior.get(part) for part in ("knowledge", "text")):
        raise InputError(f"--resume: the run was begun with other knowledge; leave {listed(stated)} out, or begin anew")
    # A run that goes on until its chains agree has had more warm-up, and lies further apart, than was asked for.
    planned = [name for name in PLANNED if not context.params["until_converged"] or name not in ("warmup", "thin")]
    stands = settings_of(begun)
    settings: dict[str, Any] = {
        **{name: (context.params[name], getattr(plan, name)) for name in planned},
        **{name: (prior[name], begun_prior.get(name)) for name in prior if name not in PARAMETERS},
        **{name: (value, stands[name]) for name, value in settings_of(model).items()},
    }
    for name, (asked, before) in settings.items():
        if given(context, name) and asked != before:
            written, shown = option(name), repr(before) if name == "edit" else before
            raise InputError(f"--resume: the run was begun with {written} {shown}; leave {written} out, or begin anew")


def _say_learned(context: typer.Context, posterior: AnyPosterior, path: Path, seconds: float, output: Output) -> None:
    from rich.text import Text

    from . import drawing

    summary = posterior.summary()
    output.say(
        Text(f"{drawing.draws_line(summary)}; {seconds:.1f} s"),
        *drawing.tempered_lines(summary),
        *drawing.use_chart(summary, most=6),
        Text(""),
        drawing.trees_line(posterior),
        drawing.verdict(summary),
        Text.assemble("\nModel written to ", (str(path), "bold"), f" ({_size(path)})"),
        drawing.next_steps(_steps(context, summary, path)),
    )


def _steps(context: typer.Context, summary: AnySummary, path: Path) -> list[tuple[str, str]]:
    model, table = shlex.quote(str(path)), shlex.quote(str(context.params["file"]))
    offset = context.params["offset"]
    added = "" if offset is None else f" --offset {shlex.quote(offset)}"
    steps = [
        (f"baytree show {model}", "see what was learned, and the diagnostics"),
        (f"baytree predict {model} {table}{added}", "predict rows, these or new ones"),
    ]
    if context.params["resume"]:  # what the run was begun with need not be among the options
        return steps
    # Going on until the chains agree may have made the draws lie further apart than was asked for.
    thin = {"thin": summary.thin} if summary.thin != context.params["thin"] else {}
    again = [
        (fit_again(context, thin | remedy.options, without=("resume",)), remedy.what) for remedy in summary.remedies
    ]
    return steps + again


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size // 1000, 1)} kB"
