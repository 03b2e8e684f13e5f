"""Chains that draw the posterior of a mixture of experts, as the core runs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _core
from ...data.matrix import LinearDesign
from ...errors import InputError
from ...mcmc.tempering import Tempering, position_from_dict, position_to_dict
from .initialisation import initial_trees

if TYPE_CHECKING:
    from ..model import HME

KINDS = {
    "linear": _core.ExpertKind.linear,
    "constant": _core.ExpertKind.constant,
    "logistic": _core.ExpertKind.classes,
    "multinomial": _core.ExpertKind.classes,
}
POSITION = ("stream", "steps", "leaf", "gates", "coefficients", "variance")


def chains_of(model: HME, design: LinearDesign, seed: int, chains: int, tempering: Tempering) -> list[_core.HMEChain]:
    """Chains at their first states, each at a beginning of its own where these are random.

    Parameters
    ----------
    model : HME
        The model, resolved.
    design : LinearDesign
        The data.
    seed, chains : int
        Of all chains, and how many.
    tempering : Tempering
        The temperatures of each.
    """
    inputs, outputs, weight = model.rows(design)
    sd = float(model.ridge) ** -0.5
    problem = _core.HMEProblem(
        np.ascontiguousarray(inputs),
        np.ascontiguousarray(outputs),
        model.depth,
        model.branching,
        KINDS[model.expert],
        sd,
        sd,
        model.nu,
        [] if model.layout.variance is None else model.noise_scale.tolist(),
    )
    ladder, found = tempering.native(design.rows), []
    for number in range(chains):
        chain = _core.HMEChain(problem, 1.0, ladder, seed, number)
        generator = np.random.default_rng([seed, number])
        first = next(initial_trees(model, (inputs, outputs, weight), model.inputs(design.schema), generator))
        begun = model.layout.packed(first)
        chain.begin(begun["gates"], begun["coefficients"], begun.get("variance", np.zeros(0)))
        found.append(chain)
    return found


def state_of(chain: _core.HMEChain) -> dict[str, Any]:
    """Where a chain is, as JSON-safe values."""
    positions = [chain.rung_position(rung) for rung in range(chain.rungs)]
    rungs = [{name: getattr(position, name) for name in POSITION} for position in positions]
    return {"rungs": rungs, "position": position_to_dict(chain.position())}


def restore(chain: _core.HMEChain, state: Mapping[str, Any]) -> None:
    """Put a chain where `state_of` found it."""
    if len(state["rungs"]) != chain.rungs:
        raise InputError(f"chain: {len(state['rungs'])} rungs were saved of {chain.rungs}")
    for rung, record in enumerate(state["rungs"]):
        position = _core.HMEPosition()
        for name in POSITION:
            setattr(position, name, record[name])
        chain.restore_rung(rung, position)
    chain.restore_position(position_from_dict(state["position"]))
