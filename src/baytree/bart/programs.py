"""Programs as the priors of trees that add up."""

from __future__ import annotations

from dataclasses import replace

from .. import _core
from ..data.design import Design
from ..data.to_core import vocabulary
from ..errors import InputError
from ..mcmc.mixtures import ProposalSpec
from ..slp import Program, parse_kernel
from ..slp.kernels import Component


def kernel_of(program: Program, moves: ProposalSpec) -> Component:
    """How parts of a tree are drawn again; the component's weight is how many at a visit of the tree."""
    kernel, *others = parse_kernel("subtree" if moves == "auto" else moves)
    if others or kernel.name != "subtree":
        raise InputError(
            f"moves={moves!r}: the trees of a program are drawn again by subtree; say how often, as in {{'subtree': 2}}"
        )
    objection = program.for_trees().objection(_core.Kernel.subtree, getattr(_core.Semantics, program.semantics))
    if objection:
        raise InputError(f"{program.file}: not for sums of trees: {objection}; a single tree, CART, takes any program")
    return kernel


def tree_program(program: Program, moves: ProposalSpec, design: Design) -> _core.TreeProgram:
    """What derives the trees of a sum, as the core takes it."""
    return _core.TreeProgram(
        vocabulary(design.schema),
        program.for_trees(design),
        getattr(_core.Semantics, program.semantics),
        program.limits.native(),
        [replace(kernel_of(program, moves), weight=1.0).native()],
    )
