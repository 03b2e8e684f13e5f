"""Stochastic logic programs: what a person knows, as a distribution over models."""

from __future__ import annotations

import atexit
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, overload

from .. import _core
from ..data.design import Design, require_design
from ..data.to_core import native_design, vocabulary
from ..errors import InputError
from ..knowledge import Constraint, Knowledge
from ..mcmc.mixtures import MixtureSpec
from ..trees.prior_samples import PriorDraws
from ..validation import require_whole, seed_of, unknown_choice
from .estimates import Estimate, probability
from .limits import MOST_ATTEMPTS, MOST_PROOFS, Limits
from .problems import Problem, check, problems_of, require_readable
from .proof import Call, Proof
from .proposals import SEMANTICS, Semantics, parse_proposal
from .terms import Term, model_of

# Constraints of which a second statement would not mean that both hold.
STATED_ONCE = ("max_depth", "max_leaves", "interaction")


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
        _require_text("text", self.text, "the text of a program; slp.load reads a file")
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
            from .tree_prior import sample_trees

            return sample_trees(self, "cart(T)", goal, 1000 if n is None else n, seed)
        n, seed = 1 if n is None else n, seed_of(seed or 0)
        require_whole("n", n, 1)
        self._require_possible(goal)
        prover = self.prover(goal, data)
        drawn = prover.sample(n, seed, MOST_ATTEMPTS)
        self.show(prover)
        return [model_of(self.native(goal).goal_variables, values) for values, _ in drawn]

    def proof(self, goal: str, seed: int = 0, data: Design | None = None) -> Proof:
        """Draw one proof, with its choices.

        Parameters
        ----------
        goal, seed, data
            As for `sample`.
        """
        self._require_possible(goal)
        prover = self.prover(goal, data)
        prover.prove(seed_of(seed))
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
        self.show(prover)
        return Proof(goal=goal, answer=answer, calls=tuple(calls), log_probability=log_probability)

    # ---- probabilities --------------------------------------------------------------------------------------------

    def enumerate(self, goal: str, data: Design | None = None) -> list[tuple[Any, float]]:
        """All models with their probabilities, most probable first; those of several proofs are summed.

        Parameters
        ----------
        goal, data
            As for `sample`.
        """
        prover = self.prover(goal, data)
        answers, probabilities, complete = prover.enumerate(MOST_PROOFS)
        self.show(prover)
        if not complete:
            raise InputError(
                f"{goal}: there are more than {MOST_PROOFS:,} proofs, or proofs of more than 1,000 choices: "
                "too many to list; use sample"
            )
        names = self.native(goal).goal_variables
        found: dict[str, tuple[Any, float]] = {}
        for (values, text, _), share in zip(answers, probabilities, strict=True):
            _, before = found.get(text, (None, 0.0))
            found[text] = (model_of(names, values), before + share)
        return sorted(found.values(), key=lambda pair: -pair[1])

    def probability(
        self, event: str, given: str | None = None, n: int = MOST_ATTEMPTS, seed: int = 0, data: Design | None = None
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
        return probability(self, event, given, n, seed, data)

    # ---- chains ---------------------------------------------------------------------------------------------------

    def explain(self, goal: str) -> str:
        """Say which proposals are exact for a goal, which one a chain uses, and why.

        Parameters
        ----------
        goal : str
            As for `sample`.
        """
        from .explanation import explain

        return explain(self.native(goal), self.semantics)

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
        proposal: MixtureSpec = "auto",
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
        proposal : str or mapping
            See `baytree.slp.parse_proposal`.
        power : float
            The power of the likelihood.

        Returns
        -------
        ProgramPosterior
        """
        from .posterior import draw_posterior

        return draw_posterior(
            self, goal, log_likelihood, draws, warmup, thin, chains, seed, parse_proposal(proposal), power, progress
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
        _require_text("goal", goal, "what to prove, such as 'cart(T)'")
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
        return self.native("true").min_leaf

    def for_trees(self, design: Design | None = None) -> _core.Program:
        """The program as a prior over trees, its constraints checked against the columns of a design."""
        if "cart/1" not in self.native("true").predicates:
            raise InputError(f"{self.file}: a prior over trees must define cart/1, which derives a tree: cart(T)")
        self._require_possible("cart(T)")
        native = self.native("cart(T)")
        if design is not None:
            self._require_fitting(native, vocabulary(design.schema))
        return native

    def describe(self) -> str:
        """The program as a prior, in a sentence."""
        return f"Prior: the program {self.file}; where a choice fails: {self.semantics}"

    def to_dict(self) -> dict[str, Any]:
        """The program as JSON-safe values."""
        limits = {"steps": self.limits.steps, "depth": self.limits.depth, "memory": self.limits.memory}
        return {"kind": "program", "text": self.text, "file": self.file, "semantics": self.semantics, "limits": limits}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Program:
        """The program that `to_dict` described."""
        return cls(record["text"], record["file"], record["semantics"], Limits(**record["limits"]))

    # ---- the core's side ------------------------------------------------------------------------------------------

    def native(self, goal: str) -> _core.Program:
        """The program with a goal, as the core takes them."""
        return _prepared(self.text, self._goal(goal), self.file)

    def prover(self, goal: str, data: Design | None) -> _core.Prover:
        """What proves a goal, about a table where one is given."""
        native = self.native(goal)
        if data is not None:
            require_design(data)
        names = vocabulary(None if data is None else data.schema)
        if data is not None:
            self._require_fitting(native, names)
        design = None if data is None else native_design(data)
        return _core.Prover(native, getattr(_core.Semantics, self.semantics), self.limits.native(), Term, design, names)

    def _require_fitting(self, native: _core.Program, names: _core.Vocabulary) -> None:
        """Refuse a program that asks about columns or levels that a table does not have."""
        require_readable(problems_of(native.problems_with(names), self.text, self.file))

    @staticmethod
    def show(prover: Any) -> None:
        """Print what the program wrote."""
        sys.stdout.write(prover.take_output())


def _require_text(name: str, value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{name}={value!r}: give {what}")


@lru_cache(maxsize=64)
def _prepared(text: str, goal: str, file: str) -> _core.Program:
    native = _core.Program(text, goal, file)
    require_readable(problems_of(native.problems, text, file, goal))
    return native


# What is still kept when Python ends, nanobind reports as a leak.
atexit.register(_prepared.cache_clear)
