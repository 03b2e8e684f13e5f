"""Bayesian networks: the score of a structure, the shipped program as a prior over structures, and the example."""

import math
import runpy
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baytree import InputError, slp
from baytree.slp.bdeu import BDeu

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "src" / "baytree" / "slp" / "programs" / "network.slp"
EXAMPLE = ROOT / "examples" / "bayesian_network.py"


Network = dict[str, tuple[str, ...]]


def table(names: str = "abcd", rows: int = 60) -> dict[str, np.ndarray]:
    """Columns with two, three, four, … states that depend on each other."""
    rng = np.random.default_rng(3)
    columns: dict[str, np.ndarray] = {}
    total = np.zeros(rows, dtype=int)
    for place, name in enumerate(names):
        columns[name] = (total + rng.integers(2, size=rows)) % (2 + place)
        total = total + columns[name]
    return columns


def all_networks(names: list[str]) -> Iterator[Network]:
    """Every directed graph without a cycle, parents sorted."""
    pairs = list(combinations(names, 2))
    for ways in product((None, 0, 1), repeat=len(pairs)):
        parents: dict[str, list[str]] = {name: [] for name in names}
        for pair, way in zip(pairs, ways, strict=True):
            if way is not None:
                parents[pair[1 - way]].append(pair[way])
        if acyclic(parents):
            yield {name: tuple(sorted(found)) for name, found in parents.items()}


def acyclic(parents: dict[str, list[str]]) -> bool:
    left = set(parents)
    while sources := {name for name in left if not left & set(parents[name])}:
        left -= sources
    return not left


def equivalence_class(network: Network) -> tuple[frozenset, frozenset]:
    """The links, and where two arrows meet whose starts are not linked (Verma and Pearl 1990)."""
    links = frozenset(frozenset((child, parent)) for child in network for parent in network[child])
    pairs = [(frozenset(pair), child) for child in network for pair in combinations(network[child], 2)]
    return links, frozenset(meeting for meeting in pairs if meeting[0] not in links)


def log_score(score: BDeu, network: Network) -> float:
    return sum(score.family(child, parents) for child, parents in network.items())


def log_prior(network: Network) -> float:
    """What network.slp says, up to a constant."""
    return sum(map(len, network.values())) * math.log(0.1 / 0.8)


def exact_posterior(names: list[str], log_density: Callable[[Network], float]) -> dict[str, float]:
    """The probability of each network, by its text."""
    networks = list(all_networks(names))
    logs = np.array([log_density(network) for network in networks])
    weights = np.exp(logs - logs.max())
    return {text(network): weight for network, weight in zip(networks, weights / weights.sum(), strict=True)}


def text(network: Network) -> str:
    return ",".join(f"{child}-[{','.join(parents)}]" for child, parents in network.items())


# ---- the score ------------------------------------------------------------------------------------------------------


def slow_score(columns: dict[str, np.ndarray], child: str, parents: tuple[str, ...], sample_size: float) -> float:
    """The formula, cell by cell, over all configurations whether they occur or not."""
    states = {name: sorted(set(columns[name].tolist())) for name in (child, *parents)}
    rows = Counter(zip(*(columns[name].tolist() for name in (*parents, child)), strict=True))
    configurations = list(product(*(states[parent] for parent in parents)))
    a = sample_size / len(configurations)
    total = 0.0
    for configuration in configurations:
        counts = [rows[(*configuration, state)] for state in states[child]]
        total += math.lgamma(a) - math.lgamma(a + sum(counts))
        total += sum(math.lgamma(a / len(counts) + n) - math.lgamma(a / len(counts)) for n in counts)
    return total


@pytest.mark.parametrize("sample_size", [0.3, 1.0, 10.0])
def test_score_is_the_formula(sample_size: float) -> None:
    columns = table()
    score = BDeu(columns, sample_size=sample_size)
    for child in columns:
        others = [name for name in columns if name != child]
        for size in range(len(others) + 1):
            for parents in combinations(others, size):
                expected = slow_score(columns, child, parents, sample_size)
                assert score.family(child, parents) == pytest.approx(expected, rel=1e-12)
                assert score.family(child, parents[::-1]) == score.family(child, parents)


def test_scores_by_hand() -> None:
    score = BDeu({"x": [0, 0, 1], "y": ["no", "yes", "yes"]})
    # One after the other, each given those before: 1/2, then (1/2 + 1) / (1 + 1), then 1/2 / (1 + 2).
    assert score.family("x", []) == pytest.approx(math.log(1 / 2 * 3 / 4 * 1 / 6))
    # Where x is 0 the prior counts for half a row: 1/4 / (1/2), then 1/4 / (3/2). Where x is 1: 1/2.
    assert score.family("y", ["x"]) == pytest.approx(math.log(1 / 2 * 1 / 6 * 1 / 2))


