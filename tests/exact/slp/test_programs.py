"""Small programs that say themselves what they should answer, in the comments they begin with.

A comment reads like a session with Prolog: a goal behind ``?-``, and indented below it what is expected.

    % ?- colour(C).
    %    0.7  red
    %    0.3  blue

Each line of the expectation is one of

``0.7  red``
    an answer and its probability, which may be a quotient such as 1/3: the value of the goal's only variable or, where
    it has several, ``X = a, Y = b``. Below a line ``backtrack  reject`` there are two probabilities, one for each
    semantics, ``-`` where there is no such answer; else both semantics must agree.
``yes``, ``no``
    the goal, which has no variables, can be proved; no proof exists
``in turn  [a, b]``
    all that a deterministic search finds, in this order (``X-Y`` of a goal with two variables)
``always  red``
    what every draw gives, of a program whose proofs cannot be listed
``writes  a\\n``
    what is printed
``error  line 7: not defined``
    a part of the error's message, with its line in the file, behind ``goal:`` where it is in the goal, or alone
``limits  depth=100``
    what a proof may cost
``engine only  why``
    the reference interpreter cannot run it; everything else is compared with that, too
``known bug  what``
    the engine does not do so yet
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from baytree.errors import InputError
from baytree.slp import Limits, Program, Term
from reference.slp import interpreter
from reference.slp.interpreter import Atom, Reader, Struct, Var, list_term, rename, resolve, unify, variables, write

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.slp"))
SEMANTICS: tuple[interpreter.Semantics, ...] = ("backtrack", "reject")
DRAWS = 1000
SIGMAS = 5

Answers = dict[str, float]


@dataclass
class Expectation:
    """What a goal of a program should give."""

    file: Path
    goal: str
    answers: dict[str, Answers] | None = None
    in_turn: str | None = None
    always: str | None = None
    errors: list[str] = field(default_factory=list)
    output: str | None = None
    limits: dict[str, int] = field(default_factory=dict)
    bug: str | None = None
    columns: int = 1
    has_reference: bool = True

    def add(self, line: str) -> None:
        """Take in one line of the comment."""
        word, _, rest = line.partition("  ")
        rest = rest.strip()
        match word:
            case "backtrack":
                self.columns = 2
            case "yes":
                self.answers = {semantics: {"yes": 1.0} for semantics in SEMANTICS}
            case "no":
                self.answers = {semantics: {} for semantics in SEMANTICS}
            case "in turn":
                self.in_turn = canonical(rest)
            case "always":
                self.always = canonical(rest)
            case "writes":
                self.output = rest.replace("\\n", "\n")
            case "error":
                self.errors.append(rest)
            case "limits":
                self.limits = {name: int(value) for name, value in (pair.split("=") for pair in rest.split())}
            case "engine only":
                self.has_reference = False
            case "known bug":
                self.bug = rest
            case _:
                *numbers, answer = re.split(r"\s+", line, maxsplit=self.columns)
                self.answers = self.answers or {semantics: {} for semantics in SEMANTICS}
                for semantics, number in zip(SEMANTICS, numbers * (2 // self.columns), strict=True):
                    if number != "-":
                        self.answers[semantics][expected_answer(self.goal, answer)] = float(Fraction(number))


def canonical(text: str) -> str:
    """A term as the reference writes it, whatever its spaces."""
    return write(Reader(text).term())


def expected_answer(goal: str, text: str) -> str:
    """An answer as `answer_text` writes it."""
    if len(goal_variables(goal)) == 1:
        return canonical(text)
    equations: list[Any] = interpreter.conjuncts(Reader(text).term())
    return answer_text({variable.name: value for variable, value in (equation.args for equation in equations)})


def expectations(file: Path) -> Iterator[Expectation]:
    """The goals of a file, in its first comment."""
    current = None
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("%"):
            break
        if line.startswith("% ?- "):
            if current:
                yield current
            current = Expectation(file, line.removeprefix("% ?- ").strip().removesuffix("."))
        elif current and line.startswith("%    "):
            current.add(line.removeprefix("%").strip())
    assert current, f"{file.name} has no goal"
    yield current


def cases() -> Iterator[Any]:
    for file in PROGRAMS:
        for number, expected in enumerate(expectations(file), 1):
            marks = [pytest.mark.xfail(reason=expected.bug, strict=True)] if expected.bug else []
            yield pytest.param(expected, id=f"{file.stem}-{number}", marks=marks)


# ---- what the engine says -------------------------------------------------------------------------------------------


def to_term(value: Any) -> interpreter.Term:
    """A Python value as a term of the reference."""
    if isinstance(value, list):
        return list_term(map(to_term, value))
    if isinstance(value, Term) and value.name == "|":
        items, tail = value.args
        return list_term(map(to_term, items), to_term(tail))
    if isinstance(value, Term):
        return Struct(value.name, tuple(map(to_term, value.args)))
    if isinstance(value, str):
        return Var(value) if re.fullmatch(r"_\d+", value) else Atom(value)
    return value


def answer_text(values: dict[str, interpreter.Term]) -> str:
    """An answer as the comments write it."""
    if len(values) == 1:
        return write(next(iter(values.values())))
    equations: list[interpreter.Term] = [Struct("=", (Var(name), value)) for name, value in values.items()]
    names = {variable: variable.name for variable in variables(list_term(equations)) if variable.name in values}
    unbound = (variable for variable in variables(list_term(equations)) if variable not in names)
    names |= {variable: f"_{number}" for number, variable in enumerate(unbound, 1)}
    return ",".join(write(equation, names=names) for equation in equations) or "yes"


def engine_answer(goal: str, model: Any) -> str:
    names = goal_variables(goal)
    return answer_text(
        {name: to_term(value) for name, value in ({names[0]: model} if len(names) == 1 else model).items()}
    )


@cache
def goal_variables(goal: str) -> list[str]:
    """Those with a name, in the order of their first appearance; the engine reads more than the reference does."""
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", goal)
    return list(dict.fromkeys(re.findall(r"(?<!\w)[A-Z]\w*", unquoted)))


def gathering(goal: str) -> str:
    """The goal that finds all answers of a deterministic one."""
    return f"findall({' - '.join(goal_variables(goal))}, ({goal}), InTurn)"


def program_of(expected: Expectation, semantics: interpreter.Semantics) -> Program:
    text = expected.file.read_text(encoding="utf-8")
    return Program(text, expected.file.name, semantics, Limits(**expected.limits))


def reference_values(expected: Expectation, goal: str, semantics: interpreter.Semantics) -> Iterator[tuple[Any, float]]:
    """What each proof makes of the goal's variables, and its probability."""
    asked = Reader(goal).term()
    _, tree = interpreter.unfold(expected.file.read_text(encoding="utf-8"), goal)
    for path, probability in interpreter.weighted(tree, semantics):
        bindings = unify(asked, rename(path.answer, 1), {})
        assert bindings is not None, "an answer is an instance of its goal"
        yield {name: resolve(Var(name), bindings) for name in goal_variables(goal)}, probability


