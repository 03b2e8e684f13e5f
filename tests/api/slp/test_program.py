"""What a person does with a program from Python: draw, enumerate, condition, learn, explain."""

from pathlib import Path

import pytest

import baytree as bt
from baytree.slp import Limits, Program, ProgramError, Term
from reference.slp.figures import FIGURE_2

# Cussens (2001): a rule that does not unify is a failure.
COUSINS = """
0.5 : s(X, p) :- p(X), p(X).   % both the same
(1 - 0.5) : s(X, q) :- q(X).
0.5 : p(a). 0.5 : p(b).
0.5 :: q(a).
0.5 ## q(b).
"""
SEEN = {"s(a, p)": 4, "s(b, p)": 2, "s(a, q)": 3, "s(b, q)": 3}


# ---- drawing --------------------------------------------------------------------------------------------------------


def test_models_are_python_values() -> None:
    program = Program("p(f(a, 1, 2.5, [x, [y]], 'A b')).")
    [model] = program.sample("p(X)")
    assert model == Term("f", ("a", 1, 2.5, ["x", ["y"]], "A b"))
    assert str(model) == "f(a,1,2.5,[x,[y]],'A b')"
    assert program.sample("p(f(X, Y, _, _, _))") == [{"X": "a", "Y": 1}]
    assert program.sample("p(_)") == [{}]


def test_same_seed_same_models() -> None:
    program = Program(FIGURE_2)
    assert program.sample("[1] : cart(T)", 20, seed=3) == program.sample("[1] : cart(T)", 20, seed=3)
    assert program.sample("[1] : cart(T)", 20, seed=3) != program.sample("[1] : cart(T)", 20, seed=4)


def test_the_proof_is_of_the_model_with_its_probability() -> None:
    program = Program("0.25 : p(a). 0.75 : p(b). two(X-Y) :- p(X), p(Y).")
    for seed in range(10):
        proof = program.proof("two(T)", seed)
        expected = {"a": 0.25, "b": 0.75}
        left, right = proof.answer.split("-")
        assert proof.calls[0].head == f"two({proof.answer})"
        assert [call.probability for call in proof.calls] == [None, expected[left], expected[right]]
        assert proof.choice_points == 2


def test_what_a_program_writes_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    Program("p :- write('it is '), format('~w~n', [f('X')]).").sample("p")
    assert capsys.readouterr().out == "it is f(X)\n"


# ---- probabilities --------------------------------------------------------------------------------------------------


def test_probability_is_exact_where_the_models_can_be_listed() -> None:
    program = Program("0.2 : p(a). 0.3 : p(b). 0.5 : p(c). pair(X, Y) :- p(X), p(Y).")
    found = program.probability("X = Y", given="pair(X, Y)")
    assert found.exact and found.error == 0.0
    assert found.value == pytest.approx(0.04 + 0.09 + 0.25, abs=1e-12)
    assert program.probability("pair(a, _)").value == pytest.approx(0.2, abs=1e-12)
    assert float(program.probability("p(c)")) == pytest.approx(0.5, abs=1e-12)


def test_probability_by_simulation_has_an_error() -> None:
    """Of figure 2 at depth 2, a leaf has probability ½; the trees have no end."""
    found = Program(FIGURE_2).probability("T = leaf", given="[2] : cart(T)", n=20_000, seed=1)
    assert not found.exact
    assert abs(found.value - 0.5) < 5 * found.error
    assert found.error == pytest.approx(0.5 / 20_000**0.5, rel=0.01)
    assert "±" in str(found)


def test_conditioning_is_a_goal_with_a_condition() -> None:
    text = "0.5 : p(1). 0.3 : p(2). 0.2 : p(3)."
    given = dict(Program(text, semantics="reject").enumerate("p(X), X >= 2"))
    assert given == pytest.approx({2: 0.6, 3: 0.4}, abs=1e-12)


def test_enumerate_refuses_what_has_no_end() -> None:
    with pytest.raises(bt.InputError, match="too many to list"):
        Program(FIGURE_2).enumerate("[1] : cart(T)")


# ---- learning -------------------------------------------------------------------------------------------------------


def test_labels_are_learnt_by_failure_adjusted_maximisation() -> None:
    learnt = Program(COUSINS).learn(SEEN, "s(X, Y)")
    labels = {(name, place): round(label, 4) for place, (name, _, label, _) in enumerate(_clauses(learnt))}
    assert list(labels.values()) == [0.6602, 0.3398, 0.5858, 0.4142, 0.5, 0.5]
    assert "% both the same" in learnt.text
    assert "(1 - 0.5)" not in learnt.text


