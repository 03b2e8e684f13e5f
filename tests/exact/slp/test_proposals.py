"""The engine's kernels by exact transition matrices: what slp.md tables, and each fault that must show.

A chain is put at every proof in turn; every decision that a step can make is made, with its probability, by the code
that samples. The targets come from an interpreter that shares no code with the engine.
"""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from baytree import InputError, _core
from baytree.slp import Program, Term, parse_proposal, term_text
from baytree.slp.proposals import Semantics, native_proposal
from baytree.slp.terms import model_of
from faults import injected
from reference.slp import interpreter
from reference.slp.spaces import BOTH, BY_NAME, SPACES, Space

EXACT = 1e-12
OFF = 0.005
KERNELS = ("sequence", "subtree", "address", "independent", "cycle(3)")


class Matrices:
    """The proofs of a space, their exact distribution, and the transition matrix of a kernel."""

    def __init__(self, space: Space, semantics: Semantics, with_likelihood: bool) -> None:
        self.program = Program(space.text, semantics=semantics)
        self.native = self.program.native(space.goal)
        answers, self.probabilities, complete = self.program.prover(space.goal, None).enumerate(10_000)
        assert complete
        self.keys = [tuple(choices) for _, _, choices in answers]
        self.models = [self._text(values) for values, _, _ in answers]
        self.space, self.with_likelihood = space, with_likelihood

    def _text(self, values: tuple[object, ...]) -> str:
        model = model_of(self.native.goal_variables, values)
        return term_text(model) if not isinstance(model, dict) else str(model)

    def _log_likelihood(self, *values: object) -> float:
        return self.space.log_likelihood(self._text(values))

    def target(self) -> np.ndarray:
        weights = np.array(self.probabilities)
        if self.with_likelihood:
            weights = weights * np.exp([self.space.log_likelihood(model) for model in self.models])
        return weights / weights.sum()

    def chain(self, kernel: str) -> _core.ProofChain:
        components = [native_proposal(component) for component in parse_proposal(kernel)]
        likelihood = self._log_likelihood if self.with_likelihood else None
        semantics = getattr(_core.Semantics, self.program.semantics)
        limits = self.program.limits.native()
        return _core.ProofChain(self.native, semantics, limits, Term, components, likelihood, 1.0, 0, 0)

    def matrix(self, kernel: str, turn: int = 0) -> np.ndarray:
        chain = self.chain(kernel)
        index = {key: place for place, key in enumerate(self.keys)}
        matrix = np.zeros((len(index), len(index)))
        for here, key in enumerate(self.keys):
            chain.restore_choices(list(key))
            chain.turns = [turn]
            for probability, choices in chain.transitions():
                matrix[here, index[tuple(choices)]] += probability
        np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=0, atol=1e-12)
        return matrix

    def gap(self, kernel: str) -> float:
        """Total variation between the target and the target after a step; for a cycle, the worst of its steps."""
        turns = range(4) if "cycle" in kernel else range(1)
        target = self.target()
        return max(float(np.abs(target @ self.matrix(kernel, turn) - target).sum() / 2) for turn in turns)


@cache
def matrices(name: str, semantics: Semantics, with_likelihood: bool) -> Matrices:
    return Matrices(BY_NAME[name], semantics, with_likelihood)


def refusal(space: Space, kernel: str, semantics: Semantics) -> str | None:
    native = Program(space.text).native(space.goal)
    name = kernel.split("(")[0]
    return native.objection(getattr(_core.ProofProposal, name), getattr(_core.Semantics, semantics))


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_models_have_the_reference_probabilities(space: Space, semantics: Semantics) -> None:
    found = matrices(space.name, semantics, False)
    exact = summed(found)
    expected = interpreter.models(space.text, space.goal, semantics)
    assert sorted(exact.values()) == pytest.approx(sorted(expected.values()), abs=EXACT)
    if set(exact) & set(expected):  # several variables are written otherwise
        assert exact == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("likelihood", [False, True], ids=["prior", "posterior"])
