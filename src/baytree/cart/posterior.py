"""The posterior: draws, and what they were drawn from."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..data.design import Design, Schema, require_design
from ..diagnostics.comparison import Rows
from ..diagnostics.convergence import Diagnostics
from ..diagnostics.evidence import LogEvidence, stepping_stone
from ..errors import InputError
from ..interpret.explanation import Reasons
from ..interpret.interpretation import Interpretable
from ..mcmc.settings import RunSettings
from ..posterior.arviz import Variable, with_prior
from ..posterior.base import RUNGS, Part, taken
from ..posterior.prediction import Kind
from ..posterior.report import Report
from ..posterior.summary import largest_first
from ..priors.edit_tree import EditTree
from ..text import counted
from ..trees.diff import Edits, compare
from ..trees.forest import FOREST_TYPES, Ensemble, Forest, rules_of
from ..trees.posterior_map import PosteriorMap
from ..trees.tree import Tree, Trees
from ..validation import require_place, require_whole
from .diagnostics import with_trees
from .explanation import reasons_of
from .model import CART
from .prediction import TreePrediction
from .summary import TOP_TREES, EveryTree, Summary
from .summed import SUMMED, SUMMED_TYPES, Summed
from .visited import BEST, Visited

# What chains call the values of leaves, of trees that must be monotone only.
VALUES = "value"
# Ladders that made fewer round trips say little of the evidence, and of its error.
FEW_TRIPS = 10
# How many trees a map shows, and of how many levels at most.
MAPPED, MOST_LEVELS = 1000, 5
# The probability of the credible intervals that leaves have.
PROB = 0.9


class TopTree(NamedTuple):
    """A tree with its probability, its share of the draws unless all were added up; and its share in each chain."""

    tree: Tree
    probability: float
    per_chain: np.ndarray


def fitted_tree(
    schema: Schema, forest: Forest, index: int, means: np.ndarray, intervals: np.ndarray | None = None
) -> Tree:
    """A stored tree, with the means of what its leaves predict as their values, and credible intervals of these."""
    classes = schema.response.classes

    def of_leaves(found: np.ndarray) -> tuple[Any, ...]:
        if classes is None:
            return tuple(found[:, 0].tolist())
        return tuple(dict(zip(map(str, classes), row.tolist(), strict=True)) for row in found)

    rows = tuple(forest.rows[forest.nodes(index)].tolist())
    return Tree(
        schema, rules_of(forest, index), rows, of_leaves(means), () if intervals is None else of_leaves(intervals), PROB
    )


class BestTree(NamedTuple):
    """A tree that may be the mode of the posterior, the MAP tree.

    Attributes
    ----------
    tree : Tree
        The tree.
    probability : float or None
        Its probability; None where nothing tells the evidence.
    certified : bool
        Whether no tree is more probable, as where all trees were added up.
    """

    tree: Tree
    probability: float | None
    certified: bool


class IndependenceBound(NamedTuple):
    """How far from the posterior a chain of ``q0`` proposals can be.

    Attributes
    ----------
    distance : float
        The bound of the distance in total variation.
    log_likelihood : float
        log P(y | T̂, x) of the tree T̂ that it follows from.
    certified : bool
        Whether no tree has a higher likelihood, as where all trees were added up. Else T̂ is the best tree drawn or
        visited, and the true bound may be larger.
    """

    distance: float
    log_likelihood: float
    certified: bool


@dataclass(frozen=True, eq=False)
class Posterior(Interpretable):
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
    summed : Summed or None
        What the sum over all trees says, where they were added up; the draws are independent then.
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
    summed: Summed | None = None

    of_draws = ("log_likelihood", "log_prior", RUNGS)
    array_types = FOREST_TYPES | SUMMED_TYPES | {"tree": np.int64}

    def __repr__(self) -> str:
        drawn = f"{self.chains} chains × {self.draws:,} draws" if self.summed is None else "all trees"
        return f"<Posterior: {drawn}, response {self.schema.response.name!r}>"

    @property
    def has_chains(self) -> bool:
        """Whether the draws come from chains, which can go on; not where all trees were added up."""
        return self.summed is None

    @property
    def sums(self) -> Ensemble:
        """The draws as sums of one tree each, without what their leaves say."""
        return Ensemble(self.forest, self.tree_index[..., None], np.empty(0, dtype=np.float32))

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
        require_place("chain", chain, self.chains)
        require_place("draw", draw, self.draws)
        return self._stored_tree(self.tree_index[chain, draw])

    def leaf_means(self, leaves: slice | np.ndarray) -> np.ndarray:
        """What these leaves of the stored trees predict, shape (leaves, width)."""
        return self.prediction.leaf_means(leaves)

    def _stored_tree(self, index: int) -> Tree:
        first = int(self.forest.first_leaf[index])
        return self._tree(self.forest, index, self.leaf_means(slice(first, first + int(self.forest.leaves[index]))))

    def _average_tree(self, index: int) -> Tree:
        """A stored tree; what the leaves predict is averaged over all draws of the same rules."""
        if self.values is None:
            leaves = self.forest.leaves_of(np.array([index]))
            return self._tree(self.forest, index, self.leaf_means(leaves), self.statistics[leaves])
        same = np.flatnonzero(self.forest.identity == self.forest.identity[index])
        leaves = np.arange(self.forest.leaves[index])
        means = self.leaf_means((self.forest.first_leaf[same][:, None] + leaves).ravel())
        draws = self.visits[:, same].sum(axis=0)
        return self._tree(
            self.forest, index, np.average(means.reshape(len(same), len(leaves), -1), axis=0, weights=draws)
        )

    def _tree(self, forest: Forest, index: int, means: np.ndarray, statistics: np.ndarray | None = None) -> Tree:
        """A tree; from the statistics of its leaves come the credible intervals of what they say."""
        assert self.model.leaf is not None
        intervals = None if statistics is None else self.model.leaf.interval(statistics, PROB)
        return fitted_tree(self.schema, forest, index, means, intervals)

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
        """The trees with the most draws; where all trees were added up, the most probable ones, in order.

        Parameters
        ----------
        n : int
            How many; at most 1,000 of all trees.

        Returns
        -------
        list of (tree, probability, probability per chain)
            Most probable first; ties in the order of first visit.
        """
        require_whole("n", n, 0)
        if self.summed is not None:
            return self._summed_top(self.summed, n)
        count = self.distinct_visits.sum(axis=0)
        top = np.argsort(-count, kind="stable")[: min(n, np.count_nonzero(count))].tolist()
        shares = self.distinct_visits / self.draws
        return [TopTree(self._average_tree(tree), count[tree] / self.tree_index.size, shares[:, tree]) for tree in top]

    def _summed_top(self, summed: Summed, n: int) -> list[TopTree]:
        assert self.model.leaf is not None
        top, drawn = (
            summed.top,
            {self.forest.key(int(tree)): tree for tree in np.flatnonzero(self.distinct_visits.any(0))},
        )
        probability, shares = summed.probabilities(self.model.power), self.distinct_visits / self.draws
        found = []
        for number in range(min(n, len(top))):
            first = int(top.first_leaf[number])
            statistics = summed.statistics[first : first + int(top.leaves[number])]
            tree = self._tree(top, number, self.model.leaf.means(statistics), statistics)
            place = drawn.get(top.key(number))
            share = np.zeros(self.chains) if place is None else shares[:, place]
            found.append(TopTree(tree, float(probability[number]), share))
        return found

    def map_tree(self) -> BestTree:
        """The most probable tree, and whether that is certain.

        Of chains the best one that they visited, at any iteration: those of the warm-up count, and those between draws.
        Of a model file of an earlier version, and where trees must be monotone, it is the best one drawn.
        """
        if self.summed is not None:
            [top] = self._summed_top(self.summed, 1)
            return BestTree(top.tree, top.probability, certified=True)
        drawn = (self.log_prior + self.model.power * self.log_likelihood).ravel()
        number, evidence = int(np.argmax(drawn)), self.known_evidence
        best, visited = float(drawn[number]), Visited.best(self.states, self.model.power)
        if visited is None or visited.log_target(self.model.power) <= best:
            tree = self._average_tree(int(self.tree_index.ravel()[number]))
        else:
            assert self.model.leaf is not None
            best = visited.log_target(self.model.power)
            statistics = visited.statistics.reshape(int(visited.forest.leaves[0]), -1)
            tree = self._tree(visited.forest, 0, self.model.leaf.means(statistics), statistics)
        probability = None if evidence is None else float(np.exp(min(best - evidence.value, 0.0)))
        return BestTree(tree, probability, certified=False)

    def best_tree(self) -> Tree:
        """The tree of highest posterior probability, log P(T | x) + log P(y | T, x): that of `map_tree`."""
        return self.map_tree().tree

    def posterior_map(self, trees: int = MAPPED, levels: int = 3) -> PosteriorMap:
        """A map of the posterior: the most probable trees by decision path; ``print`` or ``plot`` it.

        Parameters
        ----------
        trees : int
            How many trees; at most 1,000 of all trees.
        levels : int
            How many levels of each tree the map shows, 5 at most.
        """
        require_whole("trees", trees, 1)
        require_whole("levels", levels, 1)
        if levels > MOST_LEVELS:
            raise InputError(f"levels={levels}: a map of so many places cannot be read; choose {MOST_LEVELS} or fewer")
        found = [(top.tree, top.probability) for top in self.top_trees(trees)]
        return PosteriorMap.of(found, levels=levels, exact=self.summed is not None, response=self.schema.response.name)

    def inclusion(self) -> dict[str, float]:
        """Of each column, the probability that the tree asks about it."""
        if self.summed is not None:
            return dict(zip(self.schema.names, self.summed.inclusion.tolist(), strict=True))
        asks = self.forest.asks(len(self.schema.columns))
        shares = self.visits.sum(axis=0) @ asks / self.tree_index.size
        return dict(zip(self.schema.names, shares.tolist(), strict=True))

    def leaf_distribution(self) -> np.ndarray:
        """Of 0, 1, 2, … leaves, the probability that the tree has so many."""
        return np.bincount(self.n_leaves.ravel()) / self.tree_index.size if self.summed is None else self.summed.leaves

    def root_rules(self) -> list[tuple[str, float]]:
        """The questions that the root asks, with their probabilities, the most probable first."""
        if self.summed is not None:
            return self.summed.root_rules(self.schema)
        root = self.forest.begin.astype(np.int64)
        asked: dict[str, float] = {}
        for tree in np.flatnonzero(self.forest.feature[root] >= 0).tolist():
            rule = rules_of(self.forest, tree)[0]
            assert rule is not None
            question = self._stored_tree(tree).question(rule)
            asked[question] = asked.get(question, 0.0) + self.visits[:, tree].sum() / self.tree_index.size
        return sorted(asked.items(), key=lambda rule: -rule[1])

    def exact_moments(self, X: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the standard deviation of E(y | x), or of class probabilities, over all trees: exact numbers.

        Parameters
        ----------
        X : path, frame or array-like, optional
            New rows; by default the training rows. Of a posterior from a model file only these are known.

        Returns
        -------
        tuple of numpy.ndarray
            The means and the standard deviations, shape (rows,), or (rows, classes).
        """
        if self.summed is None:
            raise InputError("exact moments need all trees: sample with CART(method='exact')")
        codes = None if X is None else self.schema.encode(X)
        mean, sd = self.summed.moments(codes, self.settings.rows if codes is None else len(codes))
        return (mean, sd) if self.schema.response.classes is not None else (mean[:, 0], sd[:, 0])

    def _mean_at(self, bins: np.ndarray) -> np.ndarray:
        if self.summed is None or not self.summed.knows_new_rows:
            return super()._mean_at(bins)
        return self.summed.moments(bins, len(bins))[0]

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

    def _reasons(self, values: Sequence[Any], rows: np.ndarray, place: int, prob: float) -> Reasons:
        return reasons_of(self, values, rows, place)

    # ---- tempering ------------------------------------------------------------------------------------------------

    def log_evidence(self) -> LogEvidence:
        """log P(y | x), the marginal likelihood of the data under the whole prior, with its standard error.

        Where all trees were added up the error is 0. Else it needs chains on an ``"adaptive"`` ladder, whose rungs
        reach from the posterior to the prior: see `baytree.diagnostics.evidence.stepping_stone`.
        """
        if self.summed is not None and self.model.power == 1:
            return LogEvidence(self.summed.log_evidence, 0.0)
        if self.summed is None and (not self.tempered or not self.settings.adapts):
            raise InputError(
                'the evidence needs chains that reach the prior: sample with temperatures=12 and ladder="adaptive"'
            )
        if self.values is not None:
            raise InputError("the evidence of monotone trees is not known: leave Monotone out")
        if self.model.power != 1:
            raise InputError(f"the evidence needs the likelihood as it is; this model has power={self.model.power:g}")
        if (trips := int(self.swaps().round_trips.sum())) < FEW_TRIPS:
            warnings.warn(
                f"the ladders made {counted(trips, 'round trip')} between the posterior and the prior; the error of "
                f"the evidence may be too small: take more draws, or more temperatures, for {FEW_TRIPS} or more",
                stacklevel=2,
            )
        return self._stepping_stone()

    def _stepping_stone(self) -> LogEvidence:
        assert self.rung_log_likelihood is not None
        return stepping_stone(self.rung_log_likelihood, self.swaps().ladders)

    @property
    def known_evidence(self) -> LogEvidence | None:
        """The log evidence P(y | x), where tempered chains tell it."""
        tells = self.settings.adapts and self.values is None and self.model.power == 1
        if self.summed is not None:
            return self.log_evidence() if self.model.power == 1 else None
        return self._stepping_stone() if self.tempered and tells else None

    def independence_bound(self, iterations: int) -> IndependenceBound:
        """How far from the posterior a chain of ``q0`` proposals can be after some iterations.

        In total variation at most (1 − P(T̂ | x) / P(T̂ | x, y))^iterations, with T̂ the tree of highest likelihood [1]_.
        The ratio is P(y | x) / P(y | T̂, x), so it follows from the evidence. Where all trees were added up, T̂ is known
        and the bound certified; else T̂ is the best one known, of those drawn and the most probable one that chains
        visited. Where there is a better one the true bound is larger.

        Parameters
        ----------
        iterations : int
            The length of the chain.

        References
        ----------
        .. [1] Angelopoulos and Cussens (2005), Exploiting informative priors for Bayesian classification and regression
           trees, IJCAI, eq. 3.
        """
        evidence, summed = self.log_evidence().value, self.summed
        if summed is not None:
            best = summed.highest_log_likelihood
        else:
            visited = Visited.best(self.states, self.model.power)
            best = max(float(self.log_likelihood.max()), -np.inf if visited is None else visited.log_likelihood)
        ratio = np.exp(min(evidence - best, 0.0))
        return IndependenceBound(float((1 - ratio) ** iterations), best, certified=summed is not None)

    def summary(self) -> Summary:
        """What was fitted, what it says, and whether the chains agree; ``print`` it."""
        return Summary.of(
            self,
            inclusion=largest_first(self.inclusion()),
            top_trees=tuple((top.probability, top.tree.n_leaves) for top in self.top_trees(TOP_TREES)),
            every_tree=self._every_tree,
        )

    def reported(self, data: Any = None, **options: Any) -> Report[Any]:
        """The report before it is a file."""
        from .report import TreeReport

        return TreeReport(self, data, **options)

    @property
    def _every_tree(self) -> EveryTree | None:
        if self.summed is None:
            return None
        listed = self.summed.probabilities(self.model.power)
        return EveryTree(
            self.summed.log_evidence,
            self.summed.highest_log_likelihood,
            self.summed.sets,
            len(listed),
            float(listed.sum()),
        )

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

    def _part(self, chain: int, begin: int, end: int) -> Part:
        """The trees of these draws, and those of them that are new."""
        index = self.tree_index[chain]
        # A tree that the previous block ended with is stored there.
        first = int(index[begin]) + int(begin > 0 and index[begin] == index[begin - 1])
        last = max(int(index[end - 1]) + 1, first)
        node_first = int(self.forest.begin[first]) if first < len(self.forest) else len(self.forest.feature)
        node_last = int(self.forest.end[last - 1]) if last > first else node_first
        leaf_first = int(self.forest.first_leaf[first]) if last > first else 0
        leaf_last = leaf_first + int(self.forest.leaves[first:last].sum())
        arrays = {name: array[node_first:node_last] for name, array in self.forest.arrays().items() if name != "begin"}
        return {
            **arrays,
            "begin": self.forest.begin[first:last] - np.uint64(node_first),
            "statistics": self.statistics[leaf_first:leaf_last].ravel(),
            **({} if self.values is None else {VALUES: self.values[leaf_first:leaf_last]}),
            "tree": index[begin:end] - index[0],
            **(self.summed.arrays() if self.summed is not None and chain == 0 else {}),
        }

    @classmethod
    def _fields_of(cls, parts: Sequence[Sequence[Part]], model: CART, schema: Schema) -> dict[str, Any]:
        """The trees with their leaves, and which of them each draw is."""
        stored = [sum(len(part["begin"]) for part in chain) for chain in parts]
        blocks = [part for chain in parts for part in chain]
        statistics = np.concatenate([part.pop("statistics") for part in blocks])
        assert model.leaf is not None
        return {
            "statistics": statistics.reshape(-1, model.leaf.n_statistics(schema.response)),
            "values": np.concatenate([part.pop(VALUES) for part in blocks]) if VALUES in blocks[0] else None,
            "tree_index": taken(parts, "tree") + np.cumsum([0, *stored[:-1]])[:, None],
            "forest": Forest.concatenate(blocks),
            "summed": Summed.from_arrays(parts[0][0]) if f"{SUMMED}sets" in parts[0][0] else None,
        }

    def _check(self) -> None:
        """Raise InputError where draws, trees, leaves and states do not belong together."""
        if self.tree_index.shape != self.log_likelihood.shape or self.log_prior.shape != self.log_likelihood.shape:
            raise InputError("draws are missing")
        if self.tree_index.min() < 0 or self.tree_index.max() >= len(self.forest):
            raise InputError("draws refer to trees that are not there")
        if self.prediction.core.leaves != len(self.statistics):
            raise InputError("leaves are missing")
        if self.values is not None and self.values.shape != (len(self.statistics),):
            raise InputError("leaf values are missing")
        assert self.model.leaf is not None
        if not self.model.leaf.can_have(self.statistics, self.values):
            raise InputError("the statistics or values of the leaves are none that rows give")
        if (self.summed is None) == (self.model.method == "exact"):
            raise InputError("what the sum found is missing")
        if self.summed is not None:
            self.summed.check(self.model.leaf, self.schema, self.settings.rows)
            if any(state != {} for state in self.states):
                raise InputError("there are states of chains, but every tree was added up")
            return
        if any(("values" in state["rungs"][0]) != (self.values is not None) for state in self.states):
            raise InputError("leaf values are missing")
        for state in self.states:
            if BEST in state:
                Visited.from_dict(state[BEST]).check(self.model.leaf, self.schema)
        stored = np.diff(self.tree_index[:, 0], append=len(self.forest)).tolist()
        # A chain stores a tree when it draws it and it is another than before.
        last = self.tree_index[:, -1] - self.tree_index[:, 0] + 1
        if (np.diff(self.tree_index) < 0).any() or last.tolist() != stored:
            raise InputError("the trees of the draws are in no order")
        if [state["position"]["stored_trees"] for state in self.states] != stored:
            raise InputError("the states of the chains do not fit their trees")
