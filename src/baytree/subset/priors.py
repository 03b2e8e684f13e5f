"""Priors of subset selection: which models are likely, and how large their coefficients are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np

from ..errors import InputError
from ..validation import is_number, require_positive, unknown_choice


class Prior:
    """What all priors of subset selection are: a few numbers, known by a kind."""

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """The prior as JSON-safe values."""
        return {"kind": self.kind} | self._parameters()

    def describe(self) -> str:
        """The prior in a word with its parameters, as in ``beta-binomial=1,1``."""
        return f"{self.kind.replace('_', '-')}={','.join(map(_written, self._parameters().values()))}"

    def _parameters(self) -> dict[str, Any]:
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]


class ModelPrior(Prior):
    """A prior over models: ``log p(γ) = log_sizes[u] + Σ_{j in γ} log_odds[j]`` up to a constant.

    Here u is the number of units in γ that were free to leave. Units that are always included count nowhere.
    """

    def log_sizes(self, units: int) -> np.ndarray:
        """What a model owes to its size.

        Parameters
        ----------
        units : int
            How many units are free.

        Returns
        -------
        numpy.ndarray
            ``float64``, one for each size from 0 to `units`; −∞ where a size is impossible.
        """
        return np.zeros(units + 1)

    def log_odds(self, names: Sequence[str]) -> np.ndarray:
        """What a model owes to each unit in it.

        Parameters
        ----------
        names : sequence of str
            The names of the units that are free.

        Returns
        -------
        numpy.ndarray
            ``float64``, one for each unit.
        """
        return np.zeros(len(names))


@dataclass(frozen=True)
class Independent(ModelPrior):
    """Each unit is in the model or not, independently of the others.

    ``p(γ) = Π_{j in γ} w_j Π_{j not in γ} (1 − w_j)`` [1]_. With a single w the size of a model is binomial: w = 0.5
    makes all models equally likely, and models of about half the units by far the most common size.

    Parameters
    ----------
    w : float or mapping of str to float
        The probability of every unit, or of the named ones; 0.5 of the others.

    References
    ----------
    .. [1] Chipman, George and McCulloch (2001), The practical implementation of Bayesian model selection, IMS Lecture
       Notes 38, 65–134.
    """

    kind = "independent"
    w: float | Mapping[str, float] = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.w, Mapping):
            _require_share("w", self.w)
            return
        for name, share in self.w.items():
            _require_share(f"w[{name!r}]", share)
        object.__setattr__(self, "w", dict(self.w))

    def log_odds(self, names: Sequence[str]) -> np.ndarray:
        """The log odds of each unit, log(w / (1 − w))."""
        if not isinstance(self.w, Mapping):
            return np.full(len(names), _logit(self.w))
        for name in self.w:
            if name not in names:
                raise unknown_choice("free unit", name, names)
        return np.array([_logit(self.w.get(name, 0.5)) for name in names])


@dataclass(frozen=True)
class BetaBinomial(ModelPrior):
    """Independent units whose common probability w ~ Beta(a, b) is not known.

    With u of U units in γ, ``p(γ) = B(a + u, b + U − u) / B(a, b)``. The default, w uniform, makes all *sizes* equally
    likely; it pays for the number of models of a size, so that more columns of no use do not let more of them in [1]_.

    Parameters
    ----------
    a, b : float
        The parameters of the beta distribution. The expected size is U a / (a + b).

    References
    ----------
    .. [1] Scott and Berger (2010), Bayes and empirical-Bayes multiplicity adjustment in the variable-selection problem,
       Annals of Statistics 38, 2587–2619. See also Cui and George (2008), Empirical Bayes vs. fully Bayes variable
       selection, Journal of Statistical Planning and Inference 138, 888–900.
    """

    kind = "beta_binomial"
    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        require_positive("a", self.a, LARGEST_BETA)
        require_positive("b", self.b, LARGEST_BETA)

    def log_sizes(self, units: int) -> np.ndarray:
        """log B(a + u, b + U − u) − log B(a, b) of each size u."""
        from scipy.special import betaln

        size = np.arange(units + 1)
        return betaln(self.a + size, self.b + units - size) - betaln(self.a, self.b)


@dataclass(frozen=True)
class SizePrior(ModelPrior):
    """Any distribution of sizes; models of one size are equally likely.

    With u of U units in γ, ``p(γ) = h(u) / C(U, u)`` [1]_.

    Parameters
    ----------
    h : sequence of float
        How likely sizes 0, 1, 2, … are, relative to each other. Sizes beyond the last one are impossible, and those
        beyond the number of free units are left out.

    References
    ----------
    .. [1] Chipman, George and McCulloch (2001), The practical implementation of Bayesian model selection, IMS Lecture
       Notes 38, 65–134.
    """

    kind = "sizes"
    h: Sequence[float] | np.ndarray

    def __post_init__(self) -> None:
        given = self.h.tolist() if isinstance(self.h, np.ndarray) else self.h
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise InputError(f"h={self.h!r}: give the probabilities of sizes 0, 1, 2, …, such as [0.5, 0.3, 0.2]")
        for size, share in enumerate(given):
            if not is_number(share) or not 0 <= share < inf:
                raise InputError(f"h[{size}]={share!r}: a probability cannot be negative or infinite; correct it")
        object.__setattr__(self, "h", tuple(float(share) for share in given))
        if not any(self.h):
            raise InputError(f"h={list(self.h)!r}: no size has a positive probability; give at least one")

    def log_sizes(self, units: int) -> np.ndarray:
        """log h(u) − log C(U, u) of each size u, h scaled to sum to 1 over the sizes that there are."""
        from scipy.special import gammaln

        size = np.arange(units + 1)
        shares = np.zeros(units + 1)
        possible = self.h[: units + 1]
        shares[: len(possible)] = possible
        if not shares.any():
            raise InputError(f"h={list(self.h)!r} says more than {units} units, but only so many are free; lower it")
        # The largest first, so that the sum stays in range.
        shares /= shares.max()
        with np.errstate(divide="ignore"):
            log_share = np.log(shares) - np.log(shares.sum())
        return log_share - (gammaln(units + 1) - gammaln(size + 1) - gammaln(units - size + 1))


@dataclass(frozen=True)
class ExpectedSize(ModelPrior):
    """Independent units, k of them expected in the model: ``Independent(k / U)`` for U free units.

    Parameters
    ----------
    k : float
        The expected size, more than 0 and less than the number of free units.
    """

    kind = "expected_size"
    k: float

    def __post_init__(self) -> None:
        require_positive("k", self.k)

    def log_odds(self, names: Sequence[str]) -> np.ndarray:
        """The log odds of each unit, log(k / (U − k))."""
        if names and self.k >= len(names):
            raise InputError(
                f"an expected size of {self.k:g} with {len(names)} free units; choose less than {len(names)}"
            )
        return Independent(self.k / len(names)).log_odds(names) if names else np.zeros(0)

    def describe(self) -> str:
        """The prior in words."""
        return f"expected size {_written(float(self.k))}"


class ParameterPrior(Prior):
    """A prior of the coefficients of a model, β_γ | σ² ~ N(0, σ² Σ_γ), for columns that are centred and scaled."""

    def native(self, rows: int) -> tuple[str, float]:
        """The kind and the parameter of the core's `Evidence`, for so many rows."""
        raise NotImplementedError


