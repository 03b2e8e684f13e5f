"""``baytree fit``: from a table to a model file."""

from __future__ import annotations

import shlex
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...cart import proposals
from ...data.files import SEPARATORS
from ...errors import FileError, InputError
from ...mcmc.mixtures import offered
from ...slp import kernels
from .. import options
from ..choosing import (
    BetaOption,
    Family,
    MethodChoice,
    MethodOption,
    ModelOption,
    MovesOption,
    NuOption,
    build_model,
    family_of,
    read_data,
)
from ..families.bart import (
    BandwidthOption,
    KOption,
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
)
from ..families.hme import (
    BranchingOption,
    DepthOption,
    EarlyStoppingOption,
    EpochsOption,
    ExpertChoice,
    ExpertOption,
    InitChoice,
    InitOption,
    InitsOption,
    RidgeOption,
)
from ..families.subset import (
    AlwaysOption,
    CoefficientsOption,
    HeredityOption,
    InteractionOption,
    ModelPriorOption,
    NoInterceptOption,
    ScaleOption,
)
from ..files import require_file, require_folder
from ..knowledge import (
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
from ..options import (
    SAMPLING,
    RuleChoice,
    SemanticsChoice,
    TaskChoice,
    fit_again,
    given,
    max_cuts_of,
    require_count,
    require_seed,
    say_read,
)
from ..resuming import require_no_unfinished, require_same, telling_how_to_resume, unfinished
from ..session import session

if TYPE_CHECKING:
    from ...posterior.base import BasePosterior as AnyPosterior
    from ..drawing import AnySummary
    from ..output import Output

# Names of tables, which a model would make unreadable for other programs.
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".gz")
# How many columns are shown after a fit.
MOST_BARS = 6


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
    interaction: InteractionOption = None,
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
    k: KOption = "2.0",
    nu: NuOption = 3.0,
    q: QOption = 0.9,
    sigma: SigmaOption = "linear",
    variance: VarianceOption = VarianceChoice.CONSTANT,
    variance_trees: VarianceTreesOption = 40,
    split: SplitOption = SplitChoice.HARD,
    bandwidth: BandwidthOption = 0.1,
    model_prior: ModelPriorOption = "beta-binomial",
    coefficients: CoefficientsOption = "hyper-gn",
    always: AlwaysOption = None,
    heredity: HeredityOption = None,
    no_intercept: NoInterceptOption = False,
    scale: ScaleOption = "auto",
    depth: DepthOption = 2,
    branching: BranchingOption = 2,
    expert: ExpertOption = ExpertChoice.AUTO,
    ridge: RidgeOption = "auto",
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
            help=f"{offered(proposals.NAMES)}, or several with weights: uc=2,change=1; with --prior or --edit: "
            f"{offered(kernels.NAMES)}",
            rich_help_panel=SAMPLING,
        ),
    ] = "auto",
    moves: MovesOption = "auto",
    start: StartOption = StartChoice.ROOT,
    method: MethodOption = MethodChoice.AUTO,
    init: InitOption = InitChoice.AUTO,
    n_init: InitsOption = 1,
    epochs: EpochsOption = 100,
    early_stopping: EarlyStoppingOption = False,
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
    """Learn trees, linear models or mixtures of experts from a table and write a model file.

    Ctrl-C during the draws keeps what was drawn. A run that was interrupted in its warm-up, or killed, goes on with
    --resume, to the same result.
    """
    with session(json=as_json, quiet=quiet) as output:
        from ...mcmc.tempering import Tempering
        from ...sampling import api as sampling

        # Whatever can be refused is refused before the table is read.
        path = out or _default_out(file)
        begun = unfinished(path) if resume else None
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
            require_no_unfinished(path)
        else:
            require_same(context, asked, *begun)
        design = read_data(context, family)
        say_read(context, design, output)
        began = time.monotonic()
        with telling_how_to_resume(context, path):
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
            if until_converged and posterior.draws == posterior.settings.draws:
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
    from ...storage import open_model

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


def _say_learned(context: typer.Context, posterior: AnyPosterior, path: Path, seconds: float, output: Output) -> None:
    from rich.text import Text

    from ...bart.summary import BARTSummary
    from ...cart.summary import Summary
    from ...hme.posterior import HMEPosterior
    from ...subset.posterior import SubsetPosterior
    from .. import drawing, linear_drawing, soft_drawing

    summary = posterior.summary()
    output.say(Text(f"{drawing.draws_line(summary)}; {seconds:.1f} s"), *drawing.tempered_lines(summary))
    if isinstance(posterior, SubsetPosterior):
        top = linear_drawing.best_line(posterior.top_models(1))
        output.say(*linear_drawing.inclusion_chart(posterior.inclusion(), MOST_BARS), Text(""), top)
    elif isinstance(posterior, HMEPosterior):
        output.say(*soft_drawing.tree_picture(posterior.summary()), Text(""))
    else:
        assert isinstance(summary, Summary | BARTSummary)
        output.say(*drawing.use_chart(summary, MOST_BARS), Text(""), drawing.trees_line(posterior))
    output.say(
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
