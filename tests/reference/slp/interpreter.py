"""Every proof of a small stochastic logic program with its probability, by exhaustive search.

This is the reference that the engine is held against, so it shares no code with it. A run of a goal is unfolded into a
tree: a *point* is a random choice with more than one alternative, a *fork* a deterministic one. The two semantics are
two ways of reading that tree.

- ``backtrack``: a fork is its first alternative under which anything succeeds, and an alternative of a point has the
  probability p / A, where A is the mass of those under which anything succeeds.
- ``reject``: a fork is its first alternative that reaches a point or succeeds; a proof has ψ / Z.

An *address* says where in the proof a goal stands: the way from the query down to it, in clause numbers and positions
in their bodies. So what lies under a goal has that goal's address as a prefix.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, cmp_to_key
from itertools import count
from typing import Literal, NamedTuple, cast

MOST_STEPS = 2_000_000

# ---- terms -----------------------------------------------------------------------------------------------------------


ARGUMENT = 999
"""Above this priority a term inside an argument list or a list needs parentheses."""


@dataclass(frozen=True, slots=True)
class Var:
    name: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Atom:
    name: str


@dataclass(frozen=True, slots=True)
class Struct:
    name: str
    args: tuple[Term, ...]


Term = Var | Atom | Struct | int | float
NIL = Atom("[]")

# name: (priority, the left operand's highest, the right operand's highest)
INFIX = {
    name: (priority, priority - (kind != "yfx"), priority - (kind != "xfy"))
    for kind, priority, names in [
        ("xfx", 1200, ":-"),
        ("xfy", 1100, "; |"),
        ("xfy", 1050, "->"),
        ("xfy", 1000, ","),
        ("xfx", 700, r"= \= == \== @< @> @=< @>= =.. is =:= =\= < > =< >="),
        ("xfy", 550, ":"),
        ("yfx", 500, "+ -"),
        ("xfx", 450, ".."),
        ("yfx", 400, "* / // mod rem"),
        ("xfx", 200, "**"),
        ("xfy", 200, "^"),
    ]
    for name in names.split()
}
PREFIX = {"\\+": (900, 900), "-": (200, 200), "+": (200, 200)}
SYNONYMS = {"::": ":", "##": ":"}

TOKEN = re.compile(
    r"""(?P<space>(?:\s|%[^\n]*|/\*.*?\*/)+)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<variable>[A-Z_]\w*)
    |(?P<atom>[a-z]\w*|\[\]|\{\})
    |'(?P<quoted>(?:[^'\\]|''|\\.)*)'
    |(?P<end>\.(?=\s|%|$))
    |(?P<punctuation>[()\[\]{},|])
    |(?P<sign>;|[-+*/\\^<>=~:.?@\#&$]+)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    spaced: bool
    """Whether space stands before it: ``f(`` is a call and ``f (`` is none, ``-1`` a number and ``- 1`` none."""


def tokens(text: str) -> list[Token]:
    found, at, spaced = [], 0, True
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise SyntaxError(f"cannot read {text[at : at + 20]!r}")
        kind, at = match.lastgroup, match.end()
        if kind != "space":
            found.append(Token(kind, match[kind], spaced))
        spaced = kind == "space"
    return found


def unquoted(text: str) -> str:
    escapes = {"n": "\n", "t": "\t", "\\": "\\", "'": "'"}
    return re.sub(r"''|\\(.)", lambda match: escapes[match[1]] if match[1] else "'", text, flags=re.DOTALL)


def list_term(items: Iterable[Term], tail: Term = NIL) -> Term:
    for item in reversed(list(items)):
        tail = Struct("[|]", (item, tail))
    return tail


class Reader:
    """An operator precedence parser; ``sentences`` reads a program and ``term`` one goal."""

    def __init__(self, text: str) -> None:
        self.tokens = tokens(text)
        self.at = 0
        self.anonymous = 0

    def peek(self) -> Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else Token("end", ".", True)

    def take(self, text: str | None = None) -> Token:
        token = self.peek()
        if text is not None and token.text != text:
            raise SyntaxError(f"expected {text} before {token.text}")
        self.at += 1
        return token

    def sentences(self) -> list[Term]:
        found = []
        while self.at < len(self.tokens):
            found.append(self.term())
            if self.take().kind != "end":
                raise SyntaxError("expected a full stop")
        return found

    def term(self, most: int = 1200) -> Term:
        left, priority = self.operand()
        while True:
            token = self.peek()
            name = SYNONYMS.get(token.text, token.text)
            if token.kind in ("end", "quoted", "number", "variable") or name not in INFIX:
                return left
            own, left_most, right_most = INFIX[name]
            if own > most or priority > left_most:
                return left
            self.take()
            left, priority = Struct(name, (left, self.term(right_most))), own

    def operand(self) -> tuple[Term, int]:
        """A term without an infix operator outside of brackets, and its priority."""
        token = self.take()
        if token.kind == "number":
            return number(token.text), 0
        if token.kind == "variable":
            self.anonymous += token.text == "_"
            return Var(f"_{self.anonymous}" if token.text == "_" else token.text), 0
        if token.text == "(":
            inside = self.term()
            self.take(")")
            return inside, 0
        if token.text == "[":
            items = self.arguments()
            tail: Term = NIL
            if self.peek().text == "|":
                self.take()
                tail = self.term(ARGUMENT)
            self.take("]")
            return list_term(items, tail), 0
        if token.kind not in ("atom", "quoted", "sign"):
            raise SyntaxError(f"a term is missing before {token.text}")
        name = unquoted(token.text) if token.kind == "quoted" else token.text
        following = self.peek()
        if following.text == "(" and not following.spaced:
            self.take()
            args = self.arguments()
            self.take(")")
            return Struct(name, tuple(args)), 0
        if name in PREFIX and token.kind != "quoted":
            if name == "-" and following.kind == "number" and not following.spaced:
                return -number(self.take().text), 0
            if following.kind in ("number", "variable", "atom", "quoted") or following.text in ("(", "[", "\\+", "-"):
                own, right_most = PREFIX[name]
                return Struct(name, (self.term(right_most),)), own
        return Atom(name), 0

    def arguments(self) -> list[Term]:
        found = [self.term(ARGUMENT)]
        while self.peek().text == ",":
            self.take()
            found.append(self.term(ARGUMENT))
        return found


def number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)


def variables(term: Term) -> list[Var]:
    """In the order of their first appearance."""
    if isinstance(term, Var):
        return [term]
    if isinstance(term, Struct):
        return list(dict.fromkeys(v for arg in term.args for v in variables(arg)))
    return []


# ---- writing ---------------------------------------------------------------------------------------------------------


def atom_text(name: str) -> str:
    if re.fullmatch(r"[a-z]\w*|\[\]|\{\}|;|[-+*/\\^<>=~:.?@#&$]+", name):
        return name
    escaped = name.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def number_text(value: int | float) -> str:
    if isinstance(value, int):
        return str(value)
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def joined(left: str, sign: str, right: str) -> str:
    """Words are kept apart by spaces, and so is a sign that would run into the sign on its right."""
    if sign.isalpha():
        return f"{left} {sign} {right}"
    apart = " " if right[0] in "-+*/\\^<>=~:.?@#&$" and sign != "," else ""
    return f"{left}{sign}{apart}{right}"


def write(term: Term, most: int = 1200, names: Mapping[Var, str] | None = None) -> str:
    """Standard Prolog text without spaces behind commas; unbound variables are _1, _2, … as they appear."""
    if names is None:
        names = {variable: f"_{i + 1}" for i, variable in enumerate(variables(term))}
    if isinstance(term, Var):
        return names[term]
    if isinstance(term, int | float):
        return number_text(term)
    if isinstance(term, Atom):
        return atom_text(term.name)
    if term.name == "[|]" and len(term.args) == 2:
        items: list[str] = []
        tail: Term = term
        while isinstance(tail, Struct) and tail.name == "[|]":
            items.append(write(tail.args[0], ARGUMENT, names))
            tail = tail.args[1]
        return f"[{','.join(items)}{'' if tail == NIL else '|' + write(tail, ARGUMENT, names)}]"
    if len(term.args) == 2 and term.name in INFIX:
        own, left, right = INFIX[term.name]
        text = joined(write(term.args[0], left, names), term.name, write(term.args[1], right, names))
        return f"({text})" if own > most else text
    if len(term.args) == 1 and term.name in PREFIX:
        own, right = PREFIX[term.name]
        [arg] = term.args
        text = f"- {write(arg)}" if isinstance(arg, int | float) else joined("", term.name, write(arg, right, names))
        return f"({text})" if own > most else text
    return f"{atom_text(term.name)}({','.join(write(arg, ARGUMENT, names) for arg in term.args)})"


# ---- bindings --------------------------------------------------------------------------------------------------------


Bindings = dict[Var, Term]


class ProgramFault(Exception):
    """A program that does what it may not, such as comparing unbound variables."""


def walk(term: Term, bindings: Bindings) -> Term:
    while isinstance(term, Var) and term in bindings:
        term = bindings[term]
    return term


def resolve(term: Term, bindings: Bindings) -> Term:
    term = walk(term, bindings)
    if isinstance(term, Struct):
        return Struct(term.name, tuple(resolve(arg, bindings) for arg in term.args))
    return term


def unify(left: Term, right: Term, bindings: Bindings) -> Bindings | None:
    after = dict(bindings)
    waiting = [(left, right)]
    while waiting:
        a, b = (walk(side, after) for side in waiting.pop())
        if a is b:
            continue
        if isinstance(a, Var):
            if a != b:
                after[a] = b
        elif isinstance(b, Var):
            after[b] = a
        elif isinstance(a, Struct) and isinstance(b, Struct):
            if a.name != b.name or len(a.args) != len(b.args):
                return None
            waiting.extend(zip(a.args, b.args, strict=True))
        elif type(a) is not type(b) or a != b:
            return None
    return after


def items_of(term: Term, bindings: Bindings) -> list[Term]:
    found, tail = [], walk(term, bindings)
    while isinstance(tail, Struct) and tail.name == "[|]":
        found.append(tail.args[0])
        tail = walk(tail.args[1], bindings)
    if tail != NIL:
        raise ProgramFault(f"no list: {write(resolve(term, bindings))}")
    return found


# ---- builtins --------------------------------------------------------------------------------------------------------


Number = int | float

LIBRARY = """
member(X, [X|_]).
member(X, [_|T]) :- member(X, T).
append([], L, L).
append([H|T], L, [H|R]) :- append(T, L, R).
nth0(I, L, X) :- nth_from(L, 0, I, X).
nth1(I, L, X) :- nth_from(L, 1, I, X).
nth_from([X|_], I, I, X).
nth_from([_|T], I, J, X) :- K is I + 1, nth_from(T, K, J, X).
"""


def quotient(x: Number, y: Number) -> Number:
    whole = isinstance(x, int) and isinstance(y, int) and x % y == 0
    return x // y if whole else x / y


def truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf}
FUNCTIONS: dict[tuple[str, int], Callable[..., Number]] = {
    ("-", 1): operator.neg,
    ("+", 1): operator.pos,
    ("abs", 1): abs,
    ("exp", 1): math.exp,
    ("log", 1): math.log,
    ("sqrt", 1): math.sqrt,
    ("floor", 1): math.floor,
    ("ceiling", 1): math.ceil,
    ("round", 1): lambda x: math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1),
    ("+", 2): operator.add,
    ("-", 2): operator.sub,
    ("*", 2): operator.mul,
    ("/", 2): quotient,
    ("//", 2): truncated,
    ("mod", 2): operator.mod,
    ("rem", 2): lambda x, y: x - y * truncated(x, y),
    ("**", 2): operator.pow,
    ("^", 2): operator.pow,
    ("exp", 2): operator.pow,
    ("min", 2): min,
    ("max", 2): max,
}


