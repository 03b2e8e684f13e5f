"""A report on a posterior over subsets of the columns of a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..interpret import reported
from ..interpret.importance import PROB
from ..interpret.linear_dependence import linear_dependence
from ..interpret.shap import Shap
from ..posterior.prediction import interval_of
from ..posterior.report import COLUMNS, Report
from ..posterior.summary import largest_first
from ..posterior.what_if import fields_of_matrix, matrix_for_page, row_in_matrix
from ..report import charts
from ..report.icicle import OTHERS, Cell
from ..report.markup import Markup
from ..report.packed import packed
from ..report.parts import Section, figure, heading, interval_text, side_by_side, table, words
from ..text import counted, listed, percent
from .posterior import SubsetPosterior
from .prediction import LinearPrediction
from .priors import ModelPrior

PRIOR_DRAWS = 20_000
# The models that the map looks at, and the units that it decides one after the other.
LOOKED_AT, LEVELS = 2000, 5
LISTED, SHOWN = 10, 20
SOME_ROWS = 100
# The most units of which the prior of the number of them is worked out.
MOST_UNITS = 2000


class SubsetReport(Report[SubsetPosterior]):
    """A report on a posterior over subsets."""

    what = "linear model with selected columns"
    map_title = "A map of the models"

    def exact_note(self) -> str | None:
        """Why probabilities are exact."""
        known = self.posterior.enumerated is not None
        return f"{self.posterior.normalised().all}, so these probabilities are exact." if known else None

    @cached_property
    def inclusion(self) -> dict[str, float]:
        """The probability of each unit, the largest first."""
        found = self.posterior.inclusion()
        return largest_first(dict(zip(found.units, found.best.tolist(), strict=True)))

    @property
    def finding(self) -> str:
        """Which columns are likely, and which are more likely in than out."""
        named = [f"{name} ({percent(share)})" for name, share in list(self.inclusion.items())[:3]]
        median = self.posterior.median_model()
        shown = listed(median) if 0 < len(median) <= 6 else f"{len(median)} columns" if median else "no column"
        return f"Most probably in the model are {listed(named)}; more likely in than out: {shown}."

    # ---- what was known -------------------------------------------------------------------------------------------

    def beside_prior(self) -> tuple[list[Markup], dict[str, Any]]:
        """How many columns the models have, and their noise, before and after."""
        posterior, model = self.posterior, self.posterior.model
        drawn: list[Markup] = []
        record: dict[str, Any] = {}
        before = self._prior_sizes()
        if before is not None:
            after = self._sizes()
            last = int(np.flatnonzero((before > 0.002) | (after > 0.002)).max())
            names = list(map(str, range(last + 1)))
            shares = {"prior": before[: last + 1], "posterior": after[: last + 1]}
            rows = list(zip(names, *(one.tolist() for one in shares.values()), strict=True))
            drawn.append(
                figure(
                    charts.columns(
                        "Columns of a model, before and after the data",
                        names,
                        shares,
                        "probability",
                        "columns that may leave",
                    ),
                    "How many of the columns that may be left out are in the model: the prior beside the posterior.",
                    table("Columns of a model", ("columns", "prior", "posterior"), rows),
                )
            )
            record["sizes"] = {"prior": before, "posterior": after}
        if model.nu > 0:
            generator = np.random.Generator(np.random.Philox(key=posterior.settings.seed))
            sigma = np.sqrt(model.nu * model.calibrated.scale / generator.chisquare(model.nu, PRIOR_DRAWS))
            far = max(float(np.quantile(sigma, 0.9)), 1.2 * float(posterior.sigma.max()))
            draws = {"prior": sigma[sigma <= far], "posterior": posterior.sigma}
            picture = charts.densities(
                "The noise before and after the data", draws, f"sigma, noise of {self.response.name}"
            )
            drawn.append(figure(picture, "The noise: the prior beside the posterior, each drawn as high as the other."))
            record["sigma"] = {
                "mean": float(posterior.sigma.mean()),
                "interval": interval_of(posterior.sigma.ravel(), PROB),
            }
        return ([side_by_side(*drawn)] if drawn else []), record

    def _free(self) -> list[str]:
        return [self.schema.units[number].name for number in self.posterior.model.free_units(self.schema)]

    def _prior_sizes(self) -> np.ndarray | None:
        """The prior probability of each number of free units; None where heredity ties them, or they are many."""
        model, free = self.posterior.model, self._free()
        if model.heredity or not 0 < len(free) <= MOST_UNITS:
            return None
        assert isinstance(model.model_prior, ModelPrior)
        odds = np.asarray(model.model_prior.log_odds(free), dtype=float)
        # The polynomial whose coefficient of t^k is the sum over models of k units, in logarithms.
        ways = np.full(len(free) + 1, -np.inf)
        ways[0] = 0.0
        for log_odds in odds:
            ways[1:] = np.logaddexp(ways[1:], ways[:-1] + log_odds)
        log_share = ways + np.asarray(model.model_prior.log_sizes(len(free)), dtype=float)
        share = np.exp(log_share - log_share.max())
        return share / share.sum()

    def _sizes(self) -> np.ndarray:
        posterior, free = self.posterior, self._free()
        if posterior.enumerated is not None:
            return np.asarray(posterior.enumerated.sizes)
        may_leave = np.isin(posterior.units, free)
        sizes = posterior.drawn.included()[posterior.drawn.model.ravel()][:, may_leave].sum(axis=1)
        return np.bincount(sizes, minlength=len(free) + 1) / len(sizes)

    # ---- the posterior --------------------------------------------------------------------------------------------

    def map(self) -> Section:
        """Models by which columns they have."""
        units = [name for name in self.inclusion if self.inclusion[name] > 1e-6][:LEVELS]
        if not units:
            return super().map()
        found = self.posterior.top_models(LOOKED_AT)
        exact = self.posterior.enumerated is not None
        root = Cell("models")
        for one in found.models:
            path = [(f"{name} in", name) if name in one.units else (f"{name} out", "") for name in units]
            share = one.probability if exact else one.frequency
            if share > 0:
                root.add(path, share)
        if (rest := 1.0 - root.share) > 1e-9:
            root.below[OTHERS] = Cell(OTHERS, rest)
            root.share = 1.0
        note = self.exact_note() or f"By the share of {self.posterior.drawn.model.size:,} draws."
        caption = (
            f"The {len(units)} most probable columns, one a line: whether a model has it, given those above. The width "
            f"of a part is the probability of the models that it stands for. {note}"
        )
        return self.mapped(caption, root, units, "columns")

    def trees(self) -> Section:
        """The most probable models."""
        found = self.posterior.top_models(LISTED)
        rows = [
            (" + ".join(one.units) or "(no column)", percent(one.probability), percent(one.frequency), one.odds)
            for one in found.models
        ]
        head = ("model", "probability", "share of the draws", "odds against the first")
        parts = [words(f"The most probable models. {found.normalised}"), table("The most probable models", head, rows)]
        return Section.of("trees", "The most probable models", parts, found.to_dict())

    def consensus(self) -> Section:
        """The model of all that is more likely in than out."""
        median = self.posterior.median_model()
        rows = [
            (name, percent(share), "yes" if name in median else "no")
            for name, share in list(self.inclusion.items())[:SHOWN]
        ]
        said = (
            f"The median-probability model has what is more likely in than out: {' + '.join(median) or '(no column)'}. "
            "Of all single models it is often the one that predicts best (Barbieri and Berger 2004)."
        )
        parts = [
            words(said),
            table("Probability of each column", ("column", "probability", "in the median model"), rows),
        ]
        return Section.of("consensus", "The median-probability model", parts, {"median_model": list(median)})

    # ---- columns --------------------------------------------------------------------------------------------------

    def columns(self) -> Section:
        """How probable the columns are, and what they add."""
        inclusion = self.inclusion
        shown = list(inclusion)[:SHOWN]
        before = self._prior_inclusion()
        limits = None if before is None else [before.get(name, 1.0) for name in shown]
        said = " Grey: what the prior said." if before is not None else ""
        picture = charts.dots(
            "Probability of each column",
            shown,
            [inclusion[name] for name in shown],
            None,
            "probability",
            threshold=limits,
            grey="the prior said",
        )
        found = self.posterior.coefficients(PROB)
        order = [place for place in found.order if found.names[place] != "(intercept)"][:SHOWN]
        rows = [
            (
                found.names[at],
                percent(float(found.inclusion[at])),
                float(found.mean[at]),
                float(found.sd[at]),
                interval_text(found.interval[at]),
            )
            for at in found.order
        ]
        head = ("column", "in the model", "mean", "sd", f"{PROB:.0%} interval")
        numbers = table("Coefficients, averaged over models", head, rows)
        coefficients = charts.dots(
            "Coefficients, averaged over models",
            [found.names[at] for at in order],
            found.mean[order],
            found.interval[order],
            f"{self.response.name} for each unit of the column",
            zero=False,
        )
        listing = table("Probability of each column", ("column", "probability"), list(inclusion.items()))
        parts = [
            side_by_side(
                figure(
                    picture,
                    f"How probable it is that a column is in the model.{said} {self.exact_note() or ''}".strip(),
                    listing,
                ),
                figure(
                    coefficients,
                    f"Coefficients in the units of the table, with {PROB:.0%} intervals; 0 in models without it.",
                    numbers,
                ),
            )
        ]
        of_all = found.to_dict()
        importance = {
            "inclusion": inclusion,
            "prior": before,
            "coefficients": {found.names[at]: of_all[found.names[at]] for at in found.order},
        }
        if self.seen is None:
            parts.append(words("Dependence and SHAP values need rows: give data.", class_="note"))
            return Section.of("columns", "Columns", parts, reported.columns_record(importance))
        matrix = self.seen.encoded
        of_columns = zip(self.schema.names, self.posterior.column_inclusion().tolist(), strict=True)
        names = list(largest_first(dict(of_columns)))
        curves = [
            linear_dependence(self._draws, self.schema, matrix, name, rows=SOME_ROWS, response=self.response.name)
            for name in names[:COLUMNS]
        ]
        shap = self._shap(matrix[:SOME_ROWS])
        parts += [
            heading("How the response depends on a column"),
            reported.dependence_parts(curves),
            heading("SHAP values"),
            reported.shap_parts(shap),
            words(
                "Of a linear model the SHAP value of a column is its coefficient times the distance from the column's "
                "mean; an interaction is shared evenly. By "
                f"{counted(int(np.prod(self.prediction.shape)), 'draw')}, evenly spaced.",
                class_="note",
            ),
        ]
        return Section.of("columns", "Columns", parts, reported.columns_record(importance, curves, shap=shap))

    def _prior_inclusion(self) -> dict[str, float] | None:
        """The prior probability of each unit where all are equally likely; None elsewhere."""
        sizes, free = self._prior_sizes(), self._free()
        if sizes is None:
            return None
        prior = self.posterior.model.model_prior
        assert isinstance(prior, ModelPrior)
        odds = np.asarray(prior.log_odds(free), dtype=float)
        if np.ptp(odds) > 0:
            return None
        return dict.fromkeys(free, float(sizes @ np.arange(len(sizes)) / len(free)))

    def _draws(self, matrix: np.ndarray) -> np.ndarray:
        drawn = self.prediction.predict(matrix, "draws")
        return drawn.reshape(-1, len(matrix))

    def _shap(self, matrix: np.ndarray) -> Shap:
        """What each column adds to each row, over the draws."""
        prediction = self.prediction
        assert isinstance(prediction, LinearPrediction)
        coefficients = prediction.coefficients().reshape(-1, self.schema.width)
        away = matrix - self.seen.encoded.mean(axis=0) if self.seen is not None else matrix
        values = np.zeros((len(coefficients), len(matrix), len(self.schema.columns)))
        for number, unit in enumerate(self.schema.units):
            added = coefficients[:, unit.columns] @ away[:, unit.columns].T
            parents = unit.parents or (number,)
            for column in parents:
                values[:, :, column] += added / len(parents)
        size = np.abs(values).mean(axis=1)
        levels = np.full(values.shape[1:], np.nan)
        told = np.full(values.shape[1:], np.nan, dtype=object)
        for number, column in enumerate(self.schema.columns):
            if column.kind != "categorical":
                told[:, number] = matrix[:, self.schema.units[number].begin]
                ranks = np.argsort(np.argsort(told[:, number], kind="stable"), kind="stable")
                levels[:, number] = ranks / max(len(matrix) - 1, 1)
        return Shap(
            columns=self.schema.names,
            rows=np.arange(len(matrix)),
            mean=values.mean(axis=0),
            interval=interval_of(values, PROB),
            size=size.mean(axis=0),
            size_interval=interval_of(size, PROB),
            base=float(self._draws(matrix).mean()),
            prob=PROB,
            levels=levels,
            values=told,
            response=self.response.name,
        )

    # ---- one row --------------------------------------------------------------------------------------------------

    @property
    def page_bytes(self) -> int:
        """About how many bytes all draws would take in the page."""
        used = len(np.unique(self.posterior.drawn.coefficient_column))
        return 11 * (1 + used) * self.posterior.chains * self.posterior.draws

    @cached_property
    def inputs(self) -> list[dict[str, Any]]:
        """The columns as fields of a form."""
        spread = self.posterior.model.calibrated.spread
        return fields_of_matrix(
            self.schema, None if self.seen is None else self.seen.encoded, lambda at: spread[at] or 1.0
        )

    @property
    def leading(self) -> list[int]:
        """The most probable columns first."""
        return [int(at) for at in np.argsort(-self.posterior.column_inclusion(), kind="stable")]

    def encoded_row(self, values: Sequence[Any]) -> np.ndarray:
        """A row of such values as a row of the matrix."""
        return row_in_matrix(self.schema, values)

    def predictor(self) -> dict[str, Any]:
        """The thinned draws: coefficients, and what is predicted where every column is at its centre."""
        thinned = self.thinned
        assert isinstance(thinned, LinearPrediction)
        coefficients = thinned.coefficients().reshape(-1, self.schema.width)
        used = np.flatnonzero((coefficients != 0).any(axis=0))
        model = {
            "used": packed(used, "i4"),
            "centre": packed(np.array(self.posterior.model.calibrated.centre)[used], "f8"),
            "coefficient": packed(coefficients[:, used], "f8"),
            "level": packed(thinned.level, "f8"),
        }
        return {"kind": "linear", "matrix": matrix_for_page(self.schema), "model": model}
