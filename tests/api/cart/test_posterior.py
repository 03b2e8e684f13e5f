"""Trees and posteriors as their users meet them."""

import dataclasses
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.sampling import run as sampling
from baytree.trees.forest import Rule


@pytest.fixture(scope="module")
def posterior() -> bt.Posterior:
    design = bt.datasets.load("kyphosis").design(max_cuts=None)
    return bt.sample(bt.CART(proposal="uc"), design, warmup=500, draws=2000, chains=3, seed=1, progress=False)


def mixed_design() -> tuple[pl.DataFrame, bt.Design]:
    generator = np.random.default_rng(1)
    n = 120
    frame = pl.DataFrame(
        {
            "size": np.where(generator.random(n) < 0.2, np.nan, generator.normal(size=n)).round(1),
            "colour": generator.choice(["red", "green", "blue", None], n).tolist(),
            "smoker": generator.random(n) < 0.5,
        }
    )
    y = frame["size"].is_nan().to_numpy() * 3.0 + (frame["colour"] == "red").fill_null(False).to_numpy() * 5.0
    y = y + frame["smoker"].to_numpy() + generator.normal(scale=0.3, size=n)
    return frame, bt.make_design(frame, y, task="regression", target="price")


def test_a_tree_describes_itself(posterior: bt.Posterior) -> None:
    tree = posterior.tree(0, 0)
    assert tree.n_leaves == posterior.n_leaves[0, 0]
    assert tree.depth < tree.n_leaves
    assert set(tree.features) <= {"age", "number", "start"}
    assert len(tree.to_text().splitlines()) == 2 * tree.n_leaves - 1
    json.dumps(tree.to_dict())


def test_trees_compare_by_structure_and_rules(posterior: bt.Posterior) -> None:
    seen = {tree: tree.rules for tree in posterior.trees[:300]}
    assert len(seen) == len(set(seen.values())) < 300
    again = bt.Tree.from_dict(posterior.schema, posterior.tree(1, 7).to_dict())
    assert again == posterior.tree(1, 7)
    assert hash(again) == hash(posterior.tree(1, 7))
    assert again != posterior.best_tree() or posterior.best_tree() == posterior.tree(1, 7)


def test_top_trees(posterior: bt.Posterior) -> None:
    top = posterior.top_trees(10**6)
    probabilities = [probability for _, probability, _ in top]
    assert sum(probabilities) == pytest.approx(1)
    assert probabilities == sorted(probabilities, reverse=True)
    assert len({tree for tree, _, _ in top}) == len(top)
    tree, probability, per_chain = top[0]
    assert per_chain.mean() == pytest.approx(probability)
    share = np.mean([posterior.tree(1, draw) == tree for draw in range(posterior.draws)])
    assert per_chain[1] == pytest.approx(share)
    assert tree.to_text().startswith("start <=")


def test_best_tree_and_log_likelihood(posterior: bt.Posterior) -> None:
    design = bt.datasets.load("kyphosis").design(max_cuts=None)
    best = posterior.best_tree()
    place = np.unravel_index(np.argmax(posterior.log_likelihood + posterior.log_prior), (3, 2000))
    assert posterior.model.log_likelihood(design, best) == posterior.log_likelihood[place]
    assert posterior.model.log_likelihood(design, best.to_dict()) == posterior.log_likelihood[place]


def test_inclusion(posterior: bt.Posterior) -> None:
    inclusion = posterior.inclusion()
    expected = np.mean(["age" in posterior.tree(c, d).features for c in range(3) for d in range(2000)])
    assert inclusion["age"] == pytest.approx(expected)


def test_predictions_are_averages_over_the_trees(posterior: bt.Posterior) -> None:
    X = bt.datasets.load("kyphosis").X[:5]
    total = np.zeros((5, 2))
    for chain in range(3):
        for draw in range(posterior.draws):
            tree = posterior.tree(chain, draw).to_dict()
            for row, values in enumerate(X.iter_rows(named=True)):
                node = tree
                while not node["leaf"]:
                    node = node["left"] if values[node["feature"]] <= node["threshold"] else node["right"]
                total[row] += [node["value"]["absent"], node["value"]["present"]]
    np.testing.assert_allclose(posterior.predict(X), total / posterior.tree_index.size)


