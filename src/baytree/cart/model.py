"""Bayesian CART: a single tree, as a small frozen description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..data.design import Design, Schema, require_design
from ..data.to_core import native_design, vocabulary
from ..errors import InputError
from ..mcmc.contract import Model
from ..mcmc.mixtures import Component, MixtureSpec
from ..mcmc.tempering import NO_TEMPERING, Tempering, position_from_dict, position_to_dict
from ..priors import prior_from_dict
from ..priors.edit_tree import EditTree
from ..priors.grow_tree import GrowTree
from ..slp import Program, parse_kernel
from ..slp.kernels import native_kernel, resolve_kernels
from ..trees.forest import forest_from_lists, forest_to_lists
from ..trees.tree import Tree, tree_of
from ..validation import replaced, require_power
from .leaves import Leaf, ProgramChain, TreeChain, leaf_from_dict, require_leaf, usual_leaf
from .proposals import KEEPING_SHAPE, native_proposal, parse_proposal

if TYPE_CHECKING:
    from .posterior import Posterior  # noqa: F401, named as the type of a posterior

Chain = TreeChain | ProgramChain


@dataclass(frozen=True)
class CART(Model["Posterior", "TreeChain | ProgramChain"]):
    """A single tree whose leaf parameters are integrated out: P(T | x, y) ∝ P(T | x) · P(y | T, x)^power.

    Parameters
    ----------
    prior : GrowTree, EditTree or Program
        The prior over trees; a program's goal is ``cart(T)``.
    leaf : leaf model, optional
        The leaf model, such as `Gaussian`; by default what suits the response.
    proposal : str or mapping of str to float
        What the chain proposes: see `baytree.cart.proposals.parse_proposal` and, with a program or an `EditTree` as
        prior, `baytree.slp.parse_kernel`.
    power : float
        The power of the likelihood: 1 gives the posterior, 0 the prior.
    """

    prior: GrowTree | EditTree | Program = field(default_factory=GrowTree)
    leaf: Leaf | None = None
    proposal: MixtureSpec = "auto"
    power: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.prior, (GrowTree, EditTree, Program)):
            raise InputError(
                f"prior={self.prior!r} is not a tree prior; give a GrowTree, an EditTree, or a program by slp.load"
            )
        if self.leaf is not None:
            require_leaf(self.leaf)
        require_power(self.power)
        if isinstance(self.prior, GrowTree) and self.prior.knowledge.sparse:
            raise InputError('Weights("sparse") learns from many trees; a single tree has too few rules: use BART')
        self.shares()

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The proposals or kernels, with what was left open chosen."""
        if isinstance(self.prior, GrowTree):
            return parse_proposal(self.proposal)
        return resolve_kernels(parse_kernel(self.proposal), self.prior.for_trees(), self.prior.semantics)

    require = staticmethod(require_design)

    def shares(self) -> dict[str, float]:
        """The weight of each proposal or kernel, by its name."""
        return {str(component): component.weight for component in self.components}

    def resolve(self, design: Design) -> CART:
        """The model with everything that was left open chosen for this design."""
        prior = self.prior if isinstance(self.prior, Program) else self.prior.resolve(design)
        return replaced(self, prior=prior, leaf=self._leaf(design), proposal=self.shares())

    def _leaf(self, design: Design) -> Leaf:
        return (self.leaf or usual_leaf(design)).resolve(design, self.prior.min_leaf)

    def chains(self, design: Design, seed: int, chains: int, tempering: Tempering = NO_TEMPERING) -> list[Chain]:
        """Chains at their first states, each a draw from the prior. They share the design and the leaf model."""
        if design.offset is not None:
            raise InputError("a single tree takes no offset: leave it out, or use a sum of trees")
        ladder = tempering.native(design.rows)
        native, leaf = native_design(design), self._leaf(design)
        likelihood = leaf.native(design)
        if isinstance(self.prior, GrowTree):
            proposals = [native_proposal(component) for component in self.components]
            prior = self.prior.native(design.schema)
            return [
                leaf.tree_chain(native, likelihood, prior, proposals, float(self.power), ladder, seed, number)
                for number in range(chains)
            ]
        kernels = [native_kernel(component) for component in self.components]
        program, names = self.prior.for_trees(design), vocabulary(design.schema)
        semantics, limits = getattr(_core.Semantics, self.prior.semantics), self.prior.limits.native()
        return [
            leaf.program_chain(
                native, names, likelihood, program, semantics, limits, kernels, float(self.power), ladder, seed, number
            )
            for number in range(chains)
        ]

    def log_likelihood(self, design: Design, tree: Tree | Mapping[str, Any]) -> float:
        """The marginal log-likelihood log P(y | T, x) of one tree.

        Parameters
        ----------
        design : Design
            The data.
        tree : Tree or mapping
            A tree, or nested dictionaries as `Tree.from_dict` takes them.
        """
        # The likelihood knows no prior but for the fewest rows of a leaf.
        [chain] = replace(self, prior=GrowTree(min_leaf=self.prior.min_leaf), proposal="auto").chains(design, 0, 1)
        move_to(chain, tree_of(design.schema, tree))
        return chain.log_likelihood

    # ---- what a run asks of a model -------------------------------------------------------------------------------

    def take(self, chain: Chain) -> dict[str, np.ndarray]:
        """What a chain recorded since the last time."""
        forest, draws = chain.take()
        return {**forest, **draws}

    def state_of(self, chain: Chain) -> dict[str, Any]:
        """Where a chain is, so that it can go on from there to the bit, as JSON-safe values."""
        rungs = []
        for rung in range(chain.rungs):
            stream, turns, accepted = chain.rung_position(rung)
            rungs.append({"stream": stream, "turns": turns, "accepted": accepted} | _model_of(chain, rung))
        return {"rungs": rungs, "position": position_to_dict(chain.position())}

    def restore(self, chain: Chain, state: Mapping[str, Any]) -> None:
        """Put a chain where `state_of` found it."""
        if len(state["rungs"]) != chain.rungs:
            raise InputError(f"chain: {len(state['rungs'])} rungs were saved of {chain.rungs}")
        for rung, record in enumerate(state["rungs"]):
            if isinstance(chain, ProgramChain):
                chain.restore_choices([tuple(choice) for choice in record["choices"]], rung)
            else:
                chain.restore_tree(forest_from_lists(record["tree"]).arrays(), rung)
            if "values" in record:
                chain.restore_values(record["values"], rung)
            chain.restore_rung(rung, record["stream"], record["turns"], record["accepted"])
        chain.restore_position(position_from_dict(state["position"]))

    def begin_at(self, chain: Chain, design: Design, init: Tree | Mapping[str, Any]) -> None:
        """Put a chain at one tree."""
        move_to(chain, tree_of(design.schema, init))

    def upgraded(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state of a chain as this version writes it, from one that any version wrote."""
        return upgraded(state)

    def warnings(self, design: Design) -> Sequence[str]:
        """What a person should know before the chains run: where they cannot reach all trees, or none but a leaf."""
        lines, least = [], self.prior.min_leaf
        if isinstance(self.prior, GrowTree) and all(component.name in KEEPING_SHAPE for component in self.components):
            lines.append("these proposals never change the shape of a tree; add uc or birth_death")
        if design.rows < 2 * least:
            lines.append(
                f"{design.rows} rows cannot be divided into leaves of {least}: every tree is one leaf; lower min_leaf"
            )
        return lines

    def describe(self, schema: Schema) -> str:
        """What is assumed, in a sentence."""
        return self.prior.describe()

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON-safe values; it must be resolved."""
        assert self.leaf is not None
        assert isinstance(self.proposal, Mapping)
        return {
            "family": "cart",
            "prior": self.prior.to_dict(),
            "leaf": self.leaf.to_dict(),
            "proposal": dict(self.proposal),
            "power": float(self.power),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> CART:
        """The model that `to_dict` described."""
        return cls(
            prior_from_dict(record["prior"]), leaf_from_dict(record["leaf"]), record["proposal"], record["power"]
        )


def upgraded(state: dict[str, Any]) -> dict[str, Any]:
    """The state of a chain as this version writes it, from one that any version wrote."""
    if "rungs" in state:
        return state
    # Before tempering, a chain was its only rung.
    of_rung = ("stream", "turns", "accepted", "tree", "choices")
    position = position_to_dict(_core.TemperingPosition()) | {
        "stored_trees": state["stored_trees"],
        "stored": state["stored"],
        "ladder": [1.0],
        "walker": [0],
        "heading": [0],
        "tried": [0],
        "accepted": [0],
        "log_likelihood": [0.0],
    }
    rung = {name: state[name] for name in of_rung if name in state}
    rest = {name: state[name] for name in ("warmed", "drawn", "toward")}
    return {"rungs": [rung], "position": position} | rest


def move_to(chain: Chain, tree: Tree) -> None:
    """Put a chain at a tree, on every rung."""
    if isinstance(chain, ProgramChain):
        raise InputError("a chain over the proofs of a program cannot start at a tree, which may have many proofs")
    for rung in range(chain.rungs):
        chain.restore_tree(tree.forest().arrays(), rung)


def _model_of(chain: Chain, rung: int) -> dict[str, Any]:
    """The tree or proof that a rung is at, and its leaf values where it must be monotone."""
    values = {"values": chain.values(rung)} if chain.values(rung) else {}
    if isinstance(chain, ProgramChain):
        return {"choices": [list(choice) for choice in chain.choices(rung)]} | values
    return {"tree": forest_to_lists(chain.tree(rung))} | values