def _clauses(program: Program) -> list[tuple[str, int, float, object]]:
    order = {"s/2": 0, "p/1": 1, "q/1": 2}
    labelled = [row for row in program.native("s(X, Y)").clauses if row[2] is not None]
    return sorted(labelled, key=lambda row: order[row[0]])


@pytest.mark.parametrize(
    ("observations", "says"),
    [
        ({}, "how often"),
        ({"s(c, p)": 1}, "not one instance"),
        ({"t(a)": 1}, "not an instance"),
        ({"s(a, Y)": 1}, "not one"),
    ],
)
def test_learning_refuses(observations: dict[str, int], says: str) -> None:
    with pytest.raises(bt.InputError, match=says):
        Program(COUSINS).learn(observations, "s(X, Y)")


def test_computed_labels_are_not_learnt() -> None:
    with pytest.raises(bt.InputError, match="only fixed labels"):
        Program("P : [P] : p(a). 1 - P : [P] : p(b). q(X) :- [0.3] : p(X).").learn({"q(a)": 1}, "q(X)")


# ---- programs -------------------------------------------------------------------------------------------------------


def test_load_finds_own_files_before_shipped_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "grow(Node" in bt.slp.load("growtree.slp").text
    (tmp_path / "growtree.slp").write_text("p(a).")
    assert bt.slp.load("growtree.slp").text == "p(a)."
    with pytest.raises(bt.FileError, match="cannot be read"):
        bt.slp.load("absent.slp")


def test_wrong_programs_and_goals_are_shown_in_their_lines() -> None:
    with pytest.raises(ProgramError) as caught:
        Program("p(a).\nq(X) :- r(X).\n0.5 : p(b", file="mine.slp")
    assert "mine.slp:3" in str(caught.value)
    with pytest.raises(ProgramError, match=r"goal:1:6.*not defined; did you mean colour/1"):
        Program("colour(red).").sample("X=1, color(X)")
    with pytest.raises(bt.InputError, match="semantics"):
        Program("p.", semantics="maybe")  # type: ignore[arg-type]
    with pytest.raises(bt.InputError, match="steps"):
        Limits(steps=0)


def test_programs_are_equal_by_what_they_say_and_survive_a_file() -> None:
    program = Program(FIGURE_2, semantics="reject", limits=Limits(steps=1000))
    assert Program.from_dict(program.to_dict()) == program
    assert hash(program) == hash(Program.from_dict(program.to_dict()))


def test_as_a_prior_of_the_estimators() -> None:
    data = bt.datasets.load("kyphosis")
    text = (bt.slp.SHIPPED / "growtree.slp").read_text() + "forbid(age).\nmax_depth(2).\n"
    model = bt.CARTClassifier(prior=Program(text), draws=50, warmup=50, random_state=1).fit(data.X, data.y)
    assert model.predict_proba(data.X).shape == (81, 2)
    for tree in model.posterior_.trees:
        assert "age" not in str(tree)
        assert tree.n_leaves <= 4
    numbers = bt.datasets.friedman(100)
    regressor = bt.CARTRegressor(prior=bt.slp.load("growtree.slp"), draws=50, warmup=50, random_state=1)
    assert regressor.fit(numbers.X, numbers.y).predict(numbers.X).shape == (100,)


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        ("cart(leaf).", "a tree is leaf"),
        ("cart(leaf(a)).", "without a node"),
        ("cart(T) :- root(N), T = split(age, 1, leaf(N), leaf(N)).", "inside of the tree"),
        ("cart(leaf(L)) :- root(N), split(N, age, _, L, _).", "does not begin at the root"),
        ("cart(split(F, V, leaf(R), leaf(L))) :- root(N), split(N, F, V, L, R).", "left side"),
        ("cart(split(F, V, leaf(L), leaf(R))) :- root(N), split(N, F, V, L, _), split(N, F, _, _, R).", "one rule"),
    ],
)
def test_what_is_no_tree_is_refused(tree: str, says: str) -> None:
    design = bt.datasets.load("kyphosis").design()
    with pytest.raises(bt.InputError, match=says):
        bt.sample(bt.CART(Program(tree)), design, draws=5, chains=1, seed=1, progress=False)
