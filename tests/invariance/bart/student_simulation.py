"""Sums of trees with Student noise run forwards on a small table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import baytree as bt
from baytree import _core
from baytree.mcmc.mixtures import MixtureSpec
from exact.bart.chains import model
from exact.trees.native import read_space
from invariance.bart.simulation import Forward, State
from reference.bart.normal_sums import Noise, SumSpace
from reference.bart.student_sums import FREEDOMS
from reference.bart.tuples import Floats
from reference.trees.spaces import WEIGHTED_REAL

NUMBERS = SumSpace(name="student", space=WEIGHTED_REAL, trees=2, noise=Noise(1.0, nu=8.0, q=0.7), k=1.0)


@dataclass(frozen=True)
class StudentState(State):
    """A state with the degrees of freedom."""

    freedom: float


@dataclass(frozen=True)
class StudentForward(Forward):
    """Draws from the model, and the sampler's chains for it."""

    def state(self) -> StudentState:
        """A draw from the prior."""
        weight = FREEDOMS**2 * np.exp(-FREEDOMS / 10)
        freedom = float(self.generator.choice(FREEDOMS, p=weight / weight.sum()))
        return StudentState(**vars(super().state()), freedom=freedom)

    def response(self, state: State) -> Floats:
        """Numbers given a state."""
        assert isinstance(state, StudentState) and isinstance(self.sums, SumSpace)
        noise = self.generator.standard_t(state.freedom, len(self.sums.response))
        return self.fits(state)[:, 0] + state.sigma / np.sqrt(self.sums.row_weights) * noise

    def statistics(self, state: State, log_likelihood: float) -> dict[str, float]:
        """What is ranked: numbers that say where a state is."""
        assert isinstance(state, StudentState)
        return super().statistics(state, log_likelihood) | {"degrees of freedom": state.freedom}

    def chain(self, proposal: MixtureSpec, response: Floats, seed: int) -> tuple[bt.BART, _core.SumChain]:
        """A chain for this response, and its model."""
        design = replace(read_space(self.sums.space), y=response)
        student = replace(model(self.sums, proposal), noise="student", calibration=self._calibration)
        bart = student.resolve(design)
        return bart, bart.chains(design, seed, 1)[0]

    def place(self, bart: bt.BART, chain: _core.SumChain, state: State) -> None:
        """Put a chain at a state."""
        assert isinstance(state, StudentState)
        super().place(bart, chain, state)
        bart.restore(chain, bart.state_of(chain) | {"freedom": state.freedom})

    def read(self, record: dict[str, Any]) -> StudentState:
        """A chain's state as it describes it."""
        return StudentState(**vars(super().read(record)), freedom=record["freedom"])
