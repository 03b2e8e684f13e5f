"""The contract of a family: what a run asks of its models and its chains.

A family is a folder with a `Model`, a posterior (`baytree.posterior.base.BasePosterior`) and a line that registers both
(`baytree.posterior.registry.register`). Sampling, files and the command line are written against these alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, NoReturn, Protocol, Self, TypeVar

import numpy as np

from ..errors import InputError
from .tempering import NO_TEMPERING, Tempering


class Chain(Protocol):
    """A chain of the core: a state that moves on, and a record of draws."""

    @property
    def log_likelihood(self) -> float:
        """That of the state."""

    @property
    def turns(self) -> Sequence[int]:
        """How often each move was proposed since warm-up."""

    @property
    def accepted(self) -> Sequence[int]:
        """How often it changed the state."""

    def warm_up(self, iterations: int, threads: int) -> None:
        """Move on, tuning what is tuned."""

    def end_warm_up(self) -> None:
        """Fix what was tuned."""

    def advance(self, iterations: int, threads: int = 1) -> None:
        """Move on."""

    def draw(self, draws: int, thin: int, threads: int = 1) -> None:
        """Record so many states, `thin` iterations apart."""


PosteriorType = TypeVar("PosteriorType", covariant=True)
ChainType = TypeVar("ChainType")


# What to try of each hyperparameter of a model or of its prior.
Grid = Mapping[str, Sequence[Any]]


def refuse_init() -> NoReturn:
    """Say that a chain cannot be put at a tree."""
    raise InputError("only a chain over single trees can begin at a tree; leave init out")


class Model(ABC, Generic[PosteriorType, ChainType]):
    """What is sampled, as a small frozen description: the first type is its posterior's, the second its chains'."""

    # What model files and the command line call its family.
    family: ClassVar[str]
    # Whether its chains can run at several temperatures.
    tempers: ClassVar[bool] = True

    @staticmethod
    @abstractmethod
    def require(design: Any) -> None:
        """Raise InputError for anything but a design of the kind that the model takes."""

    @abstractmethod
    def resolve(self, design: Any) -> Self:
        """The model with everything that was left open chosen for this design."""

    def warnings(self, design: Any) -> Sequence[str]:
        """What a person should know before the chains run."""
        return ()

    @abstractmethod
    def describe(self, schema: Any) -> str:
        """What is assumed of tables with a schema, in sentences of a line each; the model must be resolved."""

    @property
    def shares(self) -> Mapping[str, float]:
        """How often each proposal is made, by its name; none where nothing that is proposed can be refused."""
        return {}

    @property
    def grids(self) -> Sequence[Grid]:
        """What `tune` tries where nothing is said; of what cannot be tuned nothing."""
        return ()

    def predicted_bytes(self, design: Any, settings: Any) -> tuple[int, int]:
        """What a chain takes besides the data, and each draw that it keeps, in bytes: rather too few than too many."""
        return 0, 0

    def iteration_work(self, design: Any, temperatures: int) -> float:
        """What an iteration of a chain takes, in seconds of a processor, about; by sizes alone, never by a clock."""
        return 1e-6 * temperatures

    # ---- chains ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def chains(self, design: Any, seed: int, chains: int, tempering: Tempering = NO_TEMPERING) -> Sequence[ChainType]:
        """Chains at their first states, each with a stream of its own."""

    @abstractmethod
    def take(self, chain: Any) -> dict[str, np.ndarray]:
        """What a chain recorded since the last time."""

    @abstractmethod
    def state_of(self, chain: Any) -> dict[str, Any]:
        """Where a chain is, so that it can go on from there to the bit, as JSON-safe values."""

    @abstractmethod
    def restore(self, chain: Any, state: Mapping[str, Any]) -> None:
        """Put a chain where `state_of` found it."""

    def upgraded(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state of a chain as this version writes it, from one that any version wrote."""
        return state

    def begin_at(self, chain: Any, design: Any, init: Any) -> None:
        """Put a chain at a state that a person gave."""
        refuse_init()

    def drawn_by_chains(self) -> Self:
        """The model where chains draw from it, although its method leaves that open."""
        return self

    def without_chains(self, design: Any, settings: Any, monitored: Any, threads: int) -> PosteriorType | str | None:
        """The posterior of a resolved model whose method needs no chains; None where it does, or a text that says why.

        Parameters
        ----------
        design : Design or LinearDesign
            The data.
        settings : RunSettings
            The seed, and how many draws to make where the method gives more than one.
        monitored : Rows
            The rows at which predictions are compared.
        threads : int
            How many may share the work; the result does not depend on them.
        """
        return None

    # ---- files ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The model as JSON-safe values, its ``"family"`` among them; it must be resolved."""

    @classmethod
    @abstractmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The model that `to_dict` described."""


AnyModel = Model[Any, Any]
