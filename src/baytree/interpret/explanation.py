"""One row explained: what decides, and what would have to change, in words and as a picture."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import notebook
from ..errors import InputError
from ..notebook import Shown
from ..plots import explanation as plots
from ..posterior.base import BasePosterior
from ..text import percent
from ..validation import require_positive, require_prob
from .counterfactual import Change, nearest_changes, plain, table, values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PROB = 0.9
# Draws of each chain by which changes are looked for; what is found is judged by all.
SEARCHED = 25
# How many paths, columns and changes are printed and drawn.
LISTED = 6


@dataclass(frozen=True)
class Path:
    """A way through trees to a leaf.

    Attributes
    ----------
    rules : tuple of str
        What is answered on the way, of each column once.
    share : float
        The probability that it is taken.
    value : float
        What is predicted at its end, of the response or of the probability that is explained.
    said : str
        What there is to say of the end besides.
    """

    rules: tuple[str, ...]
    share: float
    value: float
    said: str = ""

    def __str__(self) -> str:
        return " and ".join(self.rules) or "no question"

    def to_dict(self) -> dict[str, Any]:
        """The path as JSON-safe values."""
        return vars(self) | {"rules": list(self.rules)}


@dataclass(frozen=True)
class Effect:
    """What one column has to do with the prediction.

    Attributes
    ----------
    column : str
        The column, or a term of a linear model.
    value : str
        Its value in the row, in words.
    share : float or None
        The probability that it has anything to do with it: that a tree asks about it on the way, or that a linear
        model has it.
    mean : float or None
        By how much it moves the prediction from that of an average row.
    interval : tuple of (float, float) or None
        A credible interval of that.
    rule : str
        The answer that is given most often, of trees.
    """

    column: str
    value: str
    share: float | None = None
    mean: float | None = None
    interval: tuple[float, float] | None = None
    rule: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The effect as JSON-safe values."""
        return vars(self) | {"interval": None if self.interval is None else list(self.interval)}


