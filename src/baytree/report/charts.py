"""Pictures of plain numbers: dots with intervals, bands, histograms, scatters, traces, ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .drawing import HEIGHT, LONGEST, SIGN, WIDTH, Canvas, box, dot, label, legend, line, path, reach
from .markup import Markup
from .parts import number

# Chains beyond these are drawn in the colours of the first ones.
SERIES = 6
# The most points of all lines of a picture, and of a cloud, that are drawn.
POINTS, CLOUD = 900, 300
# Numbers of a histogram, and of a rank plot.
BINS = 20
# The most signs of all labels side by side below a picture.
LABELS = 58
# The most signs of a name beside a row of its own, such as that of a pair of columns.
PAIR = 2 * LONGEST


def _margin(names: Sequence[str], longest: int = LONGEST) -> float:
    return 18 + 1.15 * SIGN * min(max((len(name) for name in names), default=0), longest)


def dots(
    title: str,
    names: Sequence[str],
    mean: Any,
    interval: Any,
    axis: str,
    *,
    threshold: Any = None,
    grey: str = "by chance up to",
    zero: bool = True,
) -> Markup:
    """A dot with its interval for each name, from the top, beside a grey bar up to what it is held against.

    Parameters
    ----------
    title : str
        What it shows.
    names : sequence of str
        What each is called.
    mean, interval : array-like
        The dots, and the ends of their intervals, None where there are none.
    axis : str
        What the numbers are.
    threshold : array-like, optional
        What each is held against.
    grey : str
        What that is, in words that go on with a number.
    zero : bool
        Whether the axis begins at 0.
    """
    mean = np.asarray(mean, dtype=float)
    ends = np.stack([mean, mean], axis=1) if interval is None else np.asarray(interval, dtype=float)
    limits = np.zeros(0) if threshold is None else np.asarray(threshold, dtype=float)
    shown = [mean, ends.ravel(), limits, [0.0] if zero else []]
    low, high = reach(np.concatenate([np.ravel(one) for one in shown]))
    low = 0.0 if zero and low > -0.05 * (high - low) else low
    height, left = 46 + 20 * len(names), _margin(names, PAIR)
    width = WIDTH + left - min(left, _margin(names))
    canvas = Canvas(title, (low, high), (0, max(len(names), 1)), left=left, height=height, right=16, top=6, width=width)
    canvas.x_axis(axis, grid=True)
    for place, name in enumerate(names):
        y = canvas.y(len(names) - place - 0.5)
        said = f"{name}: {number(mean[place])}"
        if interval is not None:
            said += f", {number(ends[place, 0])} to {number(ends[place, 1])}"
        if threshold is not None:
            canvas.add(box(canvas.x(low), y - 7, canvas.x(limits[place]) - canvas.x(low), 14, "chance"))
            said += f"; {grey} {number(limits[place])}"
        canvas.add(line(canvas.x(ends[place, 0]), y, canvas.x(ends[place, 1]), y, "interval"))
        canvas.add(dot(canvas.x(mean[place]), y, "s0 mark", 4.0, said))
        canvas.add(label(name, canvas.left - 8, y + 4, "end", "name", longest=PAIR))
    return canvas.draw()


def columns(title: str, names: Sequence[str], shares: Mapping[str, Any], axis: str, name: str = "") -> Markup:
    """Bars side by side for each name, such as the prior's beside the posterior's.

    Parameters
    ----------
    title : str
        What it shows.
    names : sequence of str
        The places on the horizontal axis.
    shares : mapping of str to array-like
        The bars by what they are.
    axis, name : str
        What the numbers are, and what the names are.
    """
    values = [np.asarray(one, dtype=float) for one in shares.values()]
    high = max((float(one.max(initial=0)) for one in values), default=1.0) or 1.0
    canvas = Canvas(title, (0, max(len(names), 1)), (0, high * 1.05), top=28)
    canvas.y_axis(axis)
    width, kinds = 0.8 / len(values), _kinds(shares)
    for at, (what, heights) in enumerate(zip(shares, values, strict=True)):
        for place, share in enumerate(heights):
            x, y = canvas.x(place + 0.1 + at * width), canvas.y(share)
            wide = canvas.x(width) - canvas.x(0)
            said = f"{what}, {name} {names[place]}: {number(share, 3)}"
            canvas.add(box(x, y, wide - 0.6, canvas.bottom - y, kinds[what], said))
    every = max(1, -(-len(names) * max(3, max(map(len, names), default=1)) // 48))
    canvas.x_axis(name, [(place + 0.5, one) for place, one in enumerate(names) if place % every == 0])
    if len(shares) > 1:
        canvas.add(legend([(what, kinds[what]) for what in shares], canvas.left, 14))
    return canvas.draw()


def _kinds(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name; the prior's is grey."""
    own = [name for name in names if name != "prior"]
    return {"prior": "before"} | {name: f"s{at % SERIES} fill" for at, name in enumerate(own)}


