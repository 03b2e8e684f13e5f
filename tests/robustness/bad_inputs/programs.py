"""Logic programs, their goals and their limits that cannot be used."""

# What is given is of a wrong type on purpose.
# mypy: disable-error-code="arg-type,call-overload,return-value"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import baytree as bt
from baytree.slp import Limits, Program

from .case import Case
from .given import X, drawn, fitted, trees

InputError, FileError = bt.InputError, bt.FileError
COIN = "0.7 : side(heads). 0.3 : side(tails)."
LOOP = "p(X) :- p(X)."
MANY = "0.5 : n(z). 0.5 : n(s(X)) :- n(X)."
SMALL = Limits(steps=10_000, depth=1_000, memory=2**20)
NAN = float("nan")


def program(text: Any, **options: Any) -> Callable[[], Any]:
    """Read a program."""
    return lambda: Program(text, **options)


def sample(goal: Any, text: str = COIN, n: Any = 1, seed: Any = 0, **options: Any) -> Callable[[], Any]:
    """Draw models from a program."""
    return lambda: Program(text, **options).sample(goal, n, seed)


def impossible() -> Any:
    """A posterior in which nothing is possible."""
    return Program(COIN).posterior("side(X)", lambda _: -float("inf"), draws=2, warmup=2, progress=False)


