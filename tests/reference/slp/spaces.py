"""Small programs with finitely many proofs, and which kernels are exact on each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from reference.slp.interpreter import Semantics

BOTH: tuple[Semantics, ...] = ("backtrack", "reject")


@dataclass(frozen=True)
class Space:
    """A program and a goal.

    ``agree`` says whether the two semantics give the same distribution, as they do where no run fails. ``subtree`` and
    ``pressing`` name the semantics under which that way of exchanging a subtree is exact: it is under ``backtrack``
    where failure and labels are local, and under ``reject`` where labels are and every failure is outside of what is
    redrawn, but neither is in general.
    """

    name: str
    text: str
    goal: str
    agree: bool
    remark: str
    subtree: tuple[Semantics, ...] = ()
    pressing: tuple[Semantics, ...] = ()

    def log_likelihood(self, model: str) -> float:
        """Anything between −2 and 2, the same for the same model text on every machine."""
        digest = hashlib.sha256(f"{self.name}: {model}".encode()).digest()
        return int.from_bytes(digest[:4], "big") / 2**32 * 4 - 2

    def exact_kernels(self, semantics: Semantics) -> set[str]:
        """The kernels that keep the space's distribution, likelihood off or on."""
        exact = {"independent"}
        if semantics == "backtrack" or self.agree:
            exact |= {"sequence", "cycle sequence"}
        if semantics == "reject" or self.agree:
            exact.add("address")
        if semantics in self.subtree:
            exact |= {"subtree", "cycle subtree"}
        if semantics in self.pressing:
            exact.add("pressing subtree")
        return exact


TREE = """
0.5 : tree(D, leaf).
0.5 : tree(D, node(X, L, R)) | D < 2 :- attribute(X), D1 is D + 1, tree(D1, L), tree(D1, R).
0.7 : attribute(a).
0.3 : attribute(b).
leaves(leaf, 1).
leaves(node(_, L, R), N) :- leaves(L, A), leaves(R, B), N is A + B.
"""