@dataclass(frozen=True)
class Reasons:
    """What decides about a row, in the words of its family.

    Attributes
    ----------
    paths : tuple of Path
        The ways that draws take, the most probable first.
    effects : tuple of Effect
        The columns, the most important first.
    base : float or None
        What effects are measured from: what is predicted of an average row.
    unit : str
        What effects move.
    titles : tuple of (str, str)
        What the paths and the effects are, in words.
    """

    paths: tuple[Path, ...] = ()
    effects: tuple[Effect, ...] = ()
    base: float | None = None
    unit: str = ""
    titles: tuple[str, str] = ("", "")


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Shown):
    """Why one row is predicted as it is; ``print`` or ``plot`` it.

    Attributes
    ----------
    response : str
        The response.
    what : str
        What is explained: the response, or the probability of a class.
    row : dict of str to Any
        The values of the row.
    mean : float
        What is predicted.
    interval : tuple of (float, float) or None
        A credible interval of it; None of a single tree.
    prob : float
        Its probability.
    probabilities : dict of str to float
        With classes, that of each.
    reasons : Reasons
        What decides.
    changes : tuple of Change
        Of each column the smallest change that changes the prediction, the nearest first; columns that cannot alone
        are left out.
    wanted : str
        What counts as a change, in words.
    """

    response: str
    what: str
    row: dict[str, Any]
    mean: float
    interval: tuple[float, float] | None
    prob: float
    probabilities: dict[str, float]
    reasons: Reasons
    changes: tuple[Change, ...]
    wanted: str

    @property
    def said(self) -> str:
        """The prediction in a sentence."""
        band = ""
        if self.interval is not None:
            low, high = self.interval
            band = f", {self.prob:.0%} credible interval {low:.4g} to {high:.4g}"
        best = ""
        if self.probabilities:
            label = max(self.probabilities, key=lambda name: self.probabilities[name])
            best = f"; most probable: {label}"
        return f"{self.what} is {self.mean:.4g}{band}{best}"

    def __str__(self) -> str:
        paths, effects = self.path_lines(), self.effect_lines()
        parts = [[self.said], *([paths] if paths else []), *([effects] if effects else []), self.change_lines()]
        return "\n\n".join("\n".join(lines) for lines in parts)

    def path_lines(self) -> list[str]:
        """The paths in lines under a title."""
        shown, rest = self.reasons.paths[:LISTED], self.reasons.paths[LISTED:]
        if not shown:
            return []
        lines = [f"{percent(path.share):>6}  {path}: {path.said or f'{path.value:.4g}'}" for path in shown]
        more = [f"{percent(sum(path.share for path in rest)):>6}  {len(rest):,} other paths"] if rest else []
        return [self.reasons.titles[0], *lines, *more]

    def effect_lines(self) -> list[str]:
        """The columns in lines under a title."""
        shown = self.reasons.effects[:LISTED]
        if not shown:
            return []
        named = [f"{one.column} = {one.value}" if one.value else one.column for one in shown]
        width = max(map(len, named))
        lines = [f"  {name:<{width}}  {_effect_text(one)}" for name, one in zip(named, shown, strict=True)]
        return [self.reasons.titles[1], *lines]

    def change_lines(self) -> list[str]:
        """What would have to change, in lines under a title."""
        title = f"The smallest changes of one column by which {self.wanted}"
        if not self.changes:
            return [
                f"No change of one column alone, to any value of the training table, is enough so that {self.wanted}"
            ]
        return [title, *(f"  {change_text(one)}: {self._after(one)}" for one in self.changes[:LISTED])]

    def _after(self, change: Change) -> str:
        found = f"{self.what} {change.mean:.4g}"
        return found if change.label is None else f"{change.label}, {found}"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON-safe values."""
        return {
            "response": self.response,
            "what": self.what,
            "values": {name: plain(value) for name, value in self.row.items()},
            "mean": self.mean,
            "interval": None if self.interval is None else list(self.interval),
            "prob": self.prob,
            "probabilities": self.probabilities,
            "paths": [path.to_dict() for path in self.reasons.paths],
            "effects": [effect.to_dict() for effect in self.reasons.effects],
            "base": self.reasons.base,
            "unit": self.reasons.unit,
            "changes": [change.to_dict() for change in self.changes],
            "wanted": self.wanted,
        }

    def _repr_html_(self) -> str:
        lines = (self.path_lines(), self.effect_lines(), self.change_lines())
        return notebook.boxed(
            notebook.line(self.said, strong=True),
            *(
                notebook.folded(head, notebook.preformatted("\n".join(body)), shown=True)
                if body
                else notebook.line(head)
                for head, *body in filter(None, lines)
            ),
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what decides, and below it what would have to change.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        """
        effects = [one for one in self.reasons.effects if one.mean is not None][: 2 * LISTED]
        if effects:
            names = [f"{one.column} = {one.value}" if one.value else one.column for one in effects]
            means = np.array([one.mean for one in effects])
            intervals = np.array([one.interval for one in effects], dtype=float)
            top: plots.Top = plots.Waterfall(names, means, intervals, self.reasons.base or 0.0, self.reasons.unit)
        else:
            paths = self.reasons.paths[:LISTED]
            top = plots.Ways([str(one) for one in paths], *(
                np.array([getattr(one, name) for one in paths]) for name in ("share", "value")
            ))  # fmt: skip
        shown_changes = self.changes[:LISTED]
        changes = plots.Moves(
            [change_text(one) for one in shown_changes],
            np.array([one.mean for one in shown_changes]),
            self.mean,
            self.interval,
            f"What it takes so that {self.wanted}" if shown_changes else self.change_lines()[0],
        )
        titles = self.reasons.titles
        return plots.explanation(ax, top, changes, self.what, self.said, titles[1] if effects else titles[0])


def _effect_text(effect: Effect) -> str:
    parts = []
    if effect.mean is not None:
        parts.append(f"{effect.mean:+.3g}".replace("-", "−"))
        if effect.interval is not None:
            parts[-1] += " ({:+.3g} to {:+.3g})".format(*effect.interval).replace("-", "−")
    if effect.share is not None:
        parts.append(f"{percent(effect.share)} of the {'draws ask about it' if effect.rule else 'models have it'}")
    if effect.rule:
        parts.append(f"mostly {effect.rule}")
    return ", ".join(parts)


def change_text(change: Change) -> str:
    """A change in words."""
    return f"{change.column} from {shown(change.before)} to {shown(change.after)}"


