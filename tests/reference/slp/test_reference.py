"""The reference itself: values worked out by hand, and the design's table of kernels by exact transition matrices."""

import math
from functools import cache

import numpy as np
import pytest

from reference.slp.interpreter import (
    Fork,
    Node,
    ProgramFault,
    Reader,
    Semantics,
    Success,
    model_of,
    models,
    proofs,
    success_probability,
    unfold,
    write,
)
from reference.slp.kernels import KERNELS, PROPOSALS, WRONG, Kernel, States, pairs, stationarity_gap, transition
from reference.slp.spaces import BOTH, BY_NAME, SPACES, Space

EXACT = 1e-12
OFF = 0.005

FIGURE_2 = BY_NAME["figure 2"]
ONE_FEATURE = """
1 - 1/D : [D] : cart(leaf).
1/D : [D] : cart(x-[L,R]) | D < 4 :- NewD is D+1, [NewD] : cart(L), [NewD] : cart(R).
"""
# As in Cussens (2001), where a rule that does not unify is a failure: here such a rule is never a candidate, so the
# second call must not know X when it chooses.
FAM = """
{s} : s(X, p) :- p(X), p(Y), X = Y.
1 - {s} : s(X, q) :- q(X).
{p} : p(a).
1 - {p} : p(b).
0.5 : q(a).
0.5 : q(b).
"""


def close(found: dict[str, float], expected: dict[str, float], tolerance: float = 1e-15) -> bool:
    return found.keys() == expected.keys() and all(abs(found[m] - expected[m]) <= tolerance for m in expected)


# ---- language -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "cart(x1-[x2-[leaf,leaf],leaf])",
        "[1]:cart(_1)",
        "f(-1,- 1,a- -1,-a,1-(2-3),1-2-3,2^3^4,(2^3)^4)",
        "[a,'B c','it\\'s',[],1.5,2.0,1.0e-07|_1]",
        "a:-b,\\+c;d->e",
        "p((a,b),(c:-d))",
        "1 mod 2=.._1",
    ],
)
def test_what_is_written_is_what_was_read(text: str) -> None:
    assert write(Reader(text).term()) == text


@pytest.mark.parametrize(
    ("body", "answers"),
    [
        ("append(X, [c], [a, b, c])", ["[a,b]"]),
        ("findall(A-B, append(A, B, [u, v]), X)", ["[[]-[u,v],[u]-[v],[u,v]-[]]"]),
        ("findall(A, (between(1, 5, A), A mod 2 =:= 1, \\+ A == 3), X)", ["[1,5]"]),
        ("(member(X, [1, 2, 3]), X > 1 -> true ; X = none)", ["2"]),
        ("(member(X, [1]), X > 1 -> true ; X = none)", ["none"]),
        ("(fail ; X = second)", ["second"]),
        ("length(L, 2), L = [p|_], nth0(1, L, q), nth1(I, L, q), X = L/I", ["[p,q]/2"]),
        ("msort([b, 2, f(x), a, 1.5, a], X)", ["[1.5,2,a,a,b,f(x)]"]),
        ("sum_list([1, 2], S), max_list([1, 3], M), min_list([1, 3], N), X = S/M/N", ["3/3/1"]),
        ("functor(f(a, b), N, K), arg(2, f(a, b), A), f(a, b) =.. L, X = [N, K, A, L]", ["[f,2,b,[f,a,b]]"]),
        ("once(member(X, [1, 2]))", ["1"]),
        ("X is 7 // 2 + 7 mod 4 - max(1, 2) * 2 + exp(2, 3)", ["10"]),
        ("X is 1 / 4", ["0.25"]),
        ("ground(a), var(_), nonvar(b), atom(c), number(1), a \\= b, a @< b, X = ok", ["ok"]),
        ("uniform([a, b], X)", ["a", "b"]),
        ("choose([1-a, 0-b, 3-c], X)", ["a", "c"]),
    ],
)
def test_builtins(body: str, answers: list[str]) -> None:
    assert [model_of("p(X)", proof.answer) for proof in proofs(f"p(X) :- {body}.", "p(X)", "backtrack")] == answers


