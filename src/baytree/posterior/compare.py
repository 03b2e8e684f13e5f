"""Posteriors side by side: how well they predict rows that they did not see, their evidence, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..data.design import AnyDesign, Design
from ..data.frames import table_of
from ..data.matrix import LinearDesign, LinearSchema
from ..data.response import learn_offset, learn_response, learn_weight
from ..data.values import array_values, label_of, plain_array
from ..diagnostics.comparison import effective_size
from ..errors import InputError
from ..text import counted, listed, percent
from .base import BasePosterior
from .prediction import row_blocks

# Above, the estimate of a row's score by the other rows is not to be relied on (Vehtari and others 2024).
LARGEST_K = 0.7
# Fewer draws tell nothing of the tails of importance weights.
FEWEST_DRAWS = 100


@dataclass(frozen=True)
class Score:
    """How well one of the posteriors predicts.

    Attributes
    ----------
    name : str
        Which.
    model : str
        Its family.
    how : {"left out", "new", "unknown"}
        Whether each row was left out of the draws by importance sampling, as the posterior came from these rows
        (PSIS-LOO [1]_); whether they are new to it; or neither, where there are too few draws, or no rows.
    score, error : float or None
        The expected log predictive density of all rows (elpd, log score): larger is better; and its standard error.
    behind, behind_error : float or None
        How much larger that of the best is, and the standard error of the difference, row by row.
    parameters : float or None
        Of rows that were left out, the effective number of parameters.
    unreliable : int
        Of rows that were left out, those whose importance weights have too heavy a tail, k above 0.7.
    as_many : bool
        Whether the rows are new to it, yet as many as it came from: perhaps the same ones with other weights.
    log_evidence, log_evidence_error : float or None
        Where it is known, log P(y | x), and its Monte Carlo error: 0 where every tree was added up.

    References
    ----------
    .. [1] Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation using leave-one-out cross-validation
       and WAIC, Statistics and Computing 27, 1413–1432.
    """

    name: str
    model: str
    how: str
    score: float | None = None
    error: float | None = None
    behind: float | None = None
    behind_error: float | None = None
    parameters: float | None = None
    unreliable: int = 0
    as_many: bool = False
    log_evidence: float | None = None
    log_evidence_error: float | None = None


@dataclass(frozen=True)
class Agreement:
    """How far two posteriors predict alike.

    Attributes
    ----------
    first, second : str
        Which.
    difference : float
        Of numbers the root mean square of the differences of E(y | x), in standard deviations of the response; of
        classes the mean of the largest differences of a probability.
    same : float or None
        Of classes, the share of rows whose most probable class is the same.
    """

    first: str
    second: str
    difference: float
    same: float | None = None


@dataclass(frozen=True)
class Comparison:
    """Posteriors side by side, the best first; ``print`` it.

    Attributes
    ----------
    response : str
        What they predict.
    rows : int
        How many rows the scores are of; 0 where there were none.
    scores : tuple of Score
        Of each, by its score.
    agreements : tuple of Agreement
        Of each pair.
    """

    response: str
    rows: int
    scores: tuple[Score, ...]
    agreements: tuple[Agreement, ...] = ()

    @property
    def verdict(self) -> str:
        """Which predicts best, and whether that is more than chance."""
        best, *others = self.scores
        known = [other for other in others if other.behind is not None and other.behind_error is not None]
        if best.score is None or not known:
            return "Nothing tells which predicts best."
        next_best = known[0]
        assert next_best.behind is not None
        assert next_best.behind_error is not None
        if next_best.behind > 2 * next_best.behind_error:
            return f"{best.name} predicts best: more than two standard errors before {next_best.name}."
        return f"{best.name} and {next_best.name} predict about as well: their scores differ by less than chance would."

    @property
    def notes(self) -> list[str]:
        """What to heed."""
        found = []
        for score in self.scores:
            if score.unreliable:
                found.append(
                    f"{score.name}: {counted(score.unreliable, 'row')} of {self.rows:,} cannot be left out reliably "
                    "(Pareto k above 0.7): compare on rows that no model has seen"
                )
            if score.as_many:
                found.append(
                    f"{score.name} was fitted to as many rows: if these are the same ones, its score flatters it; name "
                    "the columns of weights and offsets that its fit had"
                )
            if score.how == "unknown" and self.rows:
                found.append(f"{score.name}: too few draws to leave rows out: compare on rows that no model has seen")
        return found

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON-safe values."""
        return {
            "response": self.response,
            "rows": self.rows,
            "scores": [asdict(score) for score in self.scores],
            "agreements": [asdict(agreement) for agreement in self.agreements],
            "verdict": self.verdict,
        }

    def __str__(self) -> str:
        head = ["", "log score", "± se", "behind", "± se", "log evidence"]
        cells = [head] + [
            [
                score.name,
                *map(_shown, (score.score, score.error, score.behind, score.behind_error, score.log_evidence)),
            ]
            for score in self.scores
        ]
        widths = [max(len(line[place]) for line in cells) for place in range(len(head))]
        lines = [
            "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])
            for line in cells
        ]
        return "\n".join([*(line.rstrip() for line in lines), *map(said, self.agreements), self.verdict, *self.notes])


