"""The EDITTREE prior: begin with a tree that somebody trusts, and change it a little."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .. import _core
from ..data.binning import Column
from ..data.design import Design, Schema, require_design
from ..data.files import read_text
from ..errors import InputError
from ..knowledge import Constraint, Knowledge
from ..knowledge.joined import NO_KNOWLEDGE
from ..slp import SHIPPED, Limits, Program
from ..slp.proposals import Semantics
from ..slp.terms import atom_text
from ..slp.tree_prior import sample_trees
from ..text import counted
from ..trees.outline import fold
from ..trees.prior_samples import PriorDraws
from ..trees.template import Template, template_of
from ..trees.template_text import Question
from ..validation import is_number, replaced, require_not_negative, require_whole

# In edittree.slp the facts stand above this line, and how a tree is edited below it.
MARK = "% ---- What follows need not be changed"
KINDS = ("grow", "prune", "change")


@dataclass(frozen=True)
class EditTree:
    """Edit a given tree at random: few edits are more likely than many [1]_.

    The given tree is laid on the table's rows. Then, before each edit, the process stops with probability
    1 / (1 + edits), so that their number is geometric with mean `edits`. An edit splits a leaf, makes a leaf of a split
    of two leaves, or changes the rule of a split and lays what was below on the new rows; the place is chosen uniformly
    among those where it can be made, and a rule as `GrowTree` chooses it. A tree is probable if few edits lead to it.

    Where the table has no such cut, or one that leaves too few rows on a side, the nearest cut that does is taken; a
    split that finds none becomes a leaf.

    The prior is the program ``edittree.slp`` with these numbers and this tree as its facts, under the semantics
    ``reject``: see `program`. A chain over it walks over lists of edits.

    Parameters
    ----------
    tree : Tree, Posterior, fitted estimator, mapping, str or path
        The tree to begin with: a `Tree`; a `Posterior` or fitted baytree estimator, whose best tree is taken; a fitted
        decision tree of scikit-learn; nested dictionaries as `Tree.from_dict` takes them; or text: the path of a file
        or, if it has several lines, the tree itself. Text is JSON, a drawing as ``print(tree)`` gives it, or what
        ``sklearn.tree.export_text`` writes.
    edits : float
        The mean number of edits.
    min_leaf : int
        The fewest rows a leaf may hold.
    grow, prune, change : float
        How likely each kind of edit is where all three can be made; they are divided by their sum. 0 for never.

    Attributes
    ----------
    laid : Template or None
        The tree as it was laid on the table, once a model has met one.

    References
    ----------
    .. [1] Angelopoulos and Cussens (2005), Exploiting informative priors for Bayesian classification and regression
       trees, IJCAI, 641–646.

    Examples
    --------
    >>> import baytree as bt
    >>> prior = bt.EditTree({"feature": "start", "threshold": 12.5, "left": {}, "right": {}}, edits=2)
    >>> print(prior.tree)
    start <= 12.5?
    ├─ yes: leaf
    └─ no:  leaf
    """

    tree: Any
    edits: float = 4.0
    min_leaf: int = 5
    grow: float = 0.4
    prune: float = 0.3
    change: float = 0.3
    laid: Template | None = field(default=None, compare=False, repr=False)
    knowledge: Knowledge = NO_KNOWLEDGE

    semantics: ClassVar[Semantics] = "reject"
    limits: ClassVar[Limits] = Limits()

    def __post_init__(self) -> None:
        if not is_number(self.edits) or not 0 < self.edits < float("inf"):
            raise InputError(f"edits={self.edits!r}: choose a positive mean number of edits")
        require_whole("min_leaf", self.min_leaf, 1)
        for name in KINDS:
            require_not_negative(name, getattr(self, name))
        if not any(getattr(self, name) for name in KINDS):
            raise InputError("grow, prune and change are all 0, so there is no edit to make; raise one of them")
        if not isinstance(self.knowledge, Knowledge):
            raise InputError(f"knowledge={self.knowledge!r}: give a Knowledge, or write EditTree(...) & constraint")
        object.__setattr__(self, "tree", template_of(self.tree))

    def __and__(self, known: Constraint | Knowledge) -> EditTree:
        if not isinstance(known, (Constraint, Knowledge)):
            return NotImplemented
        return replaced(self, knowledge=self.knowledge & known)

    def program(self, schema: Schema | None = None) -> Program:
        """The prior as a logic program, in the words of a table where one is given.

        Parameters
        ----------
        schema : Schema, optional
            The table, as ``design.schema``.
        """
        template = self.tree if schema is None else self.tree.on(schema)
        total = sum(getattr(self, name) for name in KINDS)
        facts = [
            f"min_leaf({int(self.min_leaf)}).",
            f"initial(\n    {_term(template, schema)}).",
            f"stop({float(1 / (1 + self.edits))!r}).",
            *(f"{name}({float(getattr(self, name) / total)!r})." for name in KINDS),
            self._facts(schema),
        ]
        _, mark, process = read_text(SHIPPED / "edittree.slp").partition(MARK)
        return Program("\n".join([*facts, "", mark + process]), "EditTree", self.semantics, self.limits)

    def _facts(self, schema: Schema | None) -> str:
        """What is known, in the words of a program; without a table, columns given by position have none."""
        if schema is not None:
            return self.knowledge.named(schema).facts()
        called = [known for known in self.knowledge.constraints if known.renamed(str) == known]
        return Knowledge(tuple(called)).facts()

    def for_trees(self, design: Design | None = None) -> _core.Program:
        """The program as a prior over trees, as `Program.for_trees` gives it."""
        return self.program(None if design is None else design.schema).for_trees(design)

    def resolve(self, design: Design) -> EditTree:
        """The prior with its tree laid on a table; warns where some of it finds no place there."""
        known = self.knowledge.resolve(design.schema)
        program = self.program(design.schema)
        [tree] = sample_trees(
            program, "initial(_S), root(_N), lay(_S, _N, _First), plain(_First, T)", design, 1, 0
        ).trees
        laid, given = template_of(tree), self.tree.on(design.schema)
        lost = given.n_leaves - laid.n_leaves
        if lost:
            warnings.warn(
                f"{counted(lost, 'split')} of the given tree cannot be laid on this table, where a leaf must hold "
                f"{counted(int(self.min_leaf), 'row')} or what is known forbids them: they are left out",
                stacklevel=4,
            )
        return replaced(self, laid=laid, knowledge=known)

    def sample(self, design: Design, n: int = 1000, seed: int | None = None) -> PriorDraws:
        """Draw independent trees from the prior, to see what it means before any fit.

        Parameters
        ----------
        design, n, seed
            As for `GrowTree.sample`.

        Returns
        -------
        PriorDraws
        """
        require_design(design)
        self.knowledge.check(design.schema)
        return self.program(design.schema).sample(design, n, seed)

    def describe(self) -> str:
        """The prior in a sentence; its knowledge describes itself."""
        kinds = ", ".join(f"{name} {getattr(self, name):g}" for name in KINDS)
        return (
            f"Prior: edits of a given tree of {counted(self.tree.n_leaves, 'leaf', 'leaves')}, {self.edits:g} on "
            f"average ({kinds}); a leaf holds at least {counted(self.min_leaf, 'row')}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The prior as JSON-safe values."""
        numbers = {name: float(getattr(self, name)) for name in ("edits", *KINDS)}
        record = {"kind": "edit_tree", "tree": self.tree.to_dict(), **numbers, "min_leaf": int(self.min_leaf)}
        if self.laid is not None:
            record["laid"] = self.laid.to_dict()
        if self.knowledge.constraints:
            record["knowledge"] = self.knowledge.to_dict()
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> EditTree:
        """The prior that `to_dict` described."""
        given = {name: value for name, value in record.items() if name not in ("kind", "laid", "knowledge")}
        laid = Template.from_dict(record["laid"]) if "laid" in record else None
        known = Knowledge.from_dict(record["knowledge"]) if "knowledge" in record else NO_KNOWLEDGE
        return cls(**given, laid=laid, knowledge=known)


def _term(template: Template, schema: Schema | None) -> str:
    """A template as a term of a program."""
    columns = {} if schema is None else {column.name: column for column in schema.columns}

    def split(node: int, left: str, right: str) -> str:
        question = template.nodes[node]
        assert question is not None
        value = _value(question, columns.get(question.feature))
        return f"split({atom_text(question.feature)}, {value}, {left}, {right})"

    return fold(template.nodes, split, lambda node, leaf: "leaf")


def _value(question: Question, column: Column | None) -> str:
    """What a question asks as programs write it; see docs/programs.md."""
    if question.missing == "asked":
        return "observed"
    if question.levels is None:
        text = repr(question.threshold)
        return f"or_missing({text})" if question.missing else text
    missing = "missing"
    while column is not None and missing in column.levels:
        missing += "_"
    levels = (*question.levels, *([missing] if question.missing else []))
    return f"[{', '.join(map(atom_text, levels))}]"