# ---- tests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("expected", list(cases()))
def test_program(expected: Expectation, semantics: interpreter.Semantics, capsys: pytest.CaptureFixture[str]) -> None:
    if expected.errors:
        check_error(expected, semantics)
    if expected.in_turn is not None:
        check_in_turn(expected, semantics)
    if expected.always is not None:
        drawn = program_of(expected, semantics).sample(expected.goal, DRAWS, seed=1)
        assert {engine_answer(expected.goal, model) for model in drawn} == {expected.always}
    if expected.answers is not None:
        check_answers(expected, expected.answers[semantics], semantics, capsys)


def check_error(expected: Expectation, semantics: interpreter.Semantics) -> None:
    with pytest.raises(InputError) as raised:
        program_of(expected, semantics).enumerate(expected.goal)
    message = str(raised.value)
    for error in expected.errors:
        place, _, part = error.partition(": ")
        file = re.escape(expected.file.name)
        if place == "goal":
            assert re.search(rf"^(goal:\d+:\d+|{file}): .*{re.escape(part)}", message, re.MULTILINE), message
        elif re.fullmatch(r"line \d+", place):
            number = place.removeprefix("line ")
            assert re.search(rf"^{file}:{number}:\d+: .*{re.escape(part)}", message, re.MULTILINE), message
        else:
            assert error in message


def check_in_turn(expected: Expectation, semantics: interpreter.Semantics) -> None:
    goal = gathering(expected.goal)
    [(model, probability)] = program_of(expected, semantics).enumerate(goal)
    assert probability == 1.0
    assert write(to_term(model["InTurn"])) == expected.in_turn
    if expected.has_reference:
        [(values, _)] = reference_values(expected, goal, semantics)
        assert write(values["InTurn"]) == expected.in_turn


def check_answers(
    expected: Expectation,
    answers: Answers,
    semantics: interpreter.Semantics,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = program_of(expected, semantics)
    models = program.enumerate(expected.goal)
    assert expected.output is None or capsys.readouterr().out == expected.output
    found = {engine_answer(expected.goal, model): p for model, p in models}
    assert found == pytest.approx(answers, abs=1e-9)
    assert len(models) == len(answers)
    assert [p for _, p in models] == sorted(found.values(), reverse=True)
    if expected.has_reference:
        total: Answers = {}
        for values, p in reference_values(expected, expected.goal, semantics):
            total[answer_text(values)] = total.get(answer_text(values), 0.0) + p
        assert total == pytest.approx(answers, abs=1e-9)
    if len(answers) > 1:
        draws = [engine_answer(expected.goal, model) for model in program.sample(expected.goal, DRAWS, seed=1)]
        assert set(draws) <= answers.keys()
        for answer, p in answers.items():
            assert abs(draws.count(answer) / DRAWS - p) <= SIGMAS * sqrt(p * (1 - p) / DRAWS), answer
    elif not answers and semantics == "backtrack":  # rejection would try a hundred thousand times
        with pytest.raises(InputError, match="fail"):
            program.sample(expected.goal, seed=1)


def test_there_are_a_hundred_programs() -> None:
    assert len(PROGRAMS) >= 100