def shown(value: Any) -> str:
    """A value of a row as people write it."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if not isinstance(value, int | float | np.number):
        return str(value)
    number = float(value)
    return f"{number:.{4 if abs(number) < 1000 else 7}g}"


class ExplainsRows(BasePosterior):
    """Draws that can say why a single row is predicted as it is."""

    def explain(
        self, row: Any, *, of: Any = None, by: float | None = None, prob: float = PROB, **given: Any
    ) -> Explanation:
        """Why one row is predicted as it is, and what would have to change; ``print`` or ``plot`` it.

        Of trees the paths that the draws take and the rules that decide; of sums of trees how much each column moves
        the prediction (SHAP values); of linear models the contribution of each term; of mixtures of experts the
        ways through the gates. For each column the smallest change that changes the prediction is looked for among
        the values of the training table, the others being as they are: a counterfactual. It is one of the model, and
        says nothing of causes.

        Parameters
        ----------
        row : mapping, series, one-row frame, or array-like
            The row, by the names of the columns or in their order.
        of : class label, optional
            With classes, the one whose probability is explained; by default of two the second, of more the most
            probable one.
        by : float, optional
            Of numbers, by how much the mean must move to count as changed; by default out of its credible interval,
            of a single tree by the standard deviation of a new response. With classes the most probable one changes.
        prob : float
            The probability of the intervals.
        **given
            What predictions take besides the row, such as ``offset=[0.5]``.

        Returns
        -------
        Explanation
        """
        require_prob(prob)
        response = self.schema.response
        if self.settings.offset and "offset" not in given:
            raise InputError("the model was fitted with an offset, so the row needs its own: give offset=[0.5], say")
        values = values_of(row, self.schema.names)
        rows = self.schema.encode(table([values]))
        several = self.chains * self.draws > 1
        kinds = [
            "mean",
            *(["interval"] if several else []),
            *(["sd"] if not several and response.classes is None else []),
        ]
        found = self.prediction.predict(rows, kinds, prob, **given)
        mean = found["mean"][0]
        if np.ndim(mean) and response.classes is None:
            raise InputError(f"each row has {len(mean)} responses, and one is explained at a time; fit one alone")
        if response.classes is None:
            response.place_of(of)
            place, what = 0, response.name
            explained = float(mean)
        else:
            if by is not None:
                raise InputError(f"by={by!r}: with classes the most probable one is to change; leave it out")
            unsaid = of is None and len(response.classes) > 2
            place = int(np.argmax(mean)) if unsaid else response.place_of(of)
            what, explained = f"P({response.name} = {response.classes[place]})", float(mean[place])
        interval = None
        if several:
            ends = found["interval"][0] if response.classes is None else found["interval"][0, place]
            interval = (float(ends[0]), float(ends[1]))
        differs, wanted = self._difference(mean, interval, by, found)
        changes = self._changes(values, given, differs, place)
        return Explanation(
            response=response.name,
            what=what,
            row=dict(zip(self.schema.names, values, strict=True)),
            mean=explained,
            interval=interval,
            prob=prob,
            probabilities={}
            if response.classes is None
            else dict(zip(map(str, response.classes), map(float, mean), strict=True)),
            reasons=self._reasons(values, rows, place, prob),
            changes=changes,
            wanted=wanted,
        )

    @abstractmethod
    def _reasons(self, values: Sequence[Any], rows: np.ndarray, place: int, prob: float) -> Reasons:
        """What decides about a row.

        Parameters
        ----------
        values : sequence
            The row, column by column.
        rows : numpy.ndarray
            The same as the schema encodes it, one row.
        place : int
            With classes, which of them is explained.
        prob : float
            The probability of intervals.
        """

    def _spreads(self) -> list[tuple[float, float]]:
        """The mean and the standard deviation of each column, where columns have no bins that tell their values."""
        return [(0.0, 1.0)] * len(self.schema.columns)

    def _difference(
        self, mean: Any, interval: tuple[float, float] | None, by: float | None, found: dict[str, np.ndarray]
    ) -> tuple[Any, str]:
        """What tells whether predictions differ from that of the row, and that in words."""
        response = self.schema.response
        if response.classes is not None:
            best = int(np.argmax(mean))
            return (
                lambda other: other.argmax(axis=1) != best,
                f"{response.classes[best]} is no longer the most probable",
            )
        if by is None and interval is not None:
            low, high = interval
            said = f"the mean leaves its interval, {low:.4g} to {high:.4g}"
            return lambda other: (other < low) | (other > high), said
        if by is None:
            by = float(found["sd"][0])
        require_positive("by", by)
        return lambda other: np.abs(other - mean) >= by, f"the mean moves by {by:.4g} or more"

    def _changes(self, values: Sequence[Any], given: dict[str, Any], differs: Any, place: int) -> tuple[Change, ...]:
        classes = self.schema.response.classes

        def predictor(prediction: Any) -> Any:
            def predict(rows: np.ndarray) -> np.ndarray:
                same = {name: np.repeat(np.asarray(value), len(rows)) for name, value in given.items()}
                return prediction.predict(rows, "mean", **same)

            return predict

        found = nearest_changes(
            self.schema,
            values,
            self._spreads(),
            predictor(self.prediction.some(SEARCHED)),
            predictor(self.prediction),
            differs,
        )
        return tuple(
            Change(column, before, after, float(distance), float(mean), None)
            if classes is None
            else Change(column, before, after, float(distance), float(mean[place]), str(classes[int(np.argmax(mean))]))
            for column, before, after, distance, mean in found
        )
