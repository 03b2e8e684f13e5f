"""A report on a posterior over single trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..data.design import Design
from ..interpret import reported
from ..interpret.dependence import Dependence, partial_dependence
from ..interpret.importance import PROB, Interactions, interactions
from ..interpret.null import LEVEL, global_max
from ..interpret.shap import Shap, shap
from ..posterior.prediction import interval_of
from ..posterior.report import COLUMNS, Report
from ..posterior.summary import largest_first
from ..posterior.trees_in_page import forest_for_page, node_data, question_lines
from ..posterior.what_if import fields_of_bins, row_in_bins
from ..report import charts
from ..report.icicle import OTHERS, Cell
from ..report.markup import Markup, element, joined
from ..report.packed import packed
from ..report.parts import (
    Section,
    behind,
    figure,
    heading,
    interval_text,
    number,
    preformatted,
    side_by_side,
    table,
    words,
)
from ..report.tree_picture import NodeData, class_key, tree_picture
from ..sampling.api import sample
from ..text import counted, listed, percent
from ..trees.diff import Edits
from ..trees.forest import Rule, rules_of
from ..trees.tree import Tree
from .posterior import Posterior
from .prediction import LeafDraws, TreePrediction

# The most probable trees that are drawn, with at most so many leaves, and that the map and the consensus look at.
DRAWN, WIDEST, LOOKED_AT = 4, 20, 4000
PRIOR_DRAWS = 1000
# Draws of what a leaf knows, for its interval.
LEAF_DRAWS = 2000
# Fits to permuted responses: how many, the seconds of a processor that they may take, about, and how long each is.
NULL_FITS, NULL_SECONDS, SHORTEST, LONGEST = 19, 4.0, 200, 2000
# Rows and draws that SHAP values and dependence are worked out for.
SOME_ROWS, SOME_DRAWS = 100, 200
# A consensus asks what more than this share of the posterior asks.
MAJORITY = 0.5
# Of draws, the share from which on a tree is worth naming: that of few draws is chance.
STANDS_OUT = 0.01
# Lines of the table of splits.
SPLITS = 15


class Listed(NamedTuple):
    """A tree with its probability, the share of each chain, and draws of what its leaves predict.

    The last is of shape (draws, leaves, width).
    """

    tree: Tree
    probability: float
    per_chain: np.ndarray
    leaf_draws: np.ndarray


class Split(NamedTuple):
    """Where in a tree a question stands: the columns asked before it, each with the answer."""

    before: tuple[tuple[int, bool], ...]
    feature: int


class TreeReport(Report[Posterior]):
    """A report on a posterior over single trees."""

    what = "Bayesian tree (CART)"

    def exact_note(self) -> str | None:
        """Why probabilities are exact."""
        if self.posterior.summed is None:
            return None
        return (
            f"Every tree was counted, by {self.posterior.summed.sets:,} sets of rows, so these probabilities are exact."
        )

    @property
    def finding(self) -> str:
        """Which columns trees ask about, and what the most probable tree is."""
        asked = largest_first(self.posterior.inclusion())
        named = [f"{name} ({percent(share)})" for name, share in list(asked.items())[:3] if share > 0.05]
        [top] = self.posterior.top_trees(1)
        about = f"Trees ask most probably about {listed(named)}" if named else "Trees hardly ask about any column"
        if self.posterior.summed is None and top.probability < STANDS_OUT:
            many = counted(int(np.count_nonzero(self.posterior.distinct_visits.sum(axis=0))), "different tree")
            drawn = f"{self.posterior.tree_index.size:,} draws"
            return f"{about}; no tree stands out: {drawn} hold {many}, none with more than {percent(top.probability)}."
        leaves = counted(top.tree.n_leaves, "leaf", "leaves")
        exactly = "exactly " if self.posterior.summed is not None else ""
        return (
            f"{about}; the most probable tree has {leaves} and {exactly}{percent(top.probability)} of the probability."
        )

    # ---- what was known -------------------------------------------------------------------------------------------

    def beside_prior(self) -> tuple[list[Markup], dict[str, Any]]:
        """Sizes and columns of trees of the prior beside those of the posterior; of an edited tree its changes."""
        design, prior = self.training, self.posterior.model.prior
        if design is None:
            return [self.needs_training("The prior beside the posterior")], {}
        assert isinstance(design, Design)
        drawn = prior.sample(design, PRIOR_DRAWS, self.posterior.settings.seed)
        after = self.posterior.leaf_distribution()
        before = np.bincount(drawn.n_leaves, minlength=len(after)) / len(drawn)
        after = np.pad(after, (0, len(before) - len(after)))
        # What neither has is left out at the far end.
        last = int(np.flatnonzero((before > 0.002) | (after > 0.002)).max())
        names = list(map(str, range(1, last + 1)))
        sizes = {"prior": before[1 : last + 1], "posterior": after[1 : last + 1]}
        rows = list(zip(names, *(shares.tolist() for shares in sizes.values()), strict=True))
        size = figure(
            charts.columns("Leaves of a tree, before and after the data", names, sizes, "probability", "leaves"),
            f"Leaves of a tree: {PRIOR_DRAWS:,} draws of the prior beside the posterior.",
            table("Leaves of a tree", ("leaves", "prior", "posterior"), rows),
        )
        asked = largest_first(self.posterior.inclusion())
        first = drawn.inclusion()
        shown = list(asked)[: reported.SHOWN]
        said_before = [first[name] for name in shown]
        use = figure(
            charts.dots(
                "Columns that trees ask about, before and after the data",
                shown,
                [asked[name] for name in shown],
                None,
                "probability",
                threshold=said_before,
                grey="the prior said",
            ),
            "How probable it is that a tree asks about a column; in grey what the prior said.",
            table(
                "Columns asked about",
                ("column", "prior", "posterior"),
                [(name, first[name], asked[name]) for name in asked],
            ),
        )
        parts, record = [side_by_side(size, use)], {"prior": {"leaves": before, "inclusion": first}}
        edits = self.edits
        if edits is not None:
            parts += [heading("What became of the given tree"), preformatted(str(edits))]
            record["edits"] = edits.to_dict()
        return parts, record

    @property
    def edits(self) -> Edits | None:
        """What the data changed of a tree that the prior began with."""
        prior = self.posterior.model.prior
        return self.posterior.edits() if getattr(prior, "laid", None) is not None else None

    # ---- the trees there are --------------------------------------------------------------------------------------

    @cached_property
    def weighed(self) -> list[tuple[tuple[Rule | None, ...], float]]:
        """The rules of distinct trees with their probabilities, the most probable first; of very many the first."""
        posterior = self.posterior
        if posterior.summed is not None:
            top = posterior.summed.top
            shares = posterior.summed.probabilities(posterior.model.power)
            return [(rules_of(top, tree), float(shares[tree])) for tree in range(len(top))]
        count = posterior.distinct_visits.sum(axis=0)
        order = np.argsort(-count, kind="stable")[: min(LOOKED_AT, np.count_nonzero(count))]
        return [(rules_of(posterior.forest, int(tree)), count[tree] / posterior.tree_index.size) for tree in order]

    @property
    def held(self) -> float:
        """The probability of these trees together."""
        return min(1.0, sum(share for _, share in self.weighed))

    def map(self) -> Section:
        """Trees by the questions they ask."""
        names, root = self.schema.names, Cell("trees")
        for rules, share in self.weighed:
            root.add(self._path(rules, names), share)
        rest = 1.0 - root.share
        if rest > 1e-9:
            root.below[OTHERS] = Cell(OTHERS, rest)
            root.share = 1.0
        levels = ("first about", "with the question", "if yes, about", "if no, about", "leaves")
        note = self.exact_note() or f"By the share of {self.posterior.tree_index.size:,} draws."
        caption = (
            "Every tree is a path from the top: the column of its first question, the question, what is asked next on "
            f"either side, and how many leaves it has. The width of a part is its probability. {note}"
        )
        return self.mapped(caption, root, levels, "path")

    def _path(self, rules: Sequence[Rule | None], names: Sequence[str]) -> list[tuple[str, str]]:
        first = rules[0]
        if first is None:
            return [("one leaf: no question", "")]
        right = _after(rules, 1)
        asked = [rules[1], rules[right]]
        path = [(names[first.feature], names[first.feature]), (self._question(first), names[first.feature])]
        path += [("an answer", "") if one is None else (names[one.feature], names[one.feature]) for one in asked]
        return [*path, (counted((len(rules) + 1) // 2, "leaf", "leaves"), "")]

    def _question(self, rule: Rule) -> str:
        return Tree(self.schema, (rule, None, None)).question(rule).replace("<=", "≤")

    # ---- the most probable trees ----------------------------------------------------------------------------------

    def listed(self, most: int = DRAWN) -> Iterator[Listed]:
        """The most probable trees, with draws of what their leaves predict."""
        posterior = self.posterior
        leaf, generator = posterior.model.leaf, np.random.Generator(np.random.Philox(key=posterior.settings.seed))
        assert leaf is not None
        for number_, top in enumerate(posterior.top_trees(most)):
            if posterior.summed is not None:
                forest, tree, statistics = posterior.summed.top, number_, posterior.summed.statistics
            else:
                forest, statistics = posterior.forest, posterior.statistics
                count = posterior.distinct_visits.sum(axis=0)
                tree = int(np.argsort(-count, kind="stable")[number_])
            leaves, first = int(forest.leaves[tree]), int(forest.first_leaf[tree])
            if posterior.values is None:
                again = np.repeat(statistics[first : first + leaves], LEAF_DRAWS, axis=0)
                drawn = leaf.expected(leaf.draw(again, generator)).reshape(leaves, LEAF_DRAWS, -1).swapaxes(0, 1)
            else:
                same = np.flatnonzero(forest.identity == forest.identity[tree])
                places = (forest.first_leaf[same][:, None] + np.arange(leaves)).ravel()
                drawn = posterior.leaf_means(places).reshape(len(same), leaves, -1)
            yield Listed(top.tree, top.probability, top.per_chain, drawn)

    def trees(self) -> Section:
        """The most probable trees as pictures."""
        parts, record = [], []
        note = self.exact_note() or "Probabilities are shares of the draws, in brackets those of each chain."
        data = ", and the rows in their nodes" if self.seen is not None else ""
        parts.append(words(f"The most probable trees, with {PROB:.0%} credible intervals in the leaves{data}. {note}"))
        if self.seen is not None and self.classes is not None:
            parts.append(class_key(self.classes))
        for place, one in enumerate(self.listed()):
            parts.append(self._pictured(place, one))
            record.append(
                {
                    "probability": one.probability,
                    "per_chain": one.per_chain,
                    "tree": one.tree.to_dict(),
                    "leaf_interval": interval_of(one.leaf_draws, PROB),
                }
            )
        return Section.of("trees", "The most probable trees", parts, {"prob": PROB, "trees": record})

    def _pictured(self, place: int, one: Listed) -> Markup:
        tree, exact = one.tree, self.posterior.summed is not None
        chains = "" if exact else f" ({', '.join(percent(share) for share in one.per_chain[:8])})"
        leaves = counted(tree.n_leaves, "leaf", "leaves")
        title = f"Tree {place + 1}: {percent(one.probability)}{chains}, {leaves}"
        text = behind(preformatted(tree.to_text()), "The tree as text")
        if tree.n_leaves > WIDEST:
            return joined(heading(title), words(f"{leaves} are too many to draw.", class_="note"), text)
        ends = interval_of(one.leaf_draws, PROB)
        picture = tree_picture(
            title,
            tree.rules,
            [[] if rule is None else question_lines(tree.question(rule)) for rule in tree.rules],
            [leaf_lines(tree, leaf, node, ends[leaf]) for leaf, node in enumerate(leaf_nodes(tree))],
            self._rows_in(tree),
            None if self.classes is None else len(self.classes),
        )
        scroll = element("div", picture, class_="scroll", tabindex=0, role="region", aria_label=f"{title} (picture)")
        return element("figure", element("h3", title), scroll, text, class_="wide")

    def _rows_in(self, tree: Tree) -> list[NodeData] | None:
        if self.seen is None:
            return None
        return node_data(self.schema, tree.rules, self.seen.encoded, self.seen.y[:, 0], self.classes is not None)

    # ---- consensus ------------------------------------------------------------------------------------------------

    def consensus(self) -> Section:
        """The questions that most trees ask at the same place: a majority-rule tree."""
        share: dict[Split, float] = {}
        cuts: dict[Split, dict[str, float]] = {}
        places: dict[Split, list[tuple[float, float]]] = {}
        for rules, weight in self.weighed:
            for split, rule in splits_of(rules):
                share[split] = share.get(split, 0.0) + weight
                asked = cuts.setdefault(split, {})
                question = self._question(rule)
                asked[question] = asked.get(question, 0.0) + weight
                column = self.schema.columns[rule.feature]
                if column.kind == "numeric" and rule.cut < len(column.cuts):
                    places.setdefault(split, []).append((float(column.cuts[rule.cut]), weight))
        rules_, questions, lines, kept = self._majority(share, cuts, places)
        parts = [
            words(
                f"What more than {MAJORITY:.0%} of the posterior asks at the same place: the column, with the "
                "probability of the place and the median cut. They cannot contradict each other, so they make a tree."
            )
        ]
        if kept:
            picture = tree_picture("The majority-rule tree", rules_, questions, lines, None, None)
            rows = [
                (
                    self._where(split),
                    self.schema.names[split.feature],
                    percent(share[split]),
                    self._cut_words(places.get(split)),
                )
                for split in kept
            ]
            numbers = table("The questions of the majority-rule tree", ("where", "column", "probability", "cut"), rows)
            parts.append(figure(picture, "The majority-rule tree.", numbers, wide=True))
        else:
            parts.append(words("No question is asked at the same place by a majority.", class_="note"))
        ranked = sorted(
            ((weight, split, question) for split, asked in cuts.items() for question, weight in asked.items()),
            key=lambda one: -one[0],
        )[:SPLITS]
        listing = [(question, self._where(split), percent(weight)) for weight, split, question in ranked]
        parts.append(table("The most probable splits", ("question", "where", "probability"), listing))
        record = {
            "majority": [
                {"where": self._where(split), "column": self.schema.names[split.feature], "probability": share[split]}
                for split in kept
            ],
            "splits": [
                {"question": question, "where": self._where(split), "probability": weight}
                for weight, split, question in ranked
            ],
            "looked_at": self.held,
        }
        return Section.of("consensus", "What the trees agree on", parts, record)

    def _majority(
        self,
        share: dict[Split, float],
        cuts: dict[Split, dict[str, float]],
        places: dict[Split, list[tuple[float, float]]],
    ) -> tuple[list[Rule | None], list[list[str]], list[list[str]], list[Split]]:
        """The majority-rule tree in preorder, with what is said in its nodes."""
        rules: list[Rule | None] = []
        questions: list[list[str]] = []
        lines: list[list[str]] = []
        kept: list[Split] = []

        def grow(before: tuple[tuple[int, bool], ...], reached: float) -> None:
            here = {split: held for split, held in share.items() if split.before == before}
            best = max(here, key=lambda split: here[split], default=None)
            if best is None or here[best] <= MAJORITY:
                asked = sum(here.values())
                rules.append(None)
                questions.append([])
                lines.append(
                    [
                        f"an answer: {percent(max(0.0, min(1.0, reached - asked)))}",
                        f"other questions: {percent(min(1.0, asked))}",
                    ]
                )
                return
            kept.append(best)
            rules.append(Rule(best.feature, 0, 0, False))
            at = self._median(places.get(best))
            name = self.schema.names[best.feature]
            said = (
                max(cuts[best], key=lambda question: cuts[best][question]) if at is None else f"{name} ≤ {number(at)}"
            )
            questions.append([said, percent(here[best])])
            for answer in (True, False):
                grow((*before, (best.feature, answer)), here[best])

        grow((), self.held)
        return rules, questions, lines, kept

    @staticmethod
    def _median(places: list[tuple[float, float]] | None) -> float | None:
        return None if not places else _weighted_quantile(places, 0.5)

    @staticmethod
    def _cut_words(places: list[tuple[float, float]] | None) -> str:
        if not places:
            return "–"
        low, middle, high = (_weighted_quantile(places, level) for level in (0.05, 0.5, 0.95))
        return f"{number(middle)}; nine in ten from {interval_text((low, high))}"

    def _where(self, split: Split) -> str:
        if not split.before:
            return "first"
        steps = [f"{self.schema.names[feature]}: {'yes' if answer else 'no'}" for feature, answer in split.before]
        return f"after {', '.join(steps)}"

    # ---- columns --------------------------------------------------------------------------------------------------

    @cached_property
    def some(self) -> TreePrediction:
        """Predictions by few draws, for what takes many."""
        return self.posterior.prediction.some(max(1, SOME_DRAWS // self.posterior.chains))

    def columns(self) -> Section:
        """How probably a column is asked about, beside chance; dependence, interactions and SHAP values."""
        asked = largest_first(self.posterior.inclusion())
        limit, how = self._null()
        shown = list(asked)[: reported.SHOWN]
        values = [asked[name] for name in shown]
        limits = None if limit is None else [limit] * len(shown)
        picture = charts.dots(
            "How probably a tree asks about a column", shown, values, None, "probability", threshold=limits
        )
        numbers = table("How probably a tree asks about a column", ("column", "probability"), list(asked.items()))
        parts = [
            figure(
                picture, f"How probably a tree asks about each column. {self.exact_note() or ''} {how}".strip(), numbers
            )
        ]
        importance = {"inclusion": asked, "by_chance": limit, "how": how}
        pairs = None
        if len(self.schema.names) > 1:
            pairs = interactions(self.posterior.sums, self.schema)
            parts.append(self._pairs(pairs))
        if self.seen is None:
            parts.append(words("Dependence and SHAP values need rows: give data.", class_="note"))
            return Section.of("columns", "Columns", parts, reported.columns_record(importance, interactions=pairs))
        bins = self.seen.encoded[:SOME_ROWS]
        curves = [self._dependence(bins, name) for name in shown[:COLUMNS]]
        found = self._shap(bins)
        parts += [
            heading("How the response depends on a column"),
            reported.dependence_parts(curves),
            heading("SHAP values"),
            reported.shap_parts(found),
            words(
                f"Dependence and SHAP values are averages over {counted(len(bins), 'row')} and "
                f"{counted(int(np.prod(self.some.shape)), 'draw')}, evenly spaced.",
                class_="note",
            ),
        ]
        record = reported.columns_record(importance, curves, pairs, found)
        return Section.of("columns", "Columns", parts, record)

    def _pairs(self, pairs: Interactions) -> Markup:
        said = "How probably a tree asks about both columns of a pair."
        return joined(heading("Interactions"), reported.interactions_part(pairs, said, intervals=False))

    def _null(self) -> tuple[float | None, str]:
        """What a column's probability may be by chance: fits to permuted responses."""
        design, model = self.training, self.posterior.model.by("chains")
        if design is None:
            return None, "What chance gives needs the training data."
        assert isinstance(design, Design)
        length = int(NULL_SECONDS / NULL_FITS / model.iteration_work(design, 1) / 2)
        if length < SHORTEST:
            return None, "What chance gives would take too long for a report on so large a table."
        length = min(length, LONGEST)
        generator = np.random.Generator(np.random.Philox(key=self.posterior.settings.seed))
        drawn = []
        for fit in range(NULL_FITS):
            shuffled = generator.permutation(design.rows)
            permuted = replace(design, bins=tuple(column[shuffled] for column in design.bins))
            found = sample(
                model, permuted, chains=1, warmup=length, draws=length, thin=1, temperatures=1, seed=fit, progress=False
            )
            drawn.append(list(found.inclusion().values()))
        limit = float(global_max(np.array(drawn), LEVEL)[0])
        how = (
            f"Grey: up to where any column comes by chance with probability {LEVEL:.0%}, by {NULL_FITS} fits to "
            f"permuted responses, each of one chain with {length:,} draws."
        )
        return limit, how

    @property
    def _class(self) -> tuple[int, str]:
        """Which class is explained, and what the response is called then."""
        if self.classes is None:
            return 0, self.response.name
        place = 1
        if len(self.classes) > 2 and self.seen is not None:
            place = int(np.bincount(self.seen.y[:, 0]).argmax())
        return place, f"P({self.response.name} = {self.classes[place]})"

    def _dependence(self, bins: np.ndarray, column: str) -> Dependence:
        place, response = self._class

        def predict(rows: np.ndarray) -> np.ndarray:
            drawn = self.some.predict(rows, "draws")
            drawn = drawn.reshape(-1, *drawn.shape[2:])
            return drawn if self.classes is None else drawn[..., place]

        return partial_dependence(predict, self.schema, bins, column, rows=SOME_ROWS, response=response)

    def _shap(self, bins: np.ndarray) -> Shap:
        place, response = self._class
        chosen = np.arange(len(bins))
        blocks = self.some.explained_together(len(bins))
        return shap(
            lambda block: self.some.explain(block, place), self.schema, bins, chosen, blocks=blocks, response=response
        )

    # ---- one row --------------------------------------------------------------------------------------------------

    row_note = "Leaves' parameters are drawn, so the interval holds all that is not known."

    @property
    def page_bytes(self) -> int:
        """About how many bytes all draws would take in the page."""
        width = 1 if self.classes is None else len(self.classes)
        return int(self.posterior.n_leaves.sum()) * (11 * width + 6)

    @cached_property
    def inputs(self) -> list[dict[str, Any]]:
        """The columns as fields of a form."""
        return fields_of_bins(self.schema, None if self.seen is None else self.seen.encoded)

    @property
    def leading(self) -> list[int]:
        """The columns that trees ask about most probably first."""
        asked = self.posterior.inclusion()
        return sorted(range(len(asked)), key=lambda at: -asked[self.schema.names[at]])

    def encoded_row(self, values: Sequence[Any]) -> np.ndarray:
        """A row of such values in bins."""
        return row_in_bins(self.schema, values)

    def thinned_draws_of(self, values: Sequence[Any]) -> np.ndarray:
        """What the thinned draws say of a row, their leaves' parameters drawn."""
        assert self.thinned is not None
        drawn = self.thinned.predict(self.encoded_row(values), "draws")
        return drawn.reshape(int(np.prod(drawn.shape[:2])), -1)

    def predictor(self) -> dict[str, Any]:
        """The thinned draws: their trees, and a value for each leaf and class."""
        thinned = self.thinned
        assert isinstance(thinned, TreePrediction)
        values = thinned.leaf.expected(LeafDraws(thinned).parameters)
        width = 1 if self.classes is None else len(self.classes)
        model = forest_for_page(self.schema, thinned.forest) | {
            "tree": packed(thinned.tree_index, "i4"),
            "value": packed(values, "f8"),
            "width": width,
            "sums": 1,
            "centre": [],
        }
        return {"kind": "trees", "link": "identity", "model": model}


