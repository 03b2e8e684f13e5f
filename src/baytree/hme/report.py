"""A report on a posterior of soft trees."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..plots.soft_trees import signed
from ..posterior.report import Fitted
from ..posterior.what_if import matrix_for_page
from ..report import charts
from ..report.markup import Markup
from ..report.packed import packed
from ..report.parts import Section, figure, side_by_side, table, words
from ..text import counted, percent
from .interpret.expert_words import ExpertWords
from .interpret.gate_directions import GateDirections
from .posterior import HMEPosterior
from .prediction import SoftPrediction
from .reported import SoftReport

# The most gates that are drawn, and slopes that are named.
GATES, SLOPES = 6, 4


class HMEReport(SoftReport[HMEPosterior]):
    """A report on a posterior of soft trees."""

    what = "hierarchical mixture of experts"

    @property
    def finding(self) -> str:
        """How the leaves differ."""
        live, experts = self.posterior.live_leaves, self.posterior.experts()
        said = [
            f"leaf {leaf + 1} says {' and '.join(f'{name} {value:.4g}' for name, value in words_.average.items())}"
            for leaf, words_ in enumerate(experts)
            if live[leaf]
        ]
        shown = said if len(said) <= 4 else [*said[:3], f"and {len(said) - 3} more"]
        best = "The best tree" if self.posterior.chains * self.posterior.draws > 1 else "Its tree"
        return f"{best} has {counted(int(live.sum()), 'leaf', 'leaves')}; of an average row {', '.join(shown)}."

    # ---- the tree -------------------------------------------------------------------------------------------------

    def map(self) -> Section:
        """The best tree as a map: the rows that its leaves answer for."""
        tree = self.posterior.tree()
        if self.seen is None:
            inputs = np.append(np.zeros(len(self.model.calibrated.kept)), 1.0)[None]
            of = "an average row"
        else:
            inputs, of = self.posterior.inputs.of_matrix(self.seen.encoded), counted(len(self.seen.rows), "row")
        share = np.exp(tree.log_paths(inputs)).mean(axis=1)
        experts = self.posterior.experts()
        caption = (
            f"{self._of_which} The width of a part is the probability that the gates send a row there, on average over "
            f"{of}."
        )
        return self.mapped_leaves(share, lambda leaf: short_words(experts[leaf].average), caption)

    @property
    def _of_which(self) -> str:
        if self.posterior.chains * self.posterior.draws == 1:
            return "The one tree there is."
        return (
            "The best tree of the draws: leaves switch their labels from draw to draw, so their average means nothing."
        )

    def trees(self) -> Section:
        """What the gates ask and the experts say."""
        gates, experts = self.posterior.gate_directions(), self.posterior.experts()
        places = [(level, node) for level, of_level in enumerate(gates.sharpness) for node in range(len(of_level))]
        asked = [
            (
                f"level {level + 1}, gate {node + 1}",
                self._asks(gates.terms(level, node)),
                float(gates.sharpness[level][node]),
                float(gates.cut[level][node]),
            )
            for level, node in places
        ]
        said = [
            (
                f"leaf {leaf + 1}",
                name,
                value,
                one.sd.get(name),
                self._slopes(one, name),
            )
            for leaf, one in enumerate(experts)
            for name, value in one.average.items()
        ]
        parts = [
            words(self._of_which),
            side_by_side(*(self._gate(gates, level, node) for level, node in places[:GATES])),
            table(
                "What the gates ask: a direction in standard units towards the first branch, and where it is cut",
                ("gate", "direction", "sharpness", "cut"),
                asked,
            ),
            table(
                "What the experts say: of an average row, and for each unit of a column",
                ("leaf", "output", "average", "sd", "slopes"),
                said,
            ),
        ]
        record = {"gates": gates.to_dict(), "experts": [one.to_dict() for one in experts]}
        return Section.of("trees", "Gates and experts", parts, record)

    def _slopes(self, one: ExpertWords, name: str) -> str:
        terms = list(one.slopes.get(name, {}).items())[:SLOPES]
        # Log odds are against the last class, which has no slopes of its own.
        last = self.classes is not None and name == self.classes[-1]
        return "the slopes above are against it" if last and not terms else self._asks(terms)

    @staticmethod
    def _asks(terms: list[tuple[str, float]]) -> str:
        return ", ".join(f"{signed(value)} {name}" for name, value in terms) or "nothing"

    def _gate(self, gates: GateDirections, level: int, node: int) -> Markup:
        places, share = gates.curve(level, node)
        shown = share.shape[1] if share.shape[1] > 2 else 1
        series = {f"branch {branch + 1}": share[:, branch] for branch in range(shown)}
        name = f"Level {level + 1}, gate {node + 1}"
        axes = (
            "standard deviations along its direction",
            "probability of the first branch" if shown == 1 else "probability",
        )
        return figure(charts.lines(name, series, axes, places), f"{name}: {self._asks(gates.terms(level, node))}.")

    def consensus(self) -> Section:
        """How alike the draws divide the rows: how probable it is that two rows have the same leaf."""
        if self.seen is None or np.prod(self.prediction.shape) == 1:
            return super().consensus()
        prediction = self.prediction
        assert isinstance(prediction, SoftPrediction)
        rows = self.seen.encoded[:60]
        inputs = self.posterior.inputs.of_matrix(rows)
        together = np.zeros((len(rows), len(rows)))
        trees = list(prediction.trees())
        for tree in trees:
            share = np.exp(tree.log_paths(inputs))
            together += share.T @ share
        together /= len(trees)
        pairs = together[np.triu_indices(len(rows), 1)]
        shares = np.histogram(pairs, 10, (0, 1))[0] / max(len(pairs), 1)
        sure = float(((pairs < 0.1) | (pairs > 0.9)).mean()) if len(pairs) else 0.0
        picture = charts.histogram(
            "How probably two rows share a leaf",
            shares,
            ("probability that two rows share a leaf", "share of the pairs"),
        )
        parts = [
            words(
                f"Whatever the leaves are called, two rows share one or not: of {counted(len(pairs), 'pair')} of rows, "
                f"{percent(sure)} do so with a probability below 10% or above 90%."
            ),
            figure(picture, "High ends mean that the draws agree on how the rows are divided."),
        ]
        return Section.of("consensus", "What the draws agree on", parts, {"shares": shares, "sure": sure})

    def columns(self) -> Section:
        """How the response depends on each column."""
        return self.dependence()

    # ---- how it was found -----------------------------------------------------------------------------------------

    def without_chains(self, record: dict[str, Any]) -> list[Markup]:
        """How the objective went."""
        posterior = self.posterior
        parts = super().without_chains(record)
        record |= {"epochs": posterior.epochs, "converged": posterior.converged, "objective": list(posterior.objective)}
        if len(posterior.objective) > 1:
            series = {"training rows": posterior.objective}
            name = "bound of the log evidence" if posterior.bound is not None else "penalised log-likelihood"
            picture = charts.lines(f"The {name} by epochs", series, ("epoch", name))
            parts.append(figure(picture, f"The {name}, in standard units, before each epoch and at the end."))
        return parts

    # ---- one row --------------------------------------------------------------------------------------------------

    @cached_property
    def inputs(self) -> list[dict[str, Any]]:
        """The columns as fields of a form."""
        return self.fields()

    def predictor(self) -> dict[str, Any]:
        """The thinned draws: gates and experts."""
        thinned = self.thinned
        assert isinstance(thinned, SoftPrediction)
        return soft_predictor(self.model, self.schema, thinned.parameters["gates"], thinned.parameters["coefficients"])

    # ---- calibration ----------------------------------------------------------------------------------------------

    def fitted(self) -> Fitted:
        """What is predicted of the rows that are looked at."""
        assert self.seen is not None
        return self.fitted_by(self.seen.encoded, np.arange(len(self.seen.rows)), {})


def short_words(average: dict[str, float]) -> str:
    """What an expert says of an average row, in a few signs."""
    if len(average) == 1:
        [(_, value)] = average.items()
        return f"{value:.4g}"
    name = max(average, key=lambda one: average[one])
    return f"{name} {average[name]:.3g}"


def soft_predictor(model: Any, schema: Any, gates: np.ndarray, coefficients: np.ndarray) -> dict[str, Any]:
    """Draws of soft trees as the page computes with them.

    Parameters
    ----------
    model : HME
        Its layout and its units.
    schema : LinearSchema
        The table.
    gates, coefficients : numpy.ndarray
        As `Layout` has them, draw by draw.
    """
    found = model.calibrated
    arrays = {
        "kept": packed(found.kept, "i4"),
        "centre": packed(found.centre, "f8"),
        "scale": packed(found.scale, "f8"),
        "gates": packed(gates, "f8"),
        "coefficients": packed(coefficients, "f8"),
        "output_centre": packed(found.output_centre, "f8"),
        "output_scale": packed(found.output_scale, "f8"),
        "depth": model.depth,
        "branching": model.branching,
        "expert": model.expert,
    }
    return {"kind": "soft", "matrix": matrix_for_page(schema), "model": arrays}
