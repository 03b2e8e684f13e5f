"""Prediction by averaging over soft trees, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..bart.prediction import normals_by_row
from ..errors import InputError
from ..validation import require_prob, unknown_choice
from .experts import Classes, Gamma, Gaussian, Poisson
from .mixture_quantiles import quantile
from .model import HME
from .soft_tree import SoftTree

OF_NUMBERS = ("mean", "sd", "interval", "draws", "predictive", "predictive_interval")
OF_CLASSES = ("mean", "interval", "draws", "predictive")
# How many numbers a block of rows has, over all draws.
BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class SoftPrediction:
    """Draws of soft trees, and what they predict.

    Attributes
    ----------
    model : HME
        The model, resolved.
    parameters : dict of str to numpy.ndarray
        The draws, as `Layout` has them, each of shape (chains, draws, numbers).
    seed : int
        Of new responses.
    """

    model: HME
    parameters: dict[str, np.ndarray]
    seed: int

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of chains and of draws."""
        return self.parameters["gates"].shape[:2]

    @property
    def of_classes(self) -> bool:
        """Whether class probabilities are predicted."""
        return self.model.expert in ("logistic", "multinomial")

    def take(self, kept: np.ndarray) -> SoftPrediction:
        """Some draws of each chain, by their numbers."""
        return replace(self, parameters={name: values[:, kept] for name, values in self.parameters.items()})

    def tree(self, chain: int, draw: int) -> SoftTree:
        """One draw."""
        return self.model.layout.tree({name: values[chain, draw] for name, values in self.parameters.items()})

    def trees(self) -> Iterator[SoftTree]:
        """All draws, chain after chain."""
        chains, draws = self.shape
        for chain in range(chains):
            for draw in range(draws):
                yield self.tree(chain, draw)

    def predict(self, inputs: np.ndarray, kind: str, prob: float) -> np.ndarray:
        """What `HMEPosterior.predict` promises, for the inputs of the rows."""
        kinds = OF_CLASSES if self.of_classes else OF_NUMBERS
        if kind not in kinds:
            raise unknown_choice("kind of prediction", kind, kinds)
        require_prob(prob)
        one = self.shape == (1, 1)
        if kind == "interval" and one:
            raise InputError(
                f"kind='interval': method={self.model.method!r} found one tree, which has no error bars; "
                "choose another method or see normal_approximation, or kind='predictive_interval' for new responses"
            )
        tails = [(1 - prob) / 2, (1 + prob) / 2]
        if kind in ("mean", "sd"):
            found = self._by_blocks(inputs, 1, lambda rows, _: self._mean(rows) if kind == "mean" else self._sd(rows))
        elif kind == "predictive_interval" and one:
            found = self._by_blocks(inputs, 1, lambda rows, _: self._quantiles(rows, tails))
        else:
            draw = self._means if kind in ("draws", "interval") else self._new
            found = self._by_blocks(
                inputs,
                self.shape[0] * self.shape[1],
                draw if kind in ("draws", "predictive") else lambda *block: _ends(draw(*block), tails),
            )
        if self.model.calibrated.one_output and not self.of_classes:
            found = found[:, 0]
        if kind in ("draws", "predictive"):
            return np.moveaxis(found, -1, 0).reshape(*self.shape, *found.shape[:-1])
        return found

    def _by_blocks(
        self, inputs: np.ndarray, draws: int, predict: Callable[[np.ndarray, int], np.ndarray]
    ) -> np.ndarray:
        """What a function of some rows, and of the number of the first, gives for all of them.

        A block has so many rows that one number for each of the draws at once, or for each leaf, fits into memory.
        """
        layout = self.model.layout
        step = max(1, BLOCK_NUMBERS // (max(draws, layout.leaves) * (1 + layout.outputs)))
        begins = range(0, max(len(inputs), 1), step)
        return np.concatenate([predict(inputs[begin : begin + step], begin) for begin in begins])

    def _mean(self, inputs: np.ndarray) -> np.ndarray:
        """E(y | x), shape (rows, outputs)."""
        total = sum(tree.means(inputs) for tree in self.trees())
        return self.model.outputs.original(total / (self.shape[0] * self.shape[1]))

    def _sd(self, inputs: np.ndarray) -> np.ndarray:
        """√Var(y | x), by Var(y | x) = E Var(y | x, tree) + Var E(y | x, tree)."""
        total, squares, within = np.zeros((3, len(inputs), self.model.layout.outputs))
        for tree in self.trees():
            means = tree.means(inputs)
            total += means
            squares += means**2
            within += tree.variances(inputs)
        number = self.shape[0] * self.shape[1]
        between = np.maximum(squares / number - (total / number) ** 2, 0)
        return np.sqrt(within / number + between) * self.model.outputs.scale

    def _quantiles(self, inputs: np.ndarray, tails: Sequence[float]) -> np.ndarray:
        """Of the one tree, exactly."""
        ends = [self.model.outputs.original(quantile(self.tree(0, 0), inputs, share)) for share in tails]
        return np.stack(ends, axis=-1)

    def _means(self, inputs: np.ndarray, _: int) -> np.ndarray:
        """E(y | x) of each draw, shape (rows, outputs, draws)."""
        return np.stack([self.model.outputs.original(tree.means(inputs)) for tree in self.trees()], axis=-1)

    def _new(self, inputs: np.ndarray, first: int) -> np.ndarray:
        """A new response of each draw, shape (rows, outputs, draws); of classes their positions, without outputs."""
        layout, total = self.model.layout, self.shape[0] * self.shape[1]
        numbers = normals_by_row(self.seed, first, len(inputs), total * (1 + layout.outputs))
        numbers = numbers.reshape(len(inputs), total, 1 + layout.outputs)
        found = [new_outputs(tree, inputs, numbers[:, draw]) for draw, tree in enumerate(self.trees())]
        if self.of_classes:
            return np.stack(found, axis=-1)
        return np.stack([self.model.outputs.original(one) for one in found], axis=-1)


def new_outputs(tree: SoftTree, inputs: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """A new output of each row: a leaf by the gates, then what its expert says.

    Parameters
    ----------
    tree : SoftTree
        The parameters.
    inputs : numpy.ndarray
        The rows.
    normal : numpy.ndarray
        Standard normal numbers, one for the leaf and one for each output, shape (rows, 1 + outputs). Each is used by
        its distribution function, so that a row's output does not depend on the others.

    Returns
    -------
    numpy.ndarray
        Shape (rows, outputs); of classes their positions, shape (rows,).
    """
    from scipy import special, stats

    leaf = _chosen(np.exp(tree.log_paths(inputs)).T, special.ndtr(normal[:, 0]))
    experts, every = tree.experts, np.arange(len(inputs))
    means = experts.means(inputs)[leaf, every]
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


def _ends(drawn: np.ndarray, tails: Sequence[float]) -> np.ndarray:
    """The ends of intervals, on the last axis in place of the draws."""
    return np.moveaxis(np.quantile(drawn, tails, axis=-1), 0, -1)
