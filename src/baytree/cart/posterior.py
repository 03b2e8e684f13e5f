"""The posterior: draws, and what they were drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..data.design import Design, Schema, require_design
from ..diagnostics.convergence import Diagnostics
from ..diagnostics.evidence import LogEvidence, stepping_stone
from ..diagnostics.predictions import Rows
from ..errors import InputError
from ..mcmc.settings import RunSettings
from ..posterior.arviz import Variable, with_prior
from ..posterior.base import RUNGS, BasePosterior, Part, taken, taken_if_there
from ..posterior.prediction import Kind
from ..priors.edit_tree import EditTree
from ..trees.diff import Edits, compare
from ..trees.forest import Forest, rules_of
from ..trees.tree import Tree, Trees
from .diagnostics import with_trees
from .model import CART
from .prediction import TreePrediction
from .summary import Summary, summarise

DRAW_ARRAYS = ("tree", "log_likelihood", "log_prior")
# Of trees that must be monotone only.
VALUES = "value"
PART_ARRAYS = ("feature", "cut", "subset", "missing_left", "rows", "begin", "statistics", *DRAW_ARRAYS)


class TopTree(NamedTuple):
    """A tree with its share of the draws, over all chains and in each."""

    tree: Tree
    probability: float
    per_chain: np.ndarray


@dataclass(frozen=True, eq=False)
class Posterior(BasePosterior):
    """Draws of trees from a posterior.

    A chain that stays at a tree stores it once, so there are fewer stored trees than draws.

    Attributes
    ----------
    model : CART
        The model, with everything that was left open filled in.
    schema : Schema
        The training table's names, cut points, levels and response.
    settings : RunSettings
        How the draws were asked for.
    forest : Forest
        The stored trees.
    statistics : numpy.ndarray
        The sufficient statistics of every leaf of every stored tree.
    tree_index : numpy.ndarray
        Which stored tree each draw is, shape (chains, draws).
    log_likelihood, log_prior : numpy.ndarray
        log P(y | T, x) and log P(T | x) of each draw, shape (chains, draws).
    states : tuple of dict
        Where each chain stopped, so that it can go on.
    rung_log_likelihood : numpy.ndarray or None
        Of tempered chains: log P(y | T, x) on every rung at the swaps before each draw, shape (chains, draws, rungs),
        the cold rung first.
    monitored, recorded
        See `BasePosterior`.
    values : numpy.ndarray, optional
        Where trees must be monotone, of every leaf of every stored tree E(y | x), or the probability of the second
        class, as the chain drew it. Elsewhere the leaves' parameters are integrated out.
    """

    model: CART
    schema: Schema
    settings: RunSettings
    forest: Forest
    statistics: np.ndarray
    tree_index: np.ndarray
    log_likelihood: np.ndarray
    log_prior: np.ndarray
    states: tuple[dict[str, Any], ...]
    rung_log_likelihood: np.ndarray | None = None
    monitored: Rows | None = None
    recorded: Diagnostics | None = None
    values: np.ndarray | None = None

    part_arrays = PART_ARRAYS
    optional_arrays = (VALUES, RUNGS)

    def __repr__(self) -> str:
        return f"<Posterior: {self.chains} chains × {self.draws:,} draws, response {self.schema.response.name!r}>"

    @property
    def n_leaves(self) -> np.ndarray:
        """The number of leaves of each draw, shape (chains, draws)."""
        return self.forest.leaves[self.tree_index]

    # ---- trees ----------------------------------------------------------------------------------------------------

    @property
    def trees(self) -> Trees:
        """The stored trees, in the order in which the chains met them."""
        return Trees(len(self.forest), self._stored_tree)

    def tree(self, chain: int, draw: int) -> Tree:
        """The tree of one draw."""
        return self._stored_tree(self.tree_index[chain, draw])

    def leaf_means(self, leaves: slice | np.ndarray) -> np.ndarray:
        """What these leaves of the stored trees predict, shape (leaves, width)."""
        return self.prediction.leaf_means(leaves)

    def _stored_tree(self, index: int) -> Tree:
        first = int(self.forest.first_leaf[index])
        return self._tree(index, self.leaf_means(slice(first, first + int(self.forest.leaves[index]))))

    def _average_tree(self, index: int) -> Tree:
        """A stored tree; what the leaves predict is averaged over all draws of the same rules."""
        if self.values is None:
            return self._stored_tree(index)
        same = np.flatnonzero(self.forest.identity == self.forest.identity[index])
        leaves = np.arange(self.forest.leaves[index])
        means = self.leaf_means((self.forest.first_leaf[same][:, None] + leaves).ravel())
        draws = self.visits[:, same].sum(axis=0)
        return self._tree(index, np.average(means.reshape(len(same), len(leaves), -1), axis=0, weights=draws))

    def _tree(self, index: int, means: np.ndarray) -> Tree:
        forest = self.forest
        classes = self.schema.response.classes
        if classes is None:
            values = means[:, 0].tolist()
        else:
            values = [dict(zip(map(str, classes), row.tolist(), strict=True)) for row in means]
        rows = forest.rows[forest.nodes(index)].tolist()
        return Tree(self.schema, rules_of(forest, index), tuple(rows), tuple(values))

    @cached_property
    def visits(self) -> np.ndarray:
        """How many draws of each chain each stored tree accounts for, shape (chains, trees)."""
        return np.stack([np.bincount(index, minlength=len(self.forest)) for index in self.tree_index])

    @cached_property
    def distinct_visits(self) -> np.ndarray:
        """The same, the draws of equal trees all counted at the first of them."""
        number = self.forest.identity[self.tree_index]
        return np.stack([np.bincount(index, minlength=len(self.forest)) for index in number])

    def top_trees(self, n: int = 10) -> list[TopTree]:
        """The trees with the most draws.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        list of (tree, probability, probability per chain)
            Most probable first; ties in the order of first visit.
        """
        count = self.distinct_visits.sum(axis=0)
        top = np.argsort(-count, kind="stable")[: min(n, np.count_nonzero(count))].tolist()
        shares = self.distinct_visits / self.draws
        return [TopTree(self._average_tree(tree), count[tree] / self.tree_index.size, shares[:, tree]) for tree in top]

    def best_tree(self) -> Tree:
        """The drawn tree of highest posterior probability, log P(T | x) + log P(y | T, x)."""
        best = self.tree_index.ravel()[np.argmax(self.log_likelihood + self.log_prior)]
        return self._average_tree(int(best))

    def inclusion(self) -> dict[str, float]:
        """Of each column, the probability that the tree asks about it."""
        asks = self.forest.asks(len(self.schema.columns))
        shares = self.visits.sum(axis=0) @ asks / self.tree_index.size
        return dict(zip(self.schema.names, shares.tolist(), strict=True))

    def edits(self, design: Design | None = None) -> Edits:
        """What the data changed of the tree that an `EditTree` prior began with; ``print`` it.

        Parameters
        ----------
        design : Design, optional
            The training data. With them as many trees as there are draws are drawn from the prior, so that its
            probabilities stand beside those of the posterior.
        """
        prior = self.model.prior
        if not isinstance(prior, EditTree):
            raise InputError(f"edits() is about an EditTree prior; this posterior has a {type(prior).__name__}")
        assert prior.laid is not None
        given = Tree.from_dict(self.schema, prior.laid.to_dict())
        before = None
        if design is not None:
            require_design(design)
            if design.schema != self.schema:
                raise InputError("these are not the data that the draws came from; give the same table and max_cuts")
            drawn = prior.sample(design, self.tree_index.size, self.settings.seed).forest
            before = compare(given, drawn, np.ones(len(drawn), dtype=int))
        return compare(given, self.forest, self.visits.sum(axis=0), before)

    # ---- tempering ------------------------------------------------------------------------------------------------

    def log_evidence(self) -> LogEvidence:
        """log P(y | x), the marginal likelihood of the data under the whole prior, with its standard error.

        It needs chains on an ``"adaptive"`` ladder, whose rungs reach from the posterior to the prior: see
        `baytree.diagnostics.evidence.stepping_stone`.
        """
        if not self.tempered or not self.settings.tempering.adapts:
            raise InputError(
                'the evidence needs chains that reach the prior: sample with temperatures=12 and ladder="adaptive"'
            )
        if self.values is not None:
            raise InputError("the evidence of monotone trees is not known: leave Monotone out")
        if self.model.power != 1:
            raise InputError(f"the evidence needs the likelihood as it is; this model has power={self.model.power:g}")
        assert self.rung_log_likelihood is not None
        return stepping_stone(self.rung_log_likelihood, self.swaps().ladders)

    @property
    def known_evidence(self) -> LogEvidence | None:
        """The log evidence P(y | x), where tempered chains tell it."""
        tells = self.settings.tempering.adapts and self.values is None and self.model.power == 1
        return self.log_evidence() if self.tempered and tells else None

    def independence_bound(self, iterations: int) -> float:
        """How far from the posterior a chain of ``q0`` proposals can be after some iterations.

        In total variation at most (1 − P(T̂ | x) / P(T̂ | x, y))^iterations, with T̂ the tree of highest likelihood [1]_.
        The ratio is P(y | x) / P(y | T̂, x), so it follows from the evidence; T̂ is the best tree that was drawn, and
        where there is a better one the true bound is larger.

        Parameters
        ----------
        iterations : int
            The length of the chain.

        References
        ----------
        .. [1] Angelopoulos and Cussens (2005), Exploiting informative priors for Bayesian classification and regression
           trees, IJCAI, eq. 3.
        """
        ratio = np.exp(min(self.log_evidence().value - self.log_likelihood.max(), 0.0))
        return float((1 - ratio) ** iterations)

    def summary(self) -> Summary:
        """What was fitted, what it says, and whether the chains agree; ``print`` it."""
        return summarise(self)

    @property
    def variables(self) -> dict[str, Variable]:
        """The number of leaves, ``n_leaves``, and whether the tree ``asks`` about each column."""
        asks = self.forest.asks(len(self.schema.columns))[self.tree_index].astype(np.int8)
        return {"n_leaves": Variable(self.n_leaves), "asks": Variable(asks, {"column": self.schema.names})}

    @property
    def sample_stats(self) -> dict[str, Variable]:
        """What else is known of each draw: its prior, and ``tree``, a number that equal trees share."""
        stats = with_prior(self.log_likelihood, self.log_prior, self.model.power)
        return super().sample_stats | stats | {"tree": Variable(self.forest.identity[self.tree_index])}

    @property
    def series(self) -> dict[str, np.ndarray]:
        """The log-likelihood and the number of leaves of each draw."""
        return {"log-likelihood": self.log_likelihood, "leaves": self.n_leaves.astype(float)}

    def _diagnose(self, rows: Rows | None, draws: int | None) -> Diagnostics:
        return with_trees(super()._diagnose(rows, draws), self, rows, draws)

    # ---- prediction -----------------------------------------------------------------------------------------------

    @cached_property
    def prediction(self) -> TreePrediction:
        """What the draws say about rows in bins."""
        assert self.model.leaf is not None
        return TreePrediction(
            self.schema,
            self.model.leaf,
            self.forest,
            self.statistics,
            self.values,
            self.tree_index,
            self.settings.seed,
        )

    def predict(self, X: Any, kind: Kind = "mean", prob: float = 0.9) -> Any:
        """Predict new rows, averaging over the draws.

        Parameters
        ----------
        X : path, frame or array-like
            New rows; frames are matched by column name.
        kind : {"mean", "interval", "draws", "predictive", "predictive_interval", "vote"}
            ``"mean"``: the posterior mean of E(y | x), shape (rows,); with classes their probabilities, (rows,
            classes).
            ``"interval"``: an equal-tailed credible interval of the same quantity, with a last axis of 2.
            ``"draws"``: its draws, with leading axes (chains, draws); each draw also draws the leaf's parameters.
            ``"predictive"``: draws of a new y, shape (chains, draws, rows); with classes, positions in the classes.
            ``"predictive_interval"``: of numbers, an equal-tailed interval of a new y.
            ``"vote"``: with classes, the share of trees whose leaf has its majority in each class.
        prob : float
            The probability of an interval.
        """
        return super().predict(X, kind, prob)

    # ---- files ----------------------------------------------------------------------------------------------------

    @property
    def _numbers(self) -> int:
        return self.statistics.size

    def part(self, chain: int, begin: int, end: int) -> Part:
        """Draws begin … end of one chain, with the trees that are new in them."""
        index = self.tree_index[chain]
        # A tree that the previous block ended with is stored there.
        first = int(index[begin]) + int(begin > 0 and index[begin] == index[begin - 1])
        last = max(int(index[end - 1]) + 1, first)
        node_first = int(self.forest.begin[first]) if first < len(self.forest) else len(self.forest.feature)
        node_last = int(self.forest.end[last - 1]) if last > first else node_first
        leaf_first = int(self.forest.first_leaf[first]) if last > first else 0
        leaf_last = leaf_first + int(self.forest.leaves[first:last].sum())
        arrays = {name: array[node_first:node_last] for name, array in self.forest.arrays().items() if name != "begin"}
        rungs = {} if self.rung_log_likelihood is None else {RUNGS: self.rung_log_likelihood[chain, begin:end].ravel()}
        return {
            **arrays,
            **rungs,
            "begin": self.forest.begin[first:last] - np.uint64(node_first),
            "statistics": self.statistics[leaf_first:leaf_last].ravel(),
            **({} if self.values is None else {VALUES: self.values[leaf_first:leaf_last]}),
            "tree": index[begin:end] - index[0],
            "log_likelihood": self.log_likelihood[chain, begin:end],
            "log_prior": self.log_prior[chain, begin:end],
        }

    @classmethod
    def from_parts(
        cls,
        model: CART,
        schema: Schema,
        settings: RunSettings,
        parts: Sequence[Sequence[Part]],
        states: Sequence[dict[str, Any]],
        monitored: Rows | None = None,
        recorded: Diagnostics | None = None,
    ) -> Posterior:
        """Put together what the chains recorded, `parts[chain]` being its blocks in order; this empties them."""
        drawn = {name: taken(parts, name) for name in DRAW_ARRAYS}
        stored = [sum(len(part["begin"]) for part in chain) for chain in parts]
        first = np.cumsum([0, *stored[:-1]])
        assert model.leaf is not None
        width = model.leaf.n_statistics(schema.response)
        statistics = np.concatenate([part.pop("statistics") for chain in parts for part in chain]).reshape(-1, width)
        rungs = taken_if_there(parts, RUNGS, settings.temperatures)
        blocks = [part for chain in parts for part in chain]
        values = np.concatenate([part.pop(VALUES) for part in blocks]) if VALUES in blocks[0] else None
        forest = Forest.concatenate(blocks)
        return cls(
            model=model,
            schema=schema,
            settings=settings,
            forest=forest,
            statistics=statistics,
            tree_index=drawn["tree"] + first[:, None],
            log_likelihood=drawn["log_likelihood"],
            log_prior=drawn["log_prior"],
            states=tuple(states),
            rung_log_likelihood=rungs,
            monitored=monitored,
            recorded=recorded,
            values=values,
        )

    def _check_draws(self) -> None:
        """Raise InputError where draws, trees and leaves do not belong together."""
        if self.tree_index.shape != self.log_likelihood.shape or self.log_prior.shape != self.log_likelihood.shape:
            raise InputError("draws are missing")
        if self.tree_index.min() < 0 or self.tree_index.max() >= len(self.forest):
            raise InputError("draws refer to trees that are not there")
        if self.prediction.core.leaves != len(self.statistics):
            raise InputError("leaves are missing")
        if self.values is not None and len(self.values) != len(self.statistics):
            raise InputError("leaf values are missing")
        if self.values is not None and not np.isfinite(self.values).all():
            raise InputError("leaf values are not numbers")

    def _goes_on(self, number: int, state: Mapping[str, Any]) -> bool:
        if not super()._goes_on(number, state):
            return False
        if ("values" in state["rungs"][0]) != (self.values is not None):
            raise InputError("leaf values are missing")
        first = np.append(self.tree_index[:, 0], len(self.forest))
        return bool(state["position"]["stored_trees"] == first[number + 1] - first[number])