def splits_of(rules: Sequence[Rule | None]) -> Iterator[tuple[Split, Rule]]:
    """The questions of a tree with where they stand."""
    pending: list[tuple[tuple[int, bool], ...]] = [()]
    for rule in rules:
        before = pending.pop()
        if rule is not None:
            yield Split(before, rule.feature), rule
            pending += [(*before, (rule.feature, False)), (*before, (rule.feature, True))]


def leaf_nodes(tree: Tree) -> list[int]:
    """Which nodes of a tree are leaves."""
    return [node for node, rule in enumerate(tree.rules) if rule is None]


def leaf_lines(tree: Tree, leaf: int, node: int, ends: np.ndarray) -> list[str]:
    """What a leaf predicts, with its interval, and how many rows it rests on.

    Parameters
    ----------
    tree : Tree
        The tree.
    leaf, node : int
        The leaf's place among the leaves and among the nodes.
    ends : numpy.ndarray of shape (width, 2)
        Intervals of what it predicts.
    """
    value, rows = tree.values[leaf], counted(tree.rows[node], "row")
    if not isinstance(value, dict):
        return [number(value), interval_text(ends[0]), rows]
    label = max(value, key=lambda name: value[name])
    place = list(value).index(label)
    return [f"{label}: {percent(value[label])}", f"{percent(ends[place][0])} to {percent(ends[place][1])}", rows]


def _after(rules: Sequence[Rule | None], node: int) -> int:
    """The node behind all that is below a node."""
    open_ = 1
    while open_:
        open_ += 1 if rules[node] is not None else -1
        node += 1
    return node


def _weighted_quantile(places: list[tuple[float, float]], level: float) -> float:
    values, weights = (np.array(one) for one in zip(*sorted(places), strict=True))
    return float(values[np.searchsorted(np.cumsum(weights) / weights.sum(), level).clip(0, len(values) - 1)])
