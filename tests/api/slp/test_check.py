"""The language of stochastic logic programs: what is read, and what is said about a wrong or doubtful text."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from baytree import _core
from baytree.cli import app
from baytree.errors import FileError
from baytree.slp import ProgramError, check, read_text, require_readable

FIGURE_1 = """%const_class_probs(boxname,var,min,max).
const_class_probs(box28,x2,-inf,127).
const_class_probs(box28,x8,-inf,28).

const_class_probs(box26,x2,128,inf).
const_class_probs(box26,x6,-inf,29.8).
"""

FIGURE_2 = """1 - 1/D : [D] : cart(leaf).
1/D : [D] : cart(Split-[L,R]) :-
    NewD is D+1, splt(Split),
    [NewD] : cart(L), [NewD] : cart(R).

0.4:splt(x1). 0.3:splt(x2). 0.3:splt(x3).
"""


def written(text: str) -> str:
    return _core.write_program(text).rstrip("\n")


def messages(text: str, goal: str = "") -> list[str]:
    return [f"{p.line}:{p.column}: {p.severity}: {p.message}" for p in check(text, goal=goal)]


# ---- reading --------------------------------------------------------------------------------------------------------


def test_the_figures_of_the_paper_are_read() -> None:
    assert check(FIGURE_1) == []
    assert messages(FIGURE_2, goal="cart/1") == [
        "1:1: warning: the label 1 - 1 / D can be negative, and then the clause is left out"
    ]
    assert written(FIGURE_2).splitlines()[1] == (
        "1 / D : [D] : cart(Split - [L, R]) :- NewD is D + 1, splt(Split), [NewD] : cart(L), [NewD] : cart(R)."
    )


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a:-b,c;d->e.", "a :- b, c ; d -> e."),
        ("a :- (b;c),d.", "a :- (b ; c), d."),
        ("X = 1+2*3-4.", "X = 1 + 2 * 3 - 4."),
        ("X = (1+2)*(3-4).", "X = (1 + 2) * (3 - 4)."),
        ("X = 1-(2-3).", "X = 1 - (2 - 3)."),
        ("X = 2^3^4.", "X = 2 ^ 3 ^ 4."),
        ("X = (2^3)^4.", "X = (2 ^ 3) ^ 4."),
        ("X = -1.", "X = -1."),
        ("X = - 1.", "X = - 1."),
        ("X = 3-1.", "X = 3 - 1."),
        ("X = a- -1.", "X = a - -1."),
        ("X = -(1).", "X = - 1."),
        ("p(-inf, inf).", "p(- inf, inf)."),
        ("p([a,b|T], [], [x]).", "p([a, b | T], [], [x])."),
        ("p('it''s', 'A', [], 'a b', 'n\\nl').", "p('it\\'s', 'A', [], 'a b', 'n\\nl')."),
        ('p("text").', "p(text)."),
        ("p(0'a, 0' , 0'\\n, 0'ü).", "p(97, 32, 10, 252)."),
        ("p(1.5e3, 1.0, 2e-3, 0.1).", "p(1500.0, 1.0, 0.002, 0.1)."),
        ("0.5::a. 0.5##a.", "0.5 : a.\n0.5 : a."),
        ("1/D : [D] : h(X) | X > D :- b.", "1 / D : [D] : h(X) | X > D :- b."),
        ("p(X, 1..X).", "p(X, 1 .. X)."),
        ("\\+ a, b.", "\\+ a, b."),
        ("\\+ (a, b).", "\\+ (a, b)."),
        ("p({a, b}).", "p({a, b})."),
        ("p(+, -).", "p((+), (-))."),
        ("p :- a, % comment, with. stops\n /* and\n /* another */ b.", "p :- a, b."),
        ("p(_, _, _X).", "p(_, _, _X)."),
        ("p.%", "p."),
    ],
)
def test_terms(text: str, canonical: str) -> None:
    assert written(text) == canonical
    assert written(canonical) == canonical


ATOMS = st.sampled_from(
    ["a", "leaf", "x1", "[]", "hello world", "it's", "+", "-", "is", ";", "\\", "ü", "Abc", "", "0"]
)
NUMBERS = st.integers(-(2**63) + 1, 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)


def quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


TERMS = st.recursive(
    ATOMS.map(quoted) | NUMBERS.map(repr) | st.sampled_from(["X", "Y", "_"]),
    lambda inner: st.one_of(
        st.tuples(ATOMS.map(quoted), st.lists(inner, min_size=1, max_size=3)).map(
            lambda t: f"{t[0]}({', '.join(t[1])})"
        ),
        st.tuples(inner, st.sampled_from(["+", "-", "*", ":", "=", ",", ";", ":-", "^", "**", "|"]), inner).map(
            lambda t: f"(({t[0]}) {t[1]} ({t[2]}))"
        ),
        st.tuples(st.sampled_from(["-", "+", "\\+"]), inner).map(lambda t: f"({t[0]} ({t[1]}))"),
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(f'({item})' for item in items)}]"),
    ),
    max_leaves=12,
)


@given(TERMS)
def test_what_is_written_is_read_back(term: str) -> None:
    once = written(f"{term}.")
    assert once
    assert written(once) == once
    assert not [p for p in check(once) if "expected" in p.message]


@given(st.text() | st.text(alphabet="ab XY_(),.[]{}|:-'\"0123%/*\\\n"))
def test_any_text_gets_an_answer(text: str) -> None:
    for problem in check(text):
        assert problem.line >= 1 and problem.column >= 1
        assert str(problem)


# ---- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(X :- q.", "1:5: error: expected ) before ':-', to close what line 1 opens"),
        ("p :- [a, b.", "1:11: error: expected ] before the full stop, to close what line 1 opens"),
        ("p :- .", "1:6: error: a term is missing before the full stop"),
        ("p(a,).", "1:5: error: a term is missing before ')'"),
        ("p q.", "1:3: error: expected an operator or the full stop of the clause before 'q'"),
        ("p :- a", "1:7: error: expected an operator or the full stop of the clause before the end of the file"),
        ("p('never closed).\nq.", "1:3: error: this quotation is never closed; end it with '"),
        ("/* never", "1:1: error: this comment is never closed; end it with */"),
        ("a = b = c.", "1:7: error: '=' does not bind this tightly; use parentheses"),
        ("p(`).", "1:3: error: this character means nothing here"),
        ("p('\\q').", "1:4: error: unknown character behind \\; a backslash itself is written \\\\"),
        (
            "p(99999999999999999999).",
            "1:3: error: 99999999999999999999 is too large a whole number; write it with a decimal point",
        ),
        ("p(1e999).", "1:3: error: 1e999 is too large or too small a number"),
        ("= a.", "1:1: error: '=' has nothing on its left"),
        (
            "3 :- a.",
            "1:1: error: the head of a clause must be a name with arguments, not a number, a variable or a list",
        ),
        (
            "X :- a.",
            "1:1: error: the head of a clause must be a name with arguments, not a number, a variable or a list",
        ),
        ("p :- 3.", "1:6: error: this is no goal: a goal is a name with arguments"),
        ("0.5 : d : p.", "1:7: error: the label's variables must be a list, as in  1/D : [D] : goal"),
        ("1/D : [d] : p.", "1:8: error: a label's variables begin with a capital letter"),
        ("1/D : p.", "1:3: error: the label uses D, which must be listed:  Label : [D] : goal"),
        ("p :- d : q.", "1:6: error: a goal with label variables is written  [E] : goal"),
        (":- dynamic(p).", "1:1: error: directives do nothing here; remove it"),
    ],
)
def test_syntax_errors(text: str, expected: str) -> None:
    found = messages(text)
    assert found, "no problem found"
    assert found[0].startswith(expected)


def test_all_errors_of_a_text_are_found() -> None:
    text = "p(X.\nfine(a).\nq :- .\n% ok\nr(a) s.\nfine(b).\n"
    assert [(p.line, p.column) for p in check(text)] == [(1, 4), (3, 6), (5, 6)]


def test_a_problem_shows_its_line() -> None:
    [problem] = check("ok(a).\n\tp(ü, X .\n", file="mine.slp")
    assert str(problem) == (
        "mine.slp:2:9: error: expected ) before the full stop, to close what line 2 opens\n  \tp(ü, X .\n  \t       ^"
    )


def test_errors_are_raised_together() -> None:
    problems = check("p(X.\nq :- .\n", file="mine.slp")
    with pytest.raises(ProgramError) as raised:
        require_readable(problems)
    assert len(raised.value.problems) == 2
    assert "mine.slp:1:4" in str(raised.value) and "mine.slp:2:6" in str(raised.value)
    require_readable(check(FIGURE_2))


# ---- warnings -------------------------------------------------------------------------------------------------------

LINTS = [
    ("0.5 : a. 0.6 : a.", ["1:7: warning: the labels of a/0 sum to 1.1, not to 1; they are divided by their sum"]),
    ("0.4 : a. 0.6 : a.", []),
    ("0.4 : p(a, x). 0.6 : p(a, y). 0.1 : p(b, x). 0.9 : p(b, y).", []),
    ("0.4 : p(X, x) | X > 0. 0.7 : p(X, y) | X < 0.", []),
    (
        "1/D : [D] : p. 2/D : [D] : p.",
        [
            "1:13: warning: the labels of p/0 sum to 3 where its variables are 1, not to 1",
        ],
    ),
    ("1/(1+D) : [D] : p. 1 - 1/(1+D) : [D] : p.", []),
    ("0.95*(1+D)**(-1) : [D] : p. 1 - 0.95*(1+D)**(-1) : [D] : p.", []),
    ("exp(1+D, -0.5) : [D] : p. 1 - exp(1+D, -0.5) : [D] : p.", []),
    ("D - 2 : [D] : p. 3 - D : [D] : p.", ["can be negative", "can be negative"]),
    ("-0.5 : p. 1.5 : p.", ["1:1: error: the label -0.5 is negative"]),
    ("0 : p. 1 : p.", ["1:1: warning: the label is 0: this clause is never used"]),
    ("foo : p.", ["1:1: error: the label foo is not arithmetic"]),
    (
        "0.5 : p. 0.5 : p. p.",
        ["1:19: warning: p/0 has clauses with labels and this one without; label all of them or none"],
    ),
    ("p(X, Y) :- q(X). q(_).", ["1:6: warning: variable Y occurs only once; is it misspelt? If not, write _Y"]),
    ("p(_Y).", []),
    ("p :- colur(a). colour(a).", ["1:6: error: colur/1 is not defined; did you mean colour/1?"]),
    ("p :- membr(X, [X]).", ["1:6: error: membr/2 is not defined; did you mean member/2?"]),
    ("p :- b.", ["1:6: error: b/0 is not defined"]),
    ("p :- \\+ once(b).", ["1:14: error: b/0 is not defined"]),
    ("p :- findall(X, q(X), _). q(1).", []),
    ("member(a, b).", ["1:1: error: member/2 is built in and cannot be defined; choose another name"]),
    ("max_depth(3). forbid(id). p :- root(N), split(N, _, _, L, R), node_size(L, _), node_size(R, _).", []),
    (
        "p :- q. q :- p. r.",
        ["p/0 is never reached", "q/0 is never reached", "p/0 calls itself", "q/0 calls itself"],
    ),
    ("p(X) :- p(X).", ["1:1: warning: p/1 calls itself first, with no label to decide otherwise: it may not end"]),
    ("p :- q. q :- p. r :- p.", ["p/0 calls itself first", "q/0 calls itself first"]),
    ("0.5 : p :- p. 0.5 : p.", []),
    ("p(0). p(X) :- X > 0, Y is X - 1, p(Y).", []),
]


@pytest.mark.parametrize(("text", "expected"), LINTS)
def test_lints(text: str, expected: list[str]) -> None:
    found = messages(text)
    assert len(found) == len(expected), found
    for part in expected:
        assert any(part in message for message in found), part


def test_goal_decides_what_is_reached() -> None:
    text = "p :- q. q. r."
    assert messages(text) == []
    assert messages(text, goal="p/0") == ["1:12: warning: r/0 is never reached"]
    assert messages(text, goal="x/3") == ["1:1: error: the goal x/3 is not defined"]


# ---- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "figure2.slp"
    path.write_text(FIGURE_2)
    return path


def run(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["slp", "check", *map(str, words)])
    return result.exit_code, result.stdout, result.stderr


def test_command_with_warnings(program: Path) -> None:
    code, out, _ = run(program, "--goal", "cart/1")
    assert code == 0
    assert f"{program}:1:1: warning: the label 1 - 1 / D can be negative" in out
    assert out.endswith(f"{program}: 1 warning\n")


def test_command_with_errors(program: Path) -> None:
    program.write_text("p :- q(.\nr :- s.\n")
    code, out, _ = run(program)
    assert code == 2
    assert f"{program}:1:8: error" in out and out.endswith(": 1 error\n")


def test_command_without_problems(program: Path) -> None:
    program.write_text(FIGURE_1)
    assert run(program) == (0, f"{program}: no problems\n", "")


def test_command_json(program: Path) -> None:
    record = json.loads(run(program, "--json")[1])
    assert record["problems"][0]["line"] == 1 and record["problems"][0]["severity"] == "warning"


def test_command_on_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert run(tmp_path / "absent.slp")[0] == 3
    (tmp_path / "latin.slp").write_bytes(b"p('\xe4').")
    code, _, err = run(tmp_path / "latin.slp")
    assert code == 3 and "UTF-8" in err
    with pytest.raises(FileError, match="cannot be read"):
        read_text(tmp_path)
