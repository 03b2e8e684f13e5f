"""Exact answers: every tree of a small table, added up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .. import _core
from ..data.design import Design, Schema
from ..data.to_core import native_columns, native_design
from ..errors import InputError
from ..knowledge import MaxLeaves, Monotone
from ..mcmc.settings import RunSettings
from ..priors.grow_tree import GrowTree
from ..trees.forest import FOREST_TYPES, Forest, rules_of
from ..trees.tree import Tree
from .leaves import Leaf

if TYPE_CHECKING:
    from .model import CART
    from .posterior import Posterior

# The most sets of rows that are added up, by itself and where it is asked for, and the bytes that this may take.
AUTO_SETS, MOST_SETS = 200_000, 20_000_000
AUTO_BYTES, MOST_BYTES = 2**28, 2**32
# How many of the most probable trees are kept.
LISTED_TREES = 1000
# In model files, what a sum found stands under its name with this word in front.
SUMMED = "summed_"
# The types of those of these arrays that are not of doubles.
SUMMED_TYPES = dict.fromkeys((f"{SUMMED}sets", f"{SUMMED}lengths"), np.int64) | {
    f"{SUMMED}{forest}_{name}": kind for forest in ("top", "root") for name, kind in FOREST_TYPES.items()
}
ONE_NUMBER = ("log_evidence", "highest_log_likelihood", "sets")
NAMES = (*ONE_NUMBER, "lengths", "inclusion", "leaves", "moments", "root_feature", "top_feature")


class Summed:
    """What the sum over all trees says: exact numbers, that no draw enters, each found when it is asked for.

    Parameters
    ----------
    found : dict of str to numpy.ndarray
        What was asked for already, by name.
    sums : _core.ExactSums, optional
        The sums; none where a model file was read, which has it all.
    """

    def __init__(self, found: dict[str, np.ndarray], sums: _core.ExactSums | None = None) -> None:
        self._found, self._sums = found, sums

    @classmethod
    def of(cls, sums: _core.ExactSums) -> Self:
        """What complete sums say."""
        found = {"log_evidence": np.array([sums.log_evidence]), "sets": np.array([sums.sets], dtype=np.int64)}
        return cls(found, sums)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """What `arrays` gave, among others."""
        return cls({name.removeprefix(SUMMED): array for name, array in arrays.items() if name.startswith(SUMMED)})

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it, for a model file."""
        for name in NAMES:
            self._of(name)
        return {SUMMED + name: array for name, array in self._found.items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Summed):
            return NotImplemented
        mine, others = self.arrays(), other.arrays()
        return mine.keys() == others.keys() and all(np.array_equal(mine[name], others[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, np.ndarray]:
        return self.arrays()

    def __setstate__(self, state: dict[str, np.ndarray]) -> None:
        self.__dict__ = Summed.from_arrays(state).__dict__

    def _of(self, name: str) -> np.ndarray:
        if name not in self._found:
            self._found |= self._ask(name)
        return self._found[name]

    def _ask(self, name: str) -> dict[str, np.ndarray]:
        if self._sums is None:
            raise InputError(f"what the sum found is damaged: {name} is missing")
        if name.startswith("top_"):
            best = self._sums.best(LISTED_TREES)
            return {f"top_{key}": array for key, array in (best.pop("forest") | best).items()}
        if name.startswith("root_"):
            root = self._sums.root()
            return {f"root_{key}": array for key, array in (root.pop("forest") | root).items()}
        if name == "lengths":
            return {name: np.array([len(self.top), len(self.leaves)], dtype=np.int64)}
        if name == "moments":
            return {name: self._sums.fitted()}
        return {name: np.atleast_1d(getattr(self._sums, name)())}

    def _forest(self, start: str) -> Forest:
        self._of(f"{start}_feature")
        return Forest(**{name: self._found[f"{start}_{name}"] for name in Forest.__dataclass_fields__})

    @property
    def log_evidence(self) -> float:
        """log P(y | x), with the power that the likelihood has."""
        return float(self._of("log_evidence")[0])

    @property
    def highest_log_likelihood(self) -> float:
        """log P(y | T, x) of the tree of highest likelihood, with the power that it has."""
        return float(self._of("highest_log_likelihood")[0])

    @property
    def sets(self) -> int:
        """How many sets of rows were looked at."""
        return int(self._of("sets")[0])

    @property
    def inclusion(self) -> np.ndarray:
        """Of each column, the probability that the tree asks about it."""
        return self._of("inclusion")

    @property
    def leaves(self) -> np.ndarray:
        """Of 0, 1, 2, … leaves, the probability that the tree has so many."""
        return self._of("leaves")

    @property
    def top(self) -> Forest:
        """The most probable trees, in order."""
        return self._forest("top")

    @property
    def statistics(self) -> np.ndarray:
        """The sufficient statistics of their leaves."""
        return self._of("top_statistics").reshape(int(self.top.leaves.sum()), -1)

    def probabilities(self, power: float) -> np.ndarray:
        """Their probabilities."""
        log_target = self._of("top_log_prior") + power * self._of("top_log_likelihood")
        found: np.ndarray = np.exp(log_target - self.log_evidence)
        return found

    def root_rules(self, schema: Schema) -> list[tuple[str, float]]:
        """The questions that the root may ask, with their probabilities, the most probable first."""
        probability, forest = self._of("root_probability"), self._forest("root")
        order = np.argsort(-probability, kind="stable").tolist()
        rules = [rules_of(forest, tree) for tree in order]
        asked = [Tree(schema, found).question(found[0]) for found in rules if found[0] is not None]
        return list(zip(asked, probability[order].tolist(), strict=True))

    @property
    def knows_new_rows(self) -> bool:
        """Whether the sums are at hand, not only what a model file has of them."""
        return self._sums is not None

    def moments(self, codes: np.ndarray | None, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Of each row, given by codes, the mean and the standard deviation of what its leaf predicts.

        Parameters
        ----------
        codes : numpy.ndarray or None
            None for the training rows.
        rows : int
            How many rows there are.
        """
        if codes is None:
            found = self._of("moments")
        elif self._sums is None:
            raise InputError(
                "a model file has exact predictions of the training rows alone: sample anew for other rows"
            )
        else:
            found = self._sums.moments(np.ascontiguousarray(codes, dtype=np.uint32))
        mean, square = found.reshape(rows, 2, -1).transpose(1, 0, 2)
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))

    def check(self, leaf: Leaf, schema: Schema, rows: int) -> None:
        """Raise InputError where the arrays of a model file do not belong together, or cannot be."""
        top, root, probability = self.top, self._forest("root"), self._of("root_probability")
        native, shares = native_columns(schema), [self.inclusion, self.leaves, probability]
        for forest in (top, root):
            _core.Predictor(native, forest.arrays())
        one_number = all(self._of(name).shape == (1,) for name in ONE_NUMBER)
        if not one_number or self._of("lengths").tolist() != [len(top), len(self.leaves)]:
            raise InputError("what the sum found is incomplete")
        one_a_tree = all(self._of(f"top_log_{name}").shape == (len(top),) for name in ("prior", "likelihood"))
        whole = self.inclusion.shape == (len(schema.columns),) and probability.shape == (len(root),)
        whole = whole and self.leaves.ndim == 1
        outputs = 1 if schema.response.classes is None else len(schema.response.classes)
        if not one_a_tree or not whole or self._of("moments").shape != (rows * 2 * outputs,) or not len(top):
            raise InputError("what the sum found is incomplete")
        in_order = all(np.all((share >= -1e-9) & (share <= 1 + 1e-9)) for share in shares)
        if not in_order or not all(np.isfinite(array).all() for array in self._found.values()):
            raise InputError("what the sum found are no probabilities")
        if self.statistics.shape[1] != leaf.n_statistics(schema.response) or not leaf.can_have(self.statistics):
            raise InputError("the statistics of the most probable trees are none that rows give")


def why_chains(model: CART) -> str | None:
    """What of a model a sum over sets of rows cannot take; None where it can take all."""
    if not isinstance(model.prior, GrowTree):
        return "the choices of a program may depend on all that it did before"
    whole = [known for known in model.prior.knowledge.constraints if isinstance(known, (Monotone, MaxLeaves))]
    return f"{type(whole[0]).__name__} is about the tree as a whole" if whole else None


def too_many(model: CART) -> str:
    """What to say where the budget is not enough."""
    auto = model.method == "auto"
    sets = AUTO_SETS if auto else MOST_SETS
    more = f"; the exact method, asked for by name, takes up to {MOST_SETS:,}" if auto else ""
    return (
        f"there are more than {sets:,} sets of rows, too many to add up every tree; a limit of depth, such as 3, makes "
        f"them far fewer, and so do fewer cuts{more}"
    )


def is_small(design: Design, threads: int) -> bool:
    """Whether every tree of a table can be added up within seconds, under the usual model."""
    from .model import CART

    model = CART().resolve(design)
    assert model.leaf is not None
    assert isinstance(model.prior, GrowTree)
    leaf, prior = model.leaf.native(design), model.prior.native(design.schema)
    try:
        sums = _core.ExactSums(native_design(design), leaf, prior, 1.0, AUTO_SETS, AUTO_BYTES, threads)
    except MemoryError:
        return False
    return bool(sums.complete)


def sum_up(model: CART, design: Design, settings: RunSettings, monitored: Any, threads: int) -> Posterior | None:
    """The posterior of a resolved model by adding up every tree, with independent draws; None where they are too many.

    Parameters
    ----------
    model : CART
        The model.
    design : Design
        The data.
    settings : RunSettings
        How many draws to make.
    monitored : Rows
        The rows at which predictions are looked at.
    threads : int
        How many may share the work.
    """
    from .posterior import Posterior

    assert model.leaf is not None
    assert isinstance(model.prior, GrowTree)
    sets, size = (AUTO_SETS, AUTO_BYTES) if model.method == "auto" else (MOST_SETS, MOST_BYTES)
    prior, power = model.prior.native(design.schema), float(model.power)
    try:
        sums = _core.ExactSums(native_design(design), model.leaf.native(design), prior, power, sets, size, threads)
    except MemoryError:
        raise MemoryError(
            f"method={model.method!r}: adding up every tree takes more memory than there is (up to "
            f"{size / 2**30:g} GB): limit the depth (MaxDepth(3), say), choose method='chains', or see what "
            "bt.bounds says within a small budget"
        ) from None
    if not sums.complete:
        return None
    parts = []
    for chain in range(settings.chains):
        drawn = sums.draw(settings.draws, settings.seed, chain)
        parts.append([drawn.pop("forest") | drawn | {"tree": np.arange(settings.draws)}])
    model = model.by("exact")
    states: list[dict[str, Any]] = [{} for _ in parts]
    found = Posterior.from_parts(model, design.schema, settings, parts, states, monitored)
    return replace(found, summed=Summed.of(sums))