@pytest.mark.parametrize("body", ["\\+ c(_)", "findall(x, c(_), L)", "(c(_) -> true ; true)", "once(c(_))", "g(_)"])
def test_a_random_choice_has_its_place(body: str) -> None:
    text = f"p :- {body}.\n0.5 : c(a). 0.5 : c(b). 1 : g(a) | c(_). 1 : g(b)."
    with pytest.raises(ProgramFault, match="a random choice where none may be"):
        proofs(text, "p", "reject")
    assert proofs(text.replace("_", "a"), "p", "reject") or "\\+" in body, "one rule unifies: nothing to choose"


# ---- values worked out by hand --------------------------------------------------------------------------------------


@pytest.mark.parametrize("semantics", BOTH)
def test_figure_2_with_trees_of_depth_2(semantics: Semantics) -> None:
    """At D = 1 there is no leaf, at D = 2 a leaf or a split, at D = 3 a leaf."""
    found = models(FIGURE_2.text, FIGURE_2.goal, semantics)
    assert len(found) == 3 * (1 + 3) ** 2
    assert math.isclose(found["x1-[leaf,leaf]"], 0.4 * 0.5 * 0.5)
    assert math.isclose(found["x1-[x2-[leaf,leaf],leaf]"], 0.4 * (0.5 * 0.3) * 0.5)
    assert math.isclose(found["x3-[x2-[leaf,leaf],x1-[leaf,leaf]]"], 0.3 * (0.5 * 0.3) * (0.5 * 0.4))


@pytest.mark.parametrize("semantics", BOTH)
def test_figure_2_with_trees_of_depth_3(semantics: Semantics) -> None:
    found = models(ONE_FEATURE, "[1] : cart(T)", semantics)
    assert len(found) == (1 + 2 * 2) ** 2
    assert math.isclose(found["x-[leaf,leaf]"], 1 / 4)
    assert math.isclose(found["x-[x-[leaf,leaf],leaf]"], (1 / 2 * (2 / 3) ** 2) * (1 / 2))
    assert math.isclose(found["x-[x-[x-[leaf,leaf],leaf],leaf]"], (1 / 2 * (1 / 3) * (2 / 3)) * (1 / 2))


def test_the_choices_of_a_proof() -> None:
    [proof] = [p for p in proofs(FIGURE_2.text, FIGURE_2.goal, "backtrack") if "x2-[leaf,leaf],leaf" in p.answer][:1]
    assert proof.answer == "[1]:cart(x1-[x2-[leaf,leaf],leaf])"
    assert proof.choices == (
        ((0, 1, 1), 0, 0.4, 3),
        ((0, 1, 2), 1, 0.5, 2),
        ((0, 1, 2, 1, 1), 1, 0.3, 3),
        ((0, 1, 3), 0, 0.5, 2),
    )


def test_the_semantics_differ_where_a_run_can_fail() -> None:
    text = "s(X-Y) :- c(X), c(Y), ok(X, Y).  0.5 : c(1). 0.5 : c(2). ok(1, 1). ok(1, 2). ok(2, 1)."
    assert close(models(text, "s(T)", "reject"), {"1-1": 1 / 3, "1-2": 1 / 3, "2-1": 1 / 3})
    assert close(models(text, "s(T)", "backtrack"), {"2-1": 1 / 2, "1-1": 1 / 4, "1-2": 1 / 4})
    assert success_probability(text, "s(T)") == 0.75