PROGRAMS = [
    # ---- texts ----------------------------------------------------------------------------------------------------
    Case("a rule without its full stop", program("p(a)"), InputError, "full stop"),
    Case("a bracket that is not closed", program("p(a."), InputError, "error"),
    Case("a bracket that was not opened", program("p a)."), InputError, "error"),
    Case("a quote that never ends", program("p('a)."), InputError, "error"),
    Case("a comment that never ends", program("/* p(a)."), InputError, "error"),
    Case("labels past 1 are weights", lambda: Program("1.5 : p(a). 1.5 : p(b).").probability("p(a)").value == 0.5),
    Case("a probability below 0", program("-0.5 : p(a)."), InputError, "error"),
    Case("a label that is a word", program("half : p(a)."), InputError, "error"),
    Case("a number for a head", program("3 :- q."), InputError, "error"),
    Case("a variable for a head", program("X :- q."), InputError, "error"),
    Case("a predicate that nothing defines", sample("p(X)", "p(X) :- q(X)."), InputError, "q/1"),
    Case("a built-in defined anew", program("append(X, Y, Z). X is Y :- p."), InputError, "error"),
    Case("a NUL", program("p(a\0)."), InputError, "error"),
    Case("control characters", program("p(\x1b[2J)."), InputError, "error"),
    Case("brackets a hundred thousand deep", program("p(" * 100_000), InputError, "deep"),
    Case("lists a hundred thousand deep", program("p(" + "[" * 100_000 + "]" * 100_000 + ")."), InputError, "deep"),
    Case("a number of a thousand digits", program("p(" + "9" * 1000 + ")."), InputError, "error"),
    Case("a program that is a number", program(3), InputError, "text=3"),
    Case("a program of bytes", program(b"p(a)."), InputError, "text="),
    Case("no program", lambda: bt.slp.load("absent.slp"), FileError, "absent.slp"),
    Case("a folder for a program", lambda: bt.slp.load("."), FileError, "."),
    Case("a number for a file", lambda: bt.slp.load(3), InputError, "3: give the name of a file"),
    Case("semantics that are none", program(COIN, semantics="lazy"), InputError, "no semantics 'lazy'"),
    # ---- goals ----------------------------------------------------------------------------------------------------
    Case("a goal that is no text", sample(3), InputError, "goal"),
    Case("an empty goal", sample(""), InputError, "error"),
    Case("half a goal", sample("side("), InputError, "error"),
    Case("a goal that nothing defines", sample("coin(X)"), InputError, "coin/1"),
    Case("a goal that cannot hold", sample("side(edge)"), InputError, "no choice leads to a proof"),
    Case("no models", sample("side(X)", n=0), InputError, "n=0"),
    Case("less than no models", sample("side(X)", n=-1), InputError, "n=-1"),
    Case("models in words", sample("side(X)", n="many"), InputError, "n='many'"),
    Case("a negative seed", sample("side(X)", seed=-1), InputError, "seed=-1"),
    Case("a seed in words", sample("side(X)", seed="one"), InputError, "seed='one'"),
    Case(
        "a table that is none",
        lambda: Program(COIN).sample("side(X)", data=X),
        InputError,
        "a Design is needed, not ndarray",
    ),
    # ---- limits ---------------------------------------------------------------------------------------------------
    Case("a proof that never ends", sample("p(X)", LOOP, limits=SMALL), InputError, "p"),
    Case(
        "a proof that never ends, anew and anew",
        sample("p(X)", LOOP, limits=SMALL, semantics="reject"),
        InputError,
        "p",
    ),
    Case(
        "more proofs than can be listed",
        lambda: Program(MANY, limits=SMALL).enumerate("n(X)"),
        InputError,
        "n(X)",
        slow=True,
    ),
    Case(
        "a goal that hardly ever holds",
        sample("side(X), X = edge", semantics="reject"),
        InputError,
        "100000 times in a row",
    ),
    Case("no steps", lambda: Limits(steps=0), InputError, "steps=0"),
    Case("a depth of NaN", lambda: Limits(depth=NAN), InputError, "depth=nan"),
    Case("memory in words", lambda: Limits(memory="1 GB"), InputError, "memory='1 GB'"),
    # ---- probabilities, posteriors, learning ----------------------------------------------------------------------
    Case(
        "an event that is no goal", lambda: Program(COIN).probability("side("), InputError, "give an instance of a goal"
    ),
    Case(
        "a posterior of no draws",
        lambda: Program(COIN).posterior("side(X)", draws=0, progress=False),
        InputError,
        "draws=0",
    ),
    Case("a posterior by no kernel", lambda: Program(COIN).posterior("side(X)", proposal="gibbs"), InputError, "gibbs"),
    Case(
        "a likelihood that is NaN",
        lambda: Program(COIN).posterior("side(X)", lambda _: NAN, progress=False),
        InputError,
        "nan",
    ),
    Case(
        "a likelihood that is text",
        lambda: Program(COIN).posterior("side(X)", lambda _: "high", progress=False),
        InputError,
        "log_likelihood gave 'high'",
    ),
    Case(
        "a likelihood that is no function",
        lambda: Program(COIN).posterior("side(X)", 3, progress=False),
        InputError,
        "log_likelihood=3",
    ),
    Case(
        "nothing that is possible",
        lambda: impossible().log_likelihood.shape == (4, 2),
        None,
        "has not found a possible model",
    ),
    Case("nothing to learn from", lambda: Program(COIN).learn({}, "side(X)"), InputError, "observations"),
    Case(
        "a negative count",
        lambda: Program(COIN).learn({"side(heads)": -1}, "side(X)"),
        InputError,
        "give how often each instance was seen",
    ),
    Case(
        "what cannot be observed", lambda: Program(COIN).learn({"side(edge)": 1}, "side(X)"), InputError, "side(edge)"
    ),
    # ---- as priors ------------------------------------------------------------------------------------------------
    Case(
        "a prior that derives no tree", lambda: fitted(model=bt.CART(Program(COIN))), InputError, "must define cart/1"
    ),
    Case(
        "a tree of a program that asks no column",
        lambda: drawn(trees(), bt.CART(Program("cart(leaf). forbid(z)."))),
        InputError,
        "z",
    ),
    Case(
        "a program that derives no tree but another",
        lambda: fitted(model=bt.CART(Program("cart(oak)."))),
        InputError,
        "oak",
    ),
    Case(
        "a depth that is stated twice",
        lambda: Program("cart(leaf). max_depth(2).") & bt.MaxDepth(3),
        InputError,
        "states max_depth/1 already",
    ),
    Case(
        "leaves that are limited with backtracking",
        lambda: fitted(model=bt.CART(bt.slp.load("growtree.slp") & bt.MaxLeaves(3))),
        InputError,
        "use semantics 'reject'",
    ),
]