def evaluate(term: Term, bindings: Bindings) -> Number:
    term = walk(term, bindings)
    if isinstance(term, int | float):
        return term
    if isinstance(term, Atom) and term.name in CONSTANTS:
        return CONSTANTS[term.name]
    if isinstance(term, Struct) and (term.name, len(term.args)) in FUNCTIONS:
        return FUNCTIONS[term.name, len(term.args)](*(evaluate(arg, bindings) for arg in term.args))
    raise ProgramFault(f"no number: {write(term)}")


def whole(term: Term, bindings: Bindings) -> int:
    number = evaluate(term, bindings)
    if not isinstance(number, int):
        raise ProgramFault(f"no whole number: {write(number)}")
    return number


def name_of(term: Term) -> str:
    if not isinstance(term, Atom):
        raise ProgramFault(f"no name: {write(term)}")
    return term.name


def compare(a: Term, b: Term) -> int:
    """Standard order: variables, numbers, names, compound terms by arity, name and arguments."""

    def rank(term: Term) -> int:
        return (
            0 if isinstance(term, Var) else 1 if isinstance(term, int | float) else 2 if isinstance(term, Atom) else 3
        )

    def order(x, y) -> int:
        return (x > y) - (x < y)

    if rank(a) != rank(b):
        return order(rank(a), rank(b))
    if isinstance(a, Struct) and isinstance(b, Struct):
        by_shape = order((len(a.args), a.name), (len(b.args), b.name))
        by_args = (compare(x, y) for x, y in zip(a.args, b.args, strict=True))
        return by_shape or next((found for found in by_args if found), 0)
    if isinstance(a, int | float) and isinstance(b, int | float):
        return order(a, b) or order(isinstance(a, int), isinstance(b, int))
    assert not isinstance(a, int | float) and not isinstance(b, int | float)
    return order((a.name, getattr(a, "number", 0)), (b.name, getattr(b, "number", 0)))


