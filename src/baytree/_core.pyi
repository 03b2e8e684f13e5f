"""What the bindings offer; tests/api/test_layers.py holds it to the module."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Generic, TypeVar

import numpy as np

Leaf = TypeVar("Leaf")

class Design:
    def __init__(self, rows: int) -> None: ...
    def add_column(self, codes: np.ndarray | None, categorical: bool, observed: int, has_missing: bool) -> None: ...
    def validate(self) -> None: ...

class Stream:
    def __init__(self, seed: int, replica: int) -> None: ...
    def next32(self) -> int: ...
    def uniform(self) -> float: ...
    def below(self, n: int) -> int: ...
    def normal(self) -> float: ...
    def normal_above(self, low: float) -> float: ...
    def log_gamma(self, shape: float) -> float: ...
    def logit_beta(self, a: float, b: float) -> float: ...
    def student(self, freedom: float) -> float: ...
    def seek(self, position: int) -> None: ...
    @property
    def position(self) -> int: ...

def philox(counter: Sequence[int], key: Sequence[int]) -> list[int]: ...

class Knowledge:
    def __init__(
        self,
        *,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        forbidden: Sequence[int] = [],
        below_depth: Sequence[tuple[int, int]] = [],
        below_feature: Sequence[tuple[int, int]] = [],
        only: Sequence[tuple[int, Sequence[int]]] = [],
        interacting: Sequence[Sequence[int]] = [],
        boxes: Sequence[Sequence[tuple[int, float, float]]] = [],
        weights: Sequence[float] = [],
        monotone: Sequence[int] = [],
    ) -> None: ...

class GrowTree:
    def __init__(
        self,
        alpha: float,
        beta: float,
        min_leaf: int,
        by_column: bool,
        knowledge: Knowledge,
        cuts: Sequence[Sequence[float]],
    ) -> None: ...

class Proposal(Enum):
    uc = 0
    q0 = 1
    cycle = 2
    birth_death = 3
    change = 4
    swap = 5

class Fault(Enum):
    none = 0
    ratio = 1
    stale = 2
    unordered = 3

class Component:
    def __init__(self, proposal: Proposal, weight: float, last: int, fault: Fault) -> None: ...

class CategoricalLeaf:
    def __init__(self, response: np.ndarray, weight: np.ndarray, classes: int, concentration: float) -> None: ...

class GaussianLeaf:
    def __init__(
        self, response: np.ndarray, weight: np.ndarray, mean: float, kappa: float, nu: float, scale: float
    ) -> None: ...

class Tempering:
    def __init__(self, ladder: Sequence[float], swap_every: int, any_pair: bool, adapts: bool, wrong: bool) -> None: ...

class TemperingPosition:
    iterations: int
    phases: int
    stream: int
    stored_trees: int
    stored: bool
    ladder: list[float]
    walker: list[int]
    heading: list[int]
    tried: list[int]
    accepted: list[int]
    round_trips: int
    round_phases: int
    round_length: int
    rejection: list[float]
    log_likelihood: list[float]
    def __init__(self) -> None: ...

class _Tempered:
    def warm_up(self, iterations: int, threads: int) -> None: ...
    def end_warm_up(self) -> None: ...
    def advance(self, iterations: int, threads: int = 1) -> None: ...
    def draw(self, draws: int, thin: int, threads: int = 1) -> None: ...
    @property
    def rungs(self) -> int: ...
    @property
    def log_likelihood(self) -> float: ...
    @property
    def log_prior(self) -> float: ...
    @property
    def turns(self) -> list[int]: ...
    @property
    def accepted(self) -> list[int]: ...
    def position(self) -> TemperingPosition: ...
    def restore_position(self, position: TemperingPosition) -> None: ...

class _Steps(_Tempered):
    def take(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]: ...
    def tree(self, rung: int = 0) -> dict[str, np.ndarray]: ...
    def rung_position(self, rung: int) -> tuple[int, list[int], list[int]]: ...
    def restore_rung(self, rung: int, stream: int, turns: Sequence[int], accepted: Sequence[int]) -> None: ...
    def values(self, rung: int = 0) -> list[float]: ...
    def restore_values(self, values: Sequence[float], rung: int = 0) -> None: ...

class _Chain(_Steps, Generic[Leaf]):
    def __init__(
        self,
        design: Design,
        leaf: Leaf,
        prior: GrowTree,
        proposal: Sequence[Component],
        power: float,
        tempering: Tempering,
        seed: int,
        number: int,
    ) -> None: ...
    def restore_tree(self, forest: dict[str, np.ndarray], rung: int = 0) -> None: ...

class CategoricalChain(_Chain[CategoricalLeaf]): ...
class GaussianChain(_Chain[GaussianLeaf]): ...

def grow_trees(design: Design, prior: GrowTree, n: int, seed: int) -> dict[str, np.ndarray]: ...

class Predictor:
    def __init__(self, columns: Design, forest: dict[str, np.ndarray]) -> None: ...
    @property
    def trees(self) -> int: ...
    @property
    def leaves(self) -> int: ...
    def apply(self, codes: np.ndarray) -> np.ndarray: ...
    def accumulate(self, codes: np.ndarray, first: int, weight: np.ndarray, values: np.ndarray) -> np.ndarray: ...

class Simd(Enum):
    plain = 0
    avx2 = 1
    avx512 = 2

def class_probabilities(means: np.ndarray) -> np.ndarray: ...

class SumDraws:
    def __init__(
        self, tree_index: np.ndarray, values: np.ndarray, bandwidths: np.ndarray | None = None, outputs: int = 1
    ) -> None: ...

class SumPredictor:
    def __init__(self, columns: Design, forest: dict[str, np.ndarray], widest: Simd = Simd.avx512) -> None: ...
    @property
    def simd(self) -> Simd: ...
    def sums(self, codes: np.ndarray, draws: SumDraws) -> np.ndarray: ...
    def mean(self, codes: np.ndarray, draws: SumDraws) -> np.ndarray: ...
    def shapley(self, codes: np.ndarray, draws: SumDraws) -> tuple[np.ndarray, np.ndarray]: ...

class SumMove(Enum):
    birth_death = 0
    change = 1
    bandwidth = 2
    subtree = 3

class MoveShare:
    def __init__(self, move: SumMove, number: float, wrong: bool) -> None: ...

class SumModel:
    def __init__(
        self,
        prior: GrowTree,
        trees: int,
        bandwidth: float,
        leaf_sd: float,
        learns_leaf_sd: bool,
        moves: Sequence[MoveShare],
        nu: float,
        scale: float,
        variance_trees: int,
        power: float,
        grow_sweeps: int,
        sparse: bool,
        unit: float,
    ) -> None: ...

class SumResponse:
    @staticmethod
    def of_numbers(numbers: np.ndarray, weight: np.ndarray) -> SumResponse: ...
    @staticmethod
    def of_classes(
        classes: np.ndarray, n_classes: int, weight: np.ndarray, centre: Sequence[float], offset: np.ndarray
    ) -> SumResponse: ...

class SumPosition:
    stream: int
    sigma: float
    leaf_sd: float
    log_weights: list[float]
    concentration: float
    turns: list[int]
    accepted: list[int]
    stored_trees: int
    stored: list[int]
    variance_stored_trees: int
    variance_stored: list[int]
    proofs: list[list[_Choice]]
    def __init__(self) -> None: ...

class TreeProgram:
    def __init__(
        self,
        vocabulary: Vocabulary,
        program: Program,
        semantics: Semantics,
        limits: Limits,
        kernels: Sequence[KernelComponent],
    ) -> None: ...

class SumChain:
    def __init__(
        self,
        design: Design,
        response: SumResponse,
        model: SumModel,
        seed: int,
        number: int,
        simd: Simd,
        program: TreeProgram | None,
    ) -> None: ...
    def warm_up(self, iterations: int, threads: int) -> None: ...
    def end_warm_up(self) -> None: ...
    def advance(self, iterations: int, threads: int = 1) -> None: ...
    def draw(self, draws: int, thin: int, threads: int = 1) -> None: ...
    @property
    def log_likelihood(self) -> float: ...
    @property
    def turns(self) -> list[int]: ...
    @property
    def accepted(self) -> list[int]: ...
    def take(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]: ...
    def trees(self) -> dict[str, np.ndarray]: ...
    def values(self) -> np.ndarray: ...
    def bandwidths(self) -> np.ndarray: ...
    def position(self) -> SumPosition: ...
    def restore(
        self, forest: dict[str, np.ndarray], values: np.ndarray, bandwidths: np.ndarray, position: SumPosition
    ) -> None: ...

def check_program(text: str, goal: str) -> list[tuple[bool, int, int, str]]: ...
def write_program(text: str) -> str: ...

_Choice = tuple[int, int, int]
_Problem = tuple[bool, int, int, str]

def head_arguments(goal: str) -> tuple[str, str, list[str]] | None: ...

class Semantics(Enum):
    backtrack = 0
    reject = 1

class Kernel(Enum):
    sequence = 0
    subtree = 1
    address = 2
    independent = 3
    cycle = 4

class Mistake(Enum):
    none = 0
    one = 1
    depth = 2
    clipped = 3
    unaffected = 4
    clamped = 5

class KernelComponent:
    def __init__(self, kernel: Kernel, weight: float, last: int, mistake: Mistake) -> None: ...

class Limits:
    def __init__(self, steps: int, depth: int, memory: int) -> None: ...

class Vocabulary:
    def __init__(
        self, names: Sequence[str], cuts: Sequence[Sequence[float]], levels: Sequence[Sequence[str]]
    ) -> None: ...

class Program:
    def __init__(self, text: str, goal: str, file: str) -> None: ...
    @property
    def problems(self) -> list[_Problem]: ...
    def problems_with(self, vocabulary: Vocabulary) -> list[_Problem]: ...
    @property
    def min_leaf(self) -> int: ...
    @property
    def goal_variables(self) -> list[str]: ...
    @property
    def predicates(self) -> list[str]: ...
    @property
    def clauses(self) -> list[tuple[str, int, float | None, tuple[int, int, int, int]]]: ...
    @property
    def is_local(self) -> bool: ...
    @property
    def may_fail(self) -> bool: ...
    @property
    def failure(self) -> str: ...
    @property
    def random_goals(self) -> list[tuple[int, str, bool, str]]: ...
    def best_kernel(self, semantics: Semantics) -> Kernel: ...
    def objection(self, kernel: Kernel, semantics: Semantics) -> str | None: ...

class Prover:
    def __init__(
        self,
        program: Program,
        semantics: Semantics,
        limits: Limits,
        make: Callable[[str, tuple[Any, ...]], Any],
        design: Design | None,
        vocabulary: Vocabulary,
    ) -> None: ...
    def sample(self, n: int, seed: int, attempts: int) -> list[tuple[tuple[Any, ...], str]]: ...
    def sample_trees(self, n: int, seed: int, attempts: int, is_prior: bool) -> dict[str, np.ndarray]: ...
    def count_samples(self, n: int, seed: int) -> int: ...
    def enumerate(self, most: int) -> tuple[list[tuple[tuple[Any, ...], str, list[_Choice]]], list[float], bool]: ...
    def derivations(self, most: int) -> list[tuple[str, bool, list[int]]]: ...
    def prove(self, seed: int) -> None: ...
    def trace(self) -> list[tuple[int, str, str, int, int, int, float]]: ...
    def answer(self) -> tuple[Any, ...]: ...
    def text(self) -> str: ...
    @property
    def log_probability(self) -> float: ...
    def take_output(self) -> str: ...

class ProofChain:
    def __init__(
        self,
        program: Program,
        semantics: Semantics,
        limits: Limits,
        make: Callable[[str, tuple[Any, ...]], Any],
        kernels: Sequence[KernelComponent],
        log_likelihood: Callable[..., float] | None,
        power: float,
        seed: int,
        replica: int,
    ) -> None: ...
    def advance(self, iterations: int) -> None: ...
    def answer(self) -> tuple[Any, ...]: ...
    def text(self) -> str: ...
    def choices(self) -> list[_Choice]: ...
    def restore_choices(self, choices: Sequence[_Choice]) -> None: ...
    def transitions(self) -> list[tuple[float, list[_Choice]]]: ...
    @property
    def log_likelihood(self) -> float: ...
    @property
    def log_prior(self) -> float: ...
    @property
    def turns(self) -> list[int]: ...
    @turns.setter
    def turns(self, turns: Sequence[int]) -> None: ...
    @property
    def accepted(self) -> list[int]: ...
    def take_output(self) -> str: ...

class _ProgramChain(_Steps, Generic[Leaf]):
    def __init__(
        self,
        design: Design,
        vocabulary: Vocabulary,
        leaf: Leaf,
        program: Program,
        semantics: Semantics,
        limits: Limits,
        kernels: Sequence[KernelComponent],
        power: float,
        tempering: Tempering,
        seed: int,
        number: int,
    ) -> None: ...
    def choices(self, rung: int = 0) -> list[_Choice]: ...
    def restore_choices(self, choices: Sequence[_Choice], rung: int = 0) -> None: ...
    def take_output(self) -> str: ...

class CategoricalProgramChain(_ProgramChain[CategoricalLeaf]): ...
class GaussianProgramChain(_ProgramChain[GaussianLeaf]): ...

class CoefficientPrior(Enum):
    fixed = 0
    empirical = 1
    hyper_g = 2
    hyper_gn = 3
    ridge = 4

class Evidence:
    def __init__(
        self, prior: CoefficientPrior, parameter: float, rows: float, freedom: float, total: float
    ) -> None: ...
    def log_marginal(self, columns: int, explained: float, log_determinant: float = 0.0) -> float: ...
    def mean_shrinkage(self, columns: int, explained: float) -> float: ...

class SubsetProblem:
    def __init__(
        self,
        gram: np.ndarray,
        response: np.ndarray,
        evidence: Evidence,
        unit_begin: Sequence[int],
        free: Sequence[bool],
        parents: Sequence[Sequence[int]],
        weak: bool,
        log_size: Sequence[float],
        log_odds: Sequence[float],
    ) -> None: ...

class SubsetMove(Enum):
    gibbs = 0
    random = 1
    metropolis = 2
    informed = 3
    replace = 4

class SubsetShare:
    def __init__(self, move: SubsetMove, number: float, wrong: bool) -> None: ...

class SubsetPosition:
    stream: int
    base: list[int]
    flips: list[int]
    turns: list[int]
    accepted: list[int]
    def __init__(self) -> None: ...

class SubsetChain(_Tempered):
    def __init__(
        self,
        problem: SubsetProblem,
        moves: Sequence[SubsetShare],
        power: float,
        tempering: Tempering,
        seed: int,
        number: int,
    ) -> None: ...
    def model(self, rung: int = 0) -> list[int]: ...
    def take(self) -> dict[str, np.ndarray]: ...
    def rung_position(self, rung: int = 0) -> SubsetPosition: ...
    def restore_rung(self, rung: int, position: SubsetPosition) -> None: ...

def enumerate_subsets(problem: SubsetProblem, most: int, quantiles: np.ndarray, seed: int = 0) -> dict[str, Any]: ...
def polya_gamma(tilt: float, stream: Stream) -> float: ...

class ExpertKind(Enum):
    linear = 0
    constant = 1
    classes = 2

class HMEWrong(Enum):
    nothing = 0
    tilt = 1
    offset = 2
    freedom = 3
    decisions = 4
    slice = 5

class HMEProblem:
    def __init__(
        self,
        inputs: np.ndarray,
        outputs: np.ndarray,
        depth: int,
        branching: int,
        experts: ExpertKind,
        gate_sd: float,
        sd: float,
        nu: float,
        scale: Sequence[float],
    ) -> None: ...

class HMEPosition:
    stream: int
    steps: int
    leaf: list[int]
    gates: list[float]
    coefficients: list[float]
    variance: list[float]
    def __init__(self) -> None: ...

class HMEChain(_Tempered):
    def __init__(
        self,
        problem: HMEProblem,
        power: float,
        tempering: Tempering,
        seed: int,
        number: int,
        wrong: HMEWrong = HMEWrong.nothing,
    ) -> None: ...
    def begin(self, gates: np.ndarray, coefficients: np.ndarray, variance: np.ndarray) -> None: ...
    def take(self) -> dict[str, np.ndarray]: ...
    def rung_position(self, rung: int = 0) -> HMEPosition: ...
    def restore_rung(self, rung: int, position: HMEPosition) -> None: ...

def hmm_filter(
    begin: np.ndarray, log_transition: np.ndarray, log_evidence: np.ndarray, outcome: np.ndarray, threads: int = 1
) -> dict[str, np.ndarray]: ...
def hmm_smooth(
    begin: np.ndarray, log_transition: np.ndarray, log_evidence: np.ndarray, outcome: np.ndarray, threads: int = 1
) -> dict[str, np.ndarray]: ...
def hmm_best_path(
    begin: np.ndarray, log_transition: np.ndarray, log_evidence: np.ndarray, outcome: np.ndarray, threads: int = 1
) -> dict[str, np.ndarray]: ...
def hmm_project(
    begin: np.ndarray, log_transition: np.ndarray, log_evidence: np.ndarray, threads: int = 1
) -> dict[str, np.ndarray]: ...
