"""The posterior: draws, and what they were drawn from."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import _core, prediction
from .data import Schema
from .errors import FileError, InputError
from .models import CART
from .native import native_columns
from .storage import ModelReader, ModelWriter, open_model
from .summary import Summary, summarise
from .trees import Forest, Tree, rules_of

# A model file is written in blocks of about this many leaf statistics a chain, far below SQLite's limit for one value.
NUMBERS_PER_BLOCK = 8_000_000

# What a chain recorded in one block: the arrays of a forest of the trees that are new in it, and of its draws.
Part = dict[str, np.ndarray]
DRAW_ARRAYS = ("tree", "log_likelihood", "log_prior")
# Of trees that must be monotone only.
VALUES = "value"
PART_ARRAYS = ("feature", "cut", "subset", "missing_left", "rows", "begin", "statistics", *DRAW_ARRAYS)


@dataclass(frozen=True)
class Plan:
    """How the draws were asked for.

    Attributes
    ----------
    chains, warmup, draws, thin : int
        Numbers of chains; of iterations thrown away, and of draws kept, of each; of iterations between draws.
    seed : int
        The seed of all chains; each has its own stream.
    rows : int
        Number of training rows.
    data : str
        A fingerprint of the training data.
    """

    chains: int
    warmup: int
    draws: int
    thin: int
    seed: int
    rows: int
    data: str


class TopTree(NamedTuple):
    """A tree with its share of the draws, over all chains and in each."""

    tree: Tree
    probability: float
    per_chain: np.ndarray


class Trees(Sequence[Tree]):
    """The stored trees, made when asked for."""

    def __init__(self, posterior: Posterior) -> None:
        self._posterior = posterior

    def __len__(self) -> int:
        return len(self._posterior.forest)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._posterior._stored_tree(range(len(self))[index])


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of trees from a posterior.

    A chain that stays at a tree stores it once, so there are fewer stored trees than draws.

    Attributes
    ----------
    model : CART
        The model, with everything that was left open filled in.
    schema : Schema
        The training table's names, cut points, levels and response.
    plan : Plan
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
    values : numpy.ndarray, optional
        Where trees must be monotone, of every leaf of every stored tree E(y | x), or the probability of the second
        class, as the chain drew it. Elsewhere the leaves' parameters are integrated out.
    """

    model: CART
    schema: Schema
    plan: Plan
    forest: Forest
    statistics: np.ndarray
    tree_index: np.ndarray
    log_likelihood: np.ndarray
    log_prior: np.ndarray
    states: tuple[dict[str, Any], ...]
    values: np.ndarray | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All but the core's copy of the trees, which is made again when needed."""
        return {name: value for name, value in self.__dict__.items() if name != "_predictor"}

    def __repr__(self) -> str:
        return f"<Posterior: {self.chains} chains × {self.draws:,} draws, response {self.schema.response.name!r}>"

    @property
    def chains(self) -> int:
        """Number of chains."""
        return self.tree_index.shape[0]

    @property
    def draws(self) -> int:
        """Number of draws of each chain."""
        return self.tree_index.shape[1]

    @property
    def acceptance(self) -> dict[str, float]:
        """Of each proposal, the share of its turns that changed the tree."""
        turns = np.sum([state["turns"] for state in self.states], axis=0)
        accepted = np.sum([state["accepted"] for state in self.states], axis=0)
        shares = accepted / np.maximum(turns, 1)
        return dict(zip(self.model.proposal, shares.tolist(), strict=True))

    @property
    def n_leaves(self) -> np.ndarray:
        """The number of leaves of each draw, shape (chains, draws)."""
        return self.forest.leaves[self.tree_index]

    # ---- trees ----------------------------------------------------------------------------------------------------

    @property
    def trees(self) -> Trees:
        """The stored trees, in the order in which the chains met them."""
        return Trees(self)

    def tree(self, chain: int, draw: int) -> Tree:
        """The tree of one draw."""
        return self._stored_tree(self.tree_index[chain, draw])

    def leaf_means(self, leaves: slice | np.ndarray) -> np.ndarray:
        """What these leaves of the stored trees predict, shape (leaves, width)."""
        assert self.model.leaf is not None
        return self.model.leaf.means(self.statistics[leaves], None if self.values is None else self.values[leaves])

    def _stored_tree(self, index: int) -> Tree:
        first = int(self.forest.first_leaf[index])
        return self._tree(index, self.leaf_means(slice(first, first + int(self.forest.leaves[index]))))

    def _average_tree(self, indices: list[int]) -> Tree:
        """Stored trees of the same rules as one; what their leaves predict is averaged over the draws."""
        if self.values is None:
            return self._stored_tree(indices[0])
        leaves = np.arange(self.forest.leaves[indices[0]])
        means = self.leaf_means((self.forest.first_leaf[indices][:, None] + leaves).ravel())
        draws = self.visits[:, indices].sum(axis=0)
        return self._tree(indices[0], np.average(means.reshape(len(indices), len(leaves), -1), axis=0, weights=draws))

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
        places = self._places()
        total = Counter({key: int(self.visits[:, indices].sum()) for key, indices in places.items()})
        top = []
        for key, count in total.most_common(n):
            per_chain = self.visits[:, places[key]].sum(axis=1) / self.draws
            top.append(TopTree(self._average_tree(places[key]), count / self.tree_index.size, per_chain))
        return top

    def _places(self) -> dict[bytes, list[int]]:
        """Where among the stored trees those of the same rules are."""
        places: dict[bytes, list[int]] = {}
        for index in range(len(self.forest)):
            places.setdefault(self.forest.key(index), []).append(index)
        return places

    def best_tree(self) -> Tree:
        """The drawn tree of highest posterior probability, log P(T | x) + log P(y | T, x)."""
        best = self.tree_index.ravel()[np.argmax(self.log_likelihood + self.log_prior)]
        return self._average_tree([best] if self.values is None else self._places()[self.forest.key(best)])

    def inclusion(self) -> dict[str, float]:
        """Of each column, the probability that the tree asks about it."""
        tree_of_node = np.repeat(np.arange(len(self.forest)), self.forest.end - self.forest.begin.astype(np.int64))
        split = self.forest.feature >= 0
        used = np.zeros((len(self.forest), len(self.schema.columns)), dtype=bool)
        used[tree_of_node[split], self.forest.feature[split]] = True
        shares = self.visits.sum(axis=0) @ used / self.tree_index.size
        return dict(zip(self.schema.names, shares.tolist(), strict=True))

    def summary(self) -> Summary:
        """What was fitted, what it says, and whether the chains agree; ``print`` it."""
        return summarise(self)

    # ---- prediction -----------------------------------------------------------------------------------------------

    @cached_property
    def _predictor(self) -> _core.Predictor:
        return _core.Predictor(native_columns(self.schema), self.forest.arrays())

    def predict(self, X: Any, kind: str = "mean", prob: float = 0.9) -> np.ndarray:
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
        return prediction.predict(self, self._predictor, self.schema.encode(X), kind, prob)

    # ---- files ----------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file; an existing one is replaced only when the new one is complete."""
        header = model_header(self.model, self.schema, self.plan)
        writer = ModelWriter.create(path, header, Path(f"{os.fspath(path)}.saving"))
        try:
            for draws in self._blocks():
                writer.append(draws, self.states)
        except BaseException:
            writer.discard()
            raise
        writer.finish()

    def _blocks(self) -> Iterator[list[Part]]:
        """The draws of every chain in blocks, as `from_parts` takes them."""
        blocks = min(self.draws, self.statistics.size // self.chains // NUMBERS_PER_BLOCK + 1)
        edges = np.linspace(0, self.draws, blocks + 1).astype(int)
        for begin, end in pairwise(edges.tolist()):
            yield [self.part(chain, begin, end) for chain in range(self.chains)]

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
        return {
            **arrays,
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
        plan: Plan,
        parts: Sequence[Sequence[Part]],
        states: Sequence[dict[str, Any]],
    ) -> Posterior:
        """Put together what the chains recorded, `parts[chain]` being its blocks in order; this empties them."""
        draws = {name: [np.concatenate([part.pop(name) for part in chain]) for chain in parts] for name in DRAW_ARRAYS}
        stored = [sum(len(part["begin"]) for part in chain) for chain in parts]
        first = np.cumsum([0, *stored[:-1]])
        width = 3 if schema.response.classes is None else len(schema.response.classes)
        statistics = np.concatenate([part.pop("statistics") for chain in parts for part in chain]).reshape(-1, width)
        blocks = [part for chain in parts for part in chain]
        values = np.concatenate([part.pop(VALUES) for part in blocks]) if VALUES in blocks[0] else None
        forest = Forest.concatenate(blocks)
        return cls(
            model=model,
            schema=schema,
            plan=plan,
            forest=forest,
            statistics=statistics,
            tree_index=np.stack([tree + offset for tree, offset in zip(draws["tree"], first, strict=True)]),
            log_likelihood=np.stack(draws["log_likelihood"]),
            log_prior=np.stack(draws["log_prior"]),
            states=tuple(states),
            values=values,
        )

    def check(self) -> Posterior:
        """Raise InputError where the parts do not belong together; gives the posterior itself."""
        if self.tree_index.size == 0 or self.tree_index.min() < 0 or self.tree_index.max() >= len(self.forest):
            raise InputError("draws refer to trees that are not there")
        if self._predictor.leaves != len(self.statistics) or self.chains != len(self.states):
            raise InputError("leaves or states are missing")
        expected = len(self.statistics) if any("values" in state for state in self.states) else 0
        if expected != (0 if self.values is None else len(self.values)):
            raise InputError("leaf values are missing")
        if self.values is not None and not np.isfinite(self.values).all():
            raise InputError("leaf values are not numbers")
        return self


def model_header(model: CART, schema: Schema, plan: Plan) -> dict[str, Any]:
    """What a model file says besides the draws."""
    return {"model": model.to_dict(), "schema": schema.to_dict(), "plan": asdict(plan)}


def load(path: str | os.PathLike[str]) -> Posterior:
    """Read a model file.

    Parameters
    ----------
    path : path
        A file that `Posterior.save` or ``baytree fit`` wrote.
    """
    with open_model(path) as reader:
        try:
            return read_posterior(reader).check()
        except FileError:
            raise
        except ValueError as error:
            raise FileError(f"{path}: damaged: {error}; restore a copy") from error


def read_posterior(reader: ModelReader) -> Posterior:
    """The posterior of an open model file."""
    model, schema, plan = read_header(reader)
    states = reader.states()
    parts = [read_parts(reader, chain) for chain in range(len(states))]
    return Posterior.from_parts(model, schema, plan, parts, states)


def read_header(reader: ModelReader) -> tuple[CART, Schema, Plan]:
    """What an open model file says besides the draws."""
    header = reader.header()
    return CART.from_dict(header["model"]), Schema.from_dict(header["schema"]), Plan(**header["plan"])


def read_parts(reader: ModelReader, chain: int) -> list[Part]:
    """The blocks of draws of one chain."""
    arrays = {name: reader.blocks(chain, name) for name in (*PART_ARRAYS, VALUES)}
    if not arrays[VALUES]:
        del arrays[VALUES]
    return [dict(zip(arrays, block, strict=True)) for block in zip(*arrays.values(), strict=True)]