def test(holds: Callable[..., bool]) -> Callable[..., list[Bindings]]:
    return lambda bindings, *args: [bindings] if holds(*(resolve(arg, bindings) for arg in args)) else []


def numeric(holds: Callable[[Number, Number], bool]) -> Callable[..., list[Bindings]]:
    return test(lambda x, y: holds(evaluate(x, {}), evaluate(y, {})))


def ordered(holds: Callable[[int, int], bool]) -> Callable[..., list[Bindings]]:
    return test(lambda x, y: holds(compare(x, y), 0))


def found(out: Term, value: Term, bindings: Bindings) -> list[Bindings]:
    after = unify(out, value, bindings)
    return [] if after is None else [after]


def over_list(combine: Callable[[list[Number]], Number]) -> Callable[..., list[Bindings]]:
    def builtin(bindings: Bindings, items: Term, out: Term) -> list[Bindings]:
        values = [evaluate(item, bindings) for item in items_of(items, bindings)]
        return found(out, combine(values), bindings) if values or combine is sum else []

    return builtin


def between(bindings: Bindings, low: Term, high: Term, out: Term) -> list[Bindings]:
    values = range(whole(low, bindings), whole(high, bindings) + 1)
    return [after for value in values for after in found(out, value, bindings)]


def length(bindings: Bindings, items: Term, out: Term) -> list[Bindings]:
    number, known, tail = walk(out, bindings), 0, walk(items, bindings)
    while isinstance(tail, Struct) and tail.name == "[|]":
        known, tail = known + 1, walk(tail.args[1], bindings)
    if tail == NIL:
        return found(out, known, bindings)
    if not isinstance(number, int):
        raise ProgramFault("length/2 of a list without an end")
    missing = [Var(f"item {i} of {tail}") for i in range(number - known)]
    return found(tail, list_term(missing), bindings) if number >= known else []


