"""Variable selection in the linear model: what is sampled, as a small frozen description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..data.matrix import LinearDesign, LinearSchema, require_linear
from ..data.standardise import Standard, left_out, standardise
from ..errors import InputError
from ..mcmc.contract import Model
from ..mcmc.mixtures import MixtureSpec, parse_turns
from ..mcmc.tempering import NO_TEMPERING, Tempering, position_from_dict, position_to_dict
from ..validation import position_of, replaced, require_power, unknown_choice
from .calibration import Calibration, require_noise
from .priors import PARAMETER_PRIORS, BetaBinomial, HyperGN, ModelPrior, ParameterPrior, model_prior_of, prior_from_dict

if TYPE_CHECKING:
    from ..diagnostics.comparison import Rows
    from ..mcmc.settings import RunSettings
    from .posterior import SubsetPosterior

PROPOSALS = ("gibbs", "random", "metropolis", "informed", "replace")
# A scan judges every unit in a few nanoseconds; a replacement passes between units that stand in for each other.
AUTO = {"gibbs": 1.0, "replace": 1.0}
METHODS = ("auto", "enumerate", "sample")
HEREDITY = (None, "weak", "strong")
# Up to so many free units all subsets are enumerated where nothing else is asked for, and up to so many where it is.
FEW_UNITS, MOST_UNITS = 25, 30


@dataclass(frozen=True)
class Subset(Model["SubsetPosterior", _core.SubsetChain]):
    """Every subset of the columns as a linear model, with its probability: P(γ | y) ∝ P(γ) · P(y | γ)^power.

    Bayesian variable selection: y = α + X_γ β_γ + ε with ε ~ N(0, σ²/w) for a row of weight w. Coefficients and σ² are
    integrated out, so that the probability of every model is known up to one constant [1]_. Predictions average over
    the models (model averaging).

    Parameters
    ----------
    model_prior : ModelPrior or float
        The prior over models: `Independent`, `BetaBinomial`, `SizePrior`, `ExpectedSize`; a number is an expected size.
    coefficients : ParameterPrior
        The prior of the coefficients: `GPrior`, `HyperG`, `HyperGN`, `Ridge`.
    always : iterable of str or int
        Columns that are in every model, by name or position.
    heredity : {None, "weak", "strong"}
        Whether an interaction needs none, one or both of its columns in the model.
    fit_intercept : bool
        Whether there is an intercept, whose prior is flat.
    nu, scale : float, or "auto"
        The prior σ² ~ νλ/χ²_ν; λ is calibrated between the fits of no column and of all. ν = 0 is p(σ²) ∝ 1/σ².
    proposal : str or mapping of str to float
        How many turns of each proposal an iteration makes: ``gibbs`` draws every unit given the others, ``random`` as
        many at random, ``metropolis`` proposes as many additions, deletions or exchanges, ``informed`` flips one of the
        units by how much that improves the model, ``replace`` puts another unit in the place of one.
    method : {"auto", "enumerate", "sample"}
        Whether all subsets are enumerated, by itself up to 25 free units, or sampled.
    power : float
        The power of the likelihood: 1 gives the posterior, 0 the prior.

    References
    ----------
    .. [1] Chipman, George and McCulloch (2012), Bayesian regression structure discovery, section 2.
    """

    model_prior: ModelPrior | float = field(default_factory=BetaBinomial)
    coefficients: ParameterPrior = field(default_factory=HyperGN)
    always: tuple[str | int, ...] = ()
    heredity: str | None = None
    fit_intercept: bool = True
    nu: float = 3.0
    scale: float | str = "auto"
    proposal: MixtureSpec = "auto"
    method: str = "auto"
    power: float = 1.0
    calibration: Calibration | None = None

    family = "subset"

    def __post_init__(self) -> None:
        object.__setattr__(self, "model_prior", model_prior_of(self.model_prior))
        if not isinstance(self.coefficients, PARAMETER_PRIORS):
            names = ", ".join(prior.__name__ for prior in PARAMETER_PRIORS)
            raise InputError(f"coefficients={self.coefficients!r} is no prior of coefficients; give one of: {names}")
        if isinstance(self.always, (str, int)) or not isinstance(self.always, Iterable):
            object.__setattr__(self, "always", (self.always,))
        object.__setattr__(self, "always", tuple(self.always))
        if self.heredity not in HEREDITY:
            raise unknown_choice("heredity", self.heredity, [str(choice) for choice in HEREDITY])
        if self.method not in METHODS:
            raise unknown_choice("method", self.method, METHODS)
        if not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise InputError(f"fit_intercept={self.fit_intercept!r}: choose True or False")
        require_power(self.power)
        require_noise(self.nu, self.scale)
        _ = self.shares

    @cached_property
    def shares(self) -> Mapping[str, float]:
        """The number of turns of each proposal in an iteration."""
        return parse_turns(self.proposal, AUTO, PROPOSALS, "{'gibbs': 1, 'replace': 1}")

    @cached_property
    def calibrated(self) -> Calibration:
        """What was taken from the data."""
        if self.calibration is None:
            raise InputError("the model leaves its calibration open; resolve it for a design first")
        return self.calibration

    require = staticmethod(require_linear)

    def resolve(self, design: LinearDesign) -> Subset:
        """The model with everything that was left open chosen for this design."""
        require_linear(design)
        if design.classes is not None or design.y.ndim > 1:
            raise InputError(f"{design.response.name!r}: linear models are of one number; choose another model")
        always = _named(self.always, design.schema)
        found = self.calibration or Calibration.of(design, self.nu, self.scale, intercept=bool(self.fit_intercept))
        open_model = replaced(self, always=always, scale=found.scale, proposal=dict(self.shares), calibration=found)
        free = len(open_model.free_units(design.schema))
        few = free <= FEW_UNITS and self.power == 1
        method = self.method if self.method != "auto" else "enumerate" if few else "sample"
        if method == "enumerate" and free > MOST_UNITS:
            raise InputError(
                f"method='enumerate': {free} free units have 2^{free} subsets; at most {MOST_UNITS} are enumerated: "
                "sample them"
            )
        if method == "enumerate" and self.power != 1:
            raise InputError(
                f"method='enumerate': the posterior is enumerated, and no power of {self.power:g}; sample it"
            )
        return replaced(open_model, method=method)

    def columns_of(self, schema: LinearSchema) -> list[np.ndarray]:
        """Of each unit the columns of the matrix that are used."""
        kept = np.array(self.calibrated.spread) > 0
        return [np.flatnonzero(kept[unit.columns]) + unit.begin for unit in schema.units]

    def possible_units(self, schema: LinearSchema) -> list[int]:
        """The units that have a column to use; the others are in no model."""
        return [number for number, columns in enumerate(self.columns_of(schema)) if len(columns)]

    def free_units(self, schema: LinearSchema) -> list[int]:
        """The units that may be in a model or not."""
        return [number for number in self.possible_units(schema) if schema.units[number].name not in self.always]

    # ---- what a run asks of a model -------------------------------------------------------------------------------

    def native(self, design: LinearDesign) -> _core.SubsetProblem:
        """The choice as the core takes it; its units are the possible ones, in order."""
        schema, found = design.schema, self.calibrated
        possible, columns = self.possible_units(schema), self.columns_of(schema)
        if not possible:
            raise InputError("no column varies: there is nothing to choose from; add a predictor")
        standard: Standard = standardise(design, intercept=bool(self.fit_intercept))
        matrix = standard.matrix[:, np.concatenate([columns[number] for number in possible])]
        nu = float(self.nu)
        kind, parameter = self.coefficients.native(design.rows)
        total = float(standard.y @ standard.y) + nu * found.scale / standard.unit**2
        evidence = _core.Evidence(
            getattr(_core.CoefficientPrior, kind), parameter, float(design.rows), standard.freedom + nu, total
        )
        place = {number: at for at, number in enumerate(possible)}
        free = [schema.units[number].name not in self.always for number in possible]
        inherits = self.heredity is not None
        parents = [
            [place[parent] for parent in schema.units[number].parents if parent in place] if inherits else []
            for number in possible
        ]
        names = [schema.units[number].name for number in possible]
        free_names = [name for name, is_free in zip(names, free, strict=True) if is_free]
        assert isinstance(self.model_prior, ModelPrior)
        odds = dict(zip(free_names, self.model_prior.log_odds(free_names).tolist(), strict=True))
        return _core.SubsetProblem(
            np.ascontiguousarray(matrix.T @ matrix),
            np.ascontiguousarray(matrix.T @ standard.y),
            evidence,
            np.cumsum([0, *(len(columns[number]) for number in possible)]).tolist(),
            free,
            parents,
            self.heredity == "weak",
            self.model_prior.log_sizes(len(free_names)).tolist(),
            [odds.get(name, 0.0) for name in names],
        )

    def chains(
        self, design: LinearDesign, seed: int, chains: int, tempering: Tempering = NO_TEMPERING
    ) -> list[_core.SubsetChain]:
        """Chains at their first states. They share the products of the columns."""
        require_linear(design)
        native, ladder = self.native(design), tempering.native(design.rows)
        turns = [_core.SubsetShare(getattr(_core.SubsetProposal, name), number) for name, number in self.shares.items()]
        return [_core.SubsetChain(native, turns, float(self.power), ladder, seed, number) for number in range(chains)]

    def take(self, chain: _core.SubsetChain) -> dict[str, np.ndarray]:
        """What a chain recorded since the last time."""
        return chain.take()

    def state_of(self, chain: _core.SubsetChain) -> dict[str, Any]:
        """Where a chain is, so that it can go on from there to the bit, as JSON-safe values."""
        rungs = [
            {name: getattr(position, name) for name in POSITION}
            for position in (chain.rung_position(rung) for rung in range(chain.rungs))
        ]
        return {"rungs": rungs, "position": position_to_dict(chain.position())}

    def restore(self, chain: _core.SubsetChain, state: Mapping[str, Any]) -> None:
        """Put a chain where `state_of` found it."""
        if len(state["rungs"]) != chain.rungs:
            raise InputError(f"chain: {len(state['rungs'])} rungs were saved of {chain.rungs}")
        for rung, record in enumerate(state["rungs"]):
            position = _core.SubsetPosition()
            for name in POSITION:
                setattr(position, name, record[name])
            chain.restore_rung(rung, position)
        chain.restore_position(position_from_dict(state["position"]))

    def warnings(self, design: LinearDesign) -> Sequence[str]:
        """What a person should know before the chains run."""
        possible = set(self.possible_units(design.schema))
        constant = [unit.name for number, unit in enumerate(design.units) if number not in possible]
        lines = left_out(constant)
        if self.method == "sample" and all(name.endswith("replace") for name in self.shares):
            lines.append("replacements never change the number of columns; add gibbs")
        return lines

    def without_chains(
        self, design: LinearDesign, settings: RunSettings, monitored: Rows, threads: int
    ) -> SubsetPosterior | None:
        """The posterior by a look at every model, where that is the method."""
        if self.method != "enumerate":
            return None
        from .enumeration import enumerate_models

        return enumerate_models(self, design, settings, monitored)

    def predicted_bytes(self, design: LinearDesign, settings: RunSettings) -> tuple[int, int]:
        """Of a draw the place of its model, its log probabilities and its noise."""
        return 0, 48 + 8 * settings.temperatures

    def iteration_work(self, design: LinearDesign, temperatures: int) -> float:
        """A look at every unit, at each temperature."""
        return temperatures * (0.5e-6 + 0.15e-6 * len(design.schema.units))

    def describe(self, schema: LinearSchema) -> str:
        """What is assumed of the models, in a sentence."""
        assert isinstance(self.model_prior, ModelPrior)
        more = [
            *([] if self.fit_intercept else ["no intercept"]),
            *([f"always {', '.join(map(str, self.always))}"] if self.always else []),
            *([f"{self.heredity} heredity"] if self.heredity else []),
        ]
        scale = f", scale = {self.calibrated.scale:.4g}" if self.nu else ""
        return (
            f"Prior: models {self.model_prior.describe()}; coefficients {self.coefficients.describe()}; noise nu = "
            f"{self.nu:g}{scale}{''.join(f'; {part}' for part in more)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON-safe values; it must be resolved."""
        assert isinstance(self.model_prior, ModelPrior)
        return {
            "family": self.family,
            "model_prior": self.model_prior.to_dict(),
            "coefficients": self.coefficients.to_dict(),
            "always": list(self.always),
            "heredity": self.heredity,
            "fit_intercept": bool(self.fit_intercept),
            "nu": float(self.nu),
            "scale": float(self.scale),
            "proposal": dict(self.shares),
            "method": self.method,
            "power": float(self.power),
            "calibration": self.calibrated.to_dict(),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Subset:
        """The model that `to_dict` described."""
        fields = {name: value for name, value in record.items() if name != "family"}
        return cls(
            **fields
            | {
                "model_prior": prior_from_dict(record["model_prior"]),
                "coefficients": prior_from_dict(record["coefficients"]),
                "always": tuple(record["always"]),
                # Files of 0.1 may say "auto".
                "scale": record["calibration"]["scale"] if record["scale"] == "auto" else record["scale"],
                "calibration": Calibration.from_dict(record["calibration"]),
            }
        )


POSITION = ("stream", "base", "flips", "turns", "accepted")


def _named(always: Sequence[str | int], schema: LinearSchema) -> tuple[str, ...]:
    """The units that are always in, by name."""
    names = [unit.name for unit in schema.units]
    return tuple(dict.fromkeys(names[position_of("always", one, names)] for one in always))