def densities(title: str, draws: Mapping[str, Any], axis: str) -> Markup:
    """Histograms over one another, such as the prior's draws and the posterior's."""
    values = {what: np.asarray(one, dtype=float).ravel() for what, one in draws.items()}
    ends = np.concatenate([np.quantile(one, [0.005, 0.995]) for one in values.values()])
    low, high = reach(ends, 0.02)
    edges = np.linspace(low, high, 2 * BINS + 1)
    heights = {
        what: np.histogram(np.clip(one, low, high), edges)[0] / len(one) / (edges[1] - edges[0])
        for what, one in values.items()
    }
    top = max(float(one.max()) for one in heights.values()) or 1.0
    canvas = Canvas(title, (low, high), (0, 1.05), top=28, left=16)
    kinds = _kinds(draws)
    for what, height in heights.items():
        # Each as high as the picture: what is wide would else lie on the ground.
        scaled = height / (height.max() or top)
        stairs = [(canvas.x(edges[0]), canvas.bottom)]
        for place, share in enumerate(scaled):
            stairs += [(canvas.x(edges[place]), canvas.y(share)), (canvas.x(edges[place + 1]), canvas.y(share))]
        stairs.append((canvas.x(edges[-1]), canvas.bottom))
        canvas.add(path(stairs, f"{kinds[what]} soft", closed=True))
    canvas.x_axis(axis)
    return canvas.add(legend([(what, kinds[what]) for what in draws], canvas.left, 14)).draw()


def band(
    title: str, values: Sequence[Any], mean: Any, interval: Any, axes: tuple[str, str], observed: Any = ()
) -> Markup:
    """A line with its band, or of labels dots with intervals; below, where the rows lie."""
    mean, ends = np.asarray(mean, dtype=float), np.asarray(interval, dtype=float)
    y = reach(np.concatenate([ends.ravel(), mean]))
    if not values or isinstance(values[0], str):
        if sum(len(one) + 2 for one in values) > LABELS:  # below one another, each has room
            return dots(title, values, mean, ends, axes[1], zero=False)
        canvas = Canvas(title, (0, max(len(values), 1)), y)
        canvas.y_axis(axes[1])
        for place in range(len(values)):
            x = canvas.x(place + 0.5)
            canvas.add(line(x, canvas.y(ends[place, 0]), x, canvas.y(ends[place, 1]), "interval"))
            said = f"{values[place]}: {number(mean[place])}, {number(ends[place, 0])} to {number(ends[place, 1])}"
            canvas.add(dot(x, canvas.y(mean[place]), "s0 mark", 4.0, said))
        return canvas.x_axis(axes[0], [(place + 0.5, one) for place, one in enumerate(values)]).draw()
    at = np.asarray(values, dtype=float)
    canvas = Canvas(title, reach(at, 0.0), y)
    canvas.y_axis(axes[1])
    across = [canvas.x(one) for one in at]
    upper = zip(across, map(canvas.y, ends[:, 1]), strict=True)
    lower = zip(reversed(across), map(canvas.y, ends[::-1, 0]), strict=True)
    canvas.add(path([*upper, *lower], "s0 band", closed=True))
    canvas.add(path(zip(across, map(canvas.y, mean), strict=True), "s0 line"))
    for one in _spread_out(np.asarray(observed, dtype=float), 60):
        if at.min() <= one <= at.max():
            canvas.add(line(canvas.x(one), canvas.bottom - 5, canvas.x(one), canvas.bottom, "rug"))
    return canvas.x_axis(axes[0]).draw()


def _spread_out(values: np.ndarray, most: int) -> np.ndarray:
    values = np.unique(values[np.isfinite(values)])
    return values if len(values) <= most else np.quantile(values, np.linspace(0, 1, most), method="inverted_cdf")


