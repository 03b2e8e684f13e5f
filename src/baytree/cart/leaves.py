"""Leaf models: conjugate distributions of the response within a leaf, their parameters integrated out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .. import _core
from ..data.design import Design
from ..data.response import Response
from ..errors import InputError
from ..posterior.prediction import log_normal, log_share, tails
from ..validation import is_number, require_positive
from .calibration import variance_prior

# Of rows within the bounds of a calibration it is far less; squares of what is less are numbers.
LARGEST_STATISTIC = 1e150

TreeChain = _core.CategoricalChain | _core.GaussianChain
ProgramChain = _core.CategoricalProgramChain | _core.GaussianProgramChain


class Leaf(ABC):
    """What a leaf model offers to models and posteriors: all that these know of it.

    To add one: a frozen dataclass with these members, its kind in `LEAVES`, and its chains in the unions above.

    Statistics are arrays of shape (leaves, columns). Where trees must be monotone, the chain has drawn a value for each
    leaf, the mean of the response or the probability of the second class, and all else is given that.
    """

    # Its chains in the core, over trees and over the proofs of a program.
    tree_chain: ClassVar[type[TreeChain]]
    program_chain: ClassVar[type[ProgramChain]]
    # Which of the statistics are never negative.
    not_negative: ClassVar[Any] = slice(None)

    @abstractmethod
    def resolve(self, design: Design, min_leaf: int) -> Leaf:
        """The same model with what was left open chosen from the data."""

    @abstractmethod
    def native(self, design: Design) -> Any:
        """The model and the response as the core takes them."""

    @abstractmethod
    def n_statistics(self, response: Response) -> int:
        """How many sufficient statistics a leaf has."""

    def can_have(self, statistics: np.ndarray, values: np.ndarray | None = None) -> bool:
        """Whether leaves can have these, which a file holds."""
        within = np.abs(statistics) < LARGEST_STATISTIC
        return bool(within.all() and (statistics[:, self.not_negative] >= 0).all())

    @abstractmethod
    def means(self, statistics: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """The predictive mean of each leaf, shape (leaves, width)."""

    @abstractmethod
    def interval(self, statistics: np.ndarray, prob: float) -> np.ndarray:
        """An equal-tailed credible interval of what each leaf predicts, shape (leaves, width, 2)."""

    @abstractmethod
    def n_parameters(self, response: Response) -> int:
        """How many parameters a leaf has."""

    @abstractmethod
    def draw(
        self, statistics: np.ndarray, generator: np.random.Generator, values: np.ndarray | None = None
    ) -> np.ndarray:
        """A draw of each leaf's parameters from their posterior, shape (leaves, parameters)."""

    @abstractmethod
    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """E(y | x), or the class probabilities, of parameters along the last axis."""

    @abstractmethod
    def new_response(self, parameters: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """A new y of parameters along the last axis; of classes, positions in the classes."""

    @abstractmethod
    def log_density(self, y: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """log P(y | parameters) of each draw and row, the parameters of shape (draws, rows, parameters)."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The model as JSON-safe values, its ``"kind"`` among them."""


@dataclass(frozen=True)
class Categorical(Leaf):
    """Class probabilities with a symmetric Dirichlet prior.

    With class counts n_k, n = Σ n_k and K classes, the marginal log-likelihood of a leaf is
    ``lgamma(K a) − lgamma(n + K a) + Σ_k [lgamma(n_k + a) − lgamma(a)]`` and its predictive ``(a + n_k) / (K a + n)``.

    Parameters
    ----------
    concentration : float
        The Dirichlet parameter a of each class; 1 is uniform over class distributions.
    """

    concentration: float = 1.0

    tree_chain = _core.CategoricalChain
    program_chain = _core.CategoricalProgramChain

    def __post_init__(self) -> None:
        require_positive("concentration", self.concentration)

    def resolve(self, design: Design, min_leaf: int) -> Categorical:
        """The model itself: it leaves nothing open."""
        if design.classes is None:
            raise InputError("Categorical leaves need classes; the response is numeric: use Gaussian leaves")
        return self

    def native(self, design: Design) -> _core.CategoricalLeaf:
        """The leaf model and the response as the core takes them."""
        assert design.classes is not None
        return _core.CategoricalLeaf(design.y, _weight(design), len(design.classes), float(self.concentration))

    def can_have(self, statistics: np.ndarray, values: np.ndarray | None = None) -> bool:
        """Counts, and probabilities."""
        between = values is None or bool(((values >= 0) & (values <= 1)).all())
        return between and super().can_have(statistics, values)

    def n_statistics(self, response: Response) -> int:
        """A count for each class."""
        assert response.classes is not None
        return len(response.classes)

    def means(self, statistics: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """The class probabilities of each leaf."""
        if values is not None:
            return np.column_stack([1 - values, values])
        pseudo = statistics + self.concentration
        return pseudo / pseudo.sum(axis=1, keepdims=True)

    def interval(self, statistics: np.ndarray, prob: float) -> np.ndarray:
        """Of each class probability; that of a Dirichlet distribution is a beta variable."""
        from scipy.special import betaincinv

        pseudo = statistics + self.concentration
        others = pseudo.sum(axis=1, keepdims=True) - pseudo
        ends = [betaincinv(pseudo, others, level) for level in tails(prob)]
        return np.stack(ends, axis=-1)

    def n_parameters(self, response: Response) -> int:
        """A probability for each class."""
        return self.n_statistics(response)

    def draw(
        self, statistics: np.ndarray, generator: np.random.Generator, values: np.ndarray | None = None
    ) -> np.ndarray:
        """Class probabilities drawn from each leaf's Dirichlet posterior."""
        if values is not None:
            return self.means(statistics, values)
        gammas = generator.standard_gamma(statistics + self.concentration)
        total = gammas.sum(axis=1, keepdims=True)
        # With a tiny concentration all gammas of a draw can underflow: such a draw sits in a corner of the simplex.
        corner = np.eye(statistics.shape[1])[statistics.argmax(axis=1)]
        return np.where(total > 0, gammas / np.where(total > 0, total, 1), corner)

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """The class probabilities."""
        return parameters

    def new_response(self, parameters: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """A class drawn by its probability."""
        edges = np.cumsum(parameters, axis=-1)[..., :-1]
        return (generator.random(edges.shape[:-1])[..., None] >= edges).sum(axis=-1)

    def log_density(self, y: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """The logarithm of the probability of each row's class."""
        return log_share(parameters, y)

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON-safe values."""
        return {"kind": "categorical", "concentration": float(self.concentration)}


@dataclass(frozen=True)
class Gaussian(Leaf):
    """A mean and a variance with the normal–inverse-gamma prior.

    ``mu | sigma2 ~ N(mean, sigma2 / kappa)``, ``sigma2 ~ IG(nu / 2, nu * scale / 2)``, for each leaf on its own. What
    is left None is calibrated from the data, in the manner of Chipman, George and McCulloch (2012, §2.1): the prior
    of the leaf variance puts 90% between the residual variance of a saturated tree (greedy, leaves of `min_leaf` rows)
    and the variance of the response, which fixes `nu` (kept between 1 and 10) and `scale`; `mean` is the mean of the
    response, and `kappa` is ``scale / variance``, so that leaf means spread as the response does.

    Parameters
    ----------
    mean, kappa, nu, scale : float, optional
        The prior's parameters.
    """

    mean: float | None = None
    kappa: float | None = None
    nu: float | None = None
    scale: float | None = None

    tree_chain = _core.GaussianChain
    program_chain = _core.GaussianProgramChain
    not_negative = (0, 2)

    def __post_init__(self) -> None:
        if self.mean is not None and not (is_number(self.mean) and np.isfinite(self.mean)):
            raise InputError(f"mean={self.mean!r}: choose a finite number")
        for name in ("kappa", "nu", "scale"):
            if getattr(self, name) is not None:
                require_positive(name, getattr(self, name))

    def resolve(self, design: Design, min_leaf: int) -> Gaussian:
        """The model with what was left open calibrated from the data."""
        if design.classes is not None:
            raise InputError("Gaussian leaves need a numeric response; this one has classes: use Categorical leaves")
        if None not in (self.mean, self.kappa, self.nu, self.scale):
            return self
        nu, scale, variance = variance_prior(design, min_leaf, self.nu)
        scale = scale if self.scale is None else self.scale
        return replace(
            self,
            mean=float(np.average(design.y, weights=design.weight)) if self.mean is None else self.mean,
            kappa=scale / variance if self.kappa is None else self.kappa,
            nu=nu,
            scale=scale,
        )

    def native(self, design: Design) -> _core.GaussianLeaf:
        """The leaf model and the response as the core takes them."""
        return _core.GaussianLeaf(design.y, _weight(design), *self._parameters())

    def n_statistics(self, response: Response) -> int:
        """Three: the weight, the sum and the sum of squares."""
        return 3

    def means(self, statistics: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """The predictive mean of each leaf."""
        return (self._posterior(statistics)[0] if values is None else values)[:, None]

    def interval(self, statistics: np.ndarray, prob: float) -> np.ndarray:
        """Of the mean, which is a Student variable of the leaf's degrees of freedom."""
        from scipy.special import stdtrit

        mean, kappa, nu, sum_of_squares = self._posterior(statistics)
        scale = np.sqrt(sum_of_squares / (nu * kappa))
        ends = [mean + scale * stdtrit(nu, level) for level in tails(prob)]
        return np.stack(ends, axis=-1)[:, None]

    def n_parameters(self, response: Response) -> int:
        """Two: the mean and the standard deviation."""
        return 2

    def draw(
        self, statistics: np.ndarray, generator: np.random.Generator, values: np.ndarray | None = None
    ) -> np.ndarray:
        """Mean and standard deviation drawn from each leaf's posterior, two columns.

        Given the mean mu, sigma2 ~ IG((nu + 1) / 2, (nu * scale + kappa * (mu − mean)²) / 2) with the parameters of the
        leaf's posterior.
        """
        mean, kappa, nu, sum_of_squares = self._posterior(statistics)
        if values is not None:
            squares = sum_of_squares + kappa * (values - mean) ** 2
            return np.column_stack([values, np.sqrt(squares / generator.chisquare(nu + 1))])
        sigma = np.sqrt(sum_of_squares / generator.chisquare(nu))
        return np.column_stack([mean + sigma * generator.standard_normal(len(mean)) / np.sqrt(kappa), sigma])

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """The mean."""
        return parameters[..., 0]

    def new_response(self, parameters: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """A normal number."""
        mean, sigma = parameters[..., 0], parameters[..., 1]
        return mean + sigma * generator.standard_normal(mean.shape)

    def log_density(self, y: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """The log density of normal numbers."""
        return log_normal(y, parameters[..., 0], parameters[..., 1])

    def _posterior(self, statistics: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Mean, kappa, nu and nu·scale of each leaf's posterior, from W, s = Σ w (y − mean) and q = Σ w (y − mean)²."""
        mean, kappa, nu, scale = self._parameters()
        weight, total, squares = statistics.T
        spread = np.maximum(squares - total**2 / (kappa + weight), 0.0)
        return mean + total / (kappa + weight), kappa + weight, nu + weight, nu * scale + spread

    def _parameters(self) -> tuple[float, float, float, float]:
        if self.mean is None or self.kappa is None or self.nu is None or self.scale is None:
            raise InputError(f"{self} leaves parameters open; resolve it for a design first")
        return self.mean, self.kappa, self.nu, self.scale

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON-safe values."""
        return {"kind": "gaussian", **{name: None if x is None else float(x) for name, x in asdict(self).items()}}


LEAVES: dict[str, type[Leaf]] = {"categorical": Categorical, "gaussian": Gaussian}


def require_leaf(leaf: Any) -> None:
    """Raise InputError for anything but a leaf model."""
    if not isinstance(leaf, Leaf):
        offered = " or ".join(f"{kind.__name__}(...)" for kind in LEAVES.values())
        raise InputError(f"leaf={leaf!r} is not a leaf model; give {offered}")


def usual_leaf(design: Design) -> Leaf:
    """What suits the response where nobody says."""
    return Gaussian() if design.classes is None else Categorical()


def leaf_from_dict(record: dict[str, Any]) -> Leaf:
    """The leaf model that `to_dict` described."""
    return LEAVES[record["kind"]](**{name: value for name, value in record.items() if name != "kind"})


def _weight(design: Design) -> np.ndarray:
    return np.empty(0) if design.weight is None else design.weight
