"""How draws were asked for: what every run of MCMC has, whatever its model."""

from __future__ import annotations

from dataclasses import dataclass

from .tempering import Tempering


@dataclass(frozen=True)
class RunSettings:
    """How the draws were asked for.

    Attributes
    ----------
    chains, warmup, draws, thin : int
        Numbers of chains; of iterations thrown away (burn-in), and of draws kept, of each; of iterations between draws.
    seed : int
        The seed of all chains; each has its own stream.
    rows : int
        Number of training rows.
    data : str
        A fingerprint of the training data.
    temperatures, ladder, swap_every
        How each chain was tempered: see `Tempering`.
    offset : bool
        Whether the training rows had an offset, so that new ones need theirs.
    """

    chains: int
    warmup: int
    draws: int
    thin: int
    seed: int
    rows: int
    data: str
    temperatures: int = 1
    ladder: str = "adaptive"
    swap_every: int | None = None
    offset: bool = False

    @property
    def tempering(self) -> Tempering:
        """How each chain was tempered."""
        return Tempering(self.temperatures, self.ladder, self.swap_every)