def scatter(title: str, x: Any, y: Any, axes: tuple[str, str], *, bars: Any = None, diagonal: bool = False) -> Markup:
    """A cloud of points, with vertical intervals where there are any; of many points evenly spread ones."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    chosen = np.arange(len(x)) if len(x) <= CLOUD else np.linspace(0, len(x) - 1, CLOUD).astype(int)
    ends = None if bars is None else np.asarray(bars, dtype=float)[chosen]
    x, y = x[chosen], y[chosen]
    heights = y if ends is None else np.concatenate([y, np.quantile(ends, [0.02, 0.98])])
    across, up = reach(x), reach(np.concatenate([heights, x]) if diagonal else heights)
    across = up if diagonal else across
    canvas = Canvas(title, across, up, height=HEIGHT + 40)
    canvas.y_axis(axes[1]).x_axis(axes[0])
    if diagonal:
        canvas.add(line(canvas.x(up[0]), canvas.y(up[0]), canvas.x(up[1]), canvas.y(up[1]), "axis dashed"))
    else:
        level = min(max(0.0, up[0]), up[1])
        canvas.add(line(canvas.left, canvas.y(level), canvas.right, canvas.y(level), "axis dashed"))
    for place in range(len(x)):
        at = canvas.x(x[place])
        if ends is not None:
            low, high = np.clip(ends[place], *up)
            canvas.add(line(at, canvas.y(low), at, canvas.y(high), "whisker"))
        canvas.add(dot(at, canvas.y(y[place]), "s0 cloud", 2.4))
    return canvas.draw()


def swarm(title: str, names: Sequence[str], values: Any, levels: Any, axis: str) -> Markup:
    """A point for each row and name, coloured by how high the row's value is: SHAP values, say."""
    values, levels = np.asarray(values, dtype=float), np.asarray(levels, dtype=float)
    height = 66 + 24 * len(names)
    canvas = Canvas(title, reach(values), (0, max(len(names), 1)), left=_margin(names), height=height, top=26)
    canvas.x_axis(axis, grid=True)
    canvas.add(line(canvas.x(0), canvas.top, canvas.x(0), canvas.bottom, "axis"))
    for place, name in enumerate(names):
        middle = canvas.y(len(names) - place - 0.5)
        canvas.add(label(name, canvas.left - 8, middle + 4, "end", "name"))
        rank = np.argsort(np.argsort(values[:, place], kind="stable"), kind="stable")
        for row in range(len(values)):
            level = levels[row, place]
            kind = "unordered" if not np.isfinite(level) else f"level{min(int(level * 5), 4)}"
            # Neighbours lie above one another by turns, so that they can be told apart.
            canvas.add(dot(canvas.x(values[row, place]), middle + 3.2 * (rank[row] % 5 - 2), f"cloud {kind}", 2.2))
    keys = [("low value", "level0"), ("high value", "level4"), ("label or missing", "unordered")]
    return canvas.add(legend(keys, canvas.left - _margin(names) / 2, 14)).draw()


def histogram(title: str, shares: Any, axes: tuple[str, str], level: float | None = None, around: Any = None) -> Markup:
    """Bars over equal parts of 0 to 1, and what they should be, within the two limits that chance allows."""
    shares = np.asarray(shares, dtype=float)
    canvas = Canvas(title, (0, 1), (0, max(float(shares.max(initial=0)), level or 0.0) * 1.25 or 1.0))
    canvas.y_axis(axes[1])
    if around is not None:
        low, high = canvas.y(around[0]), canvas.y(around[1])
        canvas.add(box(canvas.left, high, canvas.right - canvas.left, low - high, "chance"))
    for place, share in enumerate(shares):
        x, y = canvas.x(place / len(shares)), canvas.y(share)
        wide = canvas.x((place + 1) / len(shares)) - x
        canvas.add(box(x + 0.5, y, wide - 1, canvas.bottom - y, "s0 fill", number(share, 3)))
    if level is not None:
        canvas.add(line(canvas.left, canvas.y(level), canvas.right, canvas.y(level), "axis dashed"))
    return canvas.x_axis(axes[0]).draw()


