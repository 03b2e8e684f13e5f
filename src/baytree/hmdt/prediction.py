"""Prediction one step ahead, by the tree that EM found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..hme.data.inputs import Inputs
from ..hme.data.outputs import responses_as_numbers
from ..hme.prediction import new_outputs
from ..hme.tree.quantiles import quantile
from ..hme.tree.soft_tree import Mixture
from ..posterior.prediction import Block, Prediction, normals_by_row, tails
from .data.sequences import Sequences
from .model import HMDT
from .tree.inference import Inference

OF_NUMBERS = ("mean", "sd", "draws", "predictive", "predictive_interval")
OF_CLASSES = ("mean", "draws", "predictive")


@dataclass(frozen=True, eq=False)
class MarkovPrediction(Prediction):
    """What a tree says of each row of sequences from the rows before it.

    Attributes
    ----------
    model : HMDT
        The model, resolved.
    inputs : Inputs
        How rows become inputs.
    inference : Inference
        The tree, and how sums over its decisions are taken.
    seed : int
        Of new responses.
    """

    model: HMDT
    inputs: Inputs
    inference: Inference
    seed: int

    shape = (1, 1)
    averages = OF_NUMBERS

    @property
    def classes(self) -> int | None:
        """Number of classes; None where numbers are predicted."""
        return self.model.layout.outputs if self.model.expert in ("logistic", "multinomial") else None

    @property
    def one_number(self) -> bool:
        """Whether a response is one number."""
        return self.model.calibrated.one_output and self.classes is None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of prediction that there are; one tree has no credible intervals."""
        return OF_NUMBERS if self.classes is None else OF_CLASSES

    def numbers(self, keeps_draws: bool) -> int:
        """How many numbers are in memory at once for a row."""
        return self.model.layout.leaves * (1 + self.model.layout.outputs)

    def take(self, draws: np.ndarray) -> MarkovPrediction:
        """The one draw there is."""
        return self

    def blocks(
        self, rows: np.ndarray, sequences: Sequences | None = None
    ) -> Callable[[slice, Sequence[str]], MarkovBlock]:
        """What tells what the tree says of some rows of the matrix: of sequences, or as one that nobody saw respond."""
        mixture = self.inference.one_step(sequences or self._unseen(rows, np.array([0, len(rows)])))

        def block(some: slice, kinds: Sequence[str]) -> MarkovBlock:
            return MarkovBlock(self, mixture.at(some), some.start)

        return block

    def predictions(self, bins: np.ndarray) -> Iterable[np.ndarray]:
        """The means of rows of the matrix, each a sequence of its own, shape (1, 1, rows, width)."""
        alone = self._unseen(bins, np.arange(len(bins) + 1))
        means = self.predict(bins, sequences=alone).reshape(1, 1, len(bins), -1)
        return [means if self.classes is None else means[..., :-1]]

    def _unseen(self, rows: np.ndarray, begin: np.ndarray) -> Sequences:
        """Sequences of rows of the matrix of which no response was seen."""
        outputs = np.ones((len(rows), self.model.layout.outputs))
        return Sequences(self.inputs.of_matrix(rows), outputs, np.zeros(len(rows), dtype=bool), begin)


class MarkovBlock(Block):
    """What the tree says of a block of rows.

    Parameters
    ----------
    prediction : MarkovPrediction
        The tree.
    mixture : Mixture
        What it says at the rows.
    first : int
        The number of the first of them.
    """

    def __init__(self, prediction: MarkovPrediction, mixture: Mixture, first: int) -> None:
        self._prediction, self._mixture, self._first = prediction, mixture, first
        self._outputs = prediction.model.outputs

    @cached_property
    def mean(self) -> np.ndarray:
        """E(y | x), or the class probabilities."""
        return self._of_outputs(self._outputs.original(self._mixture.mean))

    @property
    def draws(self) -> np.ndarray:
        """The same, as of one draw."""
        return self.mean[None]

    def log_density(self, y: np.ndarray, weight: np.ndarray | float) -> np.ndarray:
        """log P(y_t | x_1 … x_t, y_1 … y_{t−1}) in the unit of the response, as of one draw.

        The rows that were seen add up to the likelihood of their sequences.
        """
        from scipy.special import logsumexp

        standard = self._outputs.standard(responses_as_numbers(y, self._prediction.classes))
        density = self._mixture.experts.log_density(self._mixture.X, standard)
        found: np.ndarray = logsumexp(density, axis=0, b=self._mixture.share) - np.log(self._outputs.scale).sum()
        return weight * found[None]

    @property
    def sd(self) -> np.ndarray:
        """√Var(y | x)."""
        return self._of_outputs(np.sqrt(self._mixture.variance) * self._outputs.scale)

    @property
    def predictive(self) -> np.ndarray:
        """A new y for each row; of classes its position."""
        rows, outputs = len(self._mixture.X), self._prediction.model.layout.outputs
        normals = normals_by_row(self._prediction.seed, self._first, rows, 1 + outputs)
        new = new_outputs(self._mixture, normals)
        return (new if self._prediction.classes else self._of_outputs(self._outputs.original(new)))[None]

    def interval(self, kind: str, prob: float) -> np.ndarray:
        """The ends of the interval of a new y, which are exact."""
        ends = [self._outputs.original(quantile(self._mixture, level)) for level in tails(prob)]
        return np.stack([self._of_outputs(end) for end in ends], axis=-1)

    def _of_outputs(self, values: np.ndarray) -> np.ndarray:
        """Values with outputs on the last axis, of which one number has none."""
        return values[..., 0] if self._prediction.one_number else values
