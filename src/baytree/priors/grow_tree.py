"""The GROWTREE prior: trees grow from the root, and large ones are unlikely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..data.design import Design, Schema, require_design
from ..data.to_core import native_design
from ..errors import InputError
from ..knowledge import Constraint, Knowledge
from ..knowledge.joined import NO_KNOWLEDGE
from ..text import counted
from ..trees.forest import Forest
from ..trees.prior_samples import PriorDraws
from ..validation import is_number, replaced, require_not_negative, require_whole, seed_of, unknown_choice

RULES = ("variable", "uniform")


@dataclass(frozen=True)
class GrowTree:
    """Grow from the root, each node splitting or not at random; alpha and beta are the hyperparameters.

    A node of depth d (the root has 0) that has an admissible rule splits with probability
    ``alpha * (1 + d) ** -beta``; a node without one is a leaf. A rule is admissible where both children hold at least
    `min_leaf` rows [1]_.

    Parameters
    ----------
    alpha : float
        The probability that the root splits, between 0 and 1.
    beta : float
        How fast that probability falls with depth; larger means smaller trees.
    min_leaf : int
        The fewest rows a leaf may hold.
    rule : {"variable", "uniform"}
        ``"variable"`` chooses a column that has an admissible rule and then one of its rules, each uniformly;
        ``"uniform"`` chooses among all admissible rules of all columns.
    knowledge : Knowledge
        What is known besides; usually joined by ``&``, as in ``GrowTree() & MaxDepth(4)``.

    References
    ----------
    .. [1] Chipman, George and McCulloch (1998), Bayesian CART model search, JASA 93, 935–948.
    """

    alpha: float = 0.95
    beta: float = 1.0
    min_leaf: int = 5
    rule: str = "variable"
    knowledge: Knowledge = NO_KNOWLEDGE

    def __post_init__(self) -> None:
        if not is_number(self.alpha) or not 0 <= self.alpha <= 1:
            raise InputError(f"alpha={self.alpha!r} is a probability: choose it between 0 and 1")
        require_not_negative("beta", self.beta)
        require_whole("min_leaf", self.min_leaf, 1)
        if self.rule not in RULES:
            raise unknown_choice("rule", self.rule, RULES)
        if not isinstance(self.knowledge, Knowledge):
            raise InputError(f"knowledge={self.knowledge!r}: give a Knowledge, or write GrowTree(...) & constraint")

    def __and__(self, known: Constraint | Knowledge) -> GrowTree:
        if not isinstance(known, (Constraint, Knowledge)):
            return NotImplemented
        return replaced(self, knowledge=self.knowledge & known)

    def resolve(self, design: Design) -> GrowTree:
        """The prior with its knowledge checked against a table, and columns called by their names."""
        return replaced(self, knowledge=self.knowledge.resolve(design.schema))

    def native(self, schema: Schema) -> _core.GrowTree:
        """The prior as the core takes it, over the columns of a table."""
        known = self.knowledge.native(schema)
        by_column = self.rule == "variable"
        return _core.GrowTree(float(self.alpha), float(self.beta), int(self.min_leaf), by_column, known, schema.cuts)

    def sample(self, design: Design, n: int = 1000, seed: int | None = None) -> PriorDraws:
        """Draw independent trees from the prior, to see what it means before any fit.

        Parameters
        ----------
        design : Design
            The table whose columns the trees ask about. Its response is not used.
        n : int
            How many trees.
        seed : int, optional
            The same seed gives the same trees; a random one by default, kept in the result.

        Returns
        -------
        PriorDraws
        """
        require_design(design)
        require_whole("n", n, 1)
        seed = seed_of(seed)
        self.knowledge.check(design.schema)
        prior = self.native(design.schema)
        return PriorDraws(design.schema, Forest(**_core.grow_trees(native_design(design), prior, n, seed)), seed)

    def describe(self) -> str:
        """The prior in a sentence; its knowledge describes itself."""
        power = "" if self.beta == 1 else f"^{self.beta:g}"
        fall = f" / (1 + depth){power}" if self.beta else ""
        chosen = {"variable": "a column, then a question about it,", "uniform": "one of all questions"}[self.rule]
        return (
            f"Prior: a node splits with probability {self.alpha:g}{fall}; {chosen} is chosen uniformly; a leaf holds "
            f"at least {counted(self.min_leaf, 'row')}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The prior as JSON-safe values."""
        record = {
            "kind": "grow_tree",
            "alpha": float(self.alpha),
            "beta": float(self.beta),
            "min_leaf": int(self.min_leaf),
            "rule": self.rule,
        }
        return record | ({"knowledge": self.knowledge.to_dict()} if self.knowledge.constraints else {})

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> GrowTree:
        """The prior that `to_dict` described."""
        fields = {name: value for name, value in record.items() if name not in ("kind", "knowledge")}
        # A model file without knowledge, and every file of the first release, has no entry for it.
        known = record.get("knowledge")
        return cls(**fields, knowledge=NO_KNOWLEDGE if known is None else Knowledge.from_dict(known))