def functor(bindings: Bindings, term: Term, name: Term, arity: Term) -> list[Bindings]:
    term = walk(term, bindings)
    if isinstance(term, Var):
        label, number = walk(name, bindings), whole(arity, bindings)
        made = Struct(name_of(label), tuple(Var(f"arg {i} of {term}") for i in range(number))) if number else label
        return found(term, made, bindings)
    shape = (Atom(term.name), len(term.args)) if isinstance(term, Struct) else (term, 0)
    return [after for named in found(name, shape[0], bindings) for after in found(arity, shape[1], named)]


def arg(bindings: Bindings, position: Term, term: Term, out: Term) -> list[Bindings]:
    term = walk(term, bindings)
    if not isinstance(term, Struct):
        raise ProgramFault(f"no compound term: {write(term)}")
    args = enumerate(term.args, start=1)
    return [after for i, each in args for at in found(position, i, bindings) for after in found(out, each, at)]


def univ(bindings: Bindings, term: Term, out: Term) -> list[Bindings]:
    term = walk(term, bindings)
    if isinstance(term, Var):
        name, *args = (walk(item, bindings) for item in items_of(out, bindings))
        return found(term, Struct(name_of(name), tuple(args)) if args else name, bindings)
    return found(out, list_term([Atom(term.name), *term.args] if isinstance(term, Struct) else [term]), bindings)


