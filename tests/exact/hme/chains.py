"""Running baytree's chains over mixtures of experts on small tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baytree import _core
from reference.hme.mixtures import Floats, Ints, Mixture

ONE_RUNG = _core.Tempering([1.0], 1, False, False)


def problem(mixture: Mixture, y: Floats | None = None) -> _core.HMEProblem:
    """The same mixture as the core takes it, with its own outputs or others."""
    return _core.HMEProblem(
        mixture.x,
        np.ascontiguousarray(mixture.y if y is None else y),
        mixture.depth,
        mixture.branching,
        _core.ExpertKind[mixture.kind],
        mixture.gate_sd,
        mixture.sd,
        mixture.nu,
        [] if mixture.classes else list(mixture.scale),
    )


@dataclass(frozen=True)
class Drawn:
    """Of each chain, draw and rung the decisions as numbers of states, (chains, draws, rungs), and of the cold rung the
    functions of the parameters that have exact means, (chains, draws, quantities)."""

    states: Ints
    quantities: Floats
    chains: list[_core.HMEChain]
    parts: list[dict[str, Floats]]


def run(
    mixture: Mixture,
    power: float = 1.0,
    *,
    chains: int = 4,
    draws: int = 2500,
    thin: int = 8,
    tempering: _core.Tempering = ONE_RUNG,
) -> Drawn:
    """Draws; some must have the log prior and the log likelihood of the reference."""
    given, ran, parts, states = problem(mixture), [], [], []
    for number in range(chains):
        chain = _core.HMEChain(given, power, tempering, 1, number)
        chain.warm_up(200, 1)
        chain.end_warm_up()
        leaf = []
        for _ in range(draws):
            chain.draw(1, thin)
            leaf.append([chain.rung_position(rung).leaf for rung in range(chain.rungs)])
        states.append(mixture.number_of(np.array(leaf)))
        ran.append(chain)
        parts.append(chain.take())
    for part in parts:
        for draw in range(0, draws, draws // 5):
            given_draw = [part[name][draw] if name in part else None for name in ("gates", "coefficients", "variance")]
            np.testing.assert_allclose(part["log_prior"][draw], mixture.log_prior(*given_draw), rtol=1e-10)
            np.testing.assert_allclose(part["log_likelihood"][draw], mixture.log_mixture(*given_draw), rtol=1e-10)
    quantities = np.stack(
        [mixture.quantities(part["gates"], part["coefficients"], part.get("variance")) for part in parts]
    )
    return Drawn(np.stack(states), quantities, ran, parts)