def test_fam() -> None:
    """Half of the runs choose p, and half of those fail: Z = 3/4."""
    text = FAM.format(s=0.5, p=0.5)
    assert math.isclose(success_probability(text, "s(X, Y)"), 0.75)
    assert math.isclose(success_probability(text, "s(X, p)"), 0.5), "only one rule unifies with s(X, p)"
    reject = {"s(a,p)": 1 / 6, "s(b,p)": 1 / 6, "s(a,q)": 1 / 3, "s(b,q)": 1 / 3}
    assert close(models(text, "s(X, Y)", "reject"), reject)
    assert close(models(text, "s(X, Y)", "backtrack"), dict.fromkeys(reject, 1 / 4))
    assert success_probability(text.replace("p(Y), X = Y", "p(X)"), "s(X, Y)") == 1.0


def test_fam_at_its_fixed_point_gives_the_observed_frequencies() -> None:
    found = models(FAM.format(s=0.6602, p=0.5858), "s(X, Y)", "reject")
    assert close(found, {"s(a,p)": 4 / 12, "s(b,p)": 2 / 12, "s(a,q)": 3 / 12, "s(b,q)": 3 / 12}, 1e-4)


def test_uniform_by_recursion_is_skewed_and_at_once_is_not() -> None:
    """Of a, b, c the second is dead: the recursion gives all of its share to c."""
    recursion = "1/N : [N] : pick([X|_], X).  1 - 1/N : [N] : pick([_|T], X) :- M is N - 1, [M] : pick(T, X)."
    recursive, flat = "[3] : pick([a, b, c], X), X \\== b", "uniform([a, b, c], X), X \\== b"
    cases: list[tuple[Semantics, str, float, float]] = [
        ("backtrack", recursive, 1 / 3, 2 / 3),
        ("reject", recursive, 1 / 2, 1 / 2),
        ("backtrack", flat, 1 / 2, 1 / 2),
        ("reject", flat, 1 / 2, 1 / 2),
    ]
    for semantics, goal, a, c in cases:
        assert close(models(recursion, goal, semantics), {"a": a, "c": c})


def test_reject_drops_the_search_before_a_random_choice() -> None:
    text = "s(X-Y) :- member(X, [0, 1, 2]), X > 0, c(Y), Y > X.  0.5 : c(1). 0.3 : c(2). 0.2 : c(3)."
    assert close(models(text, "s(T)", "reject"), {"1-2": 0.6, "1-3": 0.4})
    assert models(text, "s(T), T = 2-_", "reject") == {}
    assert models(text, "s(T), T = 2-_", "backtrack") == {"2-3": 1.0}


# ---- the spaces -----------------------------------------------------------------------------------------------------


@cache
def states_of(space: Space, semantics: Semantics) -> States:
    return States(space.text, space.goal, semantics)


def gaps(space: Space, semantics: Semantics, kernel: Kernel) -> tuple[float, float]:
    """How far the kernel is off the prior, and off the posterior under the space's likelihood."""
    states = states_of(space, semantics)
    log_likelihood = np.array([space.log_likelihood(model) for model in states.models])
    return (
        stationarity_gap(transition(states, kernel), states.prior),
        stationarity_gap(transition(states, kernel, log_likelihood), states.posterior(log_likelihood)),
    )