def test_mixed_columns_and_missing_values() -> None:
    frame, design = mixed_design()
    posterior = bt.sample(bt.CART(), design, warmup=2000, draws=2000, chains=2, seed=1, progress=False)
    assert set(posterior.best_tree().features) == {"size", "colour", "smoker"}
    for tree in posterior.trees[:200]:
        assert bt.Tree.from_dict(posterior.schema, tree.to_dict()) == tree
    assert np.corrcoef(posterior.predict(frame), design.y)[0, 1] > 0.97
    unseen = frame[:3].with_columns(colour=pl.Series(["red", "purple", None]))
    assert np.isfinite(posterior.predict(unseen)).all()
    missing = posterior.predict(unseen[2:])
    np.testing.assert_array_equal(posterior.predict(unseen[2:].with_columns(colour=pl.Series(["purple"]))), missing)


def test_unseen_missing_values_follow_the_larger_child() -> None:
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    design = bt.make_design(X, [0.0, 0.1, 0.0, 5.0, 5.1], task="regression")
    model = bt.CART(bt.GrowTree(min_leaf=1, alpha=1.0, beta=0.0))
    posterior = bt.sample(model, design, warmup=10, draws=10, chains=1, seed=1, progress=False)
    assert posterior.best_tree().n_leaves == 2
    np.testing.assert_array_equal(posterior.predict([[np.nan]]), posterior.predict([[0.0]]))


def test_rule_words() -> None:
    _, design = mixed_design()
    leaf = {"leaf": True}

    def words(**rule: object) -> str:
        return bt.Tree.from_dict(design.schema, {"left": leaf, "right": leaf, **rule}).to_text().splitlines()[0]

    assert words(feature="smoker", threshold=0.5) == "smoker is false?"
    assert words(feature="size", missing="asked") == "size is known?"
    assert words(feature="colour", levels=["blue"]) == "colour is blue?"
    assert words(feature="colour", levels=["blue", "red"], missing="left") == "colour in {blue, red} or missing?"
    assert words(feature="colour", levels=["blue", "green", "red"]) == "colour is known?"
    assert words(feature="size", threshold=0.3, missing="left").endswith("or missing?")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"feature": "colr", "threshold": 1, "left": {}, "right": {}}, "Did you mean 'colour'"),
        ({"feature": "colour", "levels": ["rde"], "left": {}, "right": {}}, "Did you mean 'red'"),
        ({"feature": "colour", "levels": ["red"], "left": {}, "right": {}}, "goes left"),
        ({"feature": "size", "left": {}, "right": {}}, "needs a threshold"),
        ({"feature": "size", "threshold": 99, "left": {}, "right": {}}, "on one side"),
        ({"feature": "size", "threshold": 0, "left": {}}, "without 'right'"),
        ({"feature": "size", "threshold": 0, "left": 3, "right": {}}, "not a node"),
    ],
)
def test_wrong_trees(record: dict[str, object], message: str) -> None:
    with pytest.raises(bt.InputError, match=message):
        bt.Tree.from_dict(mixed_design()[1].schema, record)


def test_a_start_the_prior_cannot_grow() -> None:
    design = bt.datasets.load("kyphosis").design()
    tree = bt.Tree(design.schema, (Rule(0, 0, 0, False), None, None))
    with pytest.raises(bt.InputError, match="min_leaf"):
        bt.sample(bt.CART(bt.GrowTree(min_leaf=6)), design, init=tree, draws=1, progress=False)


def test_summary(posterior: bt.Posterior) -> None:
    summary = posterior.summary()
    assert json.loads(json.dumps(summary.to_dict()))["task"] == "classification"
    text = str(summary)
    for part in ("classification of 'kyphosis'", "81 rows", "log-likelihood", "leaves", "start", summary.verdict):
        assert part in text
    assert posterior.acceptance["uc"] == pytest.approx(summary.acceptance["uc"])


def test_a_summary_of_one_draw() -> None:
    design = bt.datasets.load("kyphosis").design()
    one = bt.sample(bt.CART(), design, warmup=0, draws=1, chains=1, seed=0, progress=False)
    assert "One chain" in one.summary().verdict


