"""The contract of a family on the command line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rich.console import RenderableType

from ...data.design import AnyDesign
from ...mcmc.contract import AnyModel
from ...posterior.base import BasePosterior
from ..options import FitOptions, PredictOptions, ShowOptions
from ..output import Output
from ..report import closing, opening

if TYPE_CHECKING:
    import polars as pl

Fit = TypeVar("Fit", bound=FitOptions)
AnyPosterior = TypeVar("AnyPosterior", bound=BasePosterior)


class Family(ABC, Generic[Fit, AnyPosterior]):
    """A family of models on the command line: its options, what they make, and what is said of what it learned.

    Attributes
    ----------
    name : str
        What `--model` calls it, and the registry.
    about : str
        One model of it, in a few words.
    plural : str
        Its models.
    fit, show, predict : type of Options
        What it asks, by command; the options of a family may also say what to do in place of another's.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    plural: ClassVar[str]
    fit: type[Fit]
    show: type[ShowOptions] = ShowOptions
    predict: type[PredictOptions] = PredictOptions

    # ---- baytree fit ----------------------------------------------------------------------------------------------

    @abstractmethod
    def build(self, asked: Fit, output: Output) -> AnyModel:
        """The model that the options describe."""

    @abstractmethod
    def read(self, asked: Fit) -> AnyDesign:
        """The table that the options describe, as the family takes it."""

    def counts_all(self, design: AnyDesign, threads: int) -> bool:
        """Whether a table is so small that the posterior is added up, and no chain is needed."""
        return False

    @abstractmethod
    def settings(self, model: Any) -> Mapping[str, Any]:
        """What a run that is resumed goes on with, by option."""

    @abstractmethod
    def describe(self, posterior: AnyPosterior, summary: Any) -> list[RenderableType]:
        """What `baytree fit` says was learned."""

    # ---- baytree show ---------------------------------------------------------------------------------------------

    def draw(self, posterior: Any, asked: Any) -> list[RenderableType]:
        """All that `baytree show` says."""
        summary = posterior.summary()
        picture = self.picture(posterior, summary, asked)
        return [*opening(posterior, summary), *picture, *closing(posterior, summary)]

    @abstractmethod
    def picture(self, posterior: AnyPosterior, summary: Any, asked: Any) -> list[RenderableType]:
        """What `baytree show` draws of what was learned."""

    def record(self, posterior: Any, asked: Any) -> dict[str, Any]:
        """What `baytree show --json` says, as JSON-safe values."""
        return posterior.summary().to_dict()

    # ---- baytree predict ------------------------------------------------------------------------------------------

    def usual(self, posterior: Any) -> tuple[str, ...]:
        """The kinds of predictions that most people want."""
        if posterior.schema.response.classes is not None:
            return ("mean",)
        # One draw has no error bars.
        bars = () if posterior.chains * posterior.draws == 1 else ("interval",)
        return ("mean", *bars, "predictive_interval")

    def several(self, posterior: AnyPosterior) -> bool:
        """Whether each row has several responses."""
        return False

    def further(self, posterior: AnyPosterior, table: pl.DataFrame, asked: Any) -> dict[str, Any]:
        """What `predict` of the posterior takes besides the table and the kind."""
        return {}
