"""Prediction by averaging over soft trees, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import InputError
from ..posterior.prediction import (
    INTERVALS,
    KINDS,
    NUMBER_KINDS,
    Block,
    Prediction,
    normals_by_row,
    tails,
)
from .data.inputs import Inputs
from .data.outputs import responses_as_numbers
from .model import HME
from .tree.experts import Classes, Gamma, Gaussian, Poisson
from .tree.quantiles import quantile
from .tree.soft_tree import Mixture, SoftTree


@dataclass(frozen=True, eq=False)
class SoftPrediction(Prediction):
    """Draws of soft trees, and what they predict.

    Attributes
    ----------
    model : HME
        The model, resolved.
    inputs : Inputs
        How rows become inputs.
    parameters : dict of str to numpy.ndarray
        The draws, as `Layout` has them, each of shape (chains, draws, numbers).
    seed : int
        Of new responses.
    """

    model: HME
    inputs: Inputs
    parameters: dict[str, np.ndarray]
    seed: int

    # A product of matrices rounds a row by how many there are.
    rows_alone = False

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of chains and of draws of each."""
        chains, draws = self.parameters["gates"].shape[:2]
        return chains, draws

    @property
    def of_classes(self) -> bool:
        """Whether class probabilities are predicted."""
        return self.model.expert in ("logistic", "multinomial")

    @property
    def classes(self) -> int | None:
        """Number of classes; None where numbers are predicted."""
        return self.model.layout.outputs if self.of_classes else None

    @property
    def one_number(self) -> bool:
        """Whether a response is one number."""
        return self.model.calibrated.one_output and not self.of_classes

    def take(self, draws: np.ndarray) -> SoftPrediction:
        """Some draws of each chain, by their numbers."""
        return replace(self, parameters={name: values[:, draws] for name, values in self.parameters.items()})

    def tree(self, chain: int, draw: int) -> SoftTree:
        """One draw."""
        return self.model.layout.tree({name: values[chain, draw] for name, values in self.parameters.items()})

    def trees(self) -> Iterator[SoftTree]:
        """All draws, chain after chain."""
        chains, draws = self.shape
        for chain in range(chains):
            for draw in range(draws):
                yield self.tree(chain, draw)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of prediction that there are."""
        return KINDS if self.of_classes else NUMBER_KINDS

    @property
    def averages(self) -> tuple[str, ...]:
        """Those that keep no draw in memory."""
        return ("mean", "sd", "predictive_interval") if self.shape == (1, 1) else ("mean", "sd")

    def numbers(self, keeps_draws: bool) -> int:
        """How many numbers are in memory at once for a row, with or without those of every draw."""
        draws, layout = self.shape[0] * self.shape[1] if keeps_draws else 1, self.model.layout
        return max(draws, layout.leaves) * (1 + layout.outputs)

    def require_kinds(self, wanted: Sequence[str]) -> None:
        """Raise InputError for kinds of prediction that there are not."""
        super().require_kinds(wanted)
        if "interval" in wanted and self.shape == (1, 1):
            raise InputError(
                f"kind='interval': method={self.model.method!r} found one tree, which has no error bars; "
                "choose another method or see normal_approximation, or kind='predictive_interval' for new responses"
            )

    def blocks(self, rows: np.ndarray) -> Callable[[slice, Sequence[str]], SoftBlock]:
        """What tells what the draws say of some of the rows."""

        def block(some: slice, kinds: Sequence[str]) -> SoftBlock:
            return SoftBlock(self, self.inputs.of_matrix(rows[some]), some.start, kinds)

        return block


class SoftBlock(Block):
    """What every soft tree says of a block of rows, in one walk over the trees.

    Parameters
    ----------
    prediction : SoftPrediction
        The draws.
    inputs : numpy.ndarray
        The rows.
    first : int
        The number of the first of them.
    kinds : sequence of str
        The kinds that will be asked for.
    """

    def __init__(self, prediction: SoftPrediction, inputs: np.ndarray, first: int, kinds: Sequence[str]) -> None:
        self._prediction, self._inputs, self._first = prediction, inputs, first
        self._total = prediction.chains * prediction.draws
        self._wanted = {kind if self._total == 1 else INTERVALS.get(kind, kind) for kind in kinds}

    @cached_property
    def _only(self) -> Mixture:
        """What the one tree says."""
        return self._prediction.tree(0, 0).at(self._inputs)

    def _mixtures(self) -> Iterator[Mixture]:
        """What each tree says; that of the only one is kept."""
        if self._total == 1:
            yield self._only
        else:
            yield from (tree.at(self._inputs) for tree in self._prediction.trees())

    @cached_property
    def _said(self) -> dict[str, np.ndarray]:
        """What was asked for, with outputs on the last axis: that of all trees, or added up."""
        model, wanted = self._prediction.model, self._wanted
        total, squares, within = np.zeros((3, len(self._inputs), model.layout.outputs))
        draws, new = [], []
        normals = self._normals if "predictive" in wanted else None
        for number, mixture in enumerate(self._mixtures()):
            if wanted & {"mean", "sd", "draws"}:
                mean = mixture.mean
                total += mean
            if "sd" in wanted:
                squares += mean**2
                within += mixture.variance
            if "draws" in wanted:
                draws.append(model.outputs.original(mean))
            if normals is not None:
                new.append(new_outputs(mixture, normals[:, number]))
        found = {"total": total, "squares": squares, "within": within}
        kept = {name: np.stack(each, axis=-1) for name, each in (("draws", draws), ("new", new)) if each}
        return found | {name: np.moveaxis(each, -1, 0) for name, each in kept.items()}

    @property
    def draws(self) -> np.ndarray:
        """E(y | x) of each draw and row, or the class probabilities."""
        return self._of_outputs(self._said["draws"])

    @property
    def predictive(self) -> np.ndarray:
        """A new y for each draw and row."""
        new = self._said["new"]
        return new if self._prediction.of_classes else self._of_outputs(self._prediction.model.outputs.original(new))

    def log_density(self, y: np.ndarray, weight: np.ndarray | float) -> np.ndarray:
        """log P(y | x, tree) of each draw and row, in the unit of the response; a row of weight w counts as w.

        The experts' densities are mixed by the gates.
        """
        outputs = self._prediction.model.outputs
        standard = outputs.standard(responses_as_numbers(y, self._prediction.classes))
        found = [tree.log_likelihood(self._inputs, standard) for tree in self._prediction.trees()]
        return weight * (np.stack(found) - np.log(outputs.scale).sum())

    @property
    def mean(self) -> np.ndarray:
        """The posterior mean of E(y | x), or of the class probabilities."""
        return self._of_outputs(self._prediction.model.outputs.original(self._said["total"] / self._total))

    @property
    def sd(self) -> np.ndarray:
        """√Var(y | x), by Var(y | x) = E Var(y | x, tree) + Var E(y | x, tree)."""
        said = self._said
        between = np.maximum(said["squares"] / self._total - (said["total"] / self._total) ** 2, 0)
        return self._of_outputs(np.sqrt(said["within"] / self._total + between) * self._prediction.model.outputs.scale)

    def interval(self, kind: str, prob: float) -> np.ndarray:
        """The ends of an interval; that of a new y of one tree is exact."""
        if kind != "predictive_interval" or self._total > 1:
            return super().interval(kind, prob)
        outputs = self._prediction.model.outputs
        ends = [self._of_outputs(outputs.original(quantile(self._only, level))) for level in tails(prob)]
        return np.stack(ends, axis=-1)

    def _of_outputs(self, values: np.ndarray) -> np.ndarray:
        """Values with outputs on the last axis, of which one number has none."""
        return values[..., 0] if self._prediction.one_number else values

    @property
    def _normals(self) -> np.ndarray:
        """Standard normal numbers, shape (rows, all draws, 1 + outputs)."""
        each = 1 + self._prediction.model.layout.outputs
        numbers = normals_by_row(self._prediction.seed, self._first, len(self._inputs), self._total * each)
        return numbers.reshape(len(self._inputs), self._total, each)


def new_outputs(mixture: Mixture, normal: np.ndarray) -> np.ndarray:
    """A new output of each row: a leaf by the gates, then what its expert says.

    Parameters
    ----------
    mixture : Mixture
        What a tree says at the rows.
    normal : numpy.ndarray
        Standard normal numbers, one for the leaf and one for each output, shape (rows, 1 + outputs). Each is used by
        its distribution function, so that a row's output does not depend on the others.

    Returns
    -------
    numpy.ndarray
        Shape (rows, outputs); of classes their positions, shape (rows,).
    """
    from scipy import special, stats

    leaf = _chosen(mixture.share.T, special.ndtr(normal[:, 0]))
    experts, every = mixture.experts, np.arange(len(normal))
    means = mixture.means[leaf, every]
    if isinstance(experts, Classes):
        return _chosen(means, special.ndtr(normal[:, 1]))
    if isinstance(experts, Gaussian):
        return means + np.sqrt(experts.variance[leaf]) * normal[:, 1:]
    share = special.ndtr(normal[:, 1:])
    if isinstance(experts, Poisson):
        return stats.poisson.ppf(share, means)
    assert isinstance(experts, Gamma)
    return stats.gamma.ppf(share, experts.shape, scale=means / experts.shape)


def _chosen(shares: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Of each row one of the choices, by its share."""
    return (uniform[:, None] > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)