def reliability(title: str, said: Any, happened: Any, interval: Any, axes: tuple[str, str]) -> Markup:
    """Observed shares against predicted probabilities, with what chance allows; on the diagonal where they agree."""
    canvas = Canvas(title, (0, 1), (0, 1), height=HEIGHT + 40)
    canvas.y_axis(axes[1]).x_axis(axes[0])
    canvas.add(line(canvas.x(0), canvas.y(0), canvas.x(1), canvas.y(1), "axis dashed"))
    for p, share, (low, high) in zip(said, happened, interval, strict=True):
        canvas.add(line(canvas.x(p), canvas.y(low), canvas.x(p), canvas.y(high), "interval"))
        canvas.add(
            dot(canvas.x(p), canvas.y(share), "s0 mark", 4.0, f"said {number(p, 3)}, happened {number(share, 3)}")
        )
    return canvas.draw()


def traces(title: str, series: Any, axis: str) -> Markup:
    """A line for each chain, of evenly spaced draws."""
    values = np.asarray(series, dtype=float)
    chains, draws = values.shape
    chosen = np.unique(np.linspace(0, draws - 1, min(draws, POINTS // chains)).astype(int))
    canvas = Canvas(title, (0, max(draws - 1, 1)), reach(values), height=HEIGHT - 40)
    canvas.y_axis(axis)
    for chain in range(chains):
        points = [(canvas.x(at), canvas.y(values[chain, at])) for at in chosen]
        canvas.add(path(points, f"s{chain % SERIES} line thin"))
    return canvas.x_axis("draw").draw()


def rank_counts(series: Any, bins: int = BINS) -> np.ndarray:
    """Of each chain, how many of its draws have ranks in each of equal parts of those of all draws [1]_.

    References
    ----------
    .. [1] Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Rank-normalization, folding, and localization: an
       improved R-hat, Bayesian Analysis 16, 667–718.
    """
    values = np.asarray(series, dtype=float)
    # Equal draws share the middle of their ranks' places by turns of the chains, so that ties show no difference.
    order = np.argsort(values.T.ravel(), kind="stable")
    rank = np.empty(values.size)
    rank[order] = np.arange(values.size)
    of_chain = rank.reshape(values.T.shape).T
    return np.stack([np.histogram(ranks, bins, (0, values.size))[0] for ranks in of_chain])


def ranks(title: str, series: Any) -> Markup:
    """Rank plots: histograms of the ranks of each chain's draws among all, level where the chains agree."""
    values = np.asarray(series, dtype=float)
    chains, draws = values.shape
    bins = min(BINS, max(4, draws // 5))
    counts = rank_counts(values, bins)
    high = max(float(counts.max()), 1.0)
    canvas = Canvas(title, (0, bins), (0, float(chains)), height=24 + 44 * chains + 22, left=60, top=4)
    for chain in range(chains):
        base = chains - 1 - chain
        canvas.add(label(f"chain {chain + 1}", canvas.left - 6, canvas.y(base + 0.35), "end", "tick"))
        level = canvas.y(base + 0.9 * draws / bins / high)
        for place, count in enumerate(counts[chain]):
            y, wide = canvas.y(base + 0.9 * count / high), canvas.x(1) - canvas.x(0)
            canvas.add(
                box(canvas.x(place), y, wide - 1, canvas.y(base) - y, f"s{chain % SERIES} fill", number(int(count)))
            )
        canvas.add(line(canvas.left, level, canvas.right, level, "axis dashed"))
    return canvas.x_axis("rank among all draws", []).draw()


def lines(title: str, series: Mapping[str, Any], axes: tuple[str, str], places: Any = None) -> Markup:
    """A line for each name: the objective of a fit by epochs, say.

    Parameters
    ----------
    title : str
        What it shows.
    series : mapping of str to array-like
        The numbers in their order.
    axes : tuple of str
        What the places are, and what the numbers.
    places : array-like, optional
        Where they lie; by default they are counted from 0.
    """
    values = {name: np.asarray(one, dtype=float) for name, one in series.items()}
    longest = max((len(one) for one in values.values()), default=1)
    across = np.arange(longest, dtype=float) if places is None else np.asarray(places, dtype=float)
    canvas = Canvas(title, reach(across, 0.0), reach(np.concatenate(list(values.values()))), top=28)
    canvas.y_axis(axes[1])
    for at, one in enumerate(values.values()):
        points = [(canvas.x(x), canvas.y(y)) for x, y in zip(across, one, strict=False) if np.isfinite(y)]
        canvas.add(path(points, f"s{at % SERIES} line"))
    if len(values) > 1:
        canvas.add(legend([(name, f"s{at % SERIES} fill") for at, name in enumerate(values)], canvas.left, 14))
    return canvas.x_axis(axes[0]).draw()
