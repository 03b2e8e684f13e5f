"""Hierarchical mixtures of experts on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import typer
from rich.console import RenderableType
from rich.text import Text

from ...data.matrix import LinearDesign
from ...errors import InputError
from ...hme.model import BY_CHAINS, HME
from ...hme.posterior import HMEPosterior
from ...hme.summary import HMESummary
from ...validation import number_or_word
from ..declaring import MODEL, SAMPLING, option
from ..matrix import MatrixOptions, read_matrix
from ..options import TemperedFitOptions
from ..output import Output
from ..terminal import section
from .base import Family

# The parameters of `HME` that are options of the same name.
SETTINGS = (
    *("depth", "branching", "expert", "ridge", "nu", "scale"),
    *("method", "init", "n_init", "epochs", "early_stopping"),
)
# What only chains have.
OF_CHAINS = (
    *("effort", "chains", "warmup", "thin", "temperatures", "ladder", "until_converged", "time_limit", "threads"),
    *("nu", "scale"),
)


@dataclass(kw_only=True)
class HMEFit(MatrixOptions, TemperedFitOptions):
    """What mixtures of experts ask for a fit."""

    instead: ClassVar = {
        "prior": "soft trees are not grown; --ridge says how simple they are",
        "trees": "a soft tree has one tree; --depth and --branching say how large it is",
        "max_depth": "all leaves of a soft tree are at --depth",
        "forbid": "--drop leaves a column out of a soft tree",
    }

    depth: Annotated[int, typer.Option(help="Levels of gates.", rich_help_panel=MODEL)] = 2
    branching: Annotated[int, typer.Option(help="Children of each gate.", rich_help_panel=MODEL)] = 2
    expert: Annotated[
        Literal["auto", "linear", "constant", "poisson", "gamma", "logistic", "multinomial"],
        typer.Option(
            help="The models at the leaves; auto: linear for numbers, multinomial for classes.", rich_help_panel=MODEL
        ),
    ] = "auto"
    ridge: Annotated[
        str,
        typer.Option(
            metavar="auto|NUMBER", help="The penalty on coefficients; auto: 0.1, of classes 5.", rich_help_panel=MODEL
        ),
    ] = "auto"
    nu: Annotated[
        float,
        typer.Option(help="Of chains: degrees of freedom of the prior of the noise.", rich_help_panel=MODEL),
    ] = 3.0
    scale: Annotated[
        str,
        typer.Option(
            metavar="auto|NUMBER", help="Of chains: a guess at the variance of the noise.", rich_help_panel=MODEL
        ),
    ] = "auto"
    method: Annotated[
        Literal["auto", "em", "em2", "online", "gibbs", "variational"],
        typer.Option(
            help="em, em2 (gates by least squares), online (one row at a time), gibbs (chains) or variational (a mean "
            "field, with draws); auto: em.",
            rich_help_panel=SAMPLING,
        ),
    ] = "auto"
    init: Annotated[
        Literal["auto", "cart", "grow", "random"],
        typer.Option(
            help="Begin at the splits of a decision tree, at a tree that grows, or at random.",
            rich_help_panel=SAMPLING,
        ),
    ] = "auto"
    n_init: Annotated[
        int,
        typer.Option(help="How many random trees to begin at; the best end counts.", rich_help_panel=SAMPLING),
    ] = 1
    epochs: Annotated[int, typer.Option(help="The most passes over the rows.", rich_help_panel=SAMPLING)] = 100
    early_stopping: Annotated[
        bool,
        typer.Option(
            "--early-stopping",
            help="Hold a tenth of the rows out, and end where they fit best.",
            rich_help_panel=SAMPLING,
        ),
    ] = False


class HMEFamily(Family[HMEFit, HMEPosterior]):
    """Mixtures of experts."""

    name, about, plural = "hme", "a tree of soft decisions over simple models", "mixtures of experts"
    fit = HMEFit

    def build(self, asked: HMEFit, output: Output) -> HME:
        """The model that the options describe."""
        stated = {name: getattr(asked, name) for name in SETTINGS}
        stated |= {name: number_or_word(stated[name]) for name in ("ridge", "scale")}
        if asked.method == "auto":
            # Only chains leave a run that can be resumed.
            stated["method"] = "gibbs" if asked.resume else "em"
        model = HME(**stated)
        refused = {
            "has no chains": () if model.method in BY_CHAINS else OF_CHAINS,
            "ends with one tree": () if model.method in (*BY_CHAINS, "variational") else ("draws",),
            "makes no epochs": ("epochs", "n_init") if model.method in BY_CHAINS else (),
        }
        for why, names in refused.items():
            for name in names:
                if name in asked.written:
                    raise InputError(f"{option(name)}: --method {model.method} {why}; leave {option(name)} out")
        return model

    def read(self, asked: HMEFit) -> LinearDesign:
        """The table as a matrix."""
        return read_matrix(asked, asked.task)

    def settings(self, model: HME) -> Mapping[str, Any]:
        """All that is an option."""
        return {name: getattr(model, name) for name in SETTINGS}

    def describe(self, posterior: HMEPosterior, summary: HMESummary) -> list[RenderableType]:
        """The best tree."""
        return [*self.picture(posterior, summary, None), Text("")]

    def picture(self, posterior: HMEPosterior, summary: HMESummary, asked: Any) -> list[RenderableType]:
        """The best tree, with what its gates ask and what its experts say of an average row."""
        gates, _, tree = str(summary.gates).partition("\n")
        picture = Text(tree)
        picture.highlight_regex(r"[├└│─]+", "dim")
        picture.highlight_regex(r"leaf \d+", "bold")
        title = "The tree" if summary.chains * summary.draws == 1 else "The draw of highest posterior density"
        head, body = section(title, picture)
        return [head, Text(gates), body]

    def several(self, posterior: HMEPosterior) -> bool:
        """Whether each row has several responses."""
        return not posterior.model.calibrated.one_output


FAMILY = HMEFamily()
