"""How draws were asked for: what every run of MCMC has, whatever its model."""

from __future__ import annotations

from dataclasses import dataclass

from ..validation import require_field_types, require_not_negative, require_whole, seed_of
from .effort import require_effort
from .tempering import Tempering


@dataclass(frozen=True, kw_only=True)
class RunSettings(Tempering):
    """How the draws were asked for, tempering and all.

    Attributes
    ----------
    temperatures, ladder, swap_every
        How each chain was tempered: see `Tempering`.
    chains, warmup, draws, thin : int
        Numbers of chains; of iterations thrown away (burn-in), and of draws kept, of each; of iterations between draws.
    seed : int
        The seed of all chains; each has its own stream.
    rows : int
        Number of training rows.
    data : str
        A fingerprint of the training data.
    offset : bool
        Whether the training rows had an offset, so that new ones need theirs.
    effort : str, float or None
        How much work the run may take until its chains agree; None where the numbers above were asked for, and stand.
    free_ladder : bool
        Whether the run may choose another number of temperatures.
    spent : float
        The work that the run had taken before the chains were here, in seconds of a processor, about.
    """

    chains: int
    warmup: int
    draws: int
    thin: int
    seed: int
    rows: int
    data: str
    offset: bool = False
    effort: str | float | None = None
    free_ladder: bool = False
    spent: float = 0.0

    def check(self) -> None:
        """Raise InputError for settings that no run has."""
        require_field_types(self)
        for name, least in (("chains", 1), ("warmup", 0), ("draws", 1), ("thin", 1), ("rows", 1)):
            require_whole(name, getattr(self, name), least)
        seed_of(self.seed)
        if self.effort is not None:
            require_effort(self.effort)
        require_not_negative("spent", self.spent)

    @property
    def iterations(self) -> int:
        """Of each chain, in all."""
        return self.warmup + self.draws * self.thin