def said(agreement: Agreement) -> str:
    """How far two posteriors agree, in a sentence."""
    pair = f"{agreement.first} and {agreement.second}"
    if agreement.same is None:
        return f"{pair}: predictions differ by {agreement.difference:.2f} standard deviations of the response"
    return (
        f"{pair}: the same class for {percent(agreement.same)} of the rows; probabilities differ by "
        f"{100 * agreement.difference:.1f} points"
    )


def compare(
    posteriors: Mapping[str, BasePosterior], data: Any = None, *, weight: str | None = None, offset: str | None = None
) -> Comparison:
    """Compare posteriors of the same response, whatever their families.

    Parameters
    ----------
    posteriors : mapping of str to posterior
        Two or more, by the names that they have in the comparison.
    data : path or frame, optional
        Rows with the response. Where a posterior came from these rows, each is left out of its draws by importance
        sampling (PSIS-LOO); else they are new to it, and its score is what it
        said of them. Without it the posteriors must be of the same data, and only evidences are compared.
    weight, offset : str, optional
        Columns of `data` that the fit had. A posterior that had no offset goes without.

    Returns
    -------
    Comparison
    """
    if not isinstance(posteriors, Mapping) or len(posteriors) < 2:
        raise InputError("posteriors: give two or more by name, such as {'one tree': first, 'a sum': second}")
    for name, posterior in posteriors.items():
        if not isinstance(posterior, BasePosterior):
            raise InputError(f"{name}={posterior!r} is not a posterior; give what sample or load gave")
    responses = {(one.schema.response.name, one.schema.response.task) for one in posteriors.values()}
    if len(responses) > 1:
        kinds = listed([f"{task} of {name!r}" for name, task in sorted(responses)])
        raise InputError(f"these models predict different things, {kinds}: compare such as predict the same")
    [(response, _)] = responses
    if data is None:
        _require_same_data(posteriors)
        scores = [_score(name, one, "unknown") for name, one in posteriors.items()]
        return Comparison(response, 0, tuple(sorted(scores, key=lambda one: -(one.log_evidence or -np.inf))))
    designs = {name: design_of(name, posterior, data, weight, offset) for name, posterior in posteriors.items()}
    _require_same_weights(posteriors, designs)
    found = {name: _pointwise(posterior, designs[name]) for name, posterior in posteriors.items()}
    best = max((one.sum() for _, one, _, _ in found.values() if one is not None), default=0.0)
    first = next((one for _, one, _, _ in found.values() if one is not None and one.sum() == best), None)
    scores = [_score(name, posteriors[name], *found[name], best=first) for name in posteriors]
    order = sorted(scores, key=lambda one: -np.inf if one.score is None else one.score, reverse=True)
    rows = next(iter(designs.values())).rows
    return Comparison(response, rows, tuple(order), tuple(_agreements(posteriors, designs)))


def design_of(name: str, posterior: BasePosterior, data: Any, weight: str | None, offset: str | None) -> AnyDesign:
    """The rows of a table with their responses, as the schema of a posterior of that name has them."""
    if not posterior.settings.offset:
        offset = None
    elif offset is None:
        raise InputError(f"{name}: the model was fitted with an offset; say which column of data it is, offset=NAME")
    schema = posterior.schema
    response = schema.response
    labels = [column.name for column in schema.columns if column.kind == "categorical"]
    table = table_of(data, text=labels)
    column = {one: table.raw(table.position(one)) for one in (response.name, weight, offset) if one is not None}
    weights = None if weight is None else learn_weight(weight, column[weight], table.rows)
    added = None if offset is None else learn_offset(offset, column[offset], table.rows)
    kept = np.arange(table.rows) if weights is None else np.flatnonzero(weights)
    y = plain_array(response.name, column[response.name])[kept]
    if not len(y):
        raise InputError("0 rows; models are compared on one row or more")
    y = _numbers(response.name, y) if response.classes is None else _positions(response.name, y, response.classes)
    encoded = schema.encode(data)[kept]
    of_rows = None if weights is None or (weights[kept] == 1).all() else weights[kept]
    design: AnyDesign
    if isinstance(schema, LinearSchema):
        design = LinearDesign(schema, np.asfortranarray(encoded), y, of_rows)
    else:
        bins = tuple(
            np.ascontiguousarray(encoded[:, place]).astype(np.uint8 if one.n_bins <= 256 else np.uint16)
            for place, one in enumerate(schema.columns)
        )
        design = Design(schema, bins, y, of_rows, None if added is None else np.ascontiguousarray(added[kept]))
    posterior.model.require(design)
    return design


def _numbers(name: str, y: np.ndarray) -> np.ndarray:
    found = array_values(name, y)
    if found.kind == "categorical" or found.missing.any():
        learn_response(name, y, "regression")  # which says what is wrong
    return found.values


