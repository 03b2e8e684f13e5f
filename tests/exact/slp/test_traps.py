"""Programs that once led a kernel astray, each with the reason."""

import numpy as np
import pytest

import baytree as bt
from baytree import InputError
from baytree.slp import Program
from baytree.slp.proposals import Semantics
from exact.slp.test_proposals import EXACT, KERNELS, Matrices, refusal
from reference.slp import interpreter
from reference.slp.spaces import BOTH, Space


def space(name: str, text: str, goal: str) -> Space:
    return Space(name, text, goal, agree=False, remark="")


TRAPS = [
    # A kept choice that has become impossible must end the run, not send it to another branch.
    space(
        "impossible kept choice",
        """
        s(W-V) :- uniform([1, 2], W), ( l(W, V) ; V = none ).
        0.5 : l(1, a). 0.5 : l(1, b). 0.5 : l(2, c). 0.5 : l(2, d).
        """,
        "s(T)",
    ),
    # Search that re-enters the goal being redrawn must go on redrawing.
    space(
        "search back into what is redrawn",
        """
        s(D-C) :- g(D, X, C), X \\== 1.
        0.9 : g(D, X, C) :- d(D), sel(D, X), coinif(X, C).
        0.1 : g(z, 0, z).
        0.9 : d(a). 0.1 : d(b).
        sel(a, 2). sel(b, 1). sel(b, 2).
        coinif(1, none). coinif(2, C) :- coin(C).
        0.9 : coin(h). 0.1 : coin(t).
        """,
        "s(T)",
    ),
    # A label that is 1 wherever one looks but 0 elsewhere: something may fail.
    space(
        "label that is seldom 0",
        """
        s(X-W) :- c(X), d(W), [X, W] : p(_).
        0.5 : c(1). 0.5 : c(2). 0.9 : d(2). 0.1 : d(3).
        E - D : [D, E] : p(a).
        """,
        "s(T)",
    ),
    # A label variable that stands in the head, too, decides whether the head matches.
    space(
        "label variable in the head",
        """
        s(X-Y) :- uniform([1, 2], X), [X] : p(2, Y).
        0.5 : [D] : p(D, a).
        0.5 : [_] : p(_, b).
        """,
        "s(T)",
    ),
    space(
        "label variable twice",
        """
        s(X-Y) :- uniform([1, 2], X), [X, 1] : p(Y).
        0.5 : [D, D] : p(a).
        0.5 : [_, _] : p(b).
        """,
        "s(T)",
    ),
]


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_kernels_are_exact_or_refused(trap: Space, semantics: Semantics) -> None:
    found = Matrices(trap, semantics, with_likelihood=True)
    expected = interpreter.models(trap.text, trap.goal, semantics)
    assert dict(zip(found.models, found.probabilities, strict=True)) == pytest.approx(expected, abs=EXACT)
    for kernel in KERNELS:
        if not refusal(trap, kernel, semantics):
            assert found.gap(kernel) < EXACT, kernel


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_draws_of_chains(trap: Space, semantics: Semantics) -> None:
    """Exact matrices renormalise what fails; the draws themselves must have the probabilities, too."""
    program = Program(trap.text, semantics=semantics)
    expected = interpreter.models(trap.text, trap.goal, semantics)
    for kernel in ("auto", "independent", "sequence"):
        post = program.posterior(trap.goal, draws=4000, chains=4, thin=3, seed=1, proposal=kernel, progress=False)
        for model, probability in expected.items():
            hits = np.array([[text == model for text in chain] for chain in post.texts], float)
            batches = hits.reshape(80, -1).mean(axis=1)
            assert abs(hits.mean() - probability) < 5 * batches.std(ddof=1) / np.sqrt(80) + 1e-9, (kernel, model)


def test_labels_without_their_variables_are_refused() -> None:
    with pytest.raises(InputError, match="label variable"):
        Program("0.5 : [D] : p(a, D). 0.5 : [D] : p(b, D).").sample("p(X, Y)")


def test_labels_too_large_to_sum_are_refused_each_time() -> None:
    prover = Program("1.0e308 : p(a). 1.0e308 : p(b).").prover("p(X)", None)
    for seed in range(3):
        with pytest.raises(InputError, match="too large"):
            prover.sample(1, seed, 10)


def test_a_chain_stays_where_it_was_when_choices_are_wrong() -> None:
    found = Matrices(TRAPS[0], "reject", with_likelihood=False)
    chain = found.chain("independent")
    before = chain.choices()
    with pytest.raises(InputError, match="not the choices"):
        chain.restore_choices([(1, 2, 3)])
    assert chain.choices() == before
    chain.advance(10)


def test_nodes_of_a_table_count_as_memory() -> None:
    design = bt.datasets.load("pima").design()
    loop = "go(0, _). go(N, R) :- split_node(R, glucose-127.5, _, _), M is N - 1, go(M, R)."
    text = loop + " run :- root(R), go(100000, R)."
    program = Program(text, limits=bt.slp.Limits(memory=2**22))
    with pytest.raises(bt.InputError, match="nodes of the table"):
        program.sample("run", data=design)
