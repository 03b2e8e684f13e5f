"""Bayesian CART: a single tree, as a small frozen description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..data.design import Design, Schema, require_design
from ..data.to_core import design_of_nodes, native_design, vocabulary
from ..errors import InputError
from ..mcmc.contract import Grid, Model
from ..mcmc.mixtures import Component, MixtureSpec
from ..mcmc.tempering import NO_TEMPERING, Tempering, position_from_dict, position_to_dict
from ..priors import PRIORS
from ..priors.edit_tree import EditTree
from ..priors.grow_tree import GrowTree
from ..slp import Program
from ..slp import proposals as of_proofs
from ..trees.forest import forest_from_lists
from ..trees.tree import Tree, tree_of
from ..validation import replaced, require_power, unknown_choice
from .leaves import Leaf, ProgramChain, TreeChain, leaf_from_dict, require_leaf, usual_leaf
from .proposals import AUTO, KEEPING_SHAPE, native_proposal, parse_proposal
from .summed import AUTO_SETS, sum_up, too_many, why_chains
from .visited import BEST, Visited

if TYPE_CHECKING:
    from ..diagnostics.comparison import Rows
    from ..mcmc.settings import RunSettings
    from .posterior import Posterior

Chain = TreeChain | ProgramChain

# What `tune` tries of a `GrowTree`, and of an `EditTree`.
GROW_GRID: Grid = {"alpha": (0.5, 0.95), "beta": (0.5, 1.0, 2.0), "min_leaf": (1, 5, 20)}
EDIT_GRID: Grid = {"edits": (1.0, 4.0, 16.0)}
METHODS = ("auto", "exact", "chains")
# Of a large table a proposal looks at no more rows than so many, about; up to a few columns cost what one does.
MOST_ROWS, FEW_COLUMNS, MOST_COLUMNS = 4000, 13, 32


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
        prior, `baytree.slp.parse_proposal`.
    power : float
        The power of the likelihood: 1 gives the posterior, 0 the prior.
    method : {"auto", "exact", "chains"}
        ``"exact"`` adds up every tree, which takes a small table, and needs no chains: see the page *Exact answers*.
        ``"auto"`` does so where that is quick, and else draws by chains, as where a run was asked for a `proposal`, a
        warm-up or temperatures.
    """

    prior: GrowTree | EditTree | Program = field(default_factory=GrowTree)
    leaf: Leaf | None = None
    proposal: MixtureSpec = "auto"
    power: float = 1.0
    method: str = "auto"

    family = "cart"

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
        if self.method not in METHODS:
            raise unknown_choice("method", self.method, METHODS)
        if self.method == "exact" and (reason := why_chains(self)) is not None:
            raise InputError(f"method='exact': {reason}, which needs chains; choose method='chains'")
        _ = self.shares

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The proposals, with what was left open chosen."""
        if isinstance(self.prior, GrowTree):
            return parse_proposal(self.proposal)
        asked = of_proofs.parse_proposal(self.proposal)
        return of_proofs.resolve_proposals(asked, self.prior.for_trees(), self.prior.semantics)

    require = staticmethod(require_design)

    @cached_property
    def shares(self) -> Mapping[str, float]:
        """The weight of each proposal, by its name."""
        return {str(component): component.weight for component in self.components}

    def resolve(self, design: Design) -> CART:
        """The model with everything that was left open chosen for this design."""
        prior = self.prior if isinstance(self.prior, Program) else self.prior.resolve(design)
        # A proposal is one of chains, so whoever chose it wants them.
        open_still = self.shares == AUTO and why_chains(self) is None
        method = "chains" if self.method == "auto" and not open_still else self.method
        chosen = {"proposal": dict(self.shares), "components": self.components}
        return replaced(self, prior=prior, leaf=self._leaf(design), method=method, **chosen)

    @property
    def grids(self) -> Sequence[Grid]:
        """What `tune` tries: how large trees and their leaves are, or how far they are from a given tree."""
        return [] if isinstance(self.prior, Program) else [EDIT_GRID if isinstance(self.prior, EditTree) else GROW_GRID]

    def _leaf(self, design: Design) -> Leaf:
        return (self.leaf or usual_leaf(design)).resolve(design, self.prior.min_leaf)

    def chains(self, design: Design, seed: int, chains: int, tempering: Tempering = NO_TEMPERING) -> list[Chain]:
        """Chains at their first states, each a draw from the prior. They share the design and the leaf model."""
        if design.offset is not None:
            raise InputError("a single tree takes no offset: leave it out, or use a sum of trees")
        ladder = tempering.native(design.rows)
        leaf = self._leaf(design)
        likelihood = leaf.native(design)
        if isinstance(self.prior, GrowTree):
            native = design_of_nodes(design)
            proposals = [native_proposal(component) for component in self.components]
            prior = self.prior.native(design.schema)
            return [
                leaf.tree_chain(native, likelihood, prior, proposals, float(self.power), ladder, seed, number)
                for number in range(chains)
            ]
        native = native_design(design)
        redrawn = [of_proofs.native_proposal(component) for component in self.components]
        program, names = self.prior.for_trees(design), vocabulary(design.schema)
        semantics, limits = getattr(_core.Semantics, self.prior.semantics), self.prior.limits.native()
        return [
            leaf.program_chain(
                native, names, likelihood, program, semantics, limits, redrawn, float(self.power), ladder, seed, number
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
        return {"rungs": rungs, "position": position_to_dict(chain.position())} | Visited.state_of(chain)

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
        if BEST in state:
            Visited.from_dict(state[BEST]).put(chain)

    def begin_at(self, chain: Chain, design: Design, init: Tree | Mapping[str, Any]) -> None:
        """Put a chain at one tree."""
        move_to(chain, tree_of(design.schema, init))

    def upgraded(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state of a chain as this version writes it, from one that any version wrote."""
        return upgraded(state) if state else state

    def by(self, method: str) -> CART:
        """The model with its method chosen."""
        return replaced(self, method=method, components=self.components)

    def drawn_by_chains(self) -> CART:
        """The model with chains as its method, where that was left open."""
        return self.by("chains") if self.method == "auto" else self

    def without_chains(
        self, design: Design, settings: RunSettings, monitored: Rows, threads: int
    ) -> Posterior | str | None:
        """The posterior by adding up every tree, where that is the method and the table is small enough."""
        if self.method == "chains" or (self.method == "auto" and settings.temperatures > 1):
            return None
        if design.offset is not None:
            raise InputError("a single tree takes no offset: leave it out, or use a sum of trees")
        if settings.temperatures > 1:
            raise InputError(
                f"method='exact' has no chains that could have temperatures={settings.temperatures}; leave that out"
            )
        found = sum_up(self, design, settings, monitored, threads)
        if found is None and self.method == "exact":
            raise InputError(
                f"method='exact': {too_many(self)}, or choose method='chains'{self._certain(design, threads)}"
            )
        return found or too_many(self)

    def _certain(self, design: Design, threads: int) -> str:
        """What is certain of the evidence after a short look, to end an error with; nothing where that is too much."""
        from .bounds import bounded_evidence

        try:
            low, high = bounded_evidence(self, design, AUTO_SETS, threads)
        except InputError:
            return ""
        return f". What is certain: log P(y | x) lies between {low:.2f} and {high:.2f}; bt.bounds gives more"

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

    def predicted_bytes(self, design: Design, settings: RunSettings) -> tuple[int, int]:
        """The place of every row in the tree of each rung; of a draw its log probabilities, and often a new tree."""
        return 4 * settings.temperatures * design.rows, 70 + 8 * settings.temperatures

    def iteration_work(self, design: Design, temperatures: int) -> float:
        """A proposal at each temperature.

        Most of the time goes to those that weigh every rule of a node: they look at its rows in each column. The more
        rows there are, the deeper lies the node.
        """
        rows, columns = min(design.rows, MOST_ROWS), min(len(design.columns), MOST_COLUMNS)
        return temperatures * (0.6e-6 + 2.5e-9 * rows * max(columns / FEW_COLUMNS, 1.0))

    def describe(self, schema: Schema) -> str:
        """What is assumed, in a sentence."""
        return self.prior.describe()

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON-safe values; it must be resolved."""
        assert self.leaf is not None
        assert isinstance(self.proposal, Mapping)
        return {
            "family": self.family,
            "prior": self.prior.to_dict(),
            "leaf": self.leaf.to_dict(),
            "proposal": dict(self.proposal),
            "power": float(self.power),
            "method": self.method,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> CART:
        """The model that `to_dict` described."""
        return cls(
            PRIORS[record["prior"]["kind"]].from_dict(record["prior"]),
            leaf_from_dict(record["leaf"]),
            record["proposal"],
            record["power"],
            # Files of earlier versions know of chains alone.
            record.get("method", "chains"),
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
    return {"tree": {name: array.tolist() for name, array in chain.tree(rung).items()}} | values