def msort(bindings: Bindings, items: Term, out: Term) -> list[Bindings]:
    resolved = [resolve(item, bindings) for item in items_of(items, bindings)]
    return found(out, list_term(sorted(resolved, key=cmp_to_key(compare))), bindings)


def succeed(bindings: Bindings, *_: Term) -> list[Bindings]:
    return [bindings]


def fail(_: Bindings) -> list[Bindings]:
    return []


BUILTINS: dict[tuple[str, int], Callable[..., list[Bindings]]] = {
    ("true", 0): succeed,
    ("write", 1): succeed,
    ("nl", 0): succeed,
    ("format", 1): succeed,
    ("format", 2): succeed,
    ("fail", 0): fail,
    ("false", 0): fail,
    ("is", 2): lambda bindings, out, value: found(out, evaluate(value, bindings), bindings),
    ("=:=", 2): numeric(operator.eq),
    ("=\\=", 2): numeric(operator.ne),
    ("<", 2): numeric(operator.lt),
    (">", 2): numeric(operator.gt),
    ("=<", 2): numeric(operator.le),
    (">=", 2): numeric(operator.ge),
    ("=", 2): lambda bindings, left, right: found(left, right, bindings),
    ("\\=", 2): test(lambda left, right: unify(left, right, {}) is None),
    ("==", 2): ordered(operator.eq),
    ("\\==", 2): ordered(operator.ne),
    ("@<", 2): ordered(operator.lt),
    ("@>", 2): ordered(operator.gt),
    ("@=<", 2): ordered(operator.le),
    ("@>=", 2): ordered(operator.ge),
    ("atom", 1): test(lambda term: isinstance(term, Atom)),
    ("number", 1): test(lambda term: isinstance(term, int | float)),
    ("var", 1): test(lambda term: isinstance(term, Var)),
    ("nonvar", 1): test(lambda term: not isinstance(term, Var)),
    ("ground", 1): test(lambda term: not variables(term)),
    ("between", 3): between,
    ("length", 2): length,
    ("functor", 3): functor,
    ("arg", 3): arg,
    ("=..", 2): univ,
    ("msort", 2): msort,
    ("sum_list", 2): over_list(sum),
    ("max_list", 2): over_list(max),
    ("min_list", 2): over_list(min),
}


# ---- runs ------------------------------------------------------------------------------------------------------------


Semantics = Literal["backtrack", "reject"]
Address = tuple[int, ...]


class Choice(NamedTuple):
    """A point of a proof and the option taken: the number of the clause, or of the list's item, from 0."""

    address: Address
    option: int
    probability: float
    alternatives: int


class Proof(NamedTuple):
    answer: str
    choices: tuple[Choice, ...]
    probability: float


@dataclass(frozen=True)
class Clause:
    label: Term | None
    label_variables: Term | None
    head: Term
    guard: Term | None
    body: Term


Goals = tuple[Term, Address, "Goals"] | None
"""A goal, its address, and the goals behind it."""


@dataclass(frozen=True)
class Alternatives:
    """A deterministic step: the states that follow it, in the order of the program."""

    states: list[tuple[Goals, Bindings]]


@dataclass(frozen=True)
class Draw:
    """A random step: option, probability and the state that follows."""

    options: list[tuple[int, float, Goals, Bindings]]


@dataclass(frozen=True)
class Success:
    answer: Term
    alive: bool = True


