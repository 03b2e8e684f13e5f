"""Mixtures of experts run forwards: parameters from the prior, decisions, outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from baytree import _core
from exact.hme.chains import ONE_RUNG, problem
from reference.hme.mixtures import Floats, Ints, Mixture


def table(rows: int, columns: int) -> tuple[tuple[float, ...], ...]:
    """Inputs with ones in the last column."""
    x = np.random.default_rng(1).standard_normal((rows, columns - 1))
    return tuple(map(tuple, np.column_stack([x, np.ones(rows)]).tolist()))


X = table(8, 2)
NUMBERS = ((0.0,),) * len(X)
# Priors that keep experts apart but not certain, so that decisions, drawn again and again, move.
LINEAR = Mixture("linear", "linear", X, NUMBERS, depth=2, nu=8.0)
CONSTANT = Mixture("constant", "constant", X, ((0.0, 0.0),) * len(X), branching=3, nu=8.0, scale=(0.5, 1.0))
LOGISTIC = Mixture("logistic", "classes", X, NUMBERS, classes=2)
MULTINOMIAL = Mixture("multinomial", "classes", X, NUMBERS, branching=3, classes=3)
MIXTURES = [LINEAR, CONSTANT, LOGISTIC, MULTINOMIAL]


@dataclass(frozen=True)
class State:
    """Parameters and decisions, as the core has them."""

    gates: Floats
    coefficients: Floats
    variance: Floats | None
    leaf: Ints


@dataclass(frozen=True)
class Forward:
    """Draws from a mixture."""

    mixture: Mixture
    generator: np.random.Generator

    def state(self) -> State:
        mixture, draw = self.mixture, self.generator
        nodes = sum(mixture.branching**level for level in range(mixture.depth))
        gates = mixture.gate_sd * draw.standard_normal((nodes, mixture.branching - 1, mixture.x.shape[1]))
        variance = None
        if mixture.classes:
            shape = (mixture.leaves, mixture.classes - 1, mixture.x.shape[1])
            coefficients = mixture.sd * draw.standard_normal(shape)
        else:
            scale = np.array(mixture.scale)
            variance = mixture.nu * scale / draw.chisquare(mixture.nu, (mixture.leaves, len(scale)))
            shape = (mixture.leaves, mixture.seen.shape[1], len(scale))
            coefficients = mixture.sd * np.sqrt(variance)[:, None, :] * draw.standard_normal(shape)
        paths = self.paths(gates)
        leaf = (draw.random(len(paths))[:, None] > np.cumsum(paths, axis=1)[:, :-1]).sum(axis=1)
        return State(gates, coefficients, variance, leaf)

    def paths(self, gates: Floats) -> Floats:
        """P(leaf | x), (rows, leaves)."""
        shares, place = np.ones((len(self.mixture.x), 1)), 0
        for level in range(self.mixture.depth):
            nodes = self.mixture.branching**level
            scores = np.einsum("ikc,nc->nik", gates[place : place + nodes], self.mixture.x)
            branch = special.softmax(np.concatenate([scores, np.zeros((*scores.shape[:2], 1))], axis=2), axis=2)
            shares, place = (shares[..., None] * branch).reshape(len(shares), -1), place + nodes
        return shares

    def fits(self, state: State) -> Floats:
        """E(y | x, leaf), of classes the probabilities: (rows, leaves, outputs)."""
        mixture = self.mixture
        if not mixture.classes:
            return np.einsum("nc,lco->nlo", mixture.seen, state.coefficients)
        scores = np.einsum("nc,lkc->nlk", mixture.x, state.coefficients)
        return special.softmax(np.concatenate([scores, np.zeros((*scores.shape[:2], 1))], axis=2), axis=2)

    def outputs(self, state: State) -> Floats:
        """Numbers, or indicators of classes, given the decisions."""
        rows = np.arange(len(state.leaf))
        fits, draw = self.fits(state)[rows, state.leaf], self.generator
        if state.variance is not None:
            return fits + np.sqrt(state.variance[state.leaf]) * draw.standard_normal(fits.shape)
        chosen = (draw.random(len(fits))[:, None] > np.cumsum(fits, axis=1)[:, :-1]).sum(axis=1)
        return np.eye(fits.shape[1])[chosen]

    def means(self, state: State) -> Floats:
        """E(y | x) of every row."""
        return np.einsum("nl,nlo->no", self.paths(state.gates), self.fits(state))

    def surprise(self, state: State, y: Floats) -> Floats:
        """Numbers of mean zero where state and outputs come from the model."""
        rows = np.arange(len(state.leaf))
        paths, fits = self.paths(state.gates), self.fits(state)[rows, state.leaf]
        decided = np.eye(self.mixture.leaves)[state.leaf] - paths
        off = y - fits
        if state.variance is not None:
            off = off / np.sqrt(state.variance[state.leaf])
            off = np.concatenate([off, off**2 - 1], axis=1)
        return np.concatenate([decided.ravel(), (decided * state.gates[0, 0, 0]).ravel(), off.ravel()])

    def prior_means(self) -> Floats:
        """Of what `Mixture.quantities` computes."""
        mixture = self.mixture
        per_gate = (mixture.branching - 1) * mixture.x.shape[1]
        nodes = (mixture.leaves - 1) // (mixture.branching - 1)
        gates = np.tile([0.0, mixture.gate_sd**2], (nodes, 1)).repeat(per_gate, axis=1)
        if mixture.classes:
            per_leaf = (mixture.classes - 1) * mixture.x.shape[1]
            experts = np.tile([0.0, mixture.sd**2], (mixture.leaves, 1)).repeat(per_leaf, axis=1)
        else:
            seen = mixture.seen.shape[1]
            one = [[1 / scale, *[0.0] * seen, *[mixture.sd**2] * seen] for scale in mixture.scale]
            experts = np.tile(np.concatenate(one), (mixture.leaves, 1))
        return np.concatenate([gates.ravel(), experts.ravel()])

    # ---- the sampler ------------------------------------------------------------------------------------------------

    def chain(self, y: Floats, seed: int) -> _core.HMEChain:
        """A chain for these outputs."""
        return _core.HMEChain(problem(self.mixture, y), 1.0, ONE_RUNG, seed, 0)

    def step(self, y: Floats, state: State, seed: int) -> State:
        """One iteration of the sampler from a state."""
        chain = self.chain(y, seed)
        position = chain.rung_position()
        position.gates, position.coefficients = state.gates.ravel().tolist(), state.coefficients.ravel().tolist()
        position.variance = [] if state.variance is None else state.variance.ravel().tolist()
        position.leaf = state.leaf.tolist()
        chain.restore_rung(0, position)
        chain.advance(1)
        found = chain.rung_position()
        return State(
            np.reshape(found.gates, state.gates.shape),
            np.reshape(found.coefficients, state.coefficients.shape),
            None if state.variance is None else np.reshape(found.variance, state.variance.shape),
            np.array(found.leaf),
        )
