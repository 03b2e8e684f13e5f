"""A report on a posterior: what is said of every family; a family says the rest in its own ``report.py``."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from ..data.again import read_again
from ..data.design import AnyDesign
from ..diagnostics.convergence import Diagnostic
from ..errors import InputError
from ..mcmc.progress import Progress
from ..mcmc.settings import RunSettings
from ..report import charts
from ..report.icicle import Cell, icicle, paths_table
from ..report.markup import Markup, element
from ..report.packed import finite
from ..report.page import page
from ..report.parts import (
    Section,
    bullets,
    facts,
    figure,
    heading,
    interval_text,
    number,
    preformatted,
    side_by_side,
    table,
    words,
)
from ..text import counted, listed, percent
from .prediction import Prediction, interval_of
from .scores import (
    Score,
    class_scores,
    coverage,
    leave_one_out,
    number_scores,
    pit_counts,
    reliability,
)
from .what_if import thinned_draws

if TYPE_CHECKING:
    from .base import BasePosterior

# How many rows, and draws of all chains together, fits and pictures are made from.
ROWS, DRAWS = 500, 400
# Of the rows, which ones depends on nothing but their number.
ROWS_KEY = 11
PROB = 0.9
COVERAGE = (0.5, 0.8, 0.9, 0.95)
# Steps of the level at which predictions are compared with what happened.
LEVELS = np.linspace(0.1, 0.9, 9)
# The most columns that are drawn one by one.
COLUMNS = 6
MOST_SERIES, MOST_CHAINS = 4, 12
# Of a map, the JSON has what is at least so probable by itself.
MAPPED = 1e-3
# The most columns that a form has, and the most classes of which every confusion is told.
MOST_FIELDS, MOST_CLASSES = 300, 20

GRADES = {"agree": "agree", "nearly": "", "not yet": "apart"}

AnyPosterior = TypeVar("AnyPosterior", bound="BasePosterior")


@dataclass(frozen=True)
class Seen:
    """Rows whose response is known.

    Attributes
    ----------
    design : AnyDesign
        The rows.
    training : bool
        Whether the posterior learned from exactly these, by their fingerprint.
    as_many : bool
        Whether they are others, yet as many as it learned from: perhaps the same ones with other weights.
    rows : numpy.ndarray
        Which of them are looked at.
    """

    design: AnyDesign
    training: bool
    as_many: bool
    rows: np.ndarray

    @classmethod
    def of(cls, design: AnyDesign, settings: RunSettings) -> Seen:
        """The rows of a design, of many some."""
        present = np.arange(design.rows) if design.seen is None else np.flatnonzero(design.seen)
        if len(present) > ROWS:
            generator = np.random.Generator(np.random.Philox(key=ROWS_KEY))
            present = np.sort(generator.choice(present, ROWS, replace=False))
        training = design.fingerprint() == settings.data
        return cls(design, training, not training and design.rows == settings.rows, present)

    @property
    def encoded(self) -> np.ndarray:
        """The rows that are looked at, as the schema encodes them."""
        return self.design.at(self.rows)

    @property
    def y(self) -> np.ndarray:
        """Their responses, shape (rows, outputs); of classes their positions."""
        return self.design.y[self.rows].reshape(len(self.rows), -1)

    @property
    def name(self) -> str:
        """What they are, in words."""
        other = "not the training table" if self.as_many else "rows that the model never saw"
        what = "the training rows" if self.training else other
        some = f"{len(self.rows):,} of " if len(self.rows) < self.design.rows else ""
        return f"{some}{counted(self.design.rows, 'row')}: {what}"


@dataclass(frozen=True)
class Fitted:
    """What is predicted of the rows that are looked at.

    Attributes
    ----------
    mean : numpy.ndarray of shape (rows, outputs)
        Of numbers, what is expected; of classes their probabilities.
    log_likelihood : numpy.ndarray of shape (draws, rows)
        The logarithm of the density of what happened, in every draw.
    predictive : numpy.ndarray of shape (draws, rows, outputs), optional
        Of numbers, draws of new responses; of a single draw none.
    intervals : dict of float to numpy.ndarray of shape (rows, outputs, 2)
        Of numbers, the predictive intervals by their probability.
    quantiles : numpy.ndarray of shape (levels, rows, outputs), optional
        Of numbers, the predictive quantiles at `LEVELS`.
    """

    mean: np.ndarray
    log_likelihood: np.ndarray
    predictive: np.ndarray | None = None
    intervals: Mapping[float, np.ndarray] | None = None
    quantiles: np.ndarray | None = None


class Report(ABC, Generic[AnyPosterior]):
    """A report on a posterior; `html` is the page, and `record` all that it says as JSON-safe values.

    Parameters
    ----------
    posterior : BasePosterior
        What is reported on.
    data : Design, path or frame, optional
        Rows whose response is known: the training data, or others.
    weight, offset : str, optional
        Of a table, the columns that the fit called so.
    say : callable, optional
        Told what is being worked out.
    """

    # What one model of the family is, in words that go on with "of" and the response.
    what: ClassVar[str]
    # What is decided on each level of the map.
    map_title: ClassVar[str] = "A map of the posterior"

    def __init__(
        self,
        posterior: AnyPosterior,
        data: Any = None,
        *,
        weight: str | None = None,
        offset: str | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.posterior = posterior
        self.schema = posterior.schema
        self.response = posterior.schema.response
        self.say = say or (lambda line: None)
        self.seen = None if data is None else self._seen(data, weight, offset)

    def _seen(self, data: Any, weight: str | None, offset: str | None) -> Seen:
        if isinstance(data, AnyDesign):
            if weight is not None or offset is not None:
                raise InputError("weight and offset name columns of a table; a design has its own: leave them out")
            if data.schema != self.schema:
                raise InputError(
                    "data: this design has other columns or cut points than the posterior; give the table itself (a "
                    "file or a data frame), which is read as the training table was"
                )
        else:
            data = self.read(data, weight, offset)
        if self.posterior.settings.offset and data.offset is None:
            raise InputError("the model was fitted with an offset; say which column of the data it is, offset=NAME")
        return Seen.of(data, self.posterior.settings)

    def read(self, source: Any, weight: str | None, offset: str | None) -> AnyDesign:
        """A table as the training table was read."""
        return read_again(self.schema, source, weight=weight, offset=offset)

    @property
    def training(self) -> AnyDesign | None:
        """The training data, where they were given."""
        return self.seen.design if self.seen is not None and self.seen.training else None

    @property
    def classes(self) -> list[str] | None:
        """The names of the classes; None of numbers."""
        return None if self.response.classes is None else list(map(str, self.response.classes))

    @property
    def outputs(self) -> list[str]:
        """What is predicted of a row: the response, its parts, or its classes."""
        if self.classes is not None:
            return self.classes
        return [self.response.name]

    @cached_property
    def summary(self) -> Any:
        """The figures of the posterior."""
        return self.posterior.summary()

    @cached_property
    def prediction(self) -> Prediction:
        """Predictions by evenly spaced draws, about `DRAWS` of all chains together."""
        return self.posterior.prediction.some(max(1, DRAWS // self.posterior.chains))

    def exact_note(self) -> str | None:
        """Why what is said of probabilities is exact, where it is."""
        return None

    # ---- the page -------------------------------------------------------------------------------------------------

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """All sections, in order; a family leaves out those that make no sense for it."""
        made: list[Section] = []
        for said, section in (
            ("the answer", self.answer),
            ("what was known", self.known),
            ("the map", self.map),
            ("trees", self.trees),
            ("consensus", self.consensus),
            ("columns", self.columns),
            ("one row", self.row),
            ("calibration", self.fit),
            ("chains", self.chains),
            ("audit", self.audit),
        ):
            self.say(said)
            made.append(section())
        return tuple(section for section in made if section.parts)

    @cached_property
    def record(self) -> dict[str, Any]:
        """All that the report says as JSON-safe values, by section."""
        about = {"response": self.response.name, "task": self.response.task, "family": self.posterior.model.family}
        said: dict[str, Any] = finite({section.key: section.record for section in self.sections})
        return about | said

    @cached_property
    def html(self) -> str:
        """The report as one self-contained page."""
        rows = counted(self.posterior.settings.rows, "row")
        title = f"{self.response.name}: {self.what}"
        subtitle = f"A report on the posterior of {self.summary_of_model}, given {rows}."
        return page(title, subtitle, self.sections, self.record, self.what_if)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        text = self.html.encode("utf-8", errors="replace")
        with open(path, "wb") as file:
            file.write(text)

    @property
    def summary_of_model(self) -> str:
        """What was fitted, in words."""
        article = "an" if self.what[0] in "aeiou" else "a"
        return f"{article} {self.what}"

    # ---- the answer -----------------------------------------------------------------------------------------------

    def answer(self) -> Section:
        """What was fitted, what it says, and whether to believe it."""
        summary = self.summary
        size = f"{counted(summary.rows, 'row')} and {counted(summary.columns, 'column')}"
        fitted = f"{self.summary_of_model[0].upper()}{self.summary_of_model[1:]} was fitted to {size} to predict "
        sentences = [
            element("p", fitted, element("strong", self.response.name), self.scope, ".", class_="lead"),
            element("p", self.finding, class_="lead"),
            element("p", summary.verdict, class_=f"verdict {GRADES[summary.grade]}".strip()),
        ]
        record = {
            "fitted": f"{fitted}{self.response.name}{self.scope}.",
            "finding": self.finding,
            "verdict": summary.verdict,
            "agree": summary.agree,
            "grade": summary.grade,
        }
        return Section.of("answer", "The answer", sentences, record)

    @property
    def scope(self) -> str:
        """What the response is, in words that follow its name."""
        if self.classes is None:
            return ", a number"
        shown = self.classes if len(self.classes) <= 6 else [*self.classes[:5], f"{len(self.classes) - 5} more"]
        return f", which is {' or '.join(shown)}" if len(shown) == 2 else f", one of {listed(shown)}"

    @property
    @abstractmethod
    def finding(self) -> str:
        """What the posterior says, in one sentence."""

    # ---- what was known -------------------------------------------------------------------------------------------

    def known(self) -> Section:
        """What was assumed, and what the data changed of it."""
        said = self.posterior.model.describe(self.schema).splitlines()
        knowledge = [str(constraint) for constraint in self.summary.known.constraints]
        parts = [bullets(said)]
        if knowledge:
            parts += [heading("Known beforehand"), bullets(knowledge)]
        drawn, record = self.beside_prior()
        if drawn:
            parts += [heading("What the data changed"), *drawn]
        return Section.of("known", "What was known", parts, {"assumed": said, "known": knowledge, **record})

    def beside_prior(self) -> tuple[list[Markup], dict[str, Any]]:
        """The prior beside the posterior."""
        return [], {}

    def needs_training(self, what: str) -> Markup:
        """Say that something is not there without the training data."""
        given = "these are other data" if self.seen is not None else "none were given"
        return words(f"{what} needs the training data, and {given}.", class_="note")

    # ---- the posterior --------------------------------------------------------------------------------------------

    def map(self) -> Section:
        """What was decided, by how probable it is."""
        return Section.of("map", self.map_title, [])

    def mapped(self, caption: str, root: Cell, levels: Sequence[str], what: str) -> Section:
        """The map as a section."""
        picture = figure(
            icicle(self.map_title, root, levels), caption, paths_table("The map as a table", root, what), True
        )
        return Section.of(
            "map",
            self.map_title,
            [picture],
            {"exact": self.exact_note() is not None, **root.gathered(MAPPED).to_dict()},
        )

    def trees(self) -> Section:
        """The most probable trees, or what stands in their place."""
        return Section.of("trees", "Trees", [])

    def consensus(self) -> Section:
        """What most draws have in common."""
        return Section.of("consensus", "Consensus", [])

    def columns(self) -> Section:
        """What the columns matter, and how."""
        return Section.of("columns", "Columns", [])

    # ---- one row --------------------------------------------------------------------------------------------------

    @cached_property
    def thinned(self) -> Prediction | None:
        """The draws that the page predicts by; None where they are too large for it."""
        if len(self.schema.names) > MOST_FIELDS:
            return None
        each = max(1, self.page_bytes // (self.posterior.chains * self.posterior.draws))
        draws = thinned_draws(each, self.posterior.chains, self.posterior.draws)
        return None if draws is None else self.posterior.prediction.some(draws)

    @property
    @abstractmethod
    def page_bytes(self) -> int:
        """About how many bytes all draws would take in the page."""

    @cached_property
    def what_if(self) -> dict[str, Any] | None:
        """What the page predicts by: inputs, and the thinned draws."""
        if self.thinned is None:
            return None
        return {
            "response": self.response.name,
            "outputs": self.outputs,
            "classes": self.classes is not None,
            "draws": int(np.prod(self.thinned.shape)),
            "inputs": self.inputs,
            "order": self.leading,
            **self.predictor(),
        }

    @cached_property
    @abstractmethod
    def inputs(self) -> list[dict[str, Any]]:
        """The columns as fields of a form, each with the value that it begins with."""

    @property
    def leading(self) -> list[int]:
        """The places of the columns in the order of the form, the most important first."""
        return list(range(len(self.schema.names)))

    @abstractmethod
    def predictor(self) -> dict[str, Any]:
        """The thinned draws as the page computes with them: the kind of mathematics, and its arrays."""

    @abstractmethod
    def encoded_row(self, values: Sequence[Any]) -> np.ndarray:
        """A row of such values as the schema encodes it; labels by their positions, None where missing."""

    def thinned_draws_of(self, values: Sequence[Any]) -> np.ndarray:
        """What the thinned draws say of a row, shape (draws, outputs): what the page must say as well."""
        assert self.thinned is not None
        drawn = self.thinned.expected(self.encoded_row(values), **self.given_of_a_row)
        return drawn.reshape(int(np.prod(drawn.shape[:2])), -1)

    @property
    def given_of_a_row(self) -> dict[str, Any]:
        """What the prediction of a row takes besides."""
        return {}

    def row(self) -> Section:
        """Sliders that say what is predicted of a row."""
        if self.thinned is None:
            wide = len(self.schema.names) > MOST_FIELDS
            what = f"A form of {len(self.schema.names):,} columns" if wide else "Even a few draws of this posterior"
            why = f"{what} would be too large for a page. {self.in_python}"
            return Section.of("row", "One row: what if?", [words(why, class_="note")])
        values = [column["value"] for column in self.inputs]
        drawn = self.thinned_draws_of(values)
        mean, several = drawn.mean(axis=0), len(drawn) > 1
        said_of = number if self.classes is None else percent
        ends = interval_of(drawn, PROB)
        rows = [
            (name, said_of(mean[k]), " to ".join(map(said_of, ends[k])) if several else "one draw has none")
            for k, name in enumerate(self.outputs)
        ]
        named = [(self.inputs[at]["name"], shown_value(self.inputs[at])) for at in self.leading]
        total = self.posterior.chains * self.posterior.draws
        by = f"by {counted(len(drawn), 'draw')} of {total:,}, evenly spaced" if several else "by the one tree there is"
        what = "the probability of each class" if self.classes is not None else "what is expected, not a new value"
        held = f"; the interval holds it with probability {PROB:.0%}" if several else ""
        said = f"Computed in this page, {by}: {what}{held}. {self.row_note}"
        typical = [
            heading("A row to begin with"),
            table("Its values", ("column", "value"), named),
            table("What is predicted", ("", "mean", f"{PROB:.0%} interval"), rows),
        ]
        parts = [
            words(said),
            element("div", id_="what-if-form"),
            element("noscript", words("The form needs scripts. Without them, here is one row.")),
            *typical,
            words(self.in_python, class_="note"),
        ]
        record = {
            "draws": len(drawn),
            "row": {column["name"]: shown_value(column) for column in self.inputs},
            "mean": mean,
            "interval": ends if several else None,
        }
        return Section.of("row", "One row: what if?", parts, record)

    row_note: ClassVar[str] = ""
    in_python: ClassVar[str] = 'In Python, posterior.predict(rows, ("mean", "interval")) uses every draw.'

    # ---- calibration ----------------------------------------------------------------------------------------------

    def fitted(self) -> Fitted:
        """What is predicted of the rows that are looked at."""
        assert self.seen is not None
        design, rows = self.seen.design, self.seen.rows
        encoded, y = self.seen.encoded, design.y[rows]
        given = {} if design.offset is None else {"offset": design.offset[rows]}
        weight = None if design.weight is None else design.weight[rows]
        log_likelihood = self.prediction.log_density(encoded, y, weight, **given)
        flat = log_likelihood.reshape(-1, len(rows))
        if self.classes is not None:
            return Fitted(self.prediction.predict(encoded, "mean", **given), flat)
        mean, new = self.prediction.predict(encoded, ("mean", "predictive"), **given).values()
        new = new.reshape(flat.shape[0], len(rows), -1)
        return fitted_numbers(mean.reshape(len(rows), -1), flat, new)

    def fit(self) -> Section:
        """Whether the predictions fit what happened: scores, calibration, residuals."""
        title = "Calibration and scores"
        if self.seen is None:
            why = "No data were given; baytree report --data FILE, or posterior.report(path, data=...), scores them."
            return Section.of("fit", title, [words(why, class_="note")])
        fitted = self.fitted()
        parts: list[Markup] = [words(f"On {self.seen.name}.", *self._caution())]
        record: dict[str, Any] = {
            "training": self.seen.training,
            "rows": len(self.seen.rows),
            "draws": len(fitted.log_likelihood),
        }
        draw = self._fit_of_numbers if self.classes is None else self._fit_of_classes
        drawn, found = draw(fitted)
        loo = leave_one_out(fitted.log_likelihood) if self.seen.training and self.posterior_is_joint else None
        if loo is not None:
            doubt = f"; of {percent(loo.bad)} of the rows the estimate is not to be trusted (Pareto k above 0.7)"
            parts.append(
                words(
                    f"Had each row been held out, its log score would be about {number(loo.mean)} (standard error "
                    f"{number(loo.error, 2)}; PSIS-LOO){doubt if loo.bad else ''}."
                )
            )
            found["leave_one_out"] = asdict(loo)
        return Section.of("fit", title, [*parts, *drawn], record | found)

    @property
    def posterior_is_joint(self) -> bool:
        """Whether rows are independent given a draw, of which there are many."""
        return True

    def _caution(self) -> list[str]:
        assert self.seen is not None
        if self.seen.as_many:
            return [
                " It has as many, though: if these are the same, name the columns of weights and offsets that the fit "
                "had; if not, scores say how well new rows are predicted."
            ]
        if not self.seen.training:
            return [" Held out: scores say how well new rows are predicted."]
        return [" The model learned from them, which flatters its scores; give held-out rows as data for fair ones."]

    def _fit_of_numbers(self, fitted: Fitted) -> tuple[list[Markup], dict[str, Any]]:
        assert self.seen is not None
        assert fitted.intervals is not None
        assert fitted.quantiles is not None
        parts: list[Markup] = []
        record: dict[str, Any] = {"outputs": {}}
        density = np.logaddexp.reduce(fitted.log_likelihood, axis=0) - np.log(len(fitted.log_likelihood))
        for place, name in enumerate(self.outputs):
            y, mean = self.seen.y[:, place], fitted.mean[:, place]
            new = None if fitted.predictive is None else fitted.predictive[:, :, place]
            scores = number_scores(y, mean, density if len(self.outputs) == 1 else None, new)
            covered = coverage(y, {prob: ends[:, place] for prob, ends in fitted.intervals.items()})
            pit = pit_counts(y, fitted.quantiles[:, :, place])
            if len(self.outputs) > 1:
                parts.append(heading(name))
            parts += [score_table(scores), coverage_table(covered), self._pictures(name, y, mean, fitted, place, pit)]
            record["outputs"][name] = {
                "scores": [asdict(score) for score in scores],
                "coverage": [dict(zip(("probability", "covered", "width"), one, strict=True)) for one in covered],
                "pit": pit,
            }
        return parts, record

    def _pictures(
        self, name: str, y: np.ndarray, mean: np.ndarray, fitted: Fitted, place: int, pit: np.ndarray
    ) -> Markup:
        assert fitted.intervals is not None
        ends = fitted.intervals[PROB][:, place]
        level = 1 / len(pit)
        chance = 1.645 * np.sqrt(level * (1 - level) / len(y))
        rows = list(zip(*(values.tolist() for values in (mean, y, y - mean, ends[:, 0], ends[:, 1])), strict=True))
        numbered = [(row, *values) for row, values in enumerate(rows)]
        behind = table(f"{name}, row by row", ("row", "expected", "observed", "residual", "lower", "upper"), numbered)
        return side_by_side(
            figure(
                charts.scatter(
                    f"{name}: expected and observed",
                    y,
                    mean,
                    (f"observed {name}", "expected"),
                    bars=ends,
                    diagonal=True,
                ),
                f"Each row with its {PROB:.0%} predictive interval; on the dashed line the two are equal.",
                behind,
            ),
            figure(
                charts.scatter(f"{name}: residuals", mean, y - mean, (f"expected {name}", "residual")),
                "Residuals should show no pattern around the dashed line.",
            ),
            figure(
                charts.histogram(
                    f"{name}: probability integral transform",
                    pit,
                    ("where the response lies in its predictive distribution", "share of the rows"),
                    level,
                    (max(0.0, level - chance), level + chance),
                ),
                "Calibrated predictions give level bars: nine in ten lie in the grey band. High ends mean intervals "
                "too narrow, a high middle too wide.",
            ),
        )

    def _fit_of_classes(self, fitted: Fitted) -> tuple[list[Markup], dict[str, Any]]:
        assert self.seen is not None
        assert self.classes is not None
        y, share = self.seen.y[:, 0], fitted.mean
        scores = class_scores(y, share)
        drawn, record = [], {}
        shown = [1] if len(self.classes) == 2 else range(min(len(self.classes), COLUMNS))
        for k in shown:
            found = reliability(y == k, share[:, k])
            name = f"P({self.response.name} = {self.classes[k]})"
            rows = list(zip(found["said"], found["happened"], found["rows"], strict=True))
            drawn.append(
                figure(
                    charts.reliability(
                        name, found["said"], found["happened"], found["interval"], (f"said: {name}", "happened")
                    ),
                    f"Calibration of {name}: groups of rows, with {PROB:.0%} intervals; on the dashed line what was "
                    "said is what happened.",
                    table(name, ("said", "happened", "rows"), rows),
                )
            )
            record[self.classes[k]] = found
        counts = np.zeros((len(self.classes), len(self.classes)), dtype=int)
        np.add.at(counts, (y, share.argmax(axis=1)), 1)
        if len(self.classes) > MOST_CLASSES:
            said = {"scores": [asdict(score) for score in scores], "reliability": record}
            return [score_table(scores), side_by_side(*drawn)], said
        confused = table(
            "Confusion: rows by what happened (down) and by the most probable class (across)",
            ("", *self.classes),
            [(name, *map(int, row)) for name, row in zip(self.classes, counts, strict=True)],
        )
        said = {"scores": [asdict(score) for score in scores], "reliability": record, "confusion": counts}
        return [score_table(scores), side_by_side(*drawn), confused], said

    # ---- chains ---------------------------------------------------------------------------------------------------

    def chains(self) -> Section:
        """How the draws came about, and whether the chains agree."""
        posterior, summary = self.posterior, self.summary
        parts = [words(f"{summary.how[0].upper()}{summary.how[1:]}.")]
        record: dict[str, Any] = {"verdict": summary.verdict, "grade": summary.grade}
        evidence = posterior.known_evidence
        if evidence is not None:
            value, exact = number(evidence.value, 7), ", exactly"
            if evidence.error:
                value, exact = number(round(evidence.value, 2), 7), f" ± {number(evidence.error, 2)}"
            parts.append(words(f"The log evidence, log P({self.response.name} | columns), is {value}{exact}."))
            record["log_evidence"] = {"value": evidence.value, "error": evidence.error}
        parts += self.without_chains(record) if not posterior.has_chains else self._compared(record)
        return Section.of("chains", "Chains" if posterior.has_chains else "How it was found", parts, record)

    def without_chains(self, record: dict[str, Any]) -> list[Markup]:
        """What is said where there are no chains."""
        return [words(self.summary.verdict)]

    def _compared(self, record: dict[str, Any]) -> list[Markup]:
        posterior, found = self.posterior, self.summary.diagnostics
        rows = [
            (
                one.quantity,
                one.mean if isinstance(one, Diagnostic) else None,
                one.sd if isinstance(one, Diagnostic) else None,
                one.rhat_text,
                *(None if size is None else round(size) for size in (one.ess_bulk, one.ess_tail)),
                "yes" if one.agrees else "no",
            )
            for one in found.quantities
        ]
        head = ("quantity", "mean", "sd", "R-hat", "ESS bulk", "ESS tail", "R-hat near 1?")
        parts = [
            table("Do the chains agree? R-hat is 1 where they do; ESS is what the draws are worth", head, rows),
            *([bullets(found.warnings())] if found.warnings() else []),
        ]
        record["diagnostics"] = found.to_dict()
        if posterior.chains > MOST_CHAINS:
            parts.append(words(f"Drawn are the first {MOST_CHAINS} of {posterior.chains} chains.", class_="note"))
        for name, every in list(posterior.series.items())[:MOST_SERIES]:
            values = every[:MOST_CHAINS]
            traced = figure(
                charts.traces(f"{name}: draws of each chain", values, name),
                f"{name}: a line for each chain. Lines that lie over one another have found the same.",
            )
            ranked = []
            if posterior.chains > 1:
                caption = f"{name}: where each chain's draws rank among all. Level bars mean that the chains agree."
                ranked = [figure(charts.ranks(f"{name}: rank plot", values), caption)]
                record.setdefault("ranks", {})[name] = charts.rank_counts(values)
            parts.append(side_by_side(traced, *ranked))
        if posterior.acceptance:
            shares = [(name, percent(share)) for name, share in posterior.acceptance.items()]
            parts.append(table("Proposals that were accepted", ("proposal", "accepted"), shares))
            record["acceptance"] = posterior.acceptance
        return parts + (self._tempered(record) if posterior.tempered else [])

    def _tempered(self, record: dict[str, Any]) -> list[Markup]:
        swaps, settings = self.posterior.swaps(), self.posterior.settings
        trips = int(swaps.round_trips.sum())
        said = (
            f"{counted(settings.temperatures, 'temperature')} ({settings.ladder}): {counted(trips, 'round trip')}"
            f" between the posterior and the hottest rung; communication barrier {number(swaps.barrier, 3)}."
        )
        rates = swaps.neighbours.mean(axis=0)
        names = [f"{rung + 1}–{rung + 2}" for rung in range(len(rates))]
        record["tempering"] = {
            "round_trips": swaps.round_trips,
            "swap_rates": rates,
            "ladder": swaps.ladders,
            "barrier": swaps.barrier,
        }
        picture = charts.columns("Swaps accepted", names, {"accepted": np.nan_to_num(rates)}, "share accepted", "rungs")
        return [
            words(said),
            figure(picture, "Shares of the swaps between neighbouring temperatures that were accepted."),
        ]

    # ---- audit ----------------------------------------------------------------------------------------------------

    def audit(self) -> Section:
        """What this rests on, and what gives the same bits again."""
        settings, release = self.posterior.settings, version("baytree")
        data = "not given with this report"
        if self.seen is not None:
            mine = self.seen.design.fingerprint()
            data = f"{mine}: {'the training data' if self.seen.training else 'other data'}"
        pairs = [
            ("training data", f"fingerprint {settings.data}, {counted(settings.rows, 'row')}"),
            ("data of this report", data),
            ("seed", str(settings.seed)),
            ("baytree", release),
            ("family", self.posterior.model.family),
        ]
        call = self.call()
        parts = [
            facts(pairs),
            words("The same bits again, in Python, with the training design:"),
            preformatted(call),
            words(
                "All figures of this page are in it as JSON, in the element with id ",
                element("code", "report"),
                "; ",
                element("code", "baytree report MODEL --json"),
                " prints them.",
            ),
        ]
        record = {
            "version": release,
            "fingerprint": settings.data,
            "data": None if self.seen is None else self.seen.design.fingerprint(),
            "seed": str(settings.seed),
            "settings": asdict(settings) | {"seed": str(settings.seed)},
            # What was taken from the data, a number or more for each column, is in the model file.
            "model": {name: value for name, value in self.posterior.model.to_dict().items() if name != "calibration"},
            "call": call,
        }
        return Section.of("audit", "Audit", parts, record)

    def call(self) -> str:
        """The Python that draws the same again."""
        settings = self.posterior.settings
        asked: dict[str, Any] = {"draws": settings.draws, "chains": settings.chains, "seed": settings.seed}
        note = ""
        if self.posterior.has_chains:
            if settings.effort is None:
                asked |= {"warmup": settings.warmup, "thin": settings.thin, "temperatures": settings.temperatures}
            else:
                asked["effort"] = settings.effort
                note = "  # where warmup and thin were left to the run, and time_limit was not given"
                if not settings.free_ladder:
                    asked["temperatures"] = settings.temperatures
            if settings.temperatures > 1:
                asked |= {"ladder": settings.ladder, "swap_every": settings.swap_every}
        options = ", ".join(f"{name}={value!r}" for name, value in asked.items())
        return f'model = baytree.load("MODEL").model\nbaytree.sample(model, design, {options}){note}'


def progress_of_report(line: str) -> None:
    """Say on standard error what is being worked out."""
    Progress(0, 0).say(f"report: {line}")


def fitted_numbers(mean: np.ndarray, log_likelihood: np.ndarray, new: np.ndarray) -> Fitted:
    """What draws of new responses say of rows whose response is a number.

    Parameters
    ----------
    mean : numpy.ndarray of shape (rows, outputs)
        What is expected.
    log_likelihood : numpy.ndarray of shape (draws, rows)
        The log density of what happened.
    new : numpy.ndarray of shape (draws, rows, outputs)
        The draws.
    """
    intervals = {prob: interval_of(new, prob) for prob in COVERAGE}
    return Fitted(mean, log_likelihood, new, intervals, np.quantile(new, LEVELS, axis=0))


def shown_value(column: Mapping[str, Any]) -> str:
    """The value of a field as a person reads it."""
    value = column["value"]
    if value is None:
        return "missing"
    if column["kind"] == "numeric":
        return number(value)
    names = ("false", "true") if column["kind"] == "boolean" else column["levels"]
    return str(names[int(value)])


def score_table(scores: Iterable[Score]) -> Markup:
    """Scores with their intervals."""
    rows = [(one.name, one.value, interval_text(one.interval), one.better) for one in scores]
    return table("Scores, with 90% intervals over rows (bootstrap)", ("score", "value", "interval", "better is"), rows)


def coverage_table(covered: Iterable[tuple[float, float, float]]) -> Markup:
    """How many responses lie in their predictive intervals."""
    rows = [(f"{prob:.0%}", percent(share), width) for prob, share, width in covered]
    return table("Responses inside their predictive intervals", ("interval", "inside", "mean width"), rows)
