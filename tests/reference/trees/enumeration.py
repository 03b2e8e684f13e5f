"""Every tree of a small space, with its log prior and log marginal likelihood, by brute force.

This is the reference that the samplers are held against, so it shares no code with them: it follows ``docs/cart.md``
and ``docs/design/trees.md`` word by word, keeps the rows of a node as a set, and lists the trees one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal, NamedTuple, Protocol

from reference.trees.constraints import NOTHING, Constraints, Path, Step

MOST_TREES = 3000

Rows = frozenset[int]


class Rule(NamedTuple):
    """A question about one column; the fields that its kind of column does not use are 0 or False."""

    feature: int
    cut: int
    subset: int
    missing_left: bool


Tree = tuple[Any, ...]
"""The rules in preorder, None for a leaf; those of baytree, of a class of its own, are equal to them."""


@dataclass(frozen=True)
class Column:
    """Codes ``0 … observed - 1`` are observed values or levels; a missing value has the code ``observed``.

    ``cuts`` are the values between the bins, which only boxes ask for.
    """

    kind: Literal["numeric", "categorical"]
    observed: int
    has_missing: bool
    bins: tuple[int, ...]
    cuts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        seen = set(self.bins)
        assert seen <= set(range(self.observed + self.has_missing)), "a code beyond the column's own"
        assert self.has_missing == (self.observed in seen), "has_missing says whether a training row is missing"
        assert not self.cuts or (self.kind == "numeric" and len(self.cuts) == self.observed - 1)

    def rules(self, feature: int) -> list[Rule]:
        """All rules of the column, whatever the node."""
        if self.kind == "numeric":
            cuts = self.observed - 1
            rules = [Rule(feature, cut, 0, False) for cut in range(cuts)]
            if self.has_missing:
                rules += [Rule(feature, cut, 0, True) for cut in range(cuts)]
                rules.append(Rule(feature, cuts, 0, False))
            return rules
        levels = self.observed + self.has_missing
        everything = 2**levels - 1
        return [Rule(feature, 0, subset, False) for subset in range(1, everything) if subset & 1]

    def goes_left(self, rule: Rule, code: int) -> bool:
        if self.kind == "categorical":
            return bool(rule.subset >> code & 1)
        if self.has_missing and code == self.observed:
            return rule.missing_left
        return code <= rule.cut


class Leaf(Protocol):
    """A leaf model: the log marginal likelihood of responses that share one leaf."""

    def log_marginal(self, response: list[float], weight: list[float]) -> float: ...


@dataclass(frozen=True)
class Dirichlet:
    """Classes ``0 … classes - 1`` with a symmetric Dirichlet prior on their probabilities (models.md §1)."""

    concentration: float
    classes: int

    def log_marginal(self, response: list[float], weight: list[float]) -> float:
        a, k = self.concentration, self.classes
        counts = [math.fsum(w for y, w in zip(response, weight, strict=True) if y == c) for c in range(k)]
        return math.fsum(
            [math.lgamma(k * a), -math.lgamma(math.fsum(counts) + k * a)]
            + [math.lgamma(n + a) - math.lgamma(a) for n in counts]
        )


@dataclass(frozen=True)
class NormalInverseGamma:
    """μ | σ² ~ N(mean, σ²/kappa), σ² ~ IG(nu/2, nu·scale/2) (models.md §1, where scale is λ)."""

    mean: float
    kappa: float
    nu: float
    scale: float

    def posterior(self, response: list[float], weight: list[float]) -> NormalInverseGamma:
        """The same family given the responses; a row of weight w contributes its density to the power w."""
        n = math.fsum(weight)
        if n == 0:
            return self
        average = math.fsum(w * y for y, w in zip(response, weight, strict=True)) / n
        scatter = math.fsum(w * (y - average) ** 2 for y, w in zip(response, weight, strict=True))
        kappa, nu = self.kappa + n, self.nu + n
        mean = (self.kappa * self.mean + n * average) / kappa
        sum_of_squares = self.nu * self.scale + scatter + self.kappa * n / kappa * (average - self.mean) ** 2
        return NormalInverseGamma(mean, kappa, nu, sum_of_squares / nu)

    def log_normaliser(self) -> float:
        """log ∫∫ (σ²)^(−1/2 − nu/2 − 1) exp(−(nu·scale + kappa (μ − mean)²) / 2σ²) dμ dσ²."""
        half = self.nu / 2
        return 0.5 * math.log(2 * math.pi / self.kappa) + math.lgamma(half) - half * math.log(half * self.scale)

    def log_marginal(self, response: list[float], weight: list[float]) -> float:
        after = self.posterior(response, weight)
        return after.log_normaliser() - self.log_normaliser() - 0.5 * math.fsum(weight) * math.log(2 * math.pi)


@dataclass(frozen=True)
class Normal:
    """μ ~ N(mean, spread²) and a known noise: y ~ N(μ, sigma²/w) for a row of weight w (models.md §2 with one tree)."""

    mean: float
    spread: float
    sigma: float

    def posterior(self, response: list[float], weight: list[float]) -> tuple[float, float]:
        """The mean and the standard deviation of μ given the responses."""
        precision = self.spread**-2 + math.fsum(weight) / self.sigma**2
        pull = math.fsum(w * (y - self.mean) for y, w in zip(response, weight, strict=True)) / self.sigma**2
        return self.mean + pull / precision, precision**-0.5

    def log_marginal(self, response: list[float], weight: list[float]) -> float:
        """By p(y) = p(y | μ) p(μ) / p(μ | y) at the prior mean of μ."""
        mean, spread = self.posterior(response, weight)
        noise = [
            -0.5 * math.log(2 * math.pi * self.sigma**2 / w) - 0.5 * w * ((y - self.mean) / self.sigma) ** 2
            for y, w in zip(response, weight, strict=True)
        ]
        return math.fsum(noise) + math.log(spread / self.spread) + 0.5 * ((mean - self.mean) / spread) ** 2


@dataclass(frozen=True)
class GrowTree:
    """The prior's parameters, named as in ``baytree.GrowTree``, and what is known about its trees."""

    alpha: float
    beta: float
    min_leaf: int
    rule: Literal["variable", "uniform"]
    constraints: Constraints = NOTHING

    def split_probability(self, depth: int) -> float:
        return self.alpha * (1 + depth) ** -self.beta


