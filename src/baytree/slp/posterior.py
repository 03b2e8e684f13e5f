"""Draws from the posterior over whatever models a program derives."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _core, notebook
from ..errors import InputError, InterruptedSampling
from ..mcmc.mixtures import Component
from ..mcmc.progress import Progress
from ..text import percent
from ..validation import require_whole, seed_of
from .proposals import native_proposal, resolve_proposals
from .terms import Term, model_of

if TYPE_CHECKING:
    from .program import Program

BLOCK = 256  # iterations between looks at progress
MOST_MODELS = 10  # that a notebook shows


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
    proposals : tuple of str
        The proposals that were used.
    acceptance : numpy.ndarray of shape (chains, proposals)
        The share of the turns of each proposal in which it was accepted.
    seed : int
        What the draws can be repeated with.
    """

    goal: str
    models: list[list[Any]]
    texts: list[list[str]]
    log_likelihood: np.ndarray
    log_prior: np.ndarray
    proposals: tuple[str, ...]
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

    def _repr_html_(self) -> str:
        found = Counter(chain.from_iterable(self.texts))
        rows = [(text, percent(count / found.total())) for text, count in found.most_common(MOST_MODELS)]
        return notebook.boxed(
            notebook.line(repr(self).strip("<>"), style=notebook.MUTED), notebook.table(("model", "probability"), rows)
        )

    def __repr__(self) -> str:
        chains, draws = self.log_likelihood.shape
        return f"<{chains} chains of {draws:,} draws of {self.goal}, by {', '.join(self.proposals)}>"


def draw_posterior(
    program: Program,
    goal: str,
    log_likelihood: Callable[[Any], float] | None,
    draws: int,
    warmup: int,
    thin: int,
    chains: int,
    seed: int | None,
    proposal: Sequence[Component],
    power: float,
    progress: bool,
) -> ProgramPosterior:
    """Run the chains side by side; see `Program.posterior`. Ctrl-C during the draws keeps what was drawn."""
    for name, value, least in (("draws", draws, 1), ("warmup", warmup, 0), ("thin", thin, 1), ("chains", chains, 1)):
        require_whole(name, value, least)
    seed = seed_of(seed)
    if log_likelihood is not None and not callable(log_likelihood):
        raise InputError(f"log_likelihood={log_likelihood!r}: give a function of a model, or None for the prior")
    native = program.native(goal)
    names = native.goal_variables
    components = resolve_proposals(proposal, native, program.semantics)
    function = None if log_likelihood is None else lambda *values: _number(log_likelihood(model_of(names, values)))
    walks = [
        _core.ProofChain(
            native,
            getattr(_core.Semantics, program.semantics),
            program.limits.native(),
            Term,
            list(map(native_proposal, components)),
            function,
            float(power),
            seed,
            replica,
        )
        for replica in range(chains)
    ]
    drawn: list[list[_Draw]] = [[] for _ in walks]
    shown = Progress(warmup, draws) if progress else None
    with shown or nullcontext():
        for done in range(0, warmup, BLOCK):
            for walk in walks:
                walk.advance(min(BLOCK, warmup - done))
            if shown:
                shown.update(done, 0, [walk.log_likelihood for walk in walks], float(np.mean([*map(_rate, walks)])))
        try:
            for draw in range(draws):
                for walk, own in zip(walks, drawn, strict=True):
                    walk.advance(thin)
                    own.append(_draw(walk, names, own[-1] if own else None))
                if shown and draw % BLOCK == 0:
                    rate = float(np.mean([*map(_rate, walks)]))
                    shown.update(warmup, draw, [walk.log_likelihood for walk in walks], rate)
        except KeyboardInterrupt:
            kept = min(map(len, drawn))
            if not kept:
                raise
            message = f"sampling was interrupted: {kept:,} of {draws:,} draws are kept"
            warnings.warn(message, InterruptedSampling, stacklevel=3)
            drawn = [own[:kept] for own in drawn]
    if any(own and own[-1].log_likelihood == -np.inf for own in drawn):
        message = (
            "a chain has not found a possible model: its likelihood is still 0; run longer, or look at the likelihood"
        )
        warnings.warn(message, stacklevel=3)
    return ProgramPosterior(
        goal,
        [[one.model for one in own] for own in drawn],
        [[one.text for one in own] for own in drawn],
        np.array([[one.log_likelihood for one in own] for own in drawn]),
        np.array([[one.log_prior for one in own] for own in drawn]),
        tuple(map(str, components)),
        np.array([_rate(walk) for walk in walks]),
        seed,
    )


class _Draw(NamedTuple):
    model: Any
    text: str
    log_likelihood: float
    log_prior: float


def _draw(walk: Any, names: list[str], last: _Draw | None) -> _Draw:
    text = walk.text()
    model = last.model if last is not None and last.text == text else model_of(names, walk.answer())
    return _Draw(model, text, walk.log_likelihood, walk.log_prior)


def _rate(walk: Any) -> np.ndarray:
    return np.asarray(walk.accepted) / np.maximum(walk.turns, 1)


def _number(value: Any) -> float:
    number = np.asarray(value)
    if number.dtype.kind not in "biuf" or number.size != 1 or np.isnan(number.item()) or number.item() == float("inf"):
        raise InputError(f"log_likelihood gave {value!r}; it must be a number, or -inf where a model is impossible")
    return float(number.item())