def test_equivalent_networks_score_the_same() -> None:
    columns = table()
    score = BDeu(columns, sample_size=2.0)
    scores = defaultdict(list)
    for network in all_networks(list(columns)):
        scores[equivalence_class(network)].append(log_score(score, network))
    assert sum(map(len, scores.values())) == 543 and len(scores) == 185
    for of_class in scores.values():
        assert np.ptp(of_class) < 1e-9
    assert np.diff(sorted(of_class[0] for of_class in scores.values())).min() > 1e-6, "other classes score differently"


def test_many_parents_are_counted() -> None:
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.integers(3, size=50) for j in range(60)}
    assert math.isfinite(BDeu(columns).family("x0", list(columns)[1:]))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "at least one"),
        ({"a": [1, 2], "b": [1]}, "as long as each other"),
        ({"a": []}, "at least one row"),
        ({"a": [[1, 2]]}, "one value per row"),
        ({"a": [1.0, math.nan]}, "column 'a' has missing values"),
        ({"a": ["x", None]}, "column 'a' has missing values"),
    ],
)
def test_unusable_columns(columns: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BDeu(columns)


@pytest.mark.parametrize("sample_size", [0, -1.0, math.nan, math.inf, "1", True])
def test_unusable_sample_size(sample_size: Any) -> None:
    with pytest.raises(InputError, match="sample_size"):
        BDeu({"a": [0, 1]}, sample_size=sample_size)


def test_unknown_variable() -> None:
    with pytest.raises(InputError, match="Did you mean 'rain'"):
        BDeu({"rain": [0, 1]}).family("rainy", [])


# ---- the program ----------------------------------------------------------------------------------------------------


def test_program_has_no_problems() -> None:
    assert slp.check(PROGRAM.read_text(), goal="network/2") == []


def as_network(model: list) -> Network:
    return {child: tuple(parents) for child, parents in (family.args for family in model)}


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], ["c", "a", "d", "b"]])
def test_prior_depends_on_the_number_of_arrows_alone(names: list[str]) -> None:
    program = slp.load("network.slp", semantics="reject")
    found = program.enumerate(f"network([{', '.join(names)}], Network)")
    expected = exact_posterior(names, log_prior)
    assert {text(as_network(model)): probability for model, probability in found} == pytest.approx(expected)
    assert len(found) == len(expected), "each network has one proof"


def test_posterior_is_the_enumerated_one() -> None:
    columns = table("abc", rows=25)
    score = BDeu(columns)
    posterior = slp.load("network.slp", semantics="reject").posterior(
        "network([a, b, c], Network)", log_likelihood=score, warmup=500, draws=2000, thin=10, chains=4, seed=1
    )
    expected = exact_posterior(list(columns), lambda network: log_prior(network) + log_score(score, network))
    found = {text(as_network(model)): share for model, share in posterior.counts()}
    # 12 runs of a sampler written by hand for this program were 0.028 away on average, with a deviation of 0.007.
    assert distance(found, expected) < 0.028 + 5 * 0.007
    without_prior = exact_posterior(list(columns), lambda network: log_score(score, network))
    assert distance(found, without_prior) > 0.1, "the comparison would not notice a wrong prior"
    drawn = posterior.models[0][0]
    assert posterior.log_likelihood[0][0] == pytest.approx(log_score(score, as_network(drawn)))


def distance(p: dict[str, float], q: dict[str, float]) -> float:
    """Total variation."""
    return sum(abs(p.get(key, 0.0) - q.get(key, 0.0)) for key in p.keys() | q.keys()) / 2


# ---- the example ----------------------------------------------------------------------------------------------------


def test_example_finds_the_true_network(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(EXAMPLE))
    printed = capsys.readouterr().out
    assert "True links found: 4 of 4" in printed
    assert "is equivalent to the true one" in printed

    names, truth, probability, edges = (example[key] for key in ("EARTHQUAKE", "TRUTH", "probability", "edges"))
    score = BDeu(example["columns"])
    expected: dict[tuple[str, str], float] = defaultdict(float)
    networks = list(all_networks(list(names)))
    logs = np.array([log_prior(network) + log_score(score, network) for network in networks])
    for network, weight in zip(networks, np.exp(logs - np.logaddexp.reduce(logs)), strict=True):
        for edge in edges(network):
            expected[edge] += weight
    # A chain of this length is off by about 0.07, as 40 of them told; the example averages four.
    for edge in expected:
        assert probability(edge, edges) == pytest.approx(expected[edge], abs=5 * 0.07 / 2)
    assert min(expected[edge] for edge in edges(truth)) > 0.8
