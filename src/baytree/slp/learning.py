"""Learning labels from observed models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..errors import InputError

if TYPE_CHECKING:
    from .program import Program

MOST_DERIVATIONS = 200_000


def learn(program: Program, observations: Mapping[str, int], goal: str, iterations: int, tolerance: float) -> Program:
    """Fit fixed labels by failure-adjusted maximisation (FAM) [1]_.

    A derivation chooses a clause of a predicate by its label before it is known whether the clause unifies, so it may
    fail; with λ the labels, ψ(d) the product of the labels of a derivation d and Z the probability of success,
    P(model) = Σ ψ(d) / Z over its derivations. FAM is EM with the failed derivations as missing data: the expected use
    of clause i is

        Σ_y N_y E[ν_i | y] + N (1/Z − 1) E[ν_i | failure]

    and the new labels are these counts, divided by their sum over each predicate.

    References
    ----------
    .. [1] Cussens (2001), Parameter estimation in stochastic logic programs, Machine Learning 44, 245–271.
    """
    if not observations or any(count < 0 for count in observations.values()) or not any(observations.values()):
        raise InputError("observations: give how often each instance was seen, as {'s(a, p)': 4}")
    native = program.native(goal)
    derivations = _prover(program, goal).derivations(MOST_DERIVATIONS)
    clauses = native.clauses
    seen = {text: 0 for text, succeeded, _ in derivations if succeeded}
    for instance, count in observations.items():
        answers = set(_answers(program, goal, instance))
        if len(answers) != 1 or not answers <= set(seen):
            raise InputError(f"observations: {instance} is not one instance of {goal} that the program can derive")
        seen[answers.pop()] += count

    used = sorted({clause for _, _, chosen in derivations for clause in chosen})
    _require_fixed(program, clauses, used)
    uses = np.zeros((len(derivations), len(used)))
    for row, (_, _, chosen) in enumerate(derivations):
        for clause in chosen:
            uses[row, used.index(clause)] += 1
    succeeded = np.array([ok for _, ok, _ in derivations])
    model = np.array([list(seen).index(text) if ok else -1 for text, ok, _ in derivations])
    predicate = [clauses[clause][0] for clause in used]
    labels = _normalised(np.array([clauses[clause][2] for clause in used], float), predicate)

    observed = np.array(list(seen.values()), float)
    for _ in range(iterations):
        counts = _expected_uses(labels, uses, succeeded, model, observed)
        new = _normalised(counts, predicate)
        change = np.abs(new - labels).max()
        labels = new
        if change <= tolerance:
            break
    return replace(program, text=_with_labels(program.text, [clauses[clause][3] for clause in used], labels))


def _expected_uses(
    labels: np.ndarray, uses: np.ndarray, succeeded: np.ndarray, model: np.ndarray, observed: np.ndarray
) -> np.ndarray:
    weight = np.exp(uses @ np.log(np.maximum(labels, 1e-300)))
    z = weight[succeeded].sum()
    of_model = np.bincount(model[succeeded], weight[succeeded], len(observed))
    shares = np.where(succeeded, weight / np.where(of_model > 0, of_model, 1.0)[model], 0.0)
    counts = (shares * np.where(succeeded, observed[model], 0.0)) @ uses
    failed = weight[~succeeded]
    if failed.sum() > 0:
        counts = counts + observed.sum() * (1 / z - 1) * (failed / failed.sum()) @ uses[~succeeded]
    return counts


def _normalised(counts: np.ndarray, predicate: list[str]) -> np.ndarray:
    out = counts.copy()
    for name in set(predicate):
        own = np.array([other == name for other in predicate])
        total = counts[own].sum()
        out[own] = counts[own] / total if total > 0 else 1 / own.sum()
    return out


def _prover(program: Program, goal: str) -> _core.Prover:
    return replace(program, semantics="reject").prover(goal, None)


def _answers(program: Program, goal: str, instance: str) -> list[str]:
    """The instances of the goal that an observation names."""
    asked = _core.head_arguments(goal), _core.head_arguments(instance)
    if asked[0] is None or asked[1] is None or asked[0][1] != asked[1][1] or len(asked[0][2]) != len(asked[1][2]):
        raise InputError(f"observations: {instance} is not an instance of {goal}")
    equal = ", ".join(f"{a} = {b}" for a, b in zip(asked[0][2], asked[1][2], strict=True)) or "true"
    return [text for _, text in _prover(program, equal).sample(1, 0, 1)]


def _require_fixed(program: Program, clauses: list[Any], used: list[int]) -> None:
    for clause in used:
        name, line, label, _ = clauses[clause]
        if label is None:
            raise InputError(f"{program.file}:{line}: the label of {name} is computed; only fixed labels can be learnt")


def _with_labels(text: str, spans: list[tuple[int, int, int, int]], labels: np.ndarray) -> str:
    """The text with these labels in the spans: line and column of the first letter of the old one, and of its colon."""
    lines = text.split("\n")
    begin_of_line = np.concatenate([[0], np.cumsum([len(line) + 1 for line in lines])])
    for (line, column, end_line, end_column), label in sorted(zip(spans, labels, strict=True), reverse=True):
        begin, end = int(begin_of_line[line - 1]) + column - 1, int(begin_of_line[end_line - 1]) + end_column - 1
        while text[:begin].rstrip(" ").endswith("("):
            begin = text[:begin].rstrip(" ").rindex("(")
        text = f"{text[:begin]}{label:.10g} {text[end:]}"
    return text