@dataclass(frozen=True)
class Scored:
    """One tree (or subtree) with its log prior and its log marginal likelihood."""

    tree: Tree
    log_prior: float
    log_likelihood: float


class Choice(NamedTuple):
    """A rule that is admissible at a node, its children's rows, and the probability of choosing it there."""

    rule: Rule
    left: Rows
    right: Rows
    probability: float


@dataclass(frozen=True)
class Table:
    """Columns of bins, the response (class bins or real numbers) and the weights."""

    columns: tuple[Column, ...]
    response: tuple[float, ...]
    weight: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        rows = len(self.response)
        assert all(len(column.bins) == rows for column in self.columns)
        assert self.weight is None or (len(self.weight) == rows and min(self.weight) > 0)

    @cached_property
    def all_rows(self) -> Rows:
        return frozenset(range(len(self.response)))

    @cached_property
    def left_rows(self) -> dict[Rule, Rows]:
        """For each rule of the table, all the rows that it sends left."""
        return {
            rule: frozenset(row for row in self.all_rows if column.goes_left(rule, column.bins[row]))
            for feature, column in enumerate(self.columns)
            for rule in column.rules(feature)
        }

    def divide(self, rows: Rows, rule: Rule) -> tuple[Rows, Rows]:
        return rows & self.left_rows[rule], rows - self.left_rows[rule]

    def log_marginal(self, leaf: Leaf, rows: Rows) -> float:
        order = sorted(rows)
        weight = [1.0] * len(order) if self.weight is None else [self.weight[row] for row in order]
        return leaf.log_marginal([self.response[row] for row in order], weight)

    def leaf_rows(self, tree: Tree) -> list[Rows]:
        """The rows of each leaf, leaves in preorder."""
        rules = iter(tree)

        def walk(rows: Rows) -> Iterator[Rows]:
            rule = next(rules)
            if rule is None:
                yield rows
            else:
                left, right = self.divide(rows, Rule(*rule))
                yield from walk(left)
                yield from walk(right)

        leaves = list(walk(self.all_rows))
        assert next(rules, "end") == "end", "more nodes than the tree has"
        return leaves


