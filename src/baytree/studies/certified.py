"""Exact answers, and how far from them samplers are: evidences, modes, the probabilities of columns, sizes of sets.

What is published on these tables is the most probable tree that MAPTree ends with (Sullivan, Tiwari and Thrun 2024),
for two classes and binary columns. Here every tree of a table is added up, where its sets of rows are not too many;
where they are, the evidence has an interval that is certain, and the mode a gap. Then, on the kyphosis data, each
sampler is scored by its distance in total variation from the truth.

Two distances can be worked out exactly: that between the probabilities of the first questions of trees, no question
being one of them; and that between the probabilities of the thousand best trees, one by one, and of all others
together. Neither is larger than the distance of the distributions over trees.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from ..cart.bounds import Bounds, Interval, bounds
from ..cart.leaves import Categorical
from ..cart.model import CART
from ..cart.posterior import Posterior
from ..data.binning import MAX_BINS
from ..data.design import Design, Schema, make_design, read
from ..errors import InputError
from ..knowledge import MaxDepth
from ..posterior.summary import largest_first
from ..priors.grow_tree import GrowTree
from ..sampling.api import sample
from ..text import counted
from ..trees.forest import Forest, rules_of
from ..trees.tree import Tree
from . import Number, Outcome, Table
from .runs import WAYS, recorded, whole

# How many trees are listed in order.
LISTED = 1000
# Of the prior of MAPTree's tables: alpha, beta, the least rows of a leaf and the concentration of its classes.
MAPTREE = CART(GrowTree(alpha=0.95, beta=0.5, min_leaf=1), Categorical(concentration=2.5))
# log P(y | x) as three other programs found it, and to how many digits.
KNOWN = {"kyphosis": -38.90959, "primary-tumor": -156.70439, "zoo-1": -18.94351}
DIGITS = 1e-5
# How many trees hold 50, 90 and 95% of the posterior of kyphosis, trees that divide the rows alike being one, likewise.
KNOWN_SIZES = (209, 155_457, 1_127_449)
SHARES = (0.5, 0.9, 0.95)
# The log of prior times likelihood of the tree that MAPTree ends with; None where it proves the mode.
PUBLISHED: Mapping[str, float | None] = {"zoo-1": None, "hepatitis": None, "soybean": -152.860, "tic-tac-toe": -453.96}
# Proposals that reach every tree.
PROPOSALS = ("uc", "q0", "cycle(7)", "birth_death", "birth_death=1,change=1,swap=1", "auto")
INDEPENDENT = "independent draws"
CHAINS = 4
BATCHES = 20
# From here on numbers of trees are told in powers of ten.
LONG = 1e9
# So many splits are looked at together.
SPLITS = 20_000


@dataclass(frozen=True)
class Size:
    """How much is run."""

    sets: int
    draws: int
    iterations: int
    tables: bool


FULL = Size(sets=200_000, draws=50_000, iterations=20_000, tables=True)
QUICK = Size(sets=150_000, draws=4_000, iterations=500, tables=False)


@dataclass(frozen=True, eq=False)
class Answer:
    """What is known of the posterior of a table.

    Attributes
    ----------
    name, prior : str
        The table, and the trees.
    design : Design
        The table.
    bounded : Bounds
        What is certain of the evidence and the mode.
    posterior : Posterior or None
        All trees, added up, with independent draws; none where there are too many sets of rows.
    sizes : tuple of Number
        How many trees hold each of `SHARES`, with an error where it is estimated.
    """

    name: str
    prior: str
    design: Design
    bounded: Bounds
    posterior: Posterior | None = None
    sizes: tuple[Number, ...] = ()

    @property
    def evidence(self) -> str:
        """log P(y | x), or where it lies."""
        low, high = self.bounded.log_evidence
        return f"{low:.5f}" if self.posterior is not None else f"{low:.2f} to {high:.2f}"

    @property
    def agrees(self) -> bool | None:
        """Whether the evidence is the known one; None where none is known."""
        if self.name not in KNOWN:
            return None
        return self.posterior is not None and abs(self.bounded.log_evidence.low - KNOWN[self.name]) < DIGITS


def run(*, quick: bool, seed: int, tell: Callable[[str], object], cp4im: Path | None = None) -> Outcome:
    """Exact answers of the bundled tables that fit, of those in a folder, and the scores of samplers."""
    size = QUICK if quick else FULL
    rng = np.random.default_rng(seed)
    kyphosis = solve("kyphosis", "default", CART(), whole("K"), size, rng)
    tell("kyphosis done")
    answers = [kyphosis]
    for name, prior, model, design in (*(_bundled() if size.tables else ()), *of_folder(cp4im)):
        answers.append(solve(name, prior, model, design, size, rng))
        tell(f"{name} done")
    assert kyphosis.posterior is not None
    truth = Truth.of(kyphosis.posterior)
    scores = score(whole("K"), truth, size.iterations, rng, tell)
    return _outcome(size, answers, unlike_sizes(kyphosis), truth, scores)


def _bundled() -> list[tuple[str, str, CART, Design]]:
    heart = datasets.load("heart")
    return [
        ("breast_cancer", "default, depth ≤ 4", CART(GrowTree() & MaxDepth(4)), whole("BCW")),
        ("heart", "default, depth ≤ 3", CART(GrowTree() & MaxDepth(3)), _all_cuts(heart)),
    ]


def _all_cuts(data: datasets.Dataset) -> Design:
    return make_design(data.X, data.y, task="classification", max_cuts=None)


def of_folder(folder: Path | None) -> list[tuple[str, str, CART, Design]]:
    """The binary tables of a folder, those of few rows first."""
    if folder is None:
        return []
    files = sorted([*folder.glob("*.csv"), *folder.glob("*.csv.gz")])
    if not files:
        raise InputError(f"{folder}: there is no .csv or .csv.gz file; name a folder with the CP4IM tables")
    tables = [(file.name.split(".")[0], read(file, "class", task="classification")) for file in files]
    tables.sort(key=lambda table: table[1].rows * len(table[1].columns))
    return [(name, "MAPTree's", MAPTREE, design) for name, design in tables]


# ---- exact answers --------------------------------------------------------------------------------------------------


def solve(name: str, prior: str, model: CART, design: Design, size: Size, rng: np.random.Generator) -> Answer:
    """Add up every tree of a table, or bound what cannot be added up quickly."""
    auto = sample(replace(model, method="auto"), design, effort=0, draws=1, chains=1, progress=False)
    if auto.has_chains:
        return Answer(name, prior, design, bounds(model, design, budget=size.sets))
    exact = {"warmup": 0, "draws": size.draws, "chains": 1, "seed": int(rng.integers(2**63))}
    posterior = recorded(replace(model, method="exact"), design, **exact)
    summed, log_evidence = posterior.summed, posterior.log_evidence().value
    assert summed is not None
    listed = np.log([top.probability for top in posterior.top_trees(LISTED)])
    drawn = (posterior.log_prior + posterior.log_likelihood)[0] - log_evidence
    log_mode = listed[0] + log_evidence
    certain = Bounds(
        Interval(log_evidence, log_evidence), Interval(log_mode, log_mode), posterior.map_tree().tree, summed.sets
    )
    return Answer(name, prior, design, certain, posterior, set_sizes(listed, drawn))


def set_sizes(listed: np.ndarray, drawn: np.ndarray) -> tuple[Number, ...]:
    """How many of the most probable trees hold each of `SHARES`: counted, or estimated where too few are listed.

    Parameters
    ----------
    listed : numpy.ndarray
        The log probabilities of the best trees, in order.
    drawn : numpy.ndarray
        Those of independent draws from the posterior.
    """
    held = np.cumsum(np.exp(listed))
    counted_to = np.searchsorted(held, SHARES) + 1
    return tuple(
        Number(int(number), places=0) if number <= len(listed) else estimated_size(drawn, share)
        for number, share in zip(counted_to, SHARES, strict=True)
    )


def estimated_size(drawn: np.ndarray, share: float) -> Number:
    """How many of the most probable trees hold a share of the posterior, from log probabilities of independent draws.

    A tree of probability p comes among n draws n p times on average. So each draw stands for 1 / (n p) trees, and the
    trees that hold the share are those that the best draws stand for, that share of all draws.
    """

    def stand_for(draws: np.ndarray) -> float:
        best = np.sort(draws)[::-1][: round(share * len(draws))]
        return float(np.exp(-best).sum() / len(draws))

    batches = np.array([stand_for(batch) for batch in np.array_split(drawn, BATCHES)])
    return Number(stand_for(drawn), float(batches.std(ddof=1) / np.sqrt(BATCHES)), places=0)


def unlike_sizes(answer: Answer) -> tuple[Number, ...]:
    """How many trees hold each of `SHARES` of what was added up, where those that divide the rows alike are one."""
    assert answer.posterior is not None
    found = answer.posterior
    log_probability = (found.log_prior + found.log_likelihood)[0] - answer.bounded.log_evidence.low
    merged = log_probability + log_alike(found, answer.design)
    return tuple(estimated_size(merged, share) for share in SHARES)


def log_alike(posterior: Posterior, design: Design) -> np.ndarray:
    """Of each draw the logarithm of how many trees ask about the same columns and divide the rows alike: other cuts do.

    Of a design of numbers of which none is missing, and draws that were stored one by one.
    """
    bins, forest = posterior.bins_of(design), posterior.forest
    leaf = posterior.prediction.leaves_of(bins) - forest.first_leaf[:, None]
    tree = np.repeat(np.arange(len(forest)), forest.end - forest.begin.astype(np.int64))
    # The leaves before each node in its tree.
    before = np.append(0, np.cumsum(forest.feature < 0))
    first = forest.first_leaf[tree]
    found = np.zeros(len(forest))
    splits = np.flatnonzero(forest.feature >= 0)
    for some in np.array_split(splits, len(splits) // SPLITS + 1):
        begin, end = (before[at] - first[some] for at in (some, forest.below[some]))
        of_tree = leaf[tree[some]]
        inside = (of_tree >= begin[:, None]) & (of_tree < end[:, None])
        codes, cut = bins.T[forest.feature[some]].astype(np.int64), forest.cut[some, None].astype(np.int64)
        below = np.where(inside & (codes <= cut), codes, -1).max(axis=1)
        above = np.where(inside & (codes > cut), codes, MAX_BINS).min(axis=1)
        found += np.bincount(tree[some], np.log(above - below), len(forest))
    return found


# ---- samplers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Truth:
    """What samplers are scored by: the probabilities of the first questions, and of the best trees by their keys."""

    questions: Mapping[Any, float]
    trees: Mapping[Any, float]

    @classmethod
    def of(cls, posterior: Posterior) -> Truth:
        """That of all trees."""
        asked = dict(posterior.root_rules())
        trees = {top.tree.forest().key(0): top.probability for top in posterior.top_trees(LISTED)}
        return cls(asked | {NOTHING: 1 - sum(asked.values())}, trees)

    def independent(self, draws: float) -> float:
        """How far from the truth, by trees, so many independent draws are on average.

        A share of n draws is off by √(2 p (1 − p) / (π n)) on average, as it is nearly normal.
        """
        p = np.array([*self.trees.values()])
        p = np.append(p, 1 - p.sum())
        return float(np.sqrt(2 * p * (1 - p) / (np.pi * draws)).sum() / 2)


@dataclass(frozen=True, eq=False)
class Score:
    """A sampler's distances from the truth, one a chain, and the time of a chain."""

    proposal: str
    tempering: str
    trees: np.ndarray
    questions: np.ndarray
    seconds: float

    @classmethod
    def of(cls, truth: Truth, proposal: str, tempering: str, posterior: Posterior, seconds: float) -> Score:
        """That of a posterior's chains, which took so many seconds together."""
        forest, shares = posterior.forest, posterior.visits / posterior.draws
        trees, asked = [forest.key(tree) for tree in range(len(forest))], first_questions(posterior.schema, forest)
        return cls(
            proposal,
            tempering,
            np.array([distance(truth.trees, trees, share) for share in shares]),
            np.array([distance(truth.questions, asked, share) for share in shares]),
            seconds / posterior.chains,
        )