@pytest.mark.parametrize(
    "options",
    [
        {"draws": 0},
        {"chains": 0},
        {"thin": 0},
        {"warmup": -1},
        {"draws": 1.5},
        {"seed": -1},
        {"seed": "x"},
        {"draws": True},
        {"threads": 0},
    ],
)
def test_wrong_settings(options: dict[str, Any]) -> None:
    with pytest.raises(bt.InputError, match=next(iter(options))):
        bt.sample(bt.CART(), bt.datasets.load("kyphosis").design(), progress=False, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bt.GrowTree(alpha=1.5), "alpha=1.5"),
        (lambda: bt.GrowTree(beta=-1), "beta=-1"),
        (lambda: bt.GrowTree(min_leaf=0), "min_leaf=0"),
        (lambda: bt.GrowTree("a"), "alpha=.a."),  # type: ignore[arg-type]
        (lambda: bt.GrowTree(min_leaf=float("nan")), "min_leaf=nan"),  # type: ignore[arg-type]
        (lambda: bt.GrowTree(min_leaf=float("inf")), "min_leaf=inf"),  # type: ignore[arg-type]
        (lambda: bt.Gaussian(mean="x"), "mean='x'"),  # type: ignore[arg-type]
        (lambda: bt.Categorical("x"), "concentration='x'"),  # type: ignore[arg-type]
        (lambda: bt.CART(power="x"), "power='x'"),  # type: ignore[arg-type]
        (lambda: bt.CART(proposal={1: 1}), "no proposal 1"),  # type: ignore[dict-item]
        (lambda: bt.GrowTree(min_leaf=True), "min_leaf=True"),
        (lambda: bt.GrowTree(min_leaf=None), "min_leaf=None"),
        (lambda: bt.CART(proposal={"uc": "2"}), "positive"),  # type: ignore[dict-item]
        (lambda: bt.GrowTree(rule="variabel"), "Did you mean 'variable'"),
        (lambda: bt.Categorical(0), "concentration=0"),
        (lambda: bt.Gaussian(kappa=-1), "kappa=-1"),
        (lambda: bt.CART(prior="x"), "GrowTree"),  # type: ignore[arg-type]
        (lambda: bt.CART(leaf=3), "leaf model"),  # type: ignore[arg-type]
        (lambda: bt.CART(power=-1), "power=-1"),
        (lambda: bt.CART(proposal="chnge"), "Did you mean 'change'"),
        (lambda: bt.CART(proposal="cycle"), "cycle"),
        (lambda: bt.CART(proposal={"uc": 0}), "positive"),
        (lambda: bt.CART(proposal={}), "give a name"),
        (lambda: bt.CART(proposal="uc=x"), "not a weight"),
        (lambda: bt.CART(proposal="uc,uc"), "twice"),
    ],
)
def test_wrong_models(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(bt.InputError, match=message):
        make()


def test_leaves_must_suit_the_response() -> None:
    design = bt.datasets.load("kyphosis").design()
    with pytest.raises(bt.InputError, match="numeric response"):
        bt.sample(bt.CART(leaf=bt.Gaussian()), design, progress=False)


def test_wrong_predictions(posterior: bt.Posterior) -> None:
    X = bt.datasets.load("kyphosis").X
    with pytest.raises(bt.InputError, match="Did you mean 'mean'"):
        posterior.predict(X, kind="meen")
    with pytest.raises(bt.InputError, match="prob=2"):
        posterior.predict(X, kind="interval", prob=2)
    with pytest.raises(bt.InputError, match=r"no column 'start'\. Did you mean 'sttart'"):
        posterior.predict(X.rename({"start": "sttart"}))


def test_prediction_streams_over_rows(posterior: bt.Posterior, monkeypatch: pytest.MonkeyPatch) -> None:
    X = bt.datasets.load("kyphosis").X
    whole = posterior.predict(X, kind="interval")
    monkeypatch.setattr("baytree.posterior.prediction.BLOCK_NUMBERS", 100)
    np.testing.assert_array_equal(posterior.predict(X, kind="interval"), whole)
    assert posterior.predict(X[:0]).shape == (0, 2)


# More iterations than three blocks take, yet an end in sight if Ctrl-C should fail.
LONG = 100_000


@pytest.fixture
def _ctrl_c(_heeds_ctrl_c: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is pressed after the third block of a run."""
    advance, blocks = sampling.Run._next_block, 0

    def press(run: sampling.Run) -> int:
        nonlocal blocks
        blocks += 1
        iterations = advance(run)
        if blocks == 3:
            signal.raise_signal(signal.SIGINT)
        return iterations

    monkeypatch.setattr(sampling.Run, "_next_block", press)


@pytest.mark.usefixtures("_ctrl_c")
def test_ctrl_c_keeps_what_was_drawn(tmp_path: Path) -> None:
    design = bt.datasets.load("pima").design()
    with pytest.warns(bt.InterruptedSampling, match="are kept"):
        posterior = bt.sample(
            bt.CART(), design, warmup=0, draws=LONG, seed=1, progress=False, checkpoint=tmp_path / "m.baytree"
        )
    assert 0 < posterior.draws < LONG
    assert posterior.tree_index.shape == (4, posterior.draws)
    assert bt.load(tmp_path / "m.baytree").draws == posterior.draws
    again = bt.sample(bt.CART(), design, warmup=0, draws=posterior.draws, seed=1, progress=False)
    np.testing.assert_array_equal(again.log_likelihood, posterior.log_likelihood)


@pytest.mark.usefixtures("_ctrl_c")
def test_ctrl_c_in_the_warm_up_can_be_resumed(tmp_path: Path) -> None:
    design = bt.datasets.load("kyphosis").design()
    options: dict[str, Any] = {"warmup": LONG, "draws": 5, "chains": 1, "seed": 1, "progress": False}
    with pytest.raises(KeyboardInterrupt, match="can be resumed"):
        bt.sample(bt.CART(), design, checkpoint=tmp_path / "m.baytree", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["m.baytree.partial"]
    with pytest.raises(bt.FileError, match="unfinished run"):
        bt.sample(bt.CART(), design, checkpoint=tmp_path / "m.baytree", **options)
    resumed = bt.resume(tmp_path / "m.baytree", design, progress=False)
    np.testing.assert_array_equal(resumed.log_likelihood, bt.sample(bt.CART(), design, **options).log_likelihood)


@pytest.mark.usefixtures("_ctrl_c")
def test_ctrl_c_in_the_middle_of_a_long_thin(monkeypatch: pytest.MonkeyPatch) -> None:
    design = bt.datasets.load("kyphosis").design()
    begun = bt.sample(bt.CART(), design, warmup=0, draws=1, chains=2, seed=1, progress=False)
    longer = dataclasses.replace(begun, settings=dataclasses.replace(begun.settings, thin=LONG))
    said: list[str] = []
    monkeypatch.setattr("baytree.mcmc.progress.Progress.say", lambda _, line: said.append(line))
    with pytest.warns(bt.InterruptedSampling):
        stopped = bt.extend(longer, design, draws=5)
    assert stopped.draws == 1
    assert stopped.states[0]["toward"] > 0
    assert said == ["stopping … (Ctrl-C again: at once)"]


def test_plain_progress(capsys: pytest.CaptureFixture[str]) -> None:
    design = bt.datasets.load("kyphosis").design()
    bt.sample(bt.CART(), design, warmup=10, draws=10, chains=1, seed=1)
    captured = capsys.readouterr()
    assert "draws 10/10" in captured.err
    assert "log-likelihood" in captured.err and "acceptance" in captured.err
    assert captured.out == ""


def test_other_cuts_or_names_are_other_data(posterior: bt.Posterior) -> None:
    data = bt.datasets.load("kyphosis")
    for changed in (data.X.with_columns(pl.col("start") * 10), data.X.rename({"start": "begin"})):
        design = bt.make_design(changed, data.y, task="classification", target="kyphosis", max_cuts=None)
        with pytest.raises(bt.InputError, match="not the data"):
            bt.extend(posterior, design, progress=False)
        with pytest.raises(bt.InputError, match="another table"):
            posterior.model.log_likelihood(design, posterior.best_tree())
        with pytest.raises(bt.InputError, match="another table"):
            bt.sample(bt.CART(), design, init=posterior.best_tree(), draws=1, progress=False)


def test_start_from_a_dictionary(posterior: bt.Posterior) -> None:
    design = bt.datasets.load("kyphosis").design(max_cuts=None)
    tree = posterior.best_tree()
    options: dict[str, Any] = {"warmup": 0, "draws": 20, "chains": 1, "seed": 1, "progress": False}
    one = bt.sample(bt.CART(), design, init=tree, **options)
    other = bt.sample(bt.CART(), design, init=tree.to_dict(), **options)
    np.testing.assert_array_equal(one.log_likelihood, other.log_likelihood)


def test_standstill_is_said() -> None:
    design = bt.datasets.load("kyphosis").design()
    with pytest.warns(UserWarning, match="never change the shape"):
        bt.sample(bt.CART(proposal="change=1,swap=1"), design, draws=1, progress=False)
    with pytest.warns(UserWarning, match="one leaf"):
        bt.sample(bt.CART(bt.GrowTree(min_leaf=41)), design, draws=1, progress=False)


@pytest.mark.parametrize("design", [bt.datasets.load("kyphosis"), None, [[1]]])
def test_wrong_arguments(design: Any) -> None:
    with pytest.raises(bt.InputError, match="Design is needed"):
        bt.sample(bt.CART(), design, progress=False)
    models: list[Any] = ["cart", None]
    for model in models:
        with pytest.raises(bt.InputError, match="not a model"):
            bt.sample(model, design, progress=False)


def test_one_chain_is_not_judged() -> None:
    design = bt.datasets.load("kyphosis").design()
    one = bt.sample(bt.CART(method="chains"), design, draws=100, chains=1, seed=0, progress=False)
    assert "One chain" in one.summary().verdict


def test_weights_count_as_copies_in_the_calibration() -> None:
    data = bt.datasets.friedman(60, seed=1)
    X, y = data.X.to_numpy(), np.asarray(data.y)
    doubled = bt.make_design(X, y, task="regression", sample_weight=np.full(60, 2.0))
    copies = bt.make_design(np.repeat(X, 2, axis=0), np.repeat(y, 2), task="regression")
    one, other = bt.Gaussian().resolve(doubled, 5), bt.Gaussian().resolve(copies, 10)
    for name in ("mean", "kappa", "nu", "scale"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9), name


def test_a_tree_of_prior_probability_zero_is_no_start() -> None:
    design = bt.datasets.load("kyphosis").design()
    leaf: dict[str, object] = {"leaf": True}
    split = {"feature": "start", "threshold": 8, "left": leaf, "right": leaf}
    for prior, start in ((bt.GrowTree(alpha=0), split), (bt.GrowTree(alpha=1, beta=0), leaf)):
        with pytest.raises(bt.InputError, match="prior probability 0"):
            bt.sample(bt.CART(prior), design, init=start, draws=1, progress=False)


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e150, 1e200])
def test_responses_out_of_range(scale: float) -> None:
    data = bt.datasets.friedman(50)
    design = bt.make_design(data.X, np.asarray(data.y) * scale, task="regression", target="price")
    with pytest.raises(bt.InputError, match=r"'price': its variance is .* rescale"), np.errstate(all="ignore"):
        bt.sample(bt.CART(), design, progress=False)


def test_cuts_are_told_apart_in_words() -> None:
    dates = np.arange(20240101.0, 20240301.0)[:, None]
    design = bt.make_design(dates, np.arange(200) % 2, task="classification", names=["date"])
    leaf: dict[str, object] = {"leaf": True}
    tree = bt.Tree.from_dict(design.schema, {"feature": "date", "threshold": 20240150, "left": leaf, "right": leaf})
    assert tree.to_text().startswith("date <= 20240150.5?") or tree.to_text().startswith("date <= 20240150?")
    texts = set()
    for threshold in range(20240101, 20240300):
        split = {"feature": "date", "threshold": threshold, "left": leaf, "right": leaf}
        texts.add(bt.Tree.from_dict(design.schema, split).to_text().splitlines()[0])
    assert len(texts) == 199


def test_the_largest_seed_and_narrow_numbers(tmp_path: Path) -> None:
    data = bt.datasets.friedman(50)
    narrow: dict[str, Any] = {"mean": np.float32(14), "kappa": np.float32(1), "nu": np.int64(3)}
    leaf = bt.Gaussian(**narrow, scale=1.0)
    options: dict[str, Any] = {"draws": 5, "warmup": 0, "progress": False, "seed": 2**64 - 1}
    posterior = bt.sample(bt.CART(leaf=leaf), data.design(), **options)
    posterior.save(tmp_path / "m.baytree")
    drawn = bt.load(tmp_path / "m.baytree").predict(data.X, kind="predictive")
    np.testing.assert_array_equal(drawn, posterior.predict(data.X, kind="predictive"))


def test_saving_leaves_an_unfinished_run_alone(posterior: bt.Posterior, tmp_path: Path) -> None:
    partial = tmp_path / "m.baytree.partial"
    partial.write_bytes(b"hours of work")
    posterior.save(tmp_path / "m.baytree")
    assert partial.read_bytes() == b"hours of work"
