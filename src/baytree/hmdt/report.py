"""A report on a hidden Markov decision tree."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..data.design import AnyDesign
from ..errors import InputError
from ..hme.report import short_words, soft_predictor
from ..hme.reported import SoftReport
from ..posterior.report import Fitted
from ..report import charts
from ..report.markup import Markup
from ..report.parts import Section, figure, number, table
from ..text import counted
from .data.design import SequenceDesign
from .data.sequences import Sequences
from .posterior import HMDTPosterior
from .summary import lengths_of

# Of a sequence, so many rows are drawn.
STRETCH = 200


class HMDTReport(SoftReport[HMDTPosterior]):
    """A report on a hidden Markov decision tree."""

    what = "hidden Markov decision tree"
    row_note = "The row is the first of a sequence: nothing is known of rows before it."
    in_python = "In Python, posterior.predict(rows, y=...) predicts each row from those before it."

    @property
    def finding(self) -> str:
        """How long decisions last, and what the leaves say."""
        lengths = lengths_of(self.posterior.stays)
        finite = lengths[np.isfinite(lengths)]
        lasts = (
            f"decisions last {number(float(finite.min()), 3)} to {number(float(finite.max()), 3)} rows on average"
            if finite.size
            else "decisions never change"
        )
        experts = self.posterior.experts()
        said = [f"leaf {leaf + 1} says {short_words(one.average)}" for leaf, one in enumerate(experts[:4])]
        more = f" and {len(experts) - 4} more leaves" if len(experts) > 4 else ""
        return f"Where inputs are average, its {lasts}; of an average row {', '.join(said)}{more}."

    def read(self, source: Any, weight: str | None, offset: str | None) -> AnyDesign:
        """A table is one sequence."""
        if weight is not None or offset is not None:
            raise InputError("sequences have neither weights nor an offset; leave them out")
        table_ = super().read(source, None, None)
        seen, begin = np.ones(table_.rows, dtype=bool), np.array([0, table_.rows])
        return SequenceDesign(self.schema, table_.at(slice(None)), table_.y, seen, begin)

    @property
    def _sequences(self) -> Sequences:
        assert self.seen is not None
        found: Sequences = self.posterior.given_by(self.seen.design)["sequences"]
        return found

    # ---- the tree -------------------------------------------------------------------------------------------------

    def map(self) -> Section:
        """The tree as a map: how often each leaf is asked."""
        experts = self.posterior.experts()
        if self.seen is None:
            first, _ = self.posterior.tree().at_average()
            branching, depth = self.model.branching, self.model.depth
            share = np.ones(1)
            begin = 0
            for level in range(depth):
                nodes = branching**level
                share = (share[:, None] * first[begin : begin + nodes]).ravel()
                begin += nodes
            of = "at the first row of a sequence whose inputs are average"
        else:
            share = self.posterior.inference.smooth(self._sequences).leaf.mean(axis=0)
            of = f"given all of {counted(self.seen.design.rows, 'row')}"
        caption = f"The width of a part is how probable it is that a row comes from there, {of}."
        return self.mapped_leaves(share, lambda leaf: short_words(experts[leaf].average), caption)

    def trees(self) -> Section:
        """How long decisions last, what the leaves say, and which leaf is asked when."""
        posterior = self.posterior
        stays = posterior.stays
        rows = [
            (
                f"node {node + 1}",
                f"branch {branch + 1}",
                float(stays[node, branch]),
                float(lengths_of(stays[node])[branch]),
            )
            for node in range(len(stays))
            for branch in range(stays.shape[1])
        ]
        experts = [
            (f"leaf {leaf + 1}", name, value, one.sd.get(name))
            for leaf, one in enumerate(posterior.experts())
            for name, value in one.average.items()
        ]
        parts = [
            table(
                "How long decisions last where inputs are average",
                ("node", "branch", "probability to stay", "rows on average"),
                rows,
            ),
            table("What the leaves say of an average row", ("leaf", "output", "average", "sd"), experts),
        ]
        record: dict[str, Any] = {"stays": stays, "experts": [one.to_dict() for one in posterior.experts()]}
        if self.seen is not None:
            known = posterior.inference.smooth(self._sequences).leaf
            design = self.seen.design
            assert isinstance(design, SequenceDesign)
            stretch = known[: min(STRETCH, int(design.begin[1]))]
            series = {f"leaf {leaf + 1}": stretch[:, leaf] for leaf in range(stretch.shape[1])}
            picture = charts.lines("Which leaf is asked when", series, ("row of the first sequence", "probability"))
            parts.append(figure(picture, "The probability of each leaf given all rows, over the first sequence."))
            record["leaf_shares"] = known.mean(axis=0)
        return Section.of("trees", "Nodes and leaves", parts, record)

    def columns(self) -> Section:
        """How the response depends on each column."""
        return self.dependence()

    def expected(self, matrix: np.ndarray) -> np.ndarray:
        """What is expected of rows that are each the first of a sequence."""
        return self.prediction.expected(matrix, sequences=self._alone(matrix))

    def _alone(self, matrix: np.ndarray) -> Sequences:
        outputs = np.ones((len(matrix), self.model.layout.outputs))
        seen = np.zeros(len(matrix), dtype=bool)
        return Sequences(self.posterior.inputs.of_matrix(matrix), outputs, seen, np.arange(len(matrix) + 1))

    # ---- how it was found -----------------------------------------------------------------------------------------

    def without_chains(self, record: dict[str, Any]) -> list[Markup]:
        """How EM went."""
        posterior = self.posterior
        parts = super().without_chains(record)
        record |= {"epochs": posterior.epochs, "converged": posterior.converged, "objective": list(posterior.objective)}
        if posterior.epochs:
            name = "penalised log-likelihood"
            picture = charts.lines(f"The {name} by epochs", {"training rows": posterior.objective}, ("epoch", name))
            parts.append(
                figure(picture, f"The {name} or its bound, in standard units, before each epoch and at the end.")
            )
        return parts

    # ---- one row --------------------------------------------------------------------------------------------------

    @cached_property
    def inputs(self) -> list[dict[str, Any]]:
        """The columns as fields of a form."""
        return self.fields()

    def predictor(self) -> dict[str, Any]:
        """The tree at the first row of a sequence, where it is a soft tree without memory."""
        tree = self.posterior.tree()
        inputs = len(self.model.calibrated.kept)
        first = np.concatenate([tree.gates[:, :, :inputs], tree.gates[:, :, -1:]], axis=2)
        return soft_predictor(self.model, self.schema, first, self.posterior.coefficients)

    # ---- calibration ----------------------------------------------------------------------------------------------

    def fitted(self) -> Fitted:
        """What is predicted of each row from those before it."""
        assert self.seen is not None
        return self.fitted_by(self.seen.design.at(slice(None)), self.seen.rows, {"sequences": self._sequences})