def by_the_letter(node: Node | None) -> dict[tuple, float]:
    """What a backtracking run finds, each dead branch tried and left: the untried ones are renormalised."""
    if isinstance(node, Success):
        return {(): 1.0}
    if isinstance(node, Fork):
        return next((found for found in map(by_the_letter, node.children) if found), {})
    if node is None:
        return {}
    total: dict[tuple, float] = {}

    def draw(untried: list[tuple[int, float, dict[tuple, float]]], share: float) -> None:
        mass = math.fsum(p for _, p, _ in untried)
        for tried in untried:
            option, p, below = tried
            if not below:
                draw([other for other in untried if other is not tried], share * p / mass)
            for choices, q in below.items():
                path = ((node.address, option), *choices)
                total[path] = total.get(path, 0.0) + share * p / mass * q

    draw([(option, p, by_the_letter(child)) for option, p, child in node.options], 1.0)
    return total


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_probabilities_are_those_of_a_run_by_the_letter(space: Space) -> None:
    literal = by_the_letter(unfold(space.text, space.goal)[1])
    found = {
        tuple((c.address, c.option) for c in p.choices): p.probability
        for p in proofs(space.text, space.goal, "backtrack")
    }
    assert found.keys() == literal.keys()
    assert all(abs(found[path] - literal[path]) < EXACT for path in literal)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_spaces(space: Space) -> None:
    by_semantics = [proofs(space.text, space.goal, semantics) for semantics in BOTH]
    for found in by_semantics:
        assert math.isclose(math.fsum(proof.probability for proof in found), 1.0, abs_tol=EXACT)
        assert len({pairs(proof.choices) for proof in found}) == len(found), "a proof is known by its choices"
        assert 2 <= len(found) <= 100
        assert all(choice.alternatives > 1 for proof in found for choice in proof.choices)
        values = [space.log_likelihood(model_of(space.goal, proof.answer)) for proof in found]
        assert min(values) >= -2 and max(values) <= 2 and max(values) - min(values) > 0.5
    first, second = ({pairs(proof.choices): proof.probability for proof in found} for found in by_semantics)
    distance = sum(abs(first.get(proof, 0.0) - second.get(proof, 0.0)) for proof in first | second) / 2
    assert distance < EXACT if space.agree else distance > 0.05


# ---- the kernels ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_the_table_of_kernels(space: Space, semantics: Semantics) -> None:
    """Each kernel is exact where the space says so, and nowhere else."""
    for name, kernel in KERNELS.items():
        worst = max(gaps(space, semantics, kernel))
        if name in space.exact_kernels(semantics):
            assert worst < EXACT, name
        else:
            assert worst > OFF, name


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_proposals_are_distributions(space: Space) -> None:
    """What is missing to 1 is the probability of a failure; nothing that backtracks over all that follows can fail."""
    for semantics in BOTH:
        states = states_of(space, semantics)
        for name, propose in PROPOSALS.items():
            for here, path in enumerate(states.paths):
                for k in range(len(path.choices)):
                    total = math.fsum(q for _, q, _ in propose(states, here, k))
                    assert total < 1 + EXACT
                    assert total > 1 - EXACT or name in ("subtree", "address")


# The space that a wrong kernel is tried on, and whether it takes a likelihood for it to be wrong.
WRONG_CASES = [
    ("sequence, R = 1", "figure 2", False),
    ("subtree, R = 1", "figure 2", False),
    ("address, R = 1", "figure 2", False),
    ("sequence, R of depths", "figure 2", False),
    ("subtree, R of depths", "figure 2", False),
    ("address, R of depths", "figure 2", False),
    ("address, R of counts", "read later", False),
    ("sequence, clipped", "without replacement", True),
    ("subtree, clipped", "without replacement", True),
    ("address, clipped", "without replacement", True),
    ("cycle sequence, clamped", "words", False),
    ("cycle subtree, clamped", "words", False),
]


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize(("name", "space", "with_likelihood_only"), WRONG_CASES)
def test_wrong_kernels_are_off(name: str, space: str, with_likelihood_only: bool, semantics: Semantics) -> None:
    off_prior, off_posterior = gaps(BY_NAME[space], semantics, WRONG[name])
    assert off_posterior > OFF
    assert off_prior < EXACT if with_likelihood_only else off_prior > OFF


def test_every_wrong_kernel_is_tested() -> None:
    assert {name for name, _, _ in WRONG_CASES} == set(WRONG)


@pytest.mark.parametrize("name", ["subtree", "pressing subtree", "cycle subtree", "address"])
def test_a_check_at_the_end_of_the_program_needs_more_than_the_subtree(name: str) -> None:
    off_prior, _ = gaps(BY_NAME["three leaves"], "backtrack", KERNELS[name])
    assert off_prior > 0.01
