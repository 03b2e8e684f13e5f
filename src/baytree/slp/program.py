"""Stochastic logic programs: what a person knows, as a distribution over models."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, overload

from .. import _core
from ..data.design import Design
from ..data.files import read_text
from ..data.to_core import native_design, vocabulary
from ..errors import InputError
from ..knowledge import Constraint, Knowledge
from ..trees.forest import Forest
from ..trees.prior_samples import PriorDraws
from ..validation import is_number, require_whole, seed_of, unknown_choice
from .kernels import KernelSpec, Semantics, parse_kernel
from .problems import Problem, check, problems_of, require_readable
from .proof import Call, Proof
from .terms import Term, model_of

SHIPPED = Path(__file__).parent / "programs"
SEMANTICS = ("backtrack", "reject")
MOST_PROOFS = 200_000
# Constraints of which a second statement would not mean that both hold.
STATED_ONCE = ("max_depth", "max_leaves", "interaction")


@dataclass(frozen=True)
class Limits:
    """What one proof may cost; a program that needs more ends with an error that names its goals.

    Attributes
    ----------
    steps : int
        Calls and visits to parts of terms.
    depth : int
        Goals that wait for one another.
    memory : int
        Bytes.
    """

    steps: int = 10_000_000
    depth: int = 1_000_000
    memory: int = 256 * 2**20

    def __post_init__(self) -> None:
        for name in ("steps", "depth", "memory"):
            value = getattr(self, name)
            if not is_number(value) or value % 1 or not 1 <= value < 2**31 * (1 if name == "depth" else 2**20):
                raise InputError(f"{name}={value!r}: choose a positive whole number")

    def native(self) -> _core.Limits:
        """The limits as the core takes them."""
        return _core.Limits(int(self.steps), int(self.depth), int(self.memory))


@dataclass(frozen=True)
class Estimate:
    """A probability.

    Attributes
    ----------
    value : float
        The probability.
    error : float
        Its Monte Carlo standard error; 0 where it is exact.
    exact : bool
        Whether it was found by enumeration.
    """

    value: float
    error: float
    exact: bool

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.6g}" if self.exact else f"{self.value:.6g} ± {self.error:.2g}"


@dataclass(frozen=True)
class Program:
    """A stochastic logic program.

    Running a goal once, choosing among rules by their labels, draws a model. What distribution that is depends on what
    happens when a choice leads nowhere:

    ``backtrack``
        the choice is taken back and made again among the alternatives left, most recent choice first [1]_:
        P(proof) = Π p / A, with A the share of a choice's options that lead to a proof
    ``reject``
        all is drawn anew: P(proof) is the product of the choices' probabilities, given that there is a proof

    Where nothing fails the two agree.

    Parameters
    ----------
    text : str
        The program.
    file : str
        Its name, for messages.
    semantics : {"backtrack", "reject"}
        See above.
    limits : Limits
        What one proof may cost.

    References
    ----------
    .. [1] Angelopoulos and Cussens (2005), Exploiting informative priors for Bayesian classification and regression
       trees, IJCAI, 641–646.

    Examples
    --------
    >>> coin = Program("0.7 : side(heads). 0.3 : side(tails).")
    >>> [(side, round(p, 3)) for side, p in coin.enumerate("side(X)")]
    [('heads', 0.7), ('tails', 0.3)]
    """

    text: str
    file: str = "program"
    semantics: Semantics = "backtrack"
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.semantics not in SEMANTICS:
            raise unknown_choice("semantics", self.semantics, SEMANTICS)
        require_readable(check(self.text, file=self.file))

    def __and__(self, known: Constraint | Knowledge) -> Program:
        """The program with its text followed by the facts that state the knowledge."""
        if not isinstance(known, (Constraint, Knowledge)):
            return NotImplemented
        facts = (Knowledge() & known).facts()
        if not facts:
            return self
        stated = _prepared(self.text, "true", self.file).predicates
        for name in STATED_ONCE:
            if f"{name}/1" in stated and re.search(rf"^{name}\(", facts, re.MULTILINE):
                raise InputError(f"{self.file}: states {name}/1 already; change it there, or leave it out here")
        return replace(self, text=f"{self.text.removesuffix(chr(10))}\n{facts}")

    def warnings(self) -> list[Problem]:
        """What is probably not meant, as `baytree slp check` finds it."""
        return check(self.text, file=self.file)

    # ---- drawing --------------------------------------------------------------------------------------------------

    @overload
    def sample(self, goal: str, n: int = 1, seed: int = 0, data: Design | None = None) -> list[Any]: ...
    @overload
    def sample(self, goal: Design, n: int = 1000, seed: int | None = None) -> PriorDraws: ...

    def sample(
        self, goal: str | Design, n: int | None = None, seed: int | None = None, data: Design | None = None
    ) -> list[Any] | PriorDraws:
        """Draw independent models.

        Parameters
        ----------
        goal : str or Design
            What to prove, such as ``"cart(T)"``; any body of a rule. A design stands for the goal ``cart(T)`` about it:
            ``program.sample(design, n)`` draws trees as `GrowTree.sample` does.
        n : int, optional
            How many; by default 1, and of trees 1,000.
        seed : int, optional
            The same seed gives the same draws; 0 by default, and for trees a random one, kept in the result.
        data : Design, optional
            The table that the program asks about.

        Returns
        -------
        list or PriorDraws
            The values of the goal's only variable; where it has several or none, dictionaries by name. Of a design: the
            trees.
        """
        if isinstance(goal, Design):
            return self.sample_trees("cart(T)", goal, 1000 if n is None else n, seed)
        n, seed = 1 if n is None else n, seed or 0
        self._require_possible(goal)
        prover = self._prover(goal, data)
        drawn = prover.sample(n, seed, 100_000)
        self._show(prover)
        return [model_of(self._native(goal).goal_variables, values) for values, _ in drawn]

    def sample_trees(self, goal: str, design: Design, n: int, seed: int | None) -> PriorDraws:
        """Draw independent trees, which a goal gives to its first variable."""
        require_whole("n", n, 1)
        self.for_trees(design)
        seed = seed_of(seed)
        prover = self._prover(goal, design)
        forest = prover.sample_trees(n, seed, 100_000, goal == self.tree_goal)
        self._show(prover)
        return PriorDraws(design.schema, Forest(**forest), seed)

    def proof(self, goal: str, seed: int = 0, data: Design | None = None) -> Proof:
        """Draw one proof, with its choices.

        Parameters
        ----------
        goal, seed, data
            As for `sample`.
        """
        self._require_possible(goal)
        prover = self._prover(goal, data)
        prover.prove(seed)
        log_probability, answer = prover.log_probability, prover.text()
        calls = [
            Call(
                parent=parent,
                goal=called,
                head=proved,
                line=line,
                probability=probability if choice >= 0 else None,
                alternatives=options,
                choice=choice if choice >= 0 else None,
            )
            for parent, called, proved, line, choice, options, probability in prover.trace()
        ]
        self._show(prover)
        return Proof(goal=goal, answer=answer, calls=tuple(calls), log_probability=log_probability)

    # ---- probabilities --------------------------------------------------------------------------------------------

    def enumerate(self, goal: str, data: Design | None = None) -> list[tuple[Any, float]]:
        """All models with their probabilities, most probable first; those of several proofs are summed.

        Parameters
        ----------
        goal, data
            As for `sample`.
        """
        found = self._enumerate(goal, data)
        if found is None:
            raise InputError(
                f"{goal}: there are more than {MOST_PROOFS:,} proofs, or proofs of more than 1,000 choices: "
                "too many to list; use sample"
            )
        return sorted(found.values(), key=lambda pair: -pair[1])

    def _enumerate(self, goal: str, data: Design | None) -> dict[str, tuple[Any, float]] | None:
        prover = self._prover(goal, data)
        answers, probabilities, complete = prover.enumerate(MOST_PROOFS)
        self._show(prover)
        if not complete:
            return None
        names = self._native(goal).goal_variables
        summed: dict[str, tuple[Any, float]] = {}
        for (values, text, _), probability in zip(answers, probabilities, strict=True):
            _, before = summed.get(text, (None, 0.0))
            summed[text] = (model_of(names, values), before + probability)
        return summed

    def probability(
        self, event: str, given: str | None = None, n: int = 100_000, seed: int = 0, data: Design | None = None
    ) -> Estimate:
        """The probability that an event holds of a model.

        Parameters
        ----------
        event : str
            A goal that makes no random choice, such as ``"X = a"``, about the variables of `given`; or, without
            `given`, an instance of a goal, such as ``"s(a, Y)"``.
        given : str, optional
            The goal that draws the model; by default that of the event with its arguments left open.
        n : int
            Where the models cannot be enumerated: how many to draw.
        seed, data
            As for `sample`.

        Returns
        -------
        Estimate
            Exact where the models can be enumerated, else with a standard error.
        """
        if given is None:
            given, event = _generalised(event)
        goal = f"({given}), (({event}) -> Holds_ = yes ; Holds_ = no)"
        names = self._native(goal).goal_variables
        place = names.index("Holds_")
        try:
            answers, probabilities, complete = self._prover(goal, data).enumerate(MOST_PROOFS)
        except InputError:  # one proof without end, or outcomes without number
            complete = False
        if complete:
            if not probabilities:
                raise InputError(f"{given}: the goal fails, so nothing can be said given it")
            held = (p for (values, _, _), p in zip(answers, probabilities, strict=True) if values[place] == "yes")
            return Estimate(math.fsum(held), 0.0, True)
        drawn = self._prover(goal, data).sample(n, seed, 100_000)
        share = sum(values[place] == "yes" for values, _ in drawn) / n
        return Estimate(share, math.sqrt(share * (1 - share) / n), False)

    # ---- chains ---------------------------------------------------------------------------------------------------

    def explain(self, goal: str) -> str:
        """Say which kernels are exact for a goal, which one a chain uses, and why.

        Parameters
        ----------
        goal : str
            As for `sample`.
        """
        from .explanation import explain

        return explain(self._native(goal), self.semantics)

    def posterior(
        self,
        goal: str,
        log_likelihood: Callable[[Any], float] | None = None,
        *,
        draws: int = 1000,
        warmup: int = 1000,
        thin: int = 1,
        chains: int = 4,
        seed: int | None = None,
        kernel: KernelSpec = "auto",
        power: float = 1.0,
        progress: bool = True,
    ) -> Any:
        """Draw models from P(model) · L(model)^power by a Markov chain over proofs.

        Parameters
        ----------
        goal : str
            As for `sample`.
        log_likelihood : callable, optional
            The log-likelihood of a model, as `sample` gives models; −inf where it is impossible. None for the prior.
        draws, warmup, thin, chains, seed, progress
            As for `baytree.sample`.
        kernel : str or mapping
            See `baytree.slp.parse_kernel`.
        power : float
            The power of the likelihood.

        Returns
        -------
        ProgramPosterior
        """
        from .posterior import draw_posterior

        return draw_posterior(
            self, goal, log_likelihood, draws, warmup, thin, chains, seed, parse_kernel(kernel), power, progress
        )

    def learn(
        self, observations: Mapping[str, int], goal: str, iterations: int = 1000, tolerance: float = 1e-10
    ) -> Program:
        """Fit the fixed labels to observed models by failure-adjusted maximisation.

        Parameters
        ----------
        observations : mapping of str to int
            How often each instance of the goal was seen, as ``{"s(a, p)": 4}``.
        goal : str
            The goal that draws a model, such as ``"s(X, Y)"``.
        iterations, tolerance
            When to stop: after so many rounds, or when no label changes by more than this.

        Returns
        -------
        Program
            The same program with the learnt labels.
        """
        from .learning import learn

        return learn(self, observations, goal, iterations, tolerance)

    # ---- as a prior over trees ------------------------------------------------------------------------------------

    @property
    def tree_goal(self) -> str:
        """The goal that derives a tree, with what max_leaves/1 and require/1 ask of it."""
        return self._goal("cart(T)")

    def _goal(self, goal: str) -> str:
        """A goal, and where it derives a tree, what the program asks of whole trees."""
        tree = re.fullmatch(r"\s*cart\(\s*([A-Z]\w*)\s*\)\s*\.?\s*", goal, re.ASCII)
        return f"cart({tree[1]}), '$whole'({tree[1]})" if tree and self._conditions() else goal

    def _require_possible(self, goal: str) -> None:
        if self._goal(goal) != goal and self.semantics == "backtrack":
            raise InputError(
                f"{self.file}: {' and '.join(sorted(self._conditions()))} can only be judged when a tree is complete; "
                "use semantics 'reject', as taking back one choice at a time would take for ever"
            )

    def _conditions(self) -> set[str]:
        """The constraints of the program that only a whole tree can meet."""
        return {"max_leaves/1", "require/1"} & set(_prepared(self.text, "true", self.file).predicates)

    @property
    def min_leaf(self) -> int:
        """The fewest rows a leaf may hold."""
        return self._native("true").min_leaf

    def for_trees(self, design: Design | None = None) -> _core.Program:
        """The program as a prior over trees, its constraints checked against the columns of a design."""
        if "cart/1" not in self._native("true").predicates:
            raise InputError(f"{self.file}: a prior over trees must define cart/1, which derives a tree: cart(T)")
        self._require_possible("cart(T)")
        native = self._native("cart(T)")
        if design is not None:
            require_readable(problems_of(native.problems_with(vocabulary(design.schema)), self.text, self.file))
        return native

    def to_dict(self) -> dict[str, Any]:
        """The program as JSON-safe values."""
        limits = {"steps": self.limits.steps, "depth": self.limits.depth, "memory": self.limits.memory}
        return {"kind": "program", "text": self.text, "file": self.file, "semantics": self.semantics, "limits": limits}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Program:
        """The program that `to_dict` described."""
        return cls(record["text"], record["file"], record["semantics"], Limits(**record["limits"]))

    # ---- the core's side ------------------------------------------------------------------------------------------

    def _native(self, goal: str) -> _core.Program:
        return _prepared(self.text, self._goal(goal), self.file)

    def _prover(self, goal: str, data: Design | None) -> _core.Prover:
        native = self._native(goal)
        names = vocabulary(None if data is None else data.schema)
        if data is not None:
            require_readable(problems_of(native.problems_with(names), self.text, self.file))
        design = None if data is None else native_design(data)
        return _core.Prover(native, getattr(_core.Semantics, self.semantics), self.limits.native(), Term, design, names)

    @staticmethod
    def _show(prover: Any) -> None:
        """Print what the program wrote."""
        sys.stdout.write(prover.take_output())


@lru_cache(maxsize=64)
def _prepared(text: str, goal: str, file: str) -> _core.Program:
    native = _core.Program(text, goal, file)
    require_readable(problems_of(native.problems, text, file, goal))
    return native


def _generalised(event: str) -> tuple[str, str]:
    """The goal of an event with its arguments left open, and the event about them."""
    parts = _core.head_arguments(event)
    if parts is None:
        raise InputError(f"{event}: give an instance of a goal, such as s(a, Y), or say given which goal")
    label, name, arguments = parts
    opened = [f"Open{number}_" for number in range(len(arguments))]
    goal = f"{label}{name}({', '.join(opened)})" if opened else f"{label}{name}"
    equal = [f"{variable} = {argument}" for variable, argument in zip(opened, arguments, strict=True)]
    return goal, ", ".join(equal) or "true"


def find(path: str | os.PathLike[str]) -> Path:
    """The file itself or, for a bare name that is no file here, the shipped program of that name."""
    found = Path(path)
    if not found.exists() and found.name == str(path) and (SHIPPED / found.name).is_file():
        return SHIPPED / found.name
    return found


def load(path: str | os.PathLike[str], semantics: Semantics = "backtrack", limits: Limits | None = None) -> Program:
    """Read a program from a file.

    Parameters
    ----------
    path : path
        The file. A bare name that is no file here is looked up among the shipped ones: ``growtree.slp``,
        ``edittree.slp``, ``boxes.slp``, ``network.slp``.
    semantics : {"backtrack", "reject"}
        What a failure means; see `Program`.
    limits : Limits, optional
        What one proof may cost.

    Returns
    -------
    Program
    """
    return Program(read_text(find(path)), str(path), semantics, limits or Limits())
