"""The published experiments, one module each, run again: ``baytree reproduce NAME``.

A study's module has the study's name, with ``_`` for ``-``, and a function ``run(*, quick, seed, tell)`` that gives an
`Outcome`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..plots.figures import Figure
from ..validation import unknown_choice

# What each study asks; said here so that listing them imports none.
STUDIES = {
    "boxes": "Does knowing where the classes do not change help? Angelopoulos and Cussens 2005, section 5.4.",
    "kyphosis": "Do three seeds give trees the same probabilities? Cussens' slides, the kyphosis data.",
    "trajectories": "How do the chains move? Angelopoulos and Cussens 2005, figures 6 to 8.",
    "agreement": "Do two seeds predict alike? Angelopoulos and Cussens 2005, figure 5, and Cussens' slides.",
    "holdout": "Does tempering make the accuracy stable? Cussens' slides, the table of five data sets.",
    "best-trees": "How good are the best trees visited? Angelopoulos and Cussens 2005, sections 5.1 and 5.4.",
    "friedman": "Which columns and pairs does a sum of trees use? Chipman, George and McCulloch 2012, figure 1.",
    "boston": "Which pairs interact in the Boston housing data? Chipman, George and McCulloch 2012, figures 2 and 3.",
    "arm": "How well do soft trees learn the dynamics of a robot arm? Jordan's slides, the table of batch algorithms.",
    "hme-classification": "How well do soft trees classify? Jordan's slides, the table of three tasks.",
    "convergence": "How fast does EM converge? Jordan's slides, the theorem of Jordan and Xu 1994.",
    "learning-curve": "How many examples does a hard split need? Jordan's slides, the results of Saul and Jordan 1995.",
    "certified": "What are the exact answers, and how far off are samplers? MAPTree's tables, Sullivan et al. 2024.",
}


@dataclass(frozen=True)
class Number:
    """A number in a table.

    Attributes
    ----------
    value : float or None
        None where there is none, as where the paper says nothing.
    error : float or None
        Its standard error, or a standard deviation where the column says so.
    places : int
        Decimal places to show.
    """

    value: float | None
    error: float | None = None
    places: int = 1

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        error = "" if self.error is None else f" ± {self.error:,.{self.places}f}"
        return f"{self.value:,.{self.places}f}{error}"


@dataclass(frozen=True)
class Table:
    """Published figures and ours, side by side.

    Attributes
    ----------
    columns : tuple of str
        Their titles; the first column names the rows.
    rows : tuple of tuple
        A cell for each column, words or a `Number`.
    title : str
        What it shows; empty where a study has one table.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | Number, ...], ...]
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a study found, beside what was published.

    Attributes
    ----------
    setup : str
        What was run.
    tables : tuple of Table
        The published figures and ours.
    findings : tuple of str
        What they say, in sentences.
    agrees : bool
        Whether the published claim holds here.
    runs : tuple of mapping
        The single runs behind the figures, each with the same keys.
    figures : tuple of Figure
        What can be drawn.
    """

    setup: str
    tables: tuple[Table, ...]
    findings: tuple[str, ...]
    agrees: bool
    runs: tuple[Mapping[str, Any], ...]
    figures: tuple[Figure, ...] = ()


def run(
    name: str,
    *,
    quick: bool = False,
    seed: int = 0,
    tell: Callable[[str], object] = lambda line: None,
    **more: Any,
) -> Outcome:
    """Run a study.

    Parameters
    ----------
    name : str
        One of `STUDIES`.
    quick : bool
        Whether to do only as much as shows that it runs: a few seconds, and figures too noisy to compare.
    seed : int
        Of everything random in it; the same seed gives the same outcome.
    tell : callable
        Gets a line now and then on how far the study is.
    **more
        What a study takes besides: ``certified`` has ``cp4im``, a folder with tables that are not bundled.

    Returns
    -------
    Outcome
    """
    if name not in STUDIES:
        raise unknown_choice("study", name, tuple(STUDIES))
    study = import_module(f".{name.replace('-', '_')}", __name__)
    return study.run(quick=quick, seed=seed, tell=tell, **more)