@dataclass(frozen=True)
class GPrior(ParameterPrior):
    """Zellner's g-prior: ``Σ_γ = c (X_γ'X_γ)⁻¹``, a prior with the shape of the likelihood [1]_.

    With q columns, R the share of Y₀ = νλ + y'y that they explain, and E = (N + ν) / 2, the log Bayes factor against
    the empty model is ``−(q/2) log(1 + c) − E log(1 − c R / (1 + c))`` [2]_.

    Parameters
    ----------
    c : float, "unit" or "eb"
        How many times wider than the likelihood the prior is. ``"unit"`` is the number of rows: the prior knows as much
        as one of them. ``"eb"`` takes for each model the c that suits the data best (local empirical Bayes [3]_).

    References
    ----------
    .. [1] Zellner (1986), On assessing prior distributions and Bayesian regression analysis with g-prior distributions,
       in Bayesian Inference and Decision Techniques, 233–243.
    .. [2] Chipman, George and McCulloch (2001), The practical implementation of Bayesian model selection, IMS Lecture
       Notes 38, 65–134.
    .. [3] Liang, Paulo, Molina, Clyde and Berger (2008), Mixtures of g priors for Bayesian variable selection, JASA
       103, 410–423.
    """

    kind = "g"
    c: float | Literal["unit", "eb"] = "unit"

    def __post_init__(self) -> None:
        if isinstance(self.c, str):
            if self.c not in ("unit", "eb"):
                raise unknown_choice("c", self.c, ("unit", "eb", "a positive number"))
            return
        require_positive("c", self.c)

    def native(self, rows: int) -> tuple[str, float]:
        """``fixed`` with c, or ``empirical``."""
        if self.c == "eb":
            return "empirical", 0.0
        return "fixed", float(rows if self.c == "unit" else self.c)