@dataclass(frozen=True)
class Fork:
    children: list[Node]

    @property
    def alive(self) -> bool:
        return self.children[-1].alive


@dataclass(frozen=True, eq=False)
class Point:
    address: Address
    goal: Term
    bindings: Bindings
    options: list[tuple[int, float, Node | None]]

    @property
    def alive(self) -> bool:
        return self.mass > 0

    @cached_property
    def mass(self) -> float:
        """A(v): the probability of the alternatives under which anything succeeds."""
        return math.fsum(p for _, p, node in self.options if node is not None and node.alive)


Node = Success | Fork | Point


@dataclass(frozen=True)
class Path:
    """A proof as a way down the tree; ``steps`` are the probabilities of its choices by the semantics' own law."""

    answer: Term
    points: tuple[Point, ...]
    choices: tuple[Choice, ...]
    steps: tuple[float, ...]

    @property
    def psi(self) -> float:
        return math.prod(choice.probability for choice in self.choices)


def conjuncts(body: Term) -> list[Term]:
    found = []
    while isinstance(body, Struct) and body.name == "," and len(body.args) == 2:
        found.append(body.args[0])
        body = body.args[1]
    return [*found, body]


def push(body: Term, address: Address, rest: Goals) -> Goals:
    for i, goal in reversed(list(enumerate(conjuncts(body)))):
        rest = (goal, (*address, i), rest)
    return rest


def clause_of(sentence: Term) -> Clause:
    head, body, guard = sentence, cast(Term, Atom("true")), None
    if isinstance(head, Struct) and head.name == ":-":
        head, body = head.args
    if isinstance(head, Struct) and head.name == "|":
        head, guard = head.args
    label = label_variables = None
    if isinstance(head, Struct) and head.name == ":":
        label, head = head.args
        if isinstance(head, Struct) and head.name == ":":
            label_variables, head = head.args
    return Clause(label, label_variables, head, guard, body)


def key_of(goal: Term) -> tuple[str, int]:
    if isinstance(goal, Atom):
        return goal.name, 0
    if isinstance(goal, Struct):
        return goal.name, len(goal.args)
    raise ProgramFault(f"no goal: {write(goal)}")