SPACES = (
    Space(
        "words",
        """
word([X|Y]) :- letter(X), tail(Y).
0.5 : tail([]).
0.3 : tail([X]) :- letter(X).
0.2 : tail([X, Y]) :- letter(X), letter(Y).
0.5 : letter(a).
0.3 : letter(b).
0.2 : letter(c).
""",
        "word(W)",
        agree=True,
        remark="Nothing fails and nothing is read again, so every kernel is exact.",
        subtree=BOTH,
        pressing=BOTH,
    ),
    Space(
        "figure 2",
        """
1 - 1/D : [D] : cart(leaf).
1/D : [D] : cart(Split-[L,R]) | D < 3 :-
    NewD is D+1, splt(Split),
    [NewD] : cart(L), [NewD] : cart(R).

0.4:splt(x1). 0.3:splt(x2). 0.3:splt(x3).
""",
        "[1] : cart(T)",
        agree=True,
        remark="Labels come from a label variable that is passed down: what is retained keeps its labels.",
        subtree=BOTH,
        pressing=BOTH,
    ),
    Space(
        "guards",
        """
start(A-B-C) :- level(3, A), level(A, B), level(B, C).
0.4 : level(N, 0).
0.3 : level(N, 1) | N >= 1.
0.2 : level(N, 2) | N >= 2.
0.1 : level(N, 3) | N >= 3.
""",
        "start(X)",
        agree=True,
        remark="The guards read what was chosen before: retained choices change their labels, or are choices no more.",
    ),
    Space(
        "read later",
        """
pair(X-Y-Z) :- first(X), weight(X, W), [W] : second(Y), third(X, Z).
0.5 : first(low).
0.3 : first(middle).
0.2 : first(high).
weight(low, 0.1).
weight(middle, 0.5).
weight(high, 0.8).
1 - W : [W] : second(no).
W : [W] : second(yes(V)) :- value(V).
0.6 : value(1).
0.4 : value(2).
third(low, none).
third(X, V) :- X \\== low, value(V).
""",
        "pair(T)",
        agree=True,
        remark="The outcome of first/1 sets the labels of second/1 and whether third/2 chooses at all.",
    ),
    Space(
        "without replacement",
        """
order([X, Y]) :- uniform([a, b, c, d], X), findall(Z, (member(Z, [a, b, c, d]), Z \\== X), Rest), more(Rest, Y).
0.5 : more(_, none).
0.5 : more(Rest, Y) :- uniform(Rest, Y).
""",
        "order(L)",
        agree=True,
        remark="A retained choice stands for another item when the list changes, with the same probability.",
        subtree=BOTH,
        pressing=BOTH,
    ),
    Space(
        "weights",
        """
bag(X/Y) :- choose([1-a, 2-b, 0-never, 3-c], X), bonus(X, B), choose([1-plain, B-double(Z), B*2-triple], Y), fill(Y).
bonus(a, 0).
bonus(b, 1).
bonus(c, 3).
fill(plain).
fill(double(Z)) :- choose([0.2-u, 0.8-v], Z).
fill(triple).
""",
        "bag(M)",
        agree=True,
        remark="choose/2 with computed weights: after a the second choice has one alternative and is none.",
    ),
    Space(
        "dead branches",
        """
both(A-B) :- tree(0, A), tree(1, B).
0.3 : tree(D, leaf).
0.4 : tree(D, node(L, R)) :- D < 2, D1 is D + 1, tree(D1, L), tree(D1, R).
0.2 : tree(D, lost(X)) :- side(X), D > 5.
0.1 : tree(D, odd(X)) :- 1 is D mod 2, side(X).
0.9 : side(l).
0.1 : side(r).
""",
        "both(T)",
        agree=False,
        remark="A rule dies of its own depth, whatever is chosen elsewhere: failure is local.",
        subtree=("backtrack",),
        pressing=("backtrack",),
    ),
    Space(
        "three leaves",
        "start(T) :- tree(0, T), leaves(T, N), N =< 3." + TREE,
        "start(T)",
        agree=False,
        remark="A check at the end of the program: which subtrees are alive depends on the rest of the tree.",
        subtree=("reject",),
    ),
    Space(
        "checked goal",
        TREE,
        "tree(0, T), leaves(T, N), N =< 3",
        agree=False,
        remark="The same check in the goal, which has two named variables: the model is the instance of the goal.",
        subtree=("reject",),
    ),
    Space(
        "search before",
        """
find(K-X-Y-Z) :- kind(K), member(X, [1, 2, 3]), X >= 2, draw(Y), accepted(K, X, Y), draw(Z).
0.5 : kind(a).
0.3 : kind(b).
0.2 : kind(c).
0.5 : draw(u).
0.3 : draw(v).
0.2 : draw(w).
accepted(a, 2, v).
accepted(a, 2, w).
accepted(b, 3, u).
accepted(b, 3, w).
accepted(c, 2, w).
""",
        "find(T)",
        agree=False,
        remark="Under b every draw fails with 2, and 3 is searched next, but only under backtrack: reject stops there.",
        subtree=("reject",),
        pressing=("reject",),
    ),
    Space(
        "search after",
        """
sum(X-Y-S) :- digit(X), more(Y), member(S, [1, 2, 4]), S > X + Y.
0.4 : digit(0).
0.3 : digit(1).
0.3 : digit(3).
0.5 : more(0).
0.5 : more(N) :- digit(N).
""",
        "sum(T)",
        agree=False,
        remark="The search behind the choices takes the first member that is large enough, and there may be none.",
        subtree=("reject",),
    ),
    Space(
        "uniform by recursion",
        """
two(X-Y) :- [4] : pick([a, b, c, d], X), allowed(X), [3] : pick([a, b, c], Y), allowed(Y).
1/N : [N] : pick([X|_], X).
1 - 1/N : [N] : pick([_|T], X) :- M is N - 1, [M] : pick(T, X).
allowed(a).
allowed(c).
allowed(d).
""",
        "two(P)",
        agree=False,
        remark="b is dead, and under backtrack its share goes to what the recursion would pick after it.",
        subtree=("reject",),
        pressing=("backtrack",),
    ),
    Space(
        "uniform at once",
        """
two(X-Y) :- uniform([a, b, c, d], X), allowed(X), uniform([a, b, c], Y), allowed(Y).
allowed(a).
allowed(c).
allowed(d).
""",
        "two(P)",
        agree=True,
        remark="The same choice, flat: the share of the dead b is spread evenly, so the semantics agree.",
        subtree=BOTH,
        pressing=BOTH,
    ),
    Space(
        "several proofs",
        """
total(S) :- die(A), extra(B), S is A + B.
0.5 : die(1).
0.3 : die(2).
0.2 : die(3).
0.4 : extra(0).
0.6 : extra(S) :- die(A), die(B), S is A + B.
""",
        "total(S)",
        agree=True,
        remark="The chain walks on proofs; a model's probability is the sum over its proofs.",
        subtree=BOTH,
        pressing=BOTH,
    ),
    Space(
        "unused",
        """
letter_after_noise(X) :- noise(_), letter(X).
0.5 : noise(quiet).
0.5 : noise(loud(A, B)) :- letter(A), noise_end(B).
0.7 : noise_end(x).
0.3 : noise_end(y(Z)) :- letter(Z).
0.5 : letter(a).
0.3 : letter(b).
0.2 : letter(c).
""",
        "letter_after_noise(X)",
        agree=True,
        remark="Choices that leave no trace in the model still count as points of the proof.",
        subtree=BOTH,
        pressing=BOTH,
    ),
)

BY_NAME = {space.name: space for space in SPACES}
