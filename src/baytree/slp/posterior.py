"""Draws from the posterior over whatever models a program derives."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..errors import InputError
from ..progress import Progress
from .kernels import Component
from .terms import Term, model_of

if TYPE_CHECKING:
    from .program import Program

BLOCK = 256  # iterations between looks at progress


@dataclass(frozen=True)
class ProgramPosterior:
    """Models drawn by chains over a program's proofs.

    Attributes
    ----------
    goal : str
        What was proved.
    models : list of list
        The draws of each chain.
    log_likelihood : numpy.ndarray of shape (chains, draws)
        Of each draw.
    log_prior : numpy.ndarray of shape (chains, draws)
        The log of the product of the choices' probabilities of each draw's proof.
    kernels : tuple of str
        The kernels that were used.
    acceptance : numpy.ndarray of shape (chains, kernels)
        The share of each kernel's proposals that were accepted.
    seed : int
        What the draws can be repeated with.
    """

    goal: str
    models: list[list[Any]]
    texts: list[list[str]]
    log_likelihood: np.ndarray
    log_prior: np.ndarray
    kernels: tuple[str, ...]
    acceptance: np.ndarray
    seed: int

    def counts(self) -> list[tuple[Any, float]]:
        """Each model with its share of the draws, most frequent first."""
        texts, models = list(chain.from_iterable(self.texts)), chain.from_iterable(self.models)
        shares, known = Counter(texts), dict(zip(texts, models, strict=True))
        return [(known[text], count / shares.total()) for text, count in shares.most_common()]

    def share(self, holds: Callable[[Any], bool]) -> float:
        """The share of draws of which something holds: its posterior probability.

        Parameters
        ----------
        holds : callable
            What to ask of a model.
        """
        return float(np.mean([bool(holds(model)) for models in self.models for model in models]))

    def __repr__(self) -> str:
        chains, draws = self.log_likelihood.shape
        return f"<{chains} chains of {draws:,} draws of {self.goal}, by {', '.join(self.kernels)}>"


def draw_posterior(
    program: Program,
    goal: str,
    log_likelihood: Callable[[Any], float] | None,
    draws: int,
    warmup: int,
    thin: int,
    chains: int,
    seed: int | None,
    kernel: Sequence[Component],
    power: float,
    progress: bool,
) -> ProgramPosterior:
    """Run the chains one after another; see `Program.posterior`."""
    for name, value, least in (("draws", draws, 1), ("warmup", warmup, 0), ("thin", thin, 1), ("chains", chains, 1)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise InputError(f"{name}={value!r}: choose a whole number, {least} or more")
    seed = secrets.randbits(63) if seed is None else int(seed)
    native = program._native(goal)
    names = native.goal_variables
    components = [component.resolve(native, program.semantics) for component in kernel]
    function = None if log_likelihood is None else lambda *values: _number(log_likelihood(model_of(names, values)))
    shown = Progress(warmup * chains, draws * chains, enabled=progress)
    models: list[list[Any]] = []
    texts: list[list[str]] = []
    log_likelihoods = np.empty((chains, draws))
    log_priors = np.empty((chains, draws))
    acceptance = np.empty((chains, len(components)))
    with shown:
        for replica in range(chains):
            walk = _core.ProofChain(
                native,
                getattr(_core.Semantics, program.semantics),
                program.limits.native(),
                Term,
                [component.native() for component in components],
                function,
                float(power),
                seed,
                replica,
            )
            models.append([])
            texts.append([])
            for done in range(0, warmup, BLOCK):
                walk.advance(min(BLOCK, warmup - done))
                shown.update(replica * warmup + done, replica * draws, [walk.log_likelihood], _rate(walk).mean())
            for draw in range(draws):
                walk.advance(thin)
                texts[-1].append(walk.text())
                same = draw > 0 and texts[-1][-1] == texts[-1][-2]
                models[-1].append(models[-1][-1] if same else model_of(names, walk.answer()))
                log_likelihoods[replica, draw] = walk.log_likelihood
                log_priors[replica, draw] = walk.log_prior
                if draw % BLOCK == 0:
                    drawn = replica * draws + draw
                    shown.update((replica + 1) * warmup, drawn, [walk.log_likelihood], _rate(walk).mean())
            acceptance[replica] = _rate(walk)
    used = tuple(map(str, components))
    return ProgramPosterior(goal, models, texts, log_likelihoods, log_priors, used, acceptance, seed)


def _rate(walk: Any) -> np.ndarray:
    return np.asarray(walk.accepted) / np.maximum(walk.turns, 1)


def _number(value: Any) -> float:
    value = float(value)
    if np.isnan(value) or value == float("inf"):
        raise InputError(f"log_likelihood gave {value}; it must be a number, or -inf where a model is impossible")
    return value
