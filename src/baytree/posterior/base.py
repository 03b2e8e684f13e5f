"""What posteriors of all models share: whether their chains agree, and how they are written to a file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..data.design import AnyDesign
from ..diagnostics.convergence import Diagnostics
from ..diagnostics.predictions import DRAWS, Rows, distinct_rows
from ..errors import InputError
from ..mcmc.contract import AnyModel
from ..mcmc.settings import RunSettings
from ..storage import ModelReader, ModelWriter

# A model file is written in blocks of about this many numbers a chain, far below SQLite's limit for one value.
NUMBERS_PER_BLOCK = 8_000_000

# What a chain recorded in one block: the arrays of a forest of the trees that are new in it, and of its draws.
Part = dict[str, np.ndarray]


class BasePosterior(ABC):
    """Draws from a posterior, whatever of.

    Attributes
    ----------
    model
        What was sampled, with everything that was left open filled in.
    schema : Schema
        The training table's names, cut points, levels and response.
    settings : RunSettings
        How the draws were asked for.
    states : tuple of dict
        Where each chain stopped, so that it can go on.
    monitored : Rows or None
        Some training rows, by which chains are compared; no file or pickle holds them.
    recorded : Diagnostics or None
        What a comparison found while the training rows were at hand.
    """

    model: Any  # a Model; each posterior says of which family
    schema: Any
    settings: RunSettings
    states: tuple[dict[str, Any], ...]
    monitored: Rows | None
    recorded: Diagnostics | None

    @property
    @abstractmethod
    def chains(self) -> int:
        """Number of chains."""

    @property
    @abstractmethod
    def draws(self) -> int:
        """Number of draws of each chain."""

    @property
    def has_chains(self) -> bool:
        """Whether the draws come from chains, which can go on."""
        return True

    @abstractmethod
    def predict(self, X: Any, kind: str = "mean", prob: float = 0.9) -> np.ndarray:
        """Predict new rows, averaging over the draws."""

    @abstractmethod
    def summary(self) -> Any:
        """What was fitted, what it says, and whether the chains agree; ``print`` it."""

    @abstractmethod
    def _diagnose(self, rows: Rows | None, draws: int | None) -> Diagnostics:
        """Compare the chains at some rows, on some draws of each."""

    def __getstate__(self) -> dict[str, Any]:
        """All but the core's copy of the trees, which is made again when needed, and the training rows."""
        kept = {name: value for name, value in self.__dict__.items() if name not in ("_predictor", "_diagnostics")}
        return kept | {"monitored": None, "recorded": self.diagnostics()}

    def facts(self) -> dict[str, Any]:
        """What summaries of all models say: the response, the table, how draws were made, and how chains compare."""
        response, settings = self.schema.response, self.settings
        return {
            "response": response.name,
            "task": response.task,
            "rows": settings.rows,
            "columns": len(self.schema.columns),
            "chains": self.chains,
            "draws": self.draws,
            "warmup": settings.warmup,
            "thin": settings.thin,
            "seed": settings.seed,
            "model": self.model.to_dict(),
            "diagnostics": self.diagnostics(),
        }

    # ---- do the chains agree? -------------------------------------------------------------------------------------

    def diagnostics(self, rows: Any = None, *, draws: int | None = DRAWS) -> Diagnostics:
        """What tells whether the chains agree.

        Parameters
        ----------
        rows : Design, path, frame or array-like, optional
            Rows at which predictions and splits are compared; equal ones count once. By default some of the training
            rows, at most 200, as the run left them or as the model file has them on record; of a file that has
            nothing on record neither is known.
        draws : int or None
            How many draws of each chain they are compared on, evenly spaced. None for all, and for log-likelihood and
            leaves as well, of which else 10,000 are looked at.

        Returns
        -------
        Diagnostics
            ``print(posterior.summary())`` shows it.
        """
        if rows is None and draws == DRAWS:
            return self._diagnostics
        return self._diagnose(self.monitored if rows is None else self._rows(rows), draws)

    @cached_property
    def _diagnostics(self) -> Diagnostics:
        found = self.recorded
        if found is not None and (found.chains, found.draws) == (self.chains, self.draws):
            return found
        return self._diagnose(self.monitored, DRAWS)

    def _rows(self, rows: Any) -> Rows:
        bins = self.bins_of(rows) if isinstance(rows, AnyDesign) else self.schema.encode(rows)
        if not len(bins):
            raise InputError("0 rows; predictions are compared at one row or more")
        return distinct_rows(bins)

    def bins_of(self, design: AnyDesign) -> np.ndarray:
        """The bins of a design with the columns and cuts of this posterior, shape (rows, columns)."""
        if not isinstance(design, AnyDesign) or design.schema != self.schema:
            raise InputError("these are not the columns and cut points that the draws came from; give the same design")
        return design.at(slice(None))

    # ---- files ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def part(self, chain: int, begin: int, end: int) -> Part:
        """Draws begin … end of one chain, with the trees that are new in them."""

    @classmethod
    @abstractmethod
    def from_parts(
        cls,
        model: Any,
        schema: Any,
        settings: RunSettings,
        parts: Sequence[Sequence[Part]],
        states: Sequence[dict[str, Any]],
        monitored: Rows | None = None,
        recorded: Diagnostics | None = None,
    ) -> Self:
        """Put together what the chains recorded, `parts[chain]` being its blocks in order; this empties them."""

    @staticmethod
    @abstractmethod
    def read_parts(reader: ModelReader, chain: int, settings: RunSettings) -> list[Part]:
        """The blocks of draws of one chain in a model file."""

    @abstractmethod
    def check(self) -> Self:
        """Raise InputError where the parts do not belong together; gives the posterior itself."""

    @property
    @abstractmethod
    def _numbers(self) -> int:
        """About how many numbers the draws are."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file; an existing one is replaced only when the new one is complete."""
        header = model_header(self.model, self.schema, self.settings) | {"diagnostics": self.diagnostics().to_dict()}
        writer = ModelWriter.create(path, header, Path(f"{os.fspath(path)}.saving"))
        try:
            for draws in self._blocks():
                writer.append(draws, self.states)
        except BaseException:
            writer.discard()
            raise
        writer.finish()

    def _blocks(self) -> Iterator[list[Part]]:
        """The draws of every chain in blocks, as `from_parts` takes them."""
        blocks = min(self.draws, self._numbers // self.chains // NUMBERS_PER_BLOCK + 1)
        edges = np.linspace(0, self.draws, blocks + 1).astype(int)
        for begin, end in pairwise(edges.tolist()):
            yield [self.part(chain, begin, end) for chain in range(self.chains)]


def model_header(model: AnyModel, schema: Any, settings: RunSettings) -> dict[str, Any]:
    """What a model file says besides the draws."""
    return {"model": model.to_dict(), "schema": schema.to_dict(), "plan": asdict(settings)}


def blocks_of(reader: ModelReader, chain: int, names: Sequence[str], optional: Sequence[str] = ()) -> list[Part]:
    """The blocks of draws of one chain in a model file, by the names of their arrays; some it may not have."""
    arrays = {name: reader.blocks(chain, name) for name in (*names, *optional)}
    for name in optional:
        if not arrays[name]:
            del arrays[name]
    return [dict(zip(arrays, block, strict=True)) for block in zip(*arrays.values(), strict=True)]
