"""BART: an ensemble of many small trees, added up, as a small frozen description."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..data.design import Design, Schema, require_design
from ..data.switches import widest_registers
from ..data.to_core import native_design
from ..errors import InputError
from ..knowledge import Monotone
from ..mcmc.contract import Grid, Model
from ..mcmc.mixtures import MixtureSpec, parse_turns
from ..mcmc.tempering import NO_TEMPERING, Tempering
from ..priors import PRIORS
from ..priors.grow_tree import GrowTree
from ..slp import Program
from ..slp.tree_prior import ensemble_prior, ensemble_proposal
from ..text import counted
from ..trees.forest import forest_from_lists
from ..validation import is_number, replaced, require_positive, require_power, require_whole, unknown_choice
from .calibration import USUAL_K, Calibration, factor_prior

if TYPE_CHECKING:
    from ..mcmc.settings import RunSettings
    from .posterior import BARTPosterior  # noqa: F401, named as the type of a posterior

# Chosen by effective samples a second: see docs/benchmarks.md.
AUTO = {"birth_death": 1.0, "change": 0.1, "perturb": 0.3}
SOFT_AUTO = {"birth_death": 1.0, "change": 0.25, "bandwidth": 1.0}
PROPOSALS = ("birth_death", "change", "perturb", "bandwidth")
SPLITS = ("hard", "soft")
SIGMAS = ("linear", "naive")
INITS = ("root", "grow")
VARIANCES = ("constant", "forest")
NOISES = ("normal", "student")
# Within these bounds leaf values and shares stay numbers of single precision.
WIDEST = 1e12
# What `tune` tries: of hard rules, of soft ones, and where a program is the prior.
HARD_GRID: Grid = {"trees": (50, 200), "k": (1.0, 2.0, 3.0), "beta": (1.0, 2.0)}
SOFT_GRID: Grid = {"split": ("soft",), "trees": (20, 50), "k": (2.0, "learned")}
PROGRAM_GRID: Grid = {name: HARD_GRID[name] for name in ("trees", "k")}
# The bytes that a tree takes in a chain, besides the leaf of every row.
TREE = 500
# How often every tree is grown to the data to begin with.
GROW_SWEEPS = 10
# How long chains with sparse weights begin with equal ones: half of the usual warm-up, as in the code of DART.
EVEN_SWEEPS = 500


@dataclass(frozen=True)
class BART(Model["BARTPosterior", _core.SumChain]):
    """A sum of trees [1]_: y = centre + Σ g(x; T_j, M_j) + noise, normal of standard deviation σ or σ(x), or Student's.

    Every tree has the prior that a single one has, which keeps it small, and leaf values N(0, σ_μ²) with
    σ_μ = range(y) / (2 k √m), so that the sum of m trees lies within the range of y with high probability.
    σ² ~ νλ/χ²_ν with λ such that P(σ < σ̂) = q. Where the noise depends on x, σ²(x) is a product of m' factors, the
    leaves of as many trees of the same prior, each ν'λ'/χ²_ν' with ν' and λ' such that log σ²(x) has the mean and the
    variance that it has where σ is one number [3]_. Two classes are the signs of normal variables (probit), and several
    are told apart by the largest of as many of them. A chain draws one tree after the other, given the rest of the
    ensemble: Bayesian backfitting.

    Parameters
    ----------
    trees : int
        Number of trees m; of several classes, for each class.
    prior : GrowTree or Program
        The prior of each tree. ``Weights("sparse")`` as part of a `GrowTree`'s knowledge learns which columns matter
        (DART) [2]_. A program's proofs must have parts that can be drawn again by themselves.
    k : float or "learned"
        The hyperparameter of the leaf values: how many standard deviations of the sum of trees reach to the ends of the
        response's range. ``"learned"``: the leaf values' standard deviation σ_μ is drawn as well. Before any data it is
        half-Cauchy [4]_ with the σ_μ of k = 2 for its median, cut off at 1/1024 and at 8 times that.
    nu, q : float
        The degrees of freedom ν of the noise's prior (scaled inverse χ²), and the probability q. An infinite `nu` fixes
        σ at σ̂.
    sigma : {"linear", "naive"} or float
        σ̂: the residual standard deviation of a linear fit, the standard deviation of the response, or a number.
    noise : {"normal", "student"}
        The distribution of the noise. ``"student"``: σ times Student's t, whose degrees of freedom are learned [6]_, so
        that a few outliers do not bend the trees (robust regression). They are one of 1, 1.5, 2, 3, 4, 6, 8, 12, 16,
        24, 32, 48 and 64, with probabilities ∝ d² exp(−d/10) before any data. Centre, range and σ̂ are then those of the
        rows that lie within six times the scaled median absolute deviation (MAD) of the median.
    variance : {"constant", "forest"}
        Whether the noise is the same everywhere, or its variance is a product of trees (heteroscedastic BART).
    variance_trees : int
        Number of trees m' of that product.
    proposal : str or mapping of str to float
        How many proposals of each kind a visit of a tree makes; a fraction is a probability. ``"birth_death"`` splits
        a leaf or undoes a split of two leaves, ``"change"`` gives a split of two leaves another rule (where rules
        are soft, any split), ``"perturb"`` moves the cut of such a hard rule by a step [5]_, and ``"bandwidth"`` takes
        a step of the bandwidth of every soft rule. With a program there is one kind, ``"subtree"``: it draws a part of
        the tree again.
    init : {"root", "grow"}
        Whether chains begin with trees of one leaf, or with trees grown to the data. With a program they begin with
        trees drawn from it.
    split : {"hard", "soft"}
        Whether a row goes one way at a rule, or both ways in part (SoftBART) [4]_: right by logistic((x − cut) / b),
        with x and cut on the scale of the column's quantiles and a bandwidth b of each rule that is learned. Level sets
        and missing values go one way all the same. Smooth functions want soft rules, and fewer trees.
    bandwidth : float
        The mean of the bandwidths of soft rules, whose prior is exponential.
    power : float
        The power of the likelihood: 1 gives the posterior, 0 the prior.
    calibration : Calibration, optional
        What is taken from the data; chosen by `resolve`.

    References
    ----------
    .. [1] Chipman, George and McCulloch (2010), BART: Bayesian additive regression trees, Annals of Applied Statistics
       4, 266–298.
    .. [2] Linero (2018), Bayesian regression trees for high-dimensional prediction and variable selection, JASA 113,
       626–636.
    .. [3] Pratola, Chipman, George and McCulloch (2020), Heteroscedastic BART via multiplicative regression trees,
       Journal of Computational and Graphical Statistics 29, 405–417. Their factors match the mean of σ² instead, which
       there is for ν > 2 only.
    .. [4] Linero and Yang (2018), Bayesian regression tree ensembles that adapt to smoothness and sparsity, JRSS B 80,
       1087–1110.
    .. [5] Pratola (2016), Efficient Metropolis–Hastings proposal mechanisms for Bayesian regression tree models,
       Bayesian Analysis 11, 885–911.
    .. [6] Geweke (1993), Bayesian treatment of the independent Student-t linear model, Journal of Applied Econometrics
       8, S19–S40. The prior is that of Juárez and Steel (2010), Model-based clustering of non-Gaussian panel data,
       Journal of Business & Economic Statistics 28, 52–66, on a list.
    """

    trees: int = 200
    prior: GrowTree | Program = field(default_factory=lambda: GrowTree(beta=2.0, min_leaf=1))
    k: float | str = USUAL_K
    nu: float = 3.0
    q: float = 0.9
    sigma: str | float = "linear"
    noise: str = "normal"
    variance: str = "constant"
    variance_trees: int = 40
    proposal: MixtureSpec = "auto"
    init: str = "root"
    split: str = "hard"
    bandwidth: float = 0.1
    power: float = 1.0
    calibration: Calibration | None = None

    family = "bart"
    tempers = False

    def __post_init__(self) -> None:
        require_whole("trees", self.trees, 1)
        if not isinstance(self.prior, (GrowTree, Program)):
            raise InputError(
                f"prior={self.prior!r} is not a prior for sums of trees; give a GrowTree, or a program by slp.load"
            )
        if isinstance(self.prior, GrowTree) and self.prior.rule != "variable":
            raise InputError(f"rule={self.prior.rule!r}: a sum of trees chooses a column first; use rule='variable'")
        if self.k != "learned" if isinstance(self.k, str) else not (is_number(self.k) and self.k > 0):
            raise InputError(f"k={self.k!r}: choose a positive number, or 'learned'")
        if self.k != "learned":
            require_positive("k", self.k, WIDEST)
        if not is_number(self.nu) or not self.nu > 0:
            raise InputError(f"nu={self.nu!r}: choose a positive number")
        if not is_number(self.q) or not 0 < self.q < 1:
            raise InputError(f"q={self.q!r} is a probability: choose it between 0 and 1")
        if isinstance(self.sigma, str):
            if self.sigma not in SIGMAS:
                raise unknown_choice("sigma", self.sigma, (*SIGMAS, "a number"))
        elif not is_number(self.sigma) or not 0 < self.sigma < math.inf:
            raise InputError(f"sigma={self.sigma!r}: choose a positive number, 'linear' or 'naive'")
        if self.noise not in NOISES:
            raise unknown_choice("noise", self.noise, NOISES)
        if self.variance not in VARIANCES:
            raise unknown_choice("variance", self.variance, VARIANCES)
        require_whole("variance_trees", self.variance_trees, 1)
        if self.variance == "forest" and self.nu == math.inf:
            raise InputError("nu=inf fixes the noise, but variance='forest' learns it; choose a finite nu")
        if self.noise == "student" and self.variance == "forest":
            raise InputError("noise='student' has one scale; with variance='forest' choose noise='normal'")
        if self.init not in INITS:
            raise unknown_choice("init", self.init, INITS)
        if self.split not in SPLITS:
            raise unknown_choice("split", self.split, SPLITS)
        require_positive("bandwidth", self.bandwidth, WIDEST)
        if self.split == "soft" and self.init == "grow":
            raise InputError("init='grow' grows hard rules; with split='soft' choose init='root'")
        if self.split == "soft" and self.variance == "forest":
            raise InputError(
                "split='soft' is for noise that is the same everywhere; with variance='forest' choose 'hard'"
            )
        known = self.prior.knowledge.constraints if isinstance(self.prior, GrowTree) else ()
        if self.split == "soft" and any(isinstance(constraint, Monotone) for constraint in known):
            raise InputError("split='soft' cannot be held to Monotone; leave that out, or choose split='hard'")
        for name, usual in (("init", "root"), ("variance", "constant"), ("split", "hard")):
            if isinstance(self.prior, Program) and getattr(self, name) != usual:
                raise InputError(f"{name}={getattr(self, name)!r} needs a GrowTree; with a program leave it out")
        require_power(self.power)
        if self.noise == "student" and self.power not in (0, 1):
            raise InputError(f"power={self.power:g}: with noise='student' choose 1, the posterior, or 0, the prior")
        _ = self.shares

    @cached_property
    def shares(self) -> Mapping[str, float]:
        """The number of proposals of each kind at a visit of a tree."""
        if isinstance(self.prior, Program):
            redrawn = ensemble_proposal(self.prior, self.proposal)
            return {str(redrawn): redrawn.weight}
        auto = SOFT_AUTO if self.split == "soft" else AUTO
        shares = parse_turns(self.proposal, auto, PROPOSALS, "{'birth_death': 1, 'change': 1}")
        if "bandwidth" in shares and self.split == "hard":
            raise InputError("proposal: only soft rules have a bandwidth; leave it out, or choose split='soft'")
        if "perturb" in shares and self.split == "soft":
            raise InputError(
                "proposal: only the cuts of hard rules are perturbed; leave it out, or choose split='hard'"
            )
        return shares

    @cached_property
    def sparse(self) -> bool:
        """Whether column weights are learned."""
        return isinstance(self.prior, GrowTree) and self.prior.knowledge.sparse

    @property
    def learns_leaf_sd(self) -> bool:
        """Whether the spread of leaf values is learned."""
        return self.k == "learned"

    @property
    def leaf_sd(self) -> float:
        """The standard deviation σ_μ of a leaf value; where it is learned, the scale of its prior."""
        return self.calibrated.leaf_sd

    @cached_property
    def centre(self) -> tuple[float, ...]:
        """What is added to each sum of trees."""
        return self.calibrated.centre

    @cached_property
    def calibrated(self) -> Calibration:
        """What was taken from the data."""
        if self.calibration is None:
            raise InputError("the model leaves its calibration open; resolve it for a design first")
        return self.calibration

    require = staticmethod(require_design)

    def resolve(self, design: Design) -> BART:
        """The model with everything that was left open chosen for this design."""
        found = self.calibration or Calibration.of(
            design,
            trees=self.trees,
            k=self.k,
            nu=self.nu,
            q=self.q,
            sigma=self.sigma,
            robust=self.noise == "student",
        )
        prior = self.prior if isinstance(self.prior, Program) else self.prior.resolve(design)
        return replaced(self, prior=prior, proposal=dict(self.shares), shares=self.shares, calibration=found)

    def chains(
        self, design: Design, seed: int, chains: int, tempering: Tempering = NO_TEMPERING
    ) -> list[_core.SumChain]:
        """Chains at their first states. They share the design and the response."""
        if tempering.temperatures > 1:
            raise InputError("sums of trees are not tempered; leave temperatures at 1")
        native, response, model = native_design(design), self._response(design), self._native(design)
        program = ensemble_prior(self.prior, self.proposal, design) if isinstance(self.prior, Program) else None
        simd = widest_registers()
        return [_core.SumChain(native, response, model, seed, number, simd, program) for number in range(chains)]

    def _native(self, design: Design) -> _core.SumModel:
        found = self.calibrated
        shares = [_core.ProposalShare(getattr(_core.SumProposal, name), number) for name, number in self.shares.items()]
        # A program is handed to the chains by itself.
        prior = (self.prior if isinstance(self.prior, GrowTree) else GrowTree()).native(design.schema)
        nu, scale, leaf_sd = float(self.nu), found.scale / found.unit**2, found.leaf_sd / found.unit
        forest = self.variance == "forest"
        if forest:
            nu, scale = factor_prior(nu, scale, int(self.variance_trees))
        return _core.SumModel(
            prior=prior,
            trees=int(self.trees),
            bandwidth=float(self.bandwidth) if self.split == "soft" else 0.0,
            leaf=_core.SumLeafPrior(leaf_sd, self.learns_leaf_sd),
            proposals=shares,
            nu=nu,
            scale=scale,
            variance_trees=int(self.variance_trees) if forest else 0,
            student=self.noise == "student",
            power=float(self.power),
            grow_sweeps=GROW_SWEEPS if self.init == "grow" else 0,
            sparse=self.sparse,
            even_sweeps=EVEN_SWEEPS,
            unit=found.unit,
        )

    def _response(self, design: Design) -> _core.SumResponse:
        found, none = self.calibrated, np.empty(0)
        weight = none if design.weight is None else design.weight
        if design.classes is None:
            offset = 0.0 if design.offset is None else design.offset
            return _core.SumResponse.of_numbers((design.y - offset - found.centre[0]) / found.unit, weight)
        for name, usual in (("noise", "normal"), ("variance", "constant")):
            if (asked := getattr(self, name)) != usual:
                raise InputError(f"{name}={asked!r} is for numbers: classes have no noise of their own; leave it out")
        if self.power not in (0, 1):
            raise InputError(f"power={self.power:g}: with classes choose 1, the posterior, or 0, the prior")
        if (weight % 1).any():
            raise InputError("sums of trees take whole numbers as weights of rows with classes: counts of equal rows")
        offset = none if design.offset is None else design.offset
        return _core.SumResponse.of_classes(design.y, len(design.classes), weight, list(found.centre), offset)

    # ---- what a run asks of a model -------------------------------------------------------------------------------

    def take(self, chain: _core.SumChain) -> dict[str, np.ndarray]:
        """What a chain recorded since the last time, in the response's unit."""
        forest, draws = chain.take()
        unit = self.calibrated.unit
        draws["value"] *= np.float32(unit)
        for name in ("sigma", "leaf_sd"):
            if name in draws:
                draws[name] *= unit
        if "variance_value" in draws:  # logarithms, of which each tree takes its share of that of the unit
            draws["variance_value"] += np.float32(2 * math.log(unit) / self.variance_trees)
        return {**forest, **draws}

    def state_of(self, chain: _core.SumChain) -> dict[str, Any]:
        """Where a chain is, so that it can go on from there to the bit, as JSON-safe values."""
        position = chain.position()
        record = {name: getattr(position, name) for name in POSITION}
        if isinstance(self.prior, Program):
            record["proofs"] = [[list(choice) for choice in proof] for proof in position.proofs]
        forest = {name: array.tolist() for name, array in chain.trees().items()}
        trees = {"trees": forest, "values": chain.values().tolist()}
        return trees | ({"bandwidths": chain.bandwidths().tolist()} if self.split == "soft" else {}) | record

    def restore(self, chain: _core.SumChain, state: Mapping[str, Any]) -> None:
        """Put a chain where `state_of` found it."""
        position = _core.SumPosition()
        for name in POSITION:
            setattr(position, name, state[name])
        if isinstance(self.prior, Program):
            position.proofs = [[tuple(choice) for choice in proof] for proof in state["proofs"]]
        values = np.array(state["values"], dtype=np.float32)
        bandwidths = np.array(state.get("bandwidths", []), dtype=np.float32)
        chain.restore(forest_from_lists(state["trees"]).arrays(), values, bandwidths, position)

    def upgraded(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state of a chain as this version writes it: older ones learned neither the leaf values' spread nor ν."""
        return {"leaf_sd": 1.0, "freedom": 1.0} | state

    def warnings(self, design: Design) -> Sequence[str]:
        """What a person should know before the chains run."""
        lines = []
        if isinstance(self.prior, GrowTree) and "birth_death" not in self.shares:
            lines.append("these proposals never change the shape of a tree; add birth_death")
        if design.rows < 2 * self.prior.min_leaf:
            lines.append(
                f"{design.rows} rows cannot be divided into leaves of {self.prior.min_leaf}: every tree is one leaf; "
                "lower min_leaf"
            )
        return lines

    @property
    def grids(self) -> Sequence[Grid]:
        """What `tune` tries: how many trees, how much they shrink, how large they are; soft rules where they fit."""
        if isinstance(self.prior, Program):
            return [PROGRAM_GRID]
        monotone = any(isinstance(constraint, Monotone) for constraint in self.prior.knowledge.constraints)
        fits = self.split == "hard" and self.init == "root" and self.variance == "constant" and not monotone
        return [{"split": ("hard",), **HARD_GRID}, SOFT_GRID] if fits else [HARD_GRID]

    def predicted_bytes(self, design: Design, settings: RunSettings) -> tuple[int, int]:
        """The leaf of every row in each tree, and the tree; of a draw the place of each tree, of which many are new."""
        trees = self.trees * len(self.centre) + (self.variance_trees if self.variance == "forest" else 0)
        return trees * (design.rows + TREE), 28 * trees + 8

    def iteration_work(self, design: Design, temperatures: int) -> float:
        """A sweep over the trees, each of which passes over the rows; over their leaves, too, where rules are soft."""
        trees = self.trees * len(self.centre) + (self.variance_trees if self.variance == "forest" else 0)
        return trees * (0.25e-6 + (20e-9 if self.split == "soft" else 0.11e-9) * design.rows)

    def describe(self, schema: Schema) -> str:
        """What is assumed of the sum of trees and of each tree, in sentences of a line each."""
        each = " for each class" if len(self.centre) > 1 else ""
        soft = f"; soft questions of mean bandwidth {self.bandwidth:g}" if self.split == "soft" else ""
        spread = f"{'about ' if self.learns_leaf_sd else ''}{self.leaf_sd:.4g}"
        factors = f"the product of {counted(self.variance_trees, 'tree')}, " if self.variance == "forest" else ""
        kind = "Student noise" if self.noise == "student" else "noise"
        noise = f"; {kind} by {factors}sigma = {self.sigma}, nu = {self.nu:g}, q = {self.q:g}"
        return (
            f"Model: the sum of {counted(self.trees, 'tree')}{each}{soft}; leaf values of standard deviation {spread} "
            f"(k = {self.k}){noise if schema.response.classes is None else ''}\n{self.prior.describe()}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON-safe values; it must be resolved."""
        return {
            "family": self.family,
            "trees": int(self.trees),
            "prior": self.prior.to_dict(),
            "k": self.k if isinstance(self.k, str) else float(self.k),
            "nu": None if self.nu == math.inf else float(self.nu),
            "q": float(self.q),
            "sigma": self.sigma if isinstance(self.sigma, str) else float(self.sigma),
            "noise": self.noise,
            "variance": self.variance,
            "variance_trees": int(self.variance_trees),
            "proposal": dict(self.shares),
            "init": self.init,
            "split": self.split,
            "bandwidth": float(self.bandwidth),
            "power": float(self.power),
            "calibration": self.calibrated.to_dict(),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> BART:
        """The model that `to_dict` described."""
        fields = {name: value for name, value in record.items() if name != "family"}
        fields["calibration"] = Calibration.from_dict(record["calibration"])
        fields["prior"] = PRIORS[record["prior"]["kind"]].from_dict(record["prior"])
        fields["nu"] = math.inf if record["nu"] is None else record["nu"]
        return cls(**fields)


POSITION = (
    *("stream", "sigma", "freedom", "leaf_sd", "log_weights", "concentration", "turns", "accepted"),
    *("stored_trees", "stored", "variance_stored_trees", "variance_stored"),
)
