"""A report on a posterior of sums of trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..data.design import Design
from ..interpret import reported
from ..interpret.importance import PROB, VariableUse
from ..posterior.report import COLUMNS, Report
from ..posterior.trees_in_page import forest_for_page, node_data, question_lines
from ..posterior.what_if import fields_of_bins, row_in_bins
from ..report import charts
from ..report.icicle import Cell
from ..report.markup import Markup, element
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
from ..report.tree_picture import class_key, tree_picture
from ..text import counted, listed, percent
from ..trees.forest import Rule
from ..trees.tree import Tree
from .null import permutation_null
from .posterior import BARTPosterior
from .prediction import SumPrediction

PRIOR_DRAWS = 1000
# Draws and rows that dependence and SHAP values are worked out for, and the numbers that these may fill.
SOME_ROWS, SOME_DRAWS, MOST_VALUES = 100, 120, 3_000_000
# Of one small tree for all: its leaves, and the sets of rows that are looked into; in tables of more cells fewer.
SMALL, BUDGET, CELLS = 4, 20_000, 10_000
# Fits to permuted responses: how many, the seconds of a processor that they may take, about, and how long each is.
NULL_FITS, NULL_SECONDS, SHORTEST, LONGEST = 19, 4.0, 50, 500
# Where columns are cut: of how many columns, in how many parts.
CUT_COLUMNS, PARTS = 4, 16
SPLITS = 12


class SumReport(Report[BARTPosterior]):
    """A report on a posterior of sums of trees."""

    map_title = "A map of the trees"

    @property
    def what(self) -> str:  # type: ignore[override]
        """What one model is."""
        return f"sum of {counted(self.posterior.model.trees, 'tree')} (BART)"

    @cached_property
    def use(self) -> VariableUse:
        """How often columns are used, beside chance where that is known."""
        use, null = self.posterior.variable_use(), self._null
        return use if null is None else use.against(null, "global_max")

    @property
    def finding(self) -> str:
        """Which columns the trees use most."""
        use = self.use
        named = [
            f"{use.names[at]} ({percent(float(use.mean[at]))} of the rules)" for at in use.order[:3] if use.mean[at] > 0
        ]
        chance = ""
        if use.threshold is not None:
            large = [use.names[at] for at in use.order if use.large[at]]
            shown = large if len(large) <= 5 else [*large[:5], f"{len(large) - 5} more"]
            verb = "is" if len(large) == 1 else "are"
            chance = (
                f"; {listed(shown)} {verb} used more than chance gives"
                if large
                else "; none more than chance gives, as so many trees ask about everything: SHAP values tell more"
            )
        return f"The trees use most {listed(named)}{chance}." if named else "The trees ask hardly anything."

    # ---- what was known -------------------------------------------------------------------------------------------

    def beside_prior(self) -> tuple[list[Markup], dict[str, Any]]:
        """The prior of a tree, of the noise and of f beside the posterior."""
        posterior = self.posterior
        generator = np.random.Generator(np.random.Philox(key=posterior.settings.seed))
        drawn: list[Markup] = []
        record: dict[str, Any] = {}
        if posterior.sigma is not None:
            found, nu = posterior.model.calibrated, float(posterior.model.nu)
            if np.isfinite(nu) and posterior.model.noise == "normal":
                before = np.sqrt(nu * found.scale / generator.chisquare(nu, 20 * PRIOR_DRAWS))
                # Its tail is long: what is far beyond the posterior is not drawn.
                far = max(float(np.quantile(before, 0.9)), 1.2 * float(posterior.sigma.max()))
                picture = charts.densities(
                    "The noise before and after the data",
                    {"prior": before[before <= far], "posterior": posterior.sigma},
                    f"sigma, standard deviation of the noise of {self.response.name}",
                )
                drawn.append(
                    figure(picture, "The noise: the prior beside the posterior, each drawn as high as the other.")
                )
            low, high = np.quantile(posterior.sigma, [0.05, 0.95])
            record["sigma"] = {"mean": float(posterior.sigma.mean()), "interval": [float(low), float(high)]}
        design, prior = self.training, posterior.model.prior
        if design is None:
            return [*([side_by_side(*drawn)] if drawn else []), self.needs_training("The prior of a tree")], record
        assert isinstance(design, Design)
        trees = prior.sample(design, PRIOR_DRAWS, posterior.settings.seed)
        count = np.bincount(posterior.ensemble.tree_index.ravel(), minlength=len(posterior.ensemble.forest))
        after = np.bincount(posterior.ensemble.forest.leaves, count) / count.sum()
        before = np.bincount(trees.n_leaves, minlength=len(after)) / len(trees)
        after = np.pad(after, (0, len(before) - len(after)))
        last = int(np.flatnonzero((before > 0.002) | (after > 0.002)).max())
        names = list(map(str, range(1, last + 1)))
        shares = {"prior": before[1 : last + 1], "posterior": after[1 : last + 1]}
        rows = list(zip(names, *(one.tolist() for one in shares.values()), strict=True))
        drawn.append(
            figure(
                charts.columns("Leaves of a tree of the sum", names, shares, "share of the trees", "leaves"),
                f"Leaves of a tree: {PRIOR_DRAWS:,} draws of the prior beside the trees of the posterior.",
                table("Leaves of a tree", ("leaves", "prior", "posterior"), rows),
            )
        )
        return [side_by_side(*drawn)], record | {"leaves": shares}

    # ---- the posterior --------------------------------------------------------------------------------------------

    @cached_property
    def _visits(self) -> np.ndarray:
        """How many trees of all draws each stored tree is."""
        ensemble = self.posterior.ensemble
        return np.bincount(ensemble.tree_index.ravel(), minlength=len(ensemble.forest))

    def map(self) -> Section:
        """The trees of the sum by the columns that they ask about first."""
        forest, visits = self.posterior.ensemble.forest, self._visits
        names = [*self.schema.names, "an answer"]
        root, feature = forest.begin.astype(np.int64), forest.feature
        splits = feature[root] >= 0
        left = np.where(splits, root + 1, root)
        right = np.where(splits, forest.below[left], root)
        right = np.minimum(right, len(feature) - 1)
        asked = np.stack([feature[root], feature[left], feature[right]], axis=1)
        asked[~splits, 1:] = -1
        kinds, place = np.unique(asked, axis=0, return_inverse=True)
        shares = np.bincount(place.ravel(), visits) / visits.sum()
        cells = Cell("trees")
        for (first, yes, no), share in zip(kinds.tolist(), shares.tolist(), strict=True):
            if share <= 0:
                continue
            path = [(names[first], names[first])] if first >= 0 else [("no question", "")]
            if first >= 0:
                path += [(names[at], names[at] if at >= 0 else "") for at in (yes, no)]
            cells.add(path, share)
        number_of = counted(int(visits.sum()), "tree")
        caption = (
            "A sum has many trees, of which none is by itself the answer. Each is a path from the top: the column of "
            f"its first question, and what is asked next on either side. A part is as wide as its share of {number_of}."
        )
        return self.mapped(caption, cells, ("first about", "if yes, about", "if no, about"), "path")

    def trees(self) -> Section:
        """One small tree that stands for the sum."""
        design, title = self.training, "One small tree for all"
        if design is None:
            return Section.of("trees", title, [self.needs_training("The small tree that is nearest to the sum")])
        assert isinstance(design, Design) and self.seen is not None
        small = design.take(self.seen.rows)
        budget = BUDGET * CELLS // max(CELLS, small.rows * len(small.columns))
        found = self._few(SOME_DRAWS).summary_tree(small, max_leaves=SMALL, budget=max(1, budget), prob=PROB)
        mean, low, high = found.explained_in_draws
        tree = found.tree
        data = node_data(self.schema, tree.rules, self.seen.encoded, self.seen.y[:, 0], self.classes is not None)
        leaves = [node for node, rule in enumerate(tree.rules) if rule is None]
        picture = tree_picture(
            "The small tree nearest to the posterior mean",
            tree.rules,
            [[] if rule is None else question_lines(tree.question(rule)) for rule in tree.rules],
            [self._leaf(tree, leaf, node, found.leaf_interval[leaf]) for leaf, node in enumerate(leaves)],
            data,
            None if self.classes is None else len(self.classes),
        )
        best = "no tree explains more" if found.certified else f"another may explain up to {percent(found.at_most)}"
        said = (
            f"Of trees of at most {SMALL} leaves this one is nearest to what the sum predicts on average: it explains "
            f"{percent(found.explained)} of its variance ({best}), and of that of a draw {percent(mean)} "
            f"({percent(low)} to {percent(high)}). Leaves say the mean of the sum, with {PROB:.0%} intervals."
        )
        scroll = element(
            "div", picture, class_="scroll", tabindex=0, role="region", aria_label="The small tree (picture)"
        )
        part = element("figure", scroll, behind(preformatted(tree.to_text()), "The tree as text"), class_="wide")
        key = [] if self.classes is None else [class_key(self.classes)]
        return Section.of("trees", title, [words(said), *key, part], found.to_dict())

    def _leaf(self, tree: Tree, leaf: int, node: int, ends: np.ndarray) -> list[str]:
        value, rows = tree.values[leaf], counted(tree.rows[node], "row")
        if not isinstance(value, dict):
            return [number(value), interval_text(ends), rows]
        label = max(value, key=lambda name: value[name])
        low, high = ends[list(value).index(label)]
        return [f"{label}: {percent(value[label])}", f"{percent(low)} to {percent(high)}", rows]

    def _few(self, draws: int) -> BARTPosterior:
        """The posterior by evenly spaced draws, so many of all chains together."""
        posterior = self.posterior
        each = max(1, draws // posterior.chains)
        if each >= posterior.draws:
            return posterior
        kept = np.arange(1, each + 1) * posterior.draws // each - 1
        some = {name: getattr(posterior, name) for name in (*posterior.of_draws, "log_weights")}
        taken = {name: values[:, kept] for name, values in some.items() if values is not None}
        sums = {
            name: found.take(kept)
            for name in ("ensemble", "variance_ensemble")
            if (found := getattr(posterior, name)) is not None
        }
        return replace(posterior, **taken, **sums)

    def consensus(self) -> Section:
        """Where the rules cut the columns that they use most."""
        forest, visits = self.posterior.ensemble.forest, self._visits
        size = forest.end - forest.begin.astype(np.int64)
        weight = np.repeat(visits, size)
        asks = forest.feature >= 0
        rules = np.stack([forest.feature, forest.cut, forest.subset, forest.missing_left], axis=1).astype(np.uint64)[
            asks
        ]
        distinct, first, place = np.unique(rules, axis=0, return_index=True, return_inverse=True)
        held = np.bincount(place.ravel(), weight[asks])
        total = held.sum()
        if not total:
            return super().consensus()
        drawn = []
        for at in self.use.order[:CUT_COLUMNS]:
            of_column = distinct[:, 0] == at
            if self.schema.columns[at].kind == "numeric" and held[of_column].sum() > 0:
                drawn.append(self._cuts(int(at), distinct[of_column, 1].astype(int), held[of_column]))
        nodes = np.flatnonzero(asks)[first]
        top = np.argsort(-held, kind="stable")[:SPLITS]
        ranked = [(self._question(int(nodes[at])), float(held[at] / total)) for at in top]
        parts = [
            words("Where the rules of all trees ask: a step of the response shows as a peak, a slope as many places."),
            *([side_by_side(*drawn)] if drawn else []),
            table(
                "The most frequent questions", ("question", "share of the rules"), [(q, percent(p)) for q, p in ranked]
            ),
        ]
        record = {"questions": [{"question": question, "share": share} for question, share in ranked]}
        return Section.of("consensus", "Where the trees ask", parts, record)

    def _question(self, node: int) -> str:
        forest = self.posterior.ensemble.forest
        rule = Rule(
            int(forest.feature[node]), int(forest.cut[node]), int(forest.subset[node]), bool(forest.missing_left[node])
        )
        return Tree(self.schema, (rule, None, None)).question(rule).replace("<=", "≤")

    def _cuts(self, at: int, cut: np.ndarray, held: np.ndarray) -> Markup:
        column = self.schema.columns[at]
        inside = cut < len(column.cuts)
        values, weight = column.cuts[cut[inside]], held[inside] / held.sum()
        title = f"Where rules cut {column.name}"
        if len(column.cuts) <= PARTS:
            shares = np.bincount(cut[inside], weight, minlength=len(column.cuts))
            rows = list(zip(map(number, column.cuts), shares.tolist(), strict=True))
            return self._cut_shares(title, column.name, [name for name, _ in rows], rows, "at")
        low, high = float(column.cuts[0]), float(column.cuts[-1])
        edges = np.linspace(low, high if high > low else low + 1, PARTS + 1)
        shares = np.histogram(values, edges, weights=weight)[0]
        names = [number((a + b) / 2) for a, b in pairwise(edges.tolist())]
        rows = [
            (f"{number(a)} to {number(b)}", float(p))
            for (a, b), p in zip(pairwise(edges.tolist()), shares, strict=True)
        ]
        return self._cut_shares(title, column.name, names, rows, "between")

    @staticmethod
    def _cut_shares(title: str, column: str, names: list[str], rows: list[tuple[str, float]], where: str) -> Markup:
        shares = {"share": [share for _, share in rows]}
        picture = charts.columns(title, names, shares, "share of its rules", column)
        return figure(picture, f"{title}.", table(title, (where, "share of its rules"), rows))

    # ---- columns --------------------------------------------------------------------------------------------------

    @cached_property
    def _null(self) -> Any:
        """How often columns are used where there is nothing to be found; None where that would take too long."""
        design, model = self.training, self.posterior.model
        if design is None or len(self.schema.names) < 2:
            return None
        assert isinstance(design, Design)
        length = int(NULL_SECONDS / NULL_FITS / model.iteration_work(design, 1) / 2)
        if length < SHORTEST:
            return None
        length = min(length, LONGEST)
        return permutation_null(
            model,
            design,
            permutations=NULL_FITS,
            seed=self.posterior.settings.seed,
            progress=False,
            chains=1,
            warmup=length,
            draws=length,
            thin=1,
        )

    def columns(self) -> Section:
        """How often columns are used, beside chance; dependence, interactions and SHAP values."""
        use = self.use
        how = "What chance gives needs the training data."
        if use.threshold is not None:
            how = (
                f"Grey: up to where any column comes by chance with probability 95%, by {NULL_FITS} short fits to "
                "permuted responses."
            )
        elif self.training is not None:
            how = "What chance gives would take too long for a report on so large a table."
        parts = [reported.shares_part(use, f"Of the splitting rules, the share that uses each column. {how}")]
        pairs = self.posterior.interactions() if len(self.schema.names) > 1 else None
        if pairs is not None:
            parts += [
                heading("Interactions"),
                reported.interactions_part(pairs, "Of the trees, the share that uses both columns of a pair."),
            ]
        said = use.to_dict()
        importance = said | {"shares": {use.names[at]: said["shares"][use.names[at]] for at in use.order}}
        if self.seen is None:
            parts.append(words("Dependence and SHAP values need rows: give data.", class_="note"))
            return Section.of("columns", "Columns", parts, reported.columns_record(importance, interactions=pairs))
        few, of = self._few(SOME_DRAWS), self._class
        assert isinstance(self.seen.design, Design)
        rows = self.seen.design.take(self.seen.rows)
        shown = [use.names[at] for at in use.order[:COLUMNS]]
        options = {"of": of, "rows": SOME_ROWS, "draws": None}
        curves = [few.partial_dependence(rows, name, **options) for name in shown]
        draws = few.chains * few.draws * len(self.posterior.model.centre)
        most = max(1, min(SOME_ROWS, MOST_VALUES // (draws * len(self.schema.columns))))
        found = few.shap(rows, of=of, rows=most, draws=None)
        parts += [
            heading("How the response depends on a column"),
            reported.dependence_parts(curves),
            heading("SHAP values"),
            reported.shap_parts(found),
            words(
                f"Dependence is averaged over {counted(min(SOME_ROWS, rows.rows), 'row')}, SHAP values over "
                f"{counted(len(found.mean), 'row')}, by {counted(few.chains * few.draws, 'draw')}, evenly spaced.",
                class_="note",
            ),
        ]
        return Section.of("columns", "Columns", parts, reported.columns_record(importance, curves, pairs, found))

    @property
    def _class(self) -> Any:
        """Which class is explained, of more than two the most frequent one; None of numbers."""
        if self.classes is None or self.seen is None:
            return None
        place = 1 if len(self.classes) == 2 else int(np.bincount(self.seen.y[:, 0]).argmax())
        return self.response.classes[place]

    # ---- one row --------------------------------------------------------------------------------------------------

    @property
    def page_bytes(self) -> int:
        """About how many bytes all draws would take in the page: a value for each leaf, and nodes of trees."""
        soft = 6 if self.posterior.ensemble.bandwidths is not None else 0
        return int(
            len(self.posterior.ensemble.values) * (6 + 3 + 1 + soft) + self.posterior.ensemble.tree_index.size * 6
        )

    @cached_property
    def inputs(self) -> list[dict[str, Any]]:
        """The columns as fields of a form."""
        return fields_of_bins(self.schema, None if self.seen is None else self.seen.encoded)

    @property
    def leading(self) -> list[int]:
        """The columns that rules use most first."""
        return [int(at) for at in self.use.order]

    def encoded_row(self, values: Sequence[Any]) -> np.ndarray:
        """A row of such values in bins."""
        return row_in_bins(self.schema, values)

    def predictor(self) -> dict[str, Any]:
        """The thinned draws: their trees, and the values of the leaves of each."""
        thinned = self.thinned
        assert isinstance(thinned, SumPrediction)
        sums = thinned.mean.sums
        stored, index = np.unique(sums.tree_index, return_inverse=True)
        width = len(self.posterior.model.centre)
        model = forest_for_page(self.schema, sums.forest.take(stored)) | {
            "tree": packed(index, "i4"),
            "value": packed(sums.values, "f4"),
            "width": 1,
            "sums": width,
            "centre": list(self.posterior.model.centre),
        }
        if sums.bandwidths is not None:
            model |= {
                "bandwidth": packed(sums.bandwidths, "f4"),
                "cuts": [packed(column.cuts, "f8") for column in self.schema.columns],
            }
        link = "identity" if self.classes is None else "probit" if width == 1 else "largest"
        return {"kind": "trees", "link": link, "model": model}

    @property
    def row_note(self) -> str:  # type: ignore[override]
        """What the row leaves out."""
        return "The offset is 0." if self.posterior.settings.offset else ""
