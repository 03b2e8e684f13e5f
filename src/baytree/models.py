"""Models: what is sampled, as small frozen descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from . import _core
from .data import Design
from .errors import InputError, is_number
from .leaves import Categorical, Gaussian, leaf_from_dict
from .native import native_design
from .priors import GrowTree, prior_from_dict
from .proposals import ProposalSpec, parse_proposal
from .trees import Tree, tree_of

Chain = _core.CategoricalChain | _core.GaussianChain


@dataclass(frozen=True)
class CART:
    """A single tree whose leaf parameters are integrated out: P(T | x, y) ∝ P(T | x) · P(y | T, x)^power.

    Parameters
    ----------
    prior : GrowTree
        The prior over trees.
    leaf : Categorical or Gaussian, optional
        The leaf model; by default what suits the response.
    proposal : str or mapping of str to float
        What the chain proposes: see `baytree.proposals.parse_proposal`.
    power : float
        The power of the likelihood: 1 gives the posterior, 0 the prior.
    """

    prior: GrowTree = field(default_factory=GrowTree)
    leaf: Categorical | Gaussian | None = None
    proposal: ProposalSpec = "auto"
    power: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.prior, GrowTree):
            raise InputError(f"prior={self.prior!r} is not a tree prior; give a GrowTree")
        if self.leaf is not None and not isinstance(self.leaf, (Categorical, Gaussian)):
            raise InputError(f"leaf={self.leaf!r} is not a leaf model; give Categorical(...) or Gaussian(...)")
        if not is_number(self.power) or not 0 <= self.power < float("inf"):
            raise InputError(f"power={self.power!r}: choose 0 or more; 1 is the posterior, 0 the prior")
        parse_proposal(self.proposal)

    def resolve(self, design: Design) -> CART:
        """The model with everything that was left open chosen for this design."""
        mixture = {str(component): component.weight for component in parse_proposal(self.proposal)}
        return replace(self, leaf=self._leaf(design), proposal=mixture)

    def _leaf(self, design: Design) -> Categorical | Gaussian:
        leaf = self.leaf or (Gaussian() if design.classes is None else Categorical())
        return leaf.resolve(design, self.prior.min_leaf)

    def chains(self, design: Design, seed: int, chains: int) -> list[Chain]:
        """Chains at their first states, each a draw from the prior. They share the design and the leaf model."""
        native, leaf = native_design(design), self._leaf(design).native(design)
        kind: Any = _core.CategoricalChain if design.classes is not None else _core.GaussianChain
        components = [component.native() for component in parse_proposal(self.proposal)]
        return [
            kind(native, leaf, self.prior.native(), components, float(self.power), seed, replica)
            for replica in range(chains)
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
        [chain] = self.chains(design, seed=0, chains=1)
        chain.restore_tree(tree_of(design.schema, tree).forest().arrays())
        return chain.log_likelihood

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
