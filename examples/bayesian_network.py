"""Find the arrows of a Bayesian network in a table, with a logic program as the prior over all networks.

The network is "Earthquake" of Korb and Nicholson, Bayesian Artificial Intelligence: burglars and earthquakes set off an
alarm, and John and Mary may call because of it. Its arrows can be learned from data, directions and all: burglary and
earthquake meet in the alarm, and turning either of the other two round would let more arrows meet there.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

import baytree as bt
from baytree.slp.bdeu import BDeu

Network = dict[str, list[str]]  # each variable and its parents

# Each variable, its parents, and how probable it is: given that no parent is true, only the last, …, all of them.
EARTHQUAKE: dict[str, tuple[list[str], list[float]]] = {
    "burglary": ([], [0.01]),
    "earthquake": ([], [0.02]),
    "alarm": (["burglary", "earthquake"], [0.001, 0.29, 0.94, 0.95]),
    "john_calls": (["alarm"], [0.05, 0.90]),
    "mary_calls": (["alarm"], [0.01, 0.70]),
}
TRUTH: Network = {child: parents for child, (parents, _) in EARTHQUAKE.items()}


def simulate(n: int, seed: int) -> dict[str, np.ndarray]:
    """Rows of the network, parents before children."""
    rng = np.random.default_rng(seed)
    columns: dict[str, np.ndarray] = {}
    for child, (parents, probabilities) in EARTHQUAKE.items():
        case = np.zeros(n, dtype=int)
        for parent in parents:
            case = 2 * case + columns[parent]
        columns[child] = rng.random(n) < np.array(probabilities)[case]
    return columns


def edges(network: Network) -> set[Any]:
    """The arrows."""
    return {(parent, child) for child in network for parent in network[child]}


def links(network: Network) -> set[Any]:
    """The arrows without their directions."""
    return {frozenset(edge) for edge in edges(network)}


def meetings(network: Network) -> set[Any]:
    """Where two arrows meet whose starts are not linked; with the links, all that data can tell of a network."""
    pairs = {(*pair, child) for child in network for pair in combinations(sorted(network[child]), 2)}
    return {(a, b, child) for a, b, child in pairs if frozenset((a, b)) not in links(network)}


columns = simulate(5000, seed=1)
program = bt.slp.load("network.slp", semantics="reject")
posterior = program.posterior(
    f"network([{', '.join(EARTHQUAKE)}], Network)",
    log_likelihood=BDeu(columns),
    warmup=2000,
    draws=2000,
    thin=10,
    seed=1,
)
# Each network drawn, as a dictionary of parents, and the share of the draws that are it.
networks = [(dict(family.args for family in model), share) for model, share in posterior.counts()]


def probability(part: Any, parts: Callable[[Network], set[Any]]) -> float:
    """The share of the draws that have this part among their edges, links or meetings."""
    return sum(share for network, share in networks if part in parts(network))


print(f"{'arrow':>15}{'P(this way)':>25}{'P(other way)':>15}   in the true network")
for a, b in combinations(EARTHQUAKE, 2):
    true = "yes" if (a, b) in edges(TRUTH) else "no"
    print(f"{a:>12} → {b:12}{probability((a, b), edges):13.2f}{probability((b, a), edges):15.2f}   {true}")

found = [link for link in links(TRUTH) if probability(link, links) > 0.5]
print(f"\nTrue links found: {len(found)} of {len(links(TRUTH))}")
for a, b, child in meetings(TRUTH):
    print(f"{a} → {child} ← {b} has probability {probability((a, b, child), meetings):.2f}")
best, share = networks[0]
equivalent = links(best) == links(TRUTH) and meetings(best) == meetings(TRUTH)
print(f"The most probable network ({share:.2f}) is {'' if equivalent else 'not '}equivalent to the true one")