@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_kernel_is_exact_or_refused(space: Space, kernel: str, semantics: Semantics, likelihood: bool) -> None:
    found = matrices(space.name, semantics, likelihood)
    if refusal(space, kernel, semantics):
        with pytest.raises(InputError):
            found.chain(kernel)
    else:
        assert found.gap(kernel) < EXACT


# Where each fault shows: the semantics and the likelihood are those under which the same kernel without it is exact.
FAULTS = [
    ("proof_one", "sequence", "figure 2", "backtrack", False),
    ("proof_one", "subtree", "figure 2", "backtrack", False),
    ("proof_one", "address", "figure 2", "reject", False),
    ("proof_one", "sequence", "figure 2", "backtrack", True),
    ("proof_one", "subtree", "figure 2", "backtrack", True),
    ("proof_depth", "subtree", "figure 2", "backtrack", False),
    ("proof_depth", "address", "figure 2", "reject", False),
    ("proof_depth", "sequence", "figure 2", "backtrack", False),
    ("proof_clipped", "sequence", "figure 2", "backtrack", True),
    ("proof_clipped", "subtree", "figure 2", "backtrack", True),
    ("proof_unaffected", "address", "read later", "reject", False),
    ("proof_unaffected", "address", "read later", "reject", True),
    ("proof_unaffected", "address", "three leaves", "backtrack", False),
    ("proof_clamped", "cycle(3)", "figure 2", "backtrack", False),
    ("proof_clamped", "cycle(3)", "figure 2", "backtrack", True),
]


@pytest.mark.parametrize(("fault", "kernel", "space", "semantics", "likelihood"), FAULTS)
def test_fault_shows(fault: str, kernel: str, space: str, semantics: Semantics, likelihood: bool) -> None:
    with injected(fault):
        assert matrices(space, semantics, likelihood).gap(kernel) > OFF


@pytest.mark.parametrize("space", ["three leaves", "checked goal"])
def test_subtree_is_refused_under_a_check_at_the_end(space: str) -> None:
    found = matrices(space, "backtrack", False)
    with pytest.raises(InputError, match="read by leaves/2"):
        found.chain("subtree")
    with pytest.raises(InputError, match="may fail"):
        found.chain("address")
    assert found.native.best_proposal(_core.Semantics.backtrack) is _core.ProofProposal.sequence
    assert found.native.best_proposal(_core.Semantics.reject) is _core.ProofProposal.address


def assert_sampled(found: Matrices, exact: dict[str, float], n: int = 20_000) -> None:
    """Draws of the program have these probabilities, within five standard errors."""
    counts = Counter(
        found._text(values) for values, _ in found.program.prover(found.space.goal, None).sample(n, 1, 10_000)
    )
    assert set(counts) <= set(exact)
    for model, probability in exact.items():
        error = np.sqrt(probability * (1 - probability) / n)
        assert abs(counts[model] / n - probability) < 5 * error + 1e-9, model


def summed(found: Matrices) -> dict[str, float]:
    exact: dict[str, float] = {}
    for model, probability in zip(found.models, found.probabilities, strict=True):
        exact[model] = exact.get(model, 0.0) + probability
    return exact


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_samples_have_the_enumerated_probabilities(space: Space, semantics: Semantics) -> None:
    """What draws among the alternatives left after a failure is not seen by the matrices, so it is sampled."""
    found = matrices(space.name, semantics, False)
    assert_sampled(found, summed(found))


@pytest.mark.parametrize("space", ["three leaves", "dead branches", "uniform by recursion"])
def test_the_other_semantics_would_show(space: str) -> None:
    """The saboteur of the samples: a program that rejects where it should take back, and the reverse."""
    back, reject = (matrices(space, semantics, False) for semantics in BOTH)
    with pytest.raises(AssertionError):
        assert_sampled(back, summed(reject))
    with pytest.raises(AssertionError):
        assert_sampled(reject, summed(back))
