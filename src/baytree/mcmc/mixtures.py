"""Mixtures of proposals (moves, transition kernels of MCMC) by name: what a chain is asked to do, and how often."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..errors import InputError
from ..validation import is_number, unknown_choice

NO_SYNONYMS: Mapping[str, str] = {}
# A name, names with weights in a text, or a mapping from names to weights.
MixtureSpec = str | Mapping[str, float]


@dataclass(frozen=True)
class Component:
    """One proposal (move, transition kernel) of a mixture.

    Attributes
    ----------
    name : str
        Its name.
    weight : float
        How often it is made, relative to the others.
    last : int
        Of ``cycle(n)``: it is made at choice points 0 … n in turn.
    """

    name: str
    weight: float = 1.0
    last: int = 0

    def __str__(self) -> str:
        return f"cycle({self.last})" if self.name == "cycle" else self.name


def offered(names: Collection[str]) -> str:
    """The names that a person may give for a mixture, as a shell takes them."""
    return ", ".join(map(shlex.quote, _choices(names)))


def parse_mixture(
    what: str, spec: MixtureSpec, names: Collection[str], example: str, synonyms: Mapping[str, str] = NO_SYNONYMS
) -> tuple[Component, ...]:
    """The components that a person asked for.

    Parameters
    ----------
    what : str
        What the option is called, for errors.
    spec : str or mapping of str to float
        As for `parse_weights`.
    names : collection of str
        The valid names; one of them may be ``cycle(n)``, with any number in the place of n.
    example : str
        For errors: a mapping.
    synonyms : mapping of str to str
        Other names for some of them.
    """
    weights = parse_weights(what, spec, example)
    return tuple(_component(what, synonyms.get(text, text), weight, names) for text, weight in weights.items())


def parse_turns(spec: MixtureSpec, auto: Mapping[str, float], names: Collection[str], example: str) -> dict[str, float]:
    """Proposals with the number of turns of each; a mapping stands for ``"auto"``."""
    weights = parse_weights("proposal", auto if spec == "auto" else spec, example)
    for name in weights:
        if name not in names:
            raise unknown_choice("proposal", name, ("auto", *names))
    return weights


def parse_weights(what: str, spec: MixtureSpec, example: str) -> dict[str, float]:
    """Names with weights, from a name, from ``"a=2,b=1"`` or from a mapping."""
    if isinstance(spec, str):
        parts = [part.partition("=") for part in spec.split(",")]
        if len({name.strip() for name, _, _ in parts}) < len(parts):
            raise InputError(f"{what} {spec!r}: a name appears twice; add its weights up")
        spec = {name.strip(): _number(what, weight) if equals else 1.0 for name, equals, weight in parts}
    if not isinstance(spec, Mapping) or not spec:
        raise InputError(f"{what} {spec!r}: give a name, or names with weights such as {example}")
    for name, weight in spec.items():
        if not is_number(weight) or not 0 < weight < float("inf"):
            raise InputError(f"{what} {name!r} has weight {weight!r}: choose a positive number, or leave it out")
    return {name: float(weight) for name, weight in spec.items()}


def _choices(names: Collection[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(("auto", *names)))


def _component(what: str, text: str, weight: float, names: Collection[str]) -> Component:
    match = re.fullmatch(r"(\w+)(?:\((\d{1,9})\))?", str(text), re.ASCII)
    if not match or (f"{match[1]}(n)" if match[2] else match[1]) not in names:
        raise unknown_choice(what, text, _choices(names))
    return Component(match[1], weight, int(match[2] or 0))


def _number(what: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{what}: {text!r} is not a weight; write NAME=NUMBER") from None
