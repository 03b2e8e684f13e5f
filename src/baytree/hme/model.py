"""Hierarchical mixtures of experts: what is fitted, as a small frozen description."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..data.matrix import LinearDesign, LinearSchema, require_linear
from ..data.standardise import left_out
from ..errors import InputError
from ..mcmc.contract import Model
from ..mcmc.tempering import NO_TEMPERING, Tempering
from ..text import counted
from ..validation import is_number, require_guess, require_whole, unknown_choice
from .calibration import Calibration
from .data.inputs import Inputs
from .data.outputs import OF_CLASSES, OF_NUMBERS, Outputs, expert_for
from .fitting import gibbs
from .tree.layout import Layout
from .tree.splits import Splits

if TYPE_CHECKING:
    from ..diagnostics.comparison import Rows
    from ..mcmc.settings import RunSettings
    from .posterior import HMEPosterior

METHODS = ("em", "em2", "online", "gibbs", "variational")
# The methods of which chains draw.
BY_CHAINS = ("gibbs",)
INITS = ("auto", "cart", "grow", "random")
MOST_LEAVES = 4096
# Recursions that forget more than that in a row have nothing left to learn from.
LEAST_DECAY = 0.5
# Under a prior: with less it says next to nothing, and its draws are too large for float64.
LEAST_RIDGE = 1e-12
# λ of the noise's prior where none is given, as a share of the response's variance: most of it may be explained.
NOISE = 0.03
# The penalty where none is given. Logit models of few rows are undecided without a strong one.
RIDGE = {"regression": 0.1, "classification": 5.0}


TrainingRows = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class HME(Model["HMEPosterior", _core.HMEChain]):
    """A tree of soft decisions over simple models: P(y | x) = Σ over leaves P(leaf | x) P(y | x, leaf) [1]_.

    Parameters
    ----------
    depth, branching : int
        Levels of gates, and children of each.
    expert : {"auto", "linear", "constant", "poisson", "gamma", "logistic", "multinomial"}
        The models at the leaves; by itself linear ones for numbers and multinomial ones for classes.
    method : {"em", "em2", "online", "gibbs", "variational"}
        EM with gates by IRLS, whose penalised likelihood never falls; EM with gates by least squares on ln h, which is
        quicker; one row at a time by recursive least squares; chains that draw the posterior, with Pólya–Gamma
        variables for the gates; or a mean field, which bounds the evidence, shuts branches that nothing needs and gives
        draws. The last two are for linear, constant and class experts.
    init : {"auto", "cart", "grow", "random"} or a decision tree
        Where a fit begins: at the splits of a decision tree, made soft; at a tree that grew level by level, with EM
        between; or at random gates. By itself at a decision tree where the response is a number, but each chain at
        random. A tree for the same numeric columns may be given: one that scikit-learn fitted, a `Tree`, or a posterior
        or an estimator of single trees, of which the best tree is taken.
    keep_columns : bool
        Whether EM keeps each gate to the column that the decision tree asks about there.
    ridge : float or "auto"
        The penalty on coefficients of columns in standard units; by itself 0.1 for numbers and 5 for classes. Of
        chains, coefficients are normal around 0 with variance 1/ridge, those of linear and constant experts in units of
        their σ². Of a mean field, the prior precision of linear experts' coefficients in units of the noise; those of
        logit models are learned.
    epochs : int
        The most passes over the rows.
    tol : float
        EM ends when an epoch gains less than this a row.
    early_stopping : bool
        Whether a share `validation_fraction` of the rows is held out, and EM ends where these fit best.
    validation_fraction : float
        That share.
    n_iter_no_change : int
        How many epochs may pass without a better fit to these rows.
    n_init : int
        How many random trees to begin at; the best end counts.
    decay : float
        λ of the recursions, at most 1.
    nu : float
        Of chains: ν of the prior σ² ~ νλ/χ²_ν of the variance of linear and constant experts.
    scale : float, tuple of float, or "auto"
        Of chains: its λ, one for each of several responses; ``"auto"`` chooses 3% of a response's variance.

    References
    ----------
    .. [1] Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm, Neural Computation 6,
       181–214.
    """

    depth: int = 2
    branching: int = 2
    expert: str = "auto"
    method: str = "em"
    init: Any = "auto"
    keep_columns: bool = False
    ridge: float | str = "auto"
    epochs: int = 100
    tol: float = 1e-5
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    n_init: int = 1
    decay: float = 0.999
    nu: float = 3.0
    scale: float | tuple[float, ...] | str = "auto"
    calibration: Calibration | None = None

    family = "hme"

    def __post_init__(self) -> None:
        for name, least in (("depth", 0), ("branching", 2), ("epochs", 1), ("n_iter_no_change", 1), ("n_init", 1)):
            require_whole(name, getattr(self, name), least)
            object.__setattr__(self, name, int(getattr(self, name)))
        # The logarithm first: a power of a billion digits would take minutes.
        counted_out = self.depth * math.log(self.branching) > 2 * math.log(MOST_LEAVES)
        if counted_out or self.leaves > MOST_LEAVES:
            raise InputError(
                f"depth={self.depth}, branching={self.branching}: {'countless' if counted_out else f'{self.leaves:,}'} "
                f"leaves; choose at most {MOST_LEAVES:,}"
            )
        if self.expert not in (experts := ("auto", *OF_NUMBERS, *OF_CLASSES)):
            raise unknown_choice("expert", self.expert, experts)
        if self.method not in METHODS:
            raise unknown_choice("method", self.method, METHODS)
        self._check_init()
        if not isinstance(self.early_stopping, (bool, np.bool_)):
            raise InputError(f"early_stopping={self.early_stopping!r}: choose True or False")
        object.__setattr__(self, "early_stopping", bool(self.early_stopping))
        self._check_method()
        if self.ridge != "auto":
            self._require_number("ridge", 0 <= _number(self.ridge) < np.inf, "0 or more, or 'auto'")
        self._check_scale()
        self._require_number("nu", 0.1 <= _number(self.nu) < np.inf, "0.1 or more")
        self._require_number("tol", 0 <= _number(self.tol) < np.inf, "0 or more")
        self._require_number(
            "validation_fraction", 0 < _number(self.validation_fraction) < 1, "a share between 0 and 1"
        )
        self._require_number("decay", LEAST_DECAY <= _number(self.decay) <= 1, f"a number from {LEAST_DECAY:g} to 1")

    def _require_number(self, name: str, valid: bool, choices: str) -> None:
        if not valid:
            raise InputError(f"{name}={getattr(self, name)!r}: choose {choices}")
        object.__setattr__(self, name, float(getattr(self, name)))

    def _check_scale(self) -> None:
        if isinstance(self.scale, str) and self.scale == "auto":
            return
        many = self.scale if isinstance(self.scale, tuple | list) else (self.scale,)
        if not many or not all(0 < _number(each) < np.inf for each in many):
            raise InputError(f"scale={self.scale!r}: choose a positive number, or 'auto'")
        object.__setattr__(self, "scale", float(many[0]) if len(many) == 1 else tuple(map(float, many)))

    def _check_method(self) -> None:
        """Raise InputError where the method and other choices do not go together."""
        if self.method not in ("gibbs", "variational"):
            return
        if self.expert in ("poisson", "gamma"):
            raise InputError(f"method={self.method!r} is not for {self.expert} experts; choose 'em'")
        if self.early_stopping or _number(self.ridge) < LEAST_RIDGE:
            named = "early_stopping" if self.early_stopping else f"ridge={self.ridge!r}"
            what = "a mean field learns" if self.method == "variational" else "chains learn"
            raise InputError(f"{named}: {what} from all rows, under a prior; leave it out or choose 'em'")

    def _check_init(self) -> None:
        if isinstance(self.init, str) and self.init not in INITS:
            raise unknown_choice("init", self.init, (*INITS, "a fitted decision tree"))
        if not isinstance(self.init, str | Splits):
            object.__setattr__(self, "init", Splits.of(self.init, self.depth))
        if not isinstance(self.keep_columns, (bool, np.bool_)):
            raise InputError(f"keep_columns={self.keep_columns!r}: choose True or False")
        object.__setattr__(self, "keep_columns", bool(self.keep_columns))
        if self.keep_columns and (self.init in ("grow", "random") or self.method not in ("em", "em2")):
            named = f"method={self.method!r}" if self.method not in ("em", "em2") else f"init={self.init!r}"
            raise InputError(f"keep_columns: {named} has no columns to keep; choose 'em' or 'em2' with init='cart'")
        if self.init not in ("auto", "grow", "random") and self.branching != 2 and self.depth > 0:
            raise InputError(f"init: decision trees have two branches, not {self.branching}; choose 'random'")

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return self.branching**self.depth

    require = staticmethod(require_linear)

    def resolve(self, design: LinearDesign) -> HME:
        """The model with everything that was left open chosen for this design."""
        require_linear(design)
        task = design.response.task
        expert = expert_for(self.expert, task)
        if self.method in BY_CHAINS and design.weight is not None:
            raise InputError(f"method={self.method!r} takes no weights; choose 'em', or repeat the rows")
        init = self.init
        if init == "auto":
            at_a_tree = task == "regression" and self.branching == 2 and self.method not in BY_CHAINS
            init = "cart" if at_a_tree or self.keep_columns else "random"
        found = self.calibration or Calibration.of(Inputs.of(design), Outputs.of(design, expert), design.y.ndim == 1)
        ridge = RIDGE[task] if self.ridge == "auto" else self.ridge
        resolved = replace(self, expert=expert, init=init, ridge=ridge, calibration=found)
        return replace(resolved, scale=resolved._chosen_scale())

    def _chosen_scale(self) -> float | tuple[float, ...] | str:
        """λ as it was given, or what ``"auto"`` stands for where chains have such a prior."""
        usual = [unit**2 for unit in self.calibrated.output_scale]
        if isinstance(self.scale, str):
            has_prior = self.method in BY_CHAINS and self.layout.variance is not None
            return tuple(NOISE * each for each in usual) if has_prior else self.scale
        given = self.scale if isinstance(self.scale, tuple) else (self.scale,) * len(usual)
        if len(given) != len(usual):
            raise InputError(f"scale={self.scale!r}: give one number, or one for each of {len(usual)} responses")
        for each, of_response in zip(given, usual, strict=True):
            require_guess("scale", each, of_response)
        return self.scale

    @cached_property
    def calibrated(self) -> Calibration:
        """What was taken from the data."""
        if self.calibration is None:
            raise InputError("the model leaves its calibration open; resolve it for a design first")
        return self.calibration

    def inputs(self, schema: LinearSchema) -> Inputs:
        """How rows become inputs."""
        return self.calibrated.inputs(schema)

    @property
    def outputs(self) -> Outputs:
        """How responses become outputs."""
        return self.calibrated.outputs

    @property
    def layout(self) -> Layout:
        """Where the parameters of a tree lie."""
        found = self.calibrated
        return Layout(self.depth, self.branching, len(found.kept) + 1, len(found.output_centre), self.expert)

    @property
    def noise_scale(self) -> np.ndarray:
        """λ of each output, in standard units."""
        unit = np.array(self.calibrated.output_scale)
        # Files of before the choice was kept say "auto".
        return np.full_like(unit, NOISE) if isinstance(self.scale, str) else np.array(self.scale) / unit**2

    def rows(self, design: LinearDesign) -> TrainingRows:
        """Inputs, outputs and weights of a design."""
        weight = np.ones(design.rows) if design.weight is None else design.weight
        return self.inputs(design.schema).of_matrix(design.matrix), self.outputs.matrix(design), weight

    def warnings(self, design: LinearDesign) -> list[str]:
        """What a person should know before the fit."""
        kept = set(self.calibrated.kept)
        return left_out([unit.name for unit in design.units if not kept.intersection(range(unit.begin, unit.end))])

    # ---- what a run asks of a model -------------------------------------------------------------------------------

    def chains(
        self, design: LinearDesign, seed: int, chains: int, tempering: Tempering = NO_TEMPERING
    ) -> list[_core.HMEChain]:
        """Chains at their first states. They share the rows."""
        return gibbs.chains_of(self, design, seed, chains, tempering)

    def take(self, chain: _core.HMEChain) -> dict[str, np.ndarray]:
        """What a chain recorded since the last time."""
        return chain.take()

    def state_of(self, chain: _core.HMEChain) -> dict[str, Any]:
        """Where a chain is, so that it can go on from there to the bit, as JSON-safe values."""
        return gibbs.state_of(chain)

    def restore(self, chain: _core.HMEChain, state: Mapping[str, Any]) -> None:
        """Put a chain where `state_of` found it."""
        gibbs.restore(chain, state)

    def without_chains(
        self, design: LinearDesign, settings: RunSettings, monitored: Rows, threads: int
    ) -> HMEPosterior | None:
        """The one tree, or the draws of a mean field, of a method without chains."""
        if self.method in BY_CHAINS:
            return None
        from .without_chains import fit_posterior

        return fit_posterior(self, design, settings, monitored)

    def predicted_bytes(self, design: LinearDesign, settings: RunSettings) -> tuple[int, int]:
        """The leaf of every row at each temperature; of a draw its parameters."""
        numbers = 8 * (sum(self.layout.sizes().values()) + settings.temperatures)
        if self.method == "variational":  # its draws come from one distribution
            return 0, numbers // settings.chains
        return (4 * settings.temperatures * design.rows, numbers) if self.method in BY_CHAINS else (0, 0)

    def iteration_work(self, design: LinearDesign, temperatures: int) -> float:
        """The way of every row down the tree, at each temperature."""
        return temperatures * max(1, self.depth) * (20e-6 + 0.2e-6 * design.rows)

    def describe(self, schema: LinearSchema) -> str:
        """What the tree is made of and what is assumed of it, in a sentence."""
        has_noise = self.method in BY_CHAINS and schema.response.classes is None
        noise = ""
        if has_noise:
            scales = self.noise_scale * np.square(self.calibrated.output_scale)
            noise = f"; noise nu = {self.nu:g}, scale = {', '.join(f'{scale:.4g}' for scale in scales)}"
        return (
            f"Model: a soft tree of depth {self.depth} with {self.branching} branches, "
            f"{counted(self.leaves, 'leaf', 'leaves')} with {self.expert} experts; ridge {self.ridge:g}{noise}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON-safe values; it must be resolved."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        init = self.init.to_dict() if isinstance(self.init, Splits) else self.init
        return {"family": self.family, **plain, "init": init, "calibration": self.calibrated.to_dict()}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> HME:
        """The model that `to_dict` described."""
        fields = {name: value for name, value in record.items() if name != "family"}
        init = fields["init"] if isinstance(fields["init"], str) else Splits.from_dict(fields["init"])
        return cls(**fields | {"init": init, "calibration": Calibration.from_dict(fields["calibration"])})


def _number(value: Any) -> float:
    """A value as a number; what is none becomes NaN, which lies in no range."""
    return float(value) if is_number(value) else float("nan")
