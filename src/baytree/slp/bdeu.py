"""How well a Bayesian network explains a table: the BDeu score, the marginal likelihood of its structure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from ..errors import InputError
from ..validation import require_positive, unknown_choice

if TYPE_CHECKING:
    from . import Term


class BDeu:
    """The log marginal likelihood of networks of discrete variables, under a Dirichlet prior that favours none.

    A family is a variable and its parents. With N_jk the rows in which the parents are in their configuration j and
    the variable is in its state k, N_j = Σ_k N_jk, q configurations, r states, and α the equivalent sample size, a
    family scores

        Σ_j [ log Γ(α/q) - log Γ(α/q + N_j) + Σ_k ( log Γ(α/(qr) + N_jk) - log Γ(α/(qr)) ) ]

    and a network the sum over its families. Networks that state the same independences score the same
    (Heckerman, Geiger and Chickering 1995, "BDe", with the uniform prior of Buntine 1991).

    Each family is counted once and remembered: a step of a chain changes few.

    Parameters
    ----------
    columns : mapping of str to array
        The variables and their values, of any type that can be sorted. The states of a variable are the values that
        occur.
    sample_size : float
        α, as how many rows the prior counts. A larger one tends to keep more arrows.

    Examples
    --------
    >>> from baytree.slp.bdeu import BDeu
    >>> score = BDeu({"rain": [0, 0, 1, 1], "wet": ["no", "no", "yes", "yes"]})
    >>> score.family("wet", ["rain"]) > score.family("wet", [])
    True
    """

    def __init__(self, columns: Mapping[str, ArrayLike], *, sample_size: float = 1.0) -> None:
        require_positive("sample_size", sample_size)
        self.sample_size = float(sample_size)
        self._codes: dict[str, np.ndarray] = {}
        self._states: dict[str, int] = {}
        self._scores: dict[tuple[str, frozenset[str]], float] = {}
        for name, column in columns.items():
            self._codes[name], self._states[name] = _encoded(name, np.asarray(column))
        rows = {name: len(codes) for name, codes in self._codes.items()}
        if len(set(rows.values())) != 1:
            raise InputError(f"the columns must be as long as each other, and at least one is needed; rows: {rows}")

    def __call__(self, network: Iterable[Term]) -> float:
        """The score of a network as network.slp writes it, ``[child-[parent, …], …]``."""
        return sum(self.family(*member.args) for member in network)

    def family(self, child: str, parents: Iterable[str]) -> float:
        """The score of one variable, given its parents in any order."""
        key = child, frozenset(parents)
        if key not in self._scores:
            self._scores[key] = self._log_marginal(child, sorted(key[1]))
        return self._scores[key]

    def _log_marginal(self, child: str, parents: list[str]) -> float:
        for name in (child, *parents):
            if name not in self._codes:
                raise unknown_choice("column", name, self._codes)
        # Configurations that do not occur add nothing, so only the others are numbered, parent by parent: there may be
        # more of them in theory than an integer holds.
        configuration = np.zeros_like(self._codes[child])
        configurations = 1.0
        for parent in parents:
            _, configuration = np.unique(
                configuration * self._states[parent] + self._codes[parent], return_inverse=True
            )
            configurations *= self._states[parent]
        states = self._states[child]
        counts = np.bincount(configuration * states + self._codes[child], minlength=states * (configuration.max() + 1))
        counts = counts.reshape(-1, states)
        prior = self.sample_size / configurations
        rows = gammaln(prior) - gammaln(prior + counts.sum(axis=1))
        cells = gammaln(prior / states + counts) - gammaln(prior / states)
        return float(rows.sum() + cells.sum())


def _encoded(name: str, values: np.ndarray) -> tuple[np.ndarray, int]:
    """The states of a column as 0, 1, …, and how many there are."""
    if values.ndim != 1 or not len(values):
        raise InputError(
            f"column {name!r} must be one value per row, with at least one row; its shape is {values.shape}"
        )
    # NaN is the value that differs from itself.
    if np.any(values != values) or (values.dtype == object and any(value is None for value in values)):
        raise InputError(f"column {name!r} has missing values; leave these rows out or give them a state of their own")
    states, codes = np.unique(values, return_inverse=True)
    return codes, len(states)