class Machine:
    """One program, and the steps that its goals take."""

    def __init__(self, text: str) -> None:
        self.clauses: dict[tuple[str, int], list[Clause]] = {}
        for source in (text, LIBRARY):
            own = [clause_of(sentence) for sentence in Reader(source).sentences()]
            shadowed = set(self.clauses)
            for clause in own:
                if key_of(clause.head) not in shadowed:
                    self.clauses.setdefault(key_of(clause.head), []).append(clause)
        self.fresh = count(1)
        self.steps = 0

    def search(self, goal: Term, goals: Goals, bindings: Bindings) -> Node | None:
        """The tree of all runs; None where every run fails without a point.

        A fork ends with its first alternative that is alive: no semantics ever tries the ones behind it.
        """
        while goals is not None:
            term, address, _ = goals
            step = self.step(goals, bindings)
            if isinstance(step, Draw):
                options = [(option, p, self.search(goal, then, after)) for option, p, then, after in step.options]
                return Point(address, resolve(term, bindings), bindings, options)
            if len(step.states) != 1:
                children: list[Node] = []
                for state in step.states:
                    child = self.search(goal, *state)
                    if child is not None:
                        children.append(child)
                        if child.alive:
                            break
                return Fork(children) if children else None
            [(goals, bindings)] = step.states
        return Success(resolve(goal, bindings))

    def solutions(self, goal: Term, bindings: Bindings) -> Iterator[Bindings]:
        """The solutions of a goal that may make no random choice."""
        waiting: list[tuple[Goals, Bindings]] = [(push(goal, (), None), bindings)]
        while waiting:
            goals, bindings = waiting.pop()
            if goals is None:
                yield bindings
                continue
            step = self.step(goals, bindings)
            if isinstance(step, Draw):
                raise ProgramFault(f"a random choice where none may be: {write(resolve(goals[0], bindings))}")
            waiting.extend(reversed(step.states))

    def step(self, goals: tuple[Term, Address, Goals], bindings: Bindings) -> Alternatives | Draw:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise ProgramFault("too many steps")
        goal, address, rest = walk(goals[0], bindings), *goals[1:]
        labels: Term | None = None
        if isinstance(goal, Struct) and goal.name == ":" and len(goal.args) == 2:
            labels, goal = goal.args[0], walk(goal.args[1], bindings)
        key = key_of(goal)
        args = goal.args if isinstance(goal, Struct) else ()
        if key in self.clauses:
            return self.call(goal, labels, address, rest, bindings)
        if key in BUILTINS:
            return Alternatives([(rest, after) for after in BUILTINS[key](bindings, *args)])
        match key:
            case (",", 2):
                return Alternatives([(push(goal, address, rest), bindings)])
            case (";", 2) if isinstance(first := walk(args[0], bindings), Struct) and first.name == "->":
                chosen = next(self.solutions(first.args[0], bindings), None)
                if chosen is None:
                    return Alternatives([(push(args[1], (*address, 1), rest), bindings)])
                return Alternatives([(push(first.args[1], (*address, 0), rest), chosen)])
            case (";", 2):
                return Alternatives([(push(arg, (*address, i), rest), bindings) for i, arg in enumerate(args)])
            case ("->", 2):
                chosen = next(self.solutions(args[0], bindings), None)
                return Alternatives([] if chosen is None else [(push(args[1], (*address, 0), rest), chosen)])
            case ("once", 1):
                chosen = next(self.solutions(args[0], bindings), None)
                return Alternatives([] if chosen is None else [(rest, chosen)])
            case ("\\+", 1):
                fails = next(self.solutions(args[0], bindings), None) is None
                return Alternatives([(rest, bindings)] if fails else [])
            case ("findall", 3):
                found = [self.renamed(resolve(args[0], each)) for each in self.solutions(args[1], bindings)]
                after = unify(args[2], list_term(found), bindings)
                return Alternatives([] if after is None else [(rest, after)])
            case ("uniform", 2):
                weighted = [(i, 1.0, item) for i, item in enumerate(items_of(args[0], bindings))]
                return self.choose(weighted, args[1], rest, bindings)
            case ("choose", 2):
                weighted = []
                for i, item in enumerate(items_of(args[0], bindings)):
                    pair = walk(item, bindings)
                    if not (isinstance(pair, Struct) and pair.name == "-" and len(pair.args) == 2):
                        raise ProgramFault(f"choose/2 takes pairs Weight-Item, not {write(pair)}")
                    weighted.append((i, evaluate(pair.args[0], bindings), pair.args[1]))
                return self.choose(weighted, args[1], rest, bindings)
        raise ProgramFault(f"unknown predicate {key[0]}/{key[1]}")

    def choose(
        self, weighted: list[tuple[int, float, Term]], out: Term, rest: Goals, bindings: Bindings
    ) -> Alternatives | Draw:
        """One of the items that unify with the result, as labelled facts would be chosen."""
        matching = [(i, w, unify(out, item, bindings)) for i, w, item in weighted if w > 0]
        return drawn([(i, w, rest, after) for i, w, after in matching if after is not None])

    def call(
        self, goal: Term, labels: Term | None, address: Address, rest: Goals, bindings: Bindings
    ) -> Alternatives | Draw:
        clauses = self.clauses[key_of(goal)]
        labelled = {clause.label is not None for clause in clauses}
        if len(labelled) > 1:
            raise ProgramFault(f"labelled and unlabelled clauses for {write(goal)}")
        applicable = []
        for i, clause in enumerate(clauses):
            applied = self.apply(clause, goal, labels, bindings)
            if applied is not None:
                weight, body, after = applied
                applicable.append((i, weight, push(body, (*address, i), rest), after))
        if labelled == {True}:
            return drawn(applicable)
        return Alternatives([(goals, after) for _, _, goals, after in applicable])

    def apply(
        self, clause: Clause, goal: Term, labels: Term | None, bindings: Bindings
    ) -> tuple[float, Term, Bindings] | None:
        """The label, body and bindings of a clause that unifies, has a positive label and passes its guard."""
        number = next(self.fresh)
        after: Bindings | None = unify(goal, rename(clause.head, number), bindings)
        if after is not None and clause.label_variables is not None:
            if labels is None:
                raise ProgramFault(f"label variables are missing: {write(goal)}")
            after = unify(labels, rename(clause.label_variables, number), after)
        if after is None:
            return None
        weight = 1.0 if clause.label is None else evaluate(rename(clause.label, number), after)
        if weight <= 0:
            return None
        if clause.guard is not None:
            after = next(self.solutions(rename(clause.guard, number), after), None)
        return None if after is None else (weight, rename(clause.body, number), after)

    def renamed(self, term: Term) -> Term:
        return rename(term, next(self.fresh)) if variables(term) else term