def _positions(name: str, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    labels, positions = array_values(name, y).distinct_labels
    known = {label_of(label): place for place, label in enumerate(classes.tolist())}
    foreign = [label for label in labels if label not in known]
    if foreign or (positions < 0).any():
        wrong = f"{foreign[0]!r} is none of the classes of the fit, {', '.join(known)}" if foreign else "it has gaps"
        raise InputError(f"column {name!r}: {wrong}; correct it, or leave these rows out")
    return np.array([known[label] for label in labels], np.int32)[positions]


def _require_same_data(posteriors: Mapping[str, BasePosterior]) -> None:
    fingerprints = {one.settings.data for one in posteriors.values()}
    if len(fingerprints) > 1:
        raise InputError(
            f"{listed(list(posteriors))} were fitted to different tables, or took them in different ways: give data, "
            "rows with the response on which to compare them"
        )


def _require_same_weights(posteriors: Mapping[str, BasePosterior], designs: Mapping[str, AnyDesign]) -> None:
    """Refuse scores of different things: of a row that stands for several, and of one that is their mean."""
    if all(design.weight is None for design in designs.values()):
        return
    means = [name for name, one in posteriors.items() if one.prediction.weighs_noise]
    copies = [name for name in posteriors if name not in means]
    if means and copies:
        raise InputError(
            f"a row of weight w is the mean of w rows to {listed(means)}, and w equal rows to {listed(copies)}: their "
            "scores cannot be compared; leave weight out, and give rows that none has seen"
        )


def _pointwise(
    posterior: BasePosterior, design: AnyDesign
) -> tuple[str, np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """How the score of each row came about, the scores, the effective numbers of parameters, and Pareto's k."""
    seen = design.fingerprint() == posterior.settings.data
    draws = posterior.chains * posterior.draws
    if seen and draws < FEWEST_DRAWS:
        return "unknown", None, None, None
    given, bins = posterior.given_by(design), posterior.bins_of(design)
    scores, parameters, tails = (np.empty(design.rows) for _ in range(3))
    for some in row_blocks(design.rows, 3 * draws):
        beside = {name: None if values is None else values[some] for name, values in given.items()}
        weight = None if design.weight is None else design.weight[some]
        found = posterior.prediction.log_density(bins[some], design.y[some], weight, **beside)
        if seen:
            scores[some], tails[some], parameters[some] = _left_out(found, posterior.log_likelihood)
        else:
            scores[some] = _log_mean(found.reshape(draws, -1))
    return ("left out", scores, parameters, tails) if seen else ("new", scores, None, None)


def _left_out(found: np.ndarray, log_likelihood: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """PSIS-LOO of each row: its score, Pareto's k, and its effective number of parameters."""
    from arviz_stats.base import array_stats

    share = min(1.0, sum(map(effective_size, log_likelihood)) / log_likelihood.size)
    each = [array_stats.loo(row, chain_axis=0, draw_axis=1, r_eff=share) for row in np.moveaxis(found, 2, 0)]
    scores, tails, parameters = np.array(each, dtype=float).T
    return scores, tails, parameters


def _log_mean(found: np.ndarray) -> np.ndarray:
    """The logarithm of the mean density over the draws."""
    most = found.max(axis=0)
    mean: np.ndarray = most + np.log(np.exp(found - most).mean(axis=0))
    return mean


def _score(
    name: str,
    posterior: BasePosterior,
    how: str,
    scores: np.ndarray | None = None,
    parameters: np.ndarray | None = None,
    tails: np.ndarray | None = None,
    best: np.ndarray | None = None,
) -> Score:
    evidence = posterior.known_evidence
    known: dict[str, Any] = (
        {} if evidence is None else {"log_evidence": evidence.value, "log_evidence_error": evidence.error}
    )
    found: dict[str, Any] = {}
    if scores is not None and best is not None:
        behind = best - scores
        found = {
            "score": float(scores.sum()),
            "error": _error(scores),
            "behind": float(behind.sum()),
            "behind_error": _error(behind),
            "parameters": None if parameters is None else float(parameters.sum()),
            "as_many": how == "new" and len(scores) == posterior.settings.rows,
            "unreliable": 0 if tails is None else int((tails > LARGEST_K).sum()),
        }
    return Score(name, posterior.model.family, how, **found, **known)


def _error(values: np.ndarray) -> float:
    return float(np.sqrt(len(values) * values.var()))


def _agreements(posteriors: Mapping[str, BasePosterior], designs: Mapping[str, AnyDesign]) -> list[Agreement]:
    means = {
        name: one.prediction.predict(one.bins_of(designs[name]), "mean", **one.given_by(designs[name]))
        for name, one in posteriors.items()
    }
    y = next(iter(designs.values())).y
    found = []
    for first, second in combinations(posteriors, 2):
        a, b = means[first], means[second]
        if next(iter(posteriors.values())).schema.response.classes is None:
            sd = float(y.std()) or 1.0
            found.append(Agreement(first, second, float(np.sqrt(((a - b) ** 2).mean())) / sd))
        else:
            same = float((a.argmax(axis=1) == b.argmax(axis=1)).mean())
            found.append(Agreement(first, second, float(np.abs(a - b).max(axis=1).mean()), same))
    return found


def _shown(number: float | None) -> str:
    return "–" if number is None else f"{number:.1f}"