def choices(table: Table, prior: GrowTree, rows: Rows, path: Path = ()) -> list[Choice]:
    """The admissible rules of a node and the probability that a split there takes each of them."""
    if len(rows) < 2 * prior.min_leaf:
        return []
    weighted: list[tuple[float, tuple[Rule, Rows, Rows]]] = []
    for feature, column in enumerate(table.columns):
        allowed = [rule for rule in column.rules(feature) if prior.constraints.allows(table.columns, path, rule)]
        divided = [(rule, *table.divide(rows, rule)) for rule in allowed]
        admissible = [way for way in divided if min(len(way[1]), len(way[2])) >= prior.min_leaf]
        alike = 1 if prior.rule == "uniform" else len(admissible)
        weighted += [(prior.constraints.weight(feature) / alike, way) for way in admissible]
    total = math.fsum(weight for weight, _ in weighted)
    return [Choice(*way, weight / total) for weight, way in weighted]


def count_trees(table: Table, prior: GrowTree) -> int:
    """The number of trees of positive prior probability, without building them; whatever the number of their leaves."""
    known: dict[Hashable, int] = {}

    def count(rows: Rows, path: Path) -> int:
        here = place(prior, rows, path)
        if here not in known:
            ways = choices(table, prior, rows, path)
            split = prior.split_probability(len(path)) if ways else 0.0
            known[here] = (split < 1) + (split > 0) * sum(
                count(way.left, (*path, Step(way.rule, True))) * count(way.right, (*path, Step(way.rule, False)))
                for way in ways
            )
        return known[here]

    return count(table.all_rows, ())


def place(prior: GrowTree, rows: Rows, path: Path) -> Hashable:
    """What the prior of a subtree depends on."""
    return (rows, len(path)) if prior.constraints == NOTHING else (rows, path)


def enumerate_trees(table: Table, prior: GrowTree, leaf: Leaf) -> dict[Tree, Scored]:
    """Every tree of positive prior probability, with its log prior and log marginal likelihood.

    The number of leaves is a condition on the whole tree: larger trees are left out, and the others keep the log prior
    that they have without it.
    """
    trees = count_trees(table, prior)
    assert trees <= MOST_TREES, f"a space of {trees} trees: too many to enumerate and to visit"
    known: dict[Hashable, list[Scored]] = {}

    def subtrees(rows: Rows, path: Path) -> list[Scored]:
        here = place(prior, rows, path)
        if here in known:
            return known[here]
        ways = choices(table, prior, rows, path)
        split = prior.split_probability(len(path)) if ways else 0.0
        assert 0 <= split <= 1
        found = []
        if split < 1:
            found.append(Scored((None,), math.log1p(-split), table.log_marginal(leaf, rows)))
        if split > 0:
            for way in ways:
                log_choice = math.log(split) + math.log(way.probability)
                lefts = subtrees(way.left, (*path, Step(way.rule, True)))
                rights = subtrees(way.right, (*path, Step(way.rule, False)))
                for left, right in product(lefts, rights):
                    found.append(
                        Scored(
                            (way.rule, *left.tree, *right.tree),
                            log_choice + left.log_prior + right.log_prior,
                            left.log_likelihood + right.log_likelihood,
                        )
                    )
        known[here] = found
        return found

    result = {scored.tree: scored for scored in subtrees(table.all_rows, ())}
    assert len(result) == trees, "two derivations of one tree"
    most = prior.constraints.max_leaves
    return {tree: scored for tree, scored in result.items() if most is None or leaves(tree) <= most}


def leaves(tree: Tree) -> int:
    """The number of leaves."""
    return sum(rule is None for rule in tree)