def drawn(applicable: list[tuple[int, float, Goals, Bindings]]) -> Alternatives | Draw:
    """Normalised over what is applicable; one alternative is no choice."""
    if len(applicable) < 2:
        return Alternatives([(goals, after) for _, _, goals, after in applicable])
    total = math.fsum(weight for _, weight, *_ in applicable)
    return Draw([(option, weight / total, goals, after) for option, weight, goals, after in applicable])


def rename(term: Term, number: int) -> Term:
    if isinstance(term, Var):
        return Var(f"{term.name}/{term.number}", number)
    if isinstance(term, Struct):
        return Struct(term.name, tuple(rename(arg, number) for arg in term.args))
    return term


# ---- reading the tree -----------------------------------------------------------------------------------------------


def paths(node: Node | None, semantics: Semantics) -> Iterator[Path]:
    """The proofs under a node, in the order of the options."""
    if node is None or not node.alive:
        return
    if isinstance(node, Success):
        yield Path(node.answer, (), (), ())
    elif isinstance(node, Fork):
        # Every alternative but the last is dead, and the first one has reached a point or succeeded.
        yield from paths(node.children[-1 if semantics == "backtrack" else 0], semantics)
    else:
        mass = node.mass if semantics == "backtrack" else 1.0
        for option, p, child in node.options:
            choice = Choice(node.address, option, p, len(node.options))
            for below in paths(child, semantics):
                yield Path(below.answer, (node, *below.points), (choice, *below.choices), (p / mass, *below.steps))


def unfold(text: str, goal: str) -> tuple[Machine, Node | None]:
    """The tree of all runs of a goal, and the machine to search on from its points."""
    machine, term = Machine(text), Reader(goal).term()
    return machine, machine.search(term, push(term, (), None), {})


def weighted(tree: Node | None, semantics: Semantics) -> list[tuple[Path, float]]:
    """The proofs of a tree and their probabilities, which sum to 1."""
    found = list(paths(tree, semantics))
    if semantics == "backtrack":
        return [(path, math.prod(path.steps)) for path in found]
    total = math.fsum(path.psi for path in found)
    return [(path, path.psi / total) for path in found]


def proofs(text: str, goal: str, semantics: Semantics) -> list[Proof]:
    """Every proof of a goal: its instance, its choices in the order they were made, and its probability."""
    return [Proof(write(path.answer), path.choices, p) for path, p in weighted(unfold(text, goal)[1], semantics)]


def success_probability(text: str, goal: str) -> float:
    """Z: how likely a run succeeds that never backtracks over a random choice."""
    return math.fsum(path.psi for path in paths(unfold(text, goal)[1], "reject"))


def model_of(goal: str, answer: str) -> str:
    """The value of the goal's only named variable; the whole instance where it has several or none."""
    term = Reader(goal).term()
    named = [variable for variable in variables(term) if not variable.name.startswith("_")]
    bindings = unify(term, Reader(answer).term(), {})
    assert bindings is not None, "an answer is an instance of its goal"
    return write(resolve(named[0], bindings)) if len(named) == 1 else answer


def models(text: str, goal: str, semantics: Semantics) -> dict[str, float]:
    """The probability of each model, summed over its proofs, most probable first."""
    total: dict[str, float] = {}
    for proof in proofs(text, goal, semantics):
        model = model_of(goal, proof.answer)
        total[model] = total.get(model, 0.0) + proof.probability
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
