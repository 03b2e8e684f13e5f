"""The published experiments, one module each, run again: ``baytree reproduce NAME``.

A study's module has the study's name, with ``_`` for ``-``, and a function ``run(*, quick, seed, tell)`` that gives an
`Outcome`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..errors import unknown_choice

# What each study asks; said here so that listing them imports none.
STUDIES = {
    "boxes": "Does knowing where the classes do not change help? Angelopoulos and Cussens 2005, section 5.4.",
}


@dataclass(frozen=True)
class Line:
    """One figure, as published and as found here.

    Attributes
    ----------
    quantity : str
        What it is, with its unit.
    published : float or None
        What the paper says, where it does.
    here : float
        What this run found.
    error : float or None
        The standard error of `here`, where it is known.
    places : int
        Decimal places to show.
    """

    quantity: str
    published: float | None
    here: float
    error: float | None = None
    places: int = 1


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a study found, beside what was published.

    Attributes
    ----------
    setup : str
        What was run.
    lines : tuple of Line
        The published figures and ours.
    findings : tuple of str
        What they say, in sentences.
    agrees : bool
        Whether the published claim holds here.
    runs : tuple of mapping
        The single runs behind the figures, each with the same keys.
    """

    setup: str
    lines: tuple[Line, ...]
    findings: tuple[str, ...]
    agrees: bool
    runs: tuple[Mapping[str, Any], ...]


def run(name: str, *, quick: bool = False, seed: int = 0, tell: Callable[[str], object] = lambda line: None) -> Outcome:
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

    Returns
    -------
    Outcome
    """
    if name not in STUDIES:
        raise unknown_choice("study", name, tuple(STUDIES))
    study = import_module(f".{name.replace('-', '_')}", __name__)
    return study.run(quick=quick, seed=seed, tell=tell)