# The first question of a tree that is a leaf.
NOTHING = ""


def first_questions(schema: Schema, forest: Forest) -> list[str]:
    """The first question of each tree."""
    root = forest.begin.astype(np.int64)
    columns = (forest.feature, forest.cut, forest.subset, forest.missing_left)
    rules = zip(*(column[root].tolist() for column in columns), strict=True)
    known: dict[Any, str] = {}
    asked = []
    for tree, rule in enumerate(rules):
        if rule not in known:
            first = rules_of(forest, tree)
            known[rule] = NOTHING if first[0] is None else Tree(schema, first).question(first[0])
        asked.append(known[rule])
    return asked


def distance(truth: Mapping[Any, float], keys: Sequence[Any], shares: np.ndarray) -> float:
    """The distance in total variation between the truth and shares; what the truth does not name counts together."""
    found = dict.fromkeys(truth, 0.0)
    for key, share in zip(keys, shares.tolist(), strict=True):
        if key in found:
            found[key] += share
    rest = abs(sum(truth.values()) - sum(found.values()))
    return 0.5 * (sum(abs(found[key] - truth[key]) for key in truth) + rest)


def score(
    design: Design, truth: Truth, iterations: int, rng: np.random.Generator, tell: Callable[[str], object]
) -> list[Score]:
    """Score independent draws, and then every sampler."""
    ways: list[tuple[str, str, CART, Mapping[str, Any]]] = [
        (INDEPENDENT, "–", CART(method="exact"), {}),
        *((name, way, CART(proposal=name), WAYS[way]) for way in WAYS for name in PROPOSALS),
    ]
    found = []
    for name, way, model, tempering in ways:
        settings = {"warmup": iterations // 10, "draws": iterations, "chains": CHAINS, "threads": 1, **tempering}
        begin = time.process_time()
        posterior = recorded(model, design, seed=int(rng.integers(2**63)), **settings)
        seconds = time.process_time() - begin
        found.append(Score.of(truth, name, way, posterior, seconds))
        tell(f"{name}, tempering {way}: done")
    return found


# ---- what came out --------------------------------------------------------------------------------------------------


def _outcome(
    size: Size, answers: list[Answer], unlike: tuple[Number, ...], truth: Truth, scores: list[Score]
) -> Outcome:
    known = [answer for answer in answers if answer.agrees is not None]
    right = [answer.name for answer in known if answer.agrees]
    return Outcome(
        setup=(
            f'every tree added up where method="auto" does so, else bounded with {size.sets:,} sets of rows; numbers '
            f"of trees by listing {LISTED:,}, beyond that (with ±) from {size.draws:,} independent draws; "
            f"samplers on kyphosis: {CHAINS} chains of {size.iterations:,} iterations after a tenth of warm-up"
        ),
        tables=(
            Table(
                ("data", "rows × columns", "trees", "sets of rows", "log P(y | x)", "known", ""),
                tuple(_evidence_row(answer) for answer in answers),
                "Evidence: exact, or in an interval that is certain",
            ),
            Table(
                ("data", "log prior × likelihood", "certified", "MAPTree, published", "P(mode), %"),
                tuple(_mode_row(answer) for answer in answers),
                "The most probable tree",
            ),
            Table(
                (
                    "data",
                    "columns asked about, with probabilities",
                    *(f"trees that hold {share:.0%}" for share in SHARES),
                ),
                tuple(_posterior_row(answer) for answer in answers if answer.posterior is not None),
                "The posterior over all trees",
            ),
            Table(
                ("", *(f"trees that hold {share:.0%}" for share in SHARES)),
                (("here", *unlike), ("known", *(Number(number, places=0) for number in KNOWN_SIZES))),
                "Kyphosis, trees that divide the rows alike being one",
            ),
            _samplers(truth, scores),
        ),
        findings=_findings(answers, known, right, _sizes_agree(unlike), scores),
        agrees=len(right) == len(known) and _sizes_agree(unlike),
        runs=tuple(
            {
                "proposal": one.proposal,
                "tempering": one.tempering,
                "chain": chain + 1,
                "trees": float(one.trees[chain]),
                "first_question": float(one.questions[chain]),
            }
            for one in scores
            for chain in range(CHAINS)
        ),
    )


def _sizes_agree(unlike: tuple[Number, ...]) -> bool:
    """Whether the numbers of trees are the known ones, within four standard errors."""
    return all(
        found.value is not None and found.error is not None and abs(found.value - known) < 4 * found.error
        for found, known in zip(unlike, KNOWN_SIZES, strict=True)
    )


def _evidence_row(answer: Answer) -> tuple[str | Number, ...]:
    design, tick = answer.design, {None: "", True: "✔", False: "differs"}[answer.agrees]
    return (
        answer.name,
        f"{design.rows} × {len(design.columns)}",
        answer.prior,
        Number(answer.bounded.sets, places=0),
        answer.evidence,
        Number(KNOWN.get(answer.name), places=5),
        tick,
    )


def _mode_row(answer: Answer) -> tuple[str | Number, ...]:
    found = answer.bounded
    exact = answer.posterior is not None or found.certified
    published = ""
    if answer.name in PUBLISHED:
        value = PUBLISHED[answer.name]
        published = "proves the mode" if value is None else f"{value:.3f}"
    low, high = (100 * end for end in found.probability)
    return (
        answer.name,
        Number(found.log_mode.low, places=3),
        "yes" if exact else f"within {found.gap:.1f}",
        published or "–",
        f"{low:.2g}" if high - low < 1e-6 * high else f"{low:.2g} to {high:.2g}",
    )


def _posterior_row(answer: Answer) -> tuple[str | Number, ...]:
    assert answer.posterior is not None
    largest = list(largest_first(answer.posterior.inclusion()).items())[:3]
    asked = ", ".join(f"{name} {share:.3f}" for name, share in largest)
    return (answer.name, asked, *map(_in_short, answer.sizes))


def _in_short(size: Number) -> Number | str:
    """A number of trees, in powers of ten where it is long."""
    if size.value is None or size.error is None or size.value < LONG:
        return size
    return f"{size.value:.1e} ± {size.error:.0e}"


def _samplers(truth: Truth, scores: list[Score]) -> Table:
    rows = []
    for one in scores:
        mean, error = float(one.trees.mean()), float(one.trees.std(ddof=1) / np.sqrt(CHAINS))
        worth = (truth.independent(1) / mean) ** 2
        rows.append((
            one.proposal,
            one.tempering,
            Number(mean, error, places=4),
            Number(float(one.questions.mean()), float(one.questions.std(ddof=1) / np.sqrt(CHAINS)), places=4),
            Number(worth, places=0),
            Number(one.seconds, places=2),
            Number(worth / max(one.seconds, 1e-9), places=0),
        ))  # fmt: skip
    columns = ("proposal", "tempering", "trees", "first question", "worth independent draws")
    return Table(
        (*columns, "CPU seconds", "per CPU second"),
        tuple(rows),
        "Kyphosis: the distance of a chain from the truth, in total variation",
    )


def _findings(
    answers: list[Answer], known: list[Answer], right: list[str], sizes_agree: bool, scores: list[Score]
) -> tuple[str, ...]:
    exact = [answer.name for answer in answers if answer.posterior is not None]
    modes = [answer.name for answer in answers if answer.posterior is not None or answer.bounded.certified]
    chains = sorted(scores[1:], key=lambda one: float(one.trees.mean()))
    beaten = [
        f"{answer.name} by {answer.bounded.log_mode.low - value:.1f}"
        for answer in answers
        if (value := PUBLISHED.get(answer.name)) is not None and answer.bounded.log_mode.low > value
    ]
    return (
        f"Every tree is added up on {', '.join(exact)}; {counted(len(modes), 'mode is', 'modes are')} certain.",
        f"The evidences of {', '.join(right) or 'none'} are those that were known before"
        + ("." if len(right) == len(known) else "; the others differ."),
        *([f"Better than the tree that MAPTree ends with: {', '.join(beaten)} in logs."] if beaten else []),
        "The numbers of trees that hold half of the posterior of kyphosis, or more, are "
        + ("the known ones." if sizes_agree else "not the known ones."),
        f"Of as many iterations those of {chains[0].proposal} with tempering {chains[0].tempering} end nearest to the "
        f"truth, {chains[0].trees.mean():.3f} away by trees, {chains[-1].proposal} with {chains[-1].tempering} "
        f"farthest, {chains[-1].trees.mean():.3f}; independent draws {scores[0].trees.mean():.3f}.",
    )
