"""What a report says of columns: importance beside what chance gives, dependence, interactions, SHAP values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..report import charts
from ..report.markup import Markup
from ..report.parts import figure, interval_text, side_by_side, table
from .dependence import Dependence
from .importance import Interactions, Shares
from .shap import Shap

# The most columns, pairs and rows that are drawn.
SHOWN, PAIRS, SWARM = 12, 10, 60
# The most columns that the JSON has, and rows that a table behind a picture is made from.
KEPT, LISTED = 500, 60


def shares_part(shares: Shares, caption: str, most: int = SHOWN, intervals: bool = True) -> Markup:
    """Shares as dots with their intervals, the largest first, beside what each may be by chance where that is known.

    The share of one tree is 0 or 1, so that an interval of its draws says nothing and is left out.
    """
    # Of many columns there are very many pairs, whose names are made when they are asked for.
    every, ranked = shares.names, shares.order[:LISTED]
    order = ranked[:most]
    names = [every[place] for place in order]
    limit = None if shares.threshold is None else shares.threshold[order]
    picture = charts.dots(
        shares.title,
        names,
        shares.mean[order],
        shares.interval[order] if intervals else None,
        shares.label if intervals else "probability",
        threshold=limit,
    )
    band = [f"{shares.prob:.0%} interval"] if intervals else []
    head = ["", shares.label if intervals else "probability", *band, *([] if limit is None else ["by chance up to"])]
    rows = [
        [every[at], float(shares.mean[at]), *([interval_text(shares.interval[at])] if intervals else [])]
        + ([] if shares.threshold is None else [float(shares.threshold[at])])
        for at in ranked
    ]
    largest = f"; the {LISTED} largest of {len(every):,}" if len(every) > LISTED else ""
    return figure(picture, caption, table(f"{shares.title}{largest}", head, rows))


def interactions_part(pairs: Interactions, caption: str, intervals: bool = True) -> Markup:
    """The pairs of columns that meet most often."""
    return shares_part(pairs, caption, PAIRS, intervals)


def dependence_parts(curves: Iterable[Dependence]) -> Markup:
    """A picture for each column: the average response as it changes, with its band where there are several draws."""
    drawn = []
    for one in curves:
        name, label = one.grid.column, f"average {one.response}"
        picture = charts.band(
            f"How {one.response} depends on {name}",
            one.grid.values,
            one.mean,
            one.interval,
            (name, label),
            one.grid.observed,
        )
        rows = [
            (value, float(mean), interval_text(ends))
            for value, mean, ends in zip(one.grid.values, one.mean, one.interval, strict=True)
        ]
        numbers = table(f"{label} by {name}", (name, "mean", f"{one.prob:.0%} interval"), rows)
        marks = "; marks below: where the rows lie" if len(one.grid.observed) else ""
        band = f"mean and {one.prob:.0%} band" if np.ptp(one.interval, axis=1).any() else "mean"
        drawn.append(figure(picture, f"{name}: {band}, all else as it is{marks}.", numbers))
    return side_by_side(*drawn)


def shap_parts(found: Shap) -> Markup:
    """How much each column moves predictions, on average and row by row."""
    order = found.order[:SHOWN]
    names = [found.columns[place] for place in order]
    size = charts.dots(
        f"Average size of the SHAP values of {found.response}",
        names,
        found.size[order],
        found.size_interval[order],
        f"average |SHAP value| of {found.response}",
    )
    rows = [(found.columns[at], float(found.size[at]), interval_text(found.size_interval[at])) for at in found.order]
    some = np.linspace(0, len(found.mean) - 1, min(SWARM, len(found.mean))).astype(int)
    each = charts.swarm(
        f"SHAP values of {found.response}, row by row",
        names,
        found.mean[some][:, order],
        found.levels[some][:, order],
        f"SHAP value of {found.response}",
    )
    return side_by_side(
        figure(
            size,
            f"How much each column moves the prediction of a row, on average over {len(found.mean):,} rows.",
            table("Average |SHAP value|", ("column", "mean", f"{found.prob:.0%} interval"), rows),
        ),
        figure(
            each, "A point for each row: to the right, the column raises its prediction; to the left, it lowers it."
        ),
    )


def shortened(record: dict[str, Any]) -> dict[str, Any]:
    """A record whose entries by column are the first `KEPT` of them."""
    kept = list(record.items())[:KEPT]
    return {name: shortened(value) if isinstance(value, dict) else value for name, value in kept}


def columns_record(
    importance: dict[str, Any] | None = None,
    dependence: Sequence[Dependence] = (),
    interactions: Interactions | None = None,
    shap: Shap | None = None,
) -> dict[str, Any]:
    """The same as JSON-safe values, of many pairs the largest."""
    found: dict[str, Any] = {} if importance is None else {"importance": shortened(importance)}
    if dependence:
        found["dependence"] = [one.to_dict() for one in dependence]
    if interactions is not None:
        names, kept = interactions.names, interactions.order[: 10 * PAIRS]
        found["interactions"] = {
            "prob": interactions.prob,
            "shares": {
                names[at]: {"mean": float(interactions.mean[at]), "interval": interactions.interval[at].tolist()}
                for at in kept
            },
        }
    if shap is not None:
        found["shap"] = {
            "response": shap.response,
            "base": shap.base,
            "size": {shap.columns[at]: float(shap.size[at]) for at in shap.order[:KEPT]},
            "size_interval": {shap.columns[at]: shap.size_interval[at].tolist() for at in shap.order[:KEPT]},
        }
    return found