@dataclass(frozen=True)
class HyperG(ParameterPrior):
    """A g-prior whose g is not known: ``p(g) = (a − 2)/2 (1 + g)^(−a/2)``.

    Then the shrinkage g / (1 + g) ~ Beta(1, a/2 − 1) [1]_. The log Bayes factor against the empty model is
    ``log ∫ (1 + g)^(E − q/2) (1 + g (1 − R))^(−E) p(g) dg`` in the notation of `GPrior`. Cui and George [2]_ use the
    family where σ is known, with a = 4.

    Parameters
    ----------
    a : float
        More than 2. The smaller, the larger g; with 4 the shrinkage is uniform, and beyond that small g are favoured.

    References
    ----------
    .. [1] Liang, Paulo, Molina, Clyde and Berger (2008), Mixtures of g priors for Bayesian variable selection, JASA
       103, 410–423.
    .. [2] Cui and George (2008), Empirical Bayes vs. fully Bayes variable selection, Journal of Statistical Planning
       and Inference 138, 888–900.
    """

    kind = "hyper_g"
    a: float = 3.0

    def __post_init__(self) -> None:
        _require_tail(self.a)

    def native(self, rows: int) -> tuple[str, float]:
        """``hyper_g`` with a."""
        return "hyper_g", float(self.a)


@dataclass(frozen=True)
class HyperGN(ParameterPrior):
    """A g-prior whose g is not known, but of the order of the number of rows: ``p(g) = (a − 2)/(2n) (1 + g/n)^(−a/2)``.

    Unlike under `HyperG`, the probability of the true model goes to 1 with growing n also where that is the empty
    model [1]_.

    Parameters
    ----------
    a : float
        More than 2, usually at most 4.

    References
    ----------
    .. [1] Liang, Paulo, Molina, Clyde and Berger (2008), Mixtures of g priors for Bayesian variable selection, JASA
       103, 410–423.
    """

    kind = "hyper_gn"
    a: float = 3.0

    def __post_init__(self) -> None:
        _require_tail(self.a)

    def native(self, rows: int) -> tuple[str, float]:
        """``hyper_gn`` with a."""
        return "hyper_gn", float(self.a)


@dataclass(frozen=True)
class Ridge(ParameterPrior):
    """Independent coefficients of the scaled columns: ``Σ_γ = c I`` [1]_.

    Columns are scaled to a mean square of 1, so that c does not depend on their units; and models whose columns depend
    on each other, or outnumber the rows, have their probabilities too. The log Bayes factor against the empty model is
    ``−½ log|I + c X_γ'X_γ| − E log(1 − R)``, where R is the share of Y₀ that the ridge regression explains.

    Parameters
    ----------
    c : float
        The variance of a coefficient in units of σ².

    References
    ----------
    .. [1] Chipman, George and McCulloch (2001), The practical implementation of Bayesian model selection, IMS Lecture
       Notes 38, 65–134.
    """

    kind = "ridge"
    c: float = 1.0

    def __post_init__(self) -> None:
        require_positive("c", self.c)

    def native(self, rows: int) -> tuple[str, float]:
        """``ridge`` with c."""
        return "ridge", float(self.c)


# The largest a of a hyper-g prior: past it nothing but the empty model is left.
STEEPEST_TAIL = 1000.0
# Of a Beta distribution, so that its logarithms keep their digits.
LARGEST_BETA = 1e8
MODEL_PRIORS = (Independent, BetaBinomial, SizePrior, ExpectedSize)
PARAMETER_PRIORS = (GPrior, HyperG, HyperGN, Ridge)


def model_prior_of(value: Any) -> ModelPrior:
    """A prior over models, from a prior or from the expected size that a number means."""
    if isinstance(value, ModelPrior):
        return value
    if is_number(value):
        return ExpectedSize(value)
    names = ", ".join(prior.__name__ for prior in MODEL_PRIORS)
    raise InputError(f"model_prior={value!r}: give an expected size, or one of: {names}")


def prior_from_dict(record: Mapping[str, Any]) -> Any:
    """The prior, of models or of parameters, that `to_dict` described."""
    kinds = {prior.kind: prior for prior in (*MODEL_PRIORS, *PARAMETER_PRIORS)}
    return kinds[record["kind"]](**{name: value for name, value in record.items() if name != "kind"})


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): float(share) for name, share in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, str) else float(value)


def _written(value: Any) -> str:
    """A parameter to the last digit."""
    if isinstance(value, list):
        return ",".join(map(_written, value))
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{_written(share)}" for name, share in value.items())
    return str(value).removesuffix(".0")


def _logit(share: float) -> float:
    return float(np.log(share) - np.log1p(-share))


def _require_share(name: str, value: Any) -> None:
    if not is_number(value) or not 0 < value < 1:
        raise InputError(
            f"{name}={value!r}: choose a probability between 0 and 1; a column that is certain is always included, or "
            "dropped from the table"
        )


def _require_tail(a: Any) -> None:
    if not is_number(a) or not 2 < a <= STEEPEST_TAIL:
        raise InputError(
            f"a={a!r}: choose more than 2, else p(g) is no distribution, and {STEEPEST_TAIL:g} or less; usually 3 or 4"
        )
