"""``baytree compare`` and `bt.compare`: scores of rows that were left out or are new, evidence and agreement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from api.cli.commands import failure, invoke
from families import drawn

RUN: dict[str, Any] = {"warmup": 100, "draws": 200, "chains": 2, "seed": 1, "progress": False}


@pytest.fixture
def models(folder: Path) -> list[str]:
    """Two models of the kyphosis data, and their table."""
    data = bt.datasets.load("kyphosis")
    invoke("data", "kyphosis", "--out", "k.csv")
    bt.sample(bt.CART(), data.design(), temperatures=4, **RUN).save("one.baytree")
    bt.sample(bt.BART(trees=20), data.design(), **RUN).save("many.baytree")
    return ["one.baytree", "many.baytree"]


def test_it_equals_the_python_call(models: list[str]) -> None:
    found = json.loads(invoke("compare", *models, "--data", "k.csv", "--json").stdout)
    posteriors = {name: bt.load(name) for name in models}
    expected = bt.compare(posteriors, "k.csv")
    assert {key: found[key] for key in expected.to_dict()} == expected.to_dict()
    assert expected.rows == 81 and {one.how for one in expected.scores} == {"left out"}
    best, other = expected.scores
    assert best.behind == 0 and other.behind == pytest.approx(best.score - other.score)
    assert {one.name: one.log_evidence is None for one in expected.scores} == {
        "one.baytree": False,
        "many.baytree": True,
    }
    said = invoke("compare", *models, "--data", "k.csv").stdout
    assert expected.verdict in said and "the same class for" in said and "left out" in said


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
def test_left_out_scores_are_those_of_arviz(models: list[str]) -> None:
    from arviz_stats import loo

    design = bt.datasets.load("kyphosis").design()
    for name in models:
        posterior = bt.load(name)
        [score] = [one for one in bt.compare({n: bt.load(n) for n in models}, "k.csv").scores if one.name == name]
        expected = loo(posterior.to_datatree(design))
        assert score.score == pytest.approx(expected.elpd, abs=0.5)  # the share of effective draws is another
        assert score.error == pytest.approx(expected.se, rel=0.05)


def test_new_rows_are_scored_as_they_are() -> None:
    """The logarithm of the mean density over the draws, summed over rows."""
    data = bt.datasets.friedman(n=120, seed=0)
    new = bt.datasets.friedman(n=60, seed=1)
    models: dict[str, Any] = {"one": bt.CART(), "many": bt.BART(trees=20)}
    posteriors: dict[str, Any] = {
        name: bt.sample(model, bt.make_design(data.X, data.y, task="regression"), **RUN)
        for name, model in models.items()
    }
    table = new.X.with_columns(y=new.y)
    found = bt.compare(posteriors, table)
    for score in found.scores:
        posterior = posteriors[score.name]
        density = posterior.prediction.log_density(posterior.schema.encode(new.X), new.y, None).reshape(400, -1)
        assert score.how == "new" and score.score == pytest.approx(np.log(np.exp(density).mean(axis=0)).sum())
    assert found.scores[0].name == "many" and "many" in found.verdict


def test_without_rows_evidences_are_compared(models: list[str], folder: Path) -> None:
    result = invoke("compare", *models)
    assert "log evidence" in result.stdout and "give --data FILE" in result.stderr
    design = bt.datasets.load("kyphosis").design(max_cuts=3)
    bt.sample(bt.CART(), design, **RUN).save("other.baytree")
    said = failure("compare", "one.baytree", "other.baytree")
    assert "were fitted to different tables" in said and "give --data FILE" in said
    assert invoke("compare", "one.baytree", "other.baytree", "--data", "k.csv", "--json").stdout


def test_what_cannot_be_compared(models: list[str]) -> None:
    assert "two or more" in failure("compare", "one.baytree")
    assert "given twice" in failure("compare", "one.baytree", "one.baytree")
    assert "give that as well" in failure("compare", *models, "--weight", "age")
    drawn("bart: numbers").save("numbers.baytree")
    assert "predict different things" in failure("compare", "one.baytree", "numbers.baytree")
    Path("k.csv").write_text(Path("k.csv").read_text().replace("absent", "gone", 1))
    assert "'gone' is none of the classes of the fit" in failure("compare", *models, "--data", "k.csv")
    with pytest.raises(bt.InputError, match="give two or more"):
        bt.compare({"one": bt.load("one.baytree")})


def test_weights_and_offsets_are_those_of_each_fit(tmp_path: Path) -> None:
    data = bt.datasets.friedman(n=60, seed=0)
    rows = np.arange(60)
    table = data.X.with_columns(y=data.y, w=1 + rows % 2, o=rows / 60)
    table.write_csv(tmp_path / "t.csv")
    few: dict[str, Any] = {"task": "regression"}
    plain, weighed = (bt.make_design(data.X, data.y, sample_weight=w, **few) for w in (None, 1 + rows % 2))
    added = bt.make_design(data.X, data.y, offset=rows / 60, **few)
    one, other = (bt.sample(bt.CART(), design, **RUN) for design in (plain, weighed))
    sums, plus = (bt.sample(bt.BART(trees=5), design, **RUN) for design in (weighed, added))
    path = tmp_path / "t.csv"
    # The offset is for the model that had one.
    assert {score.how for score in bt.compare({"one": one, "plus": plus}, path, offset="o").scores} == {"left out"}
    with pytest.raises(bt.InputError, match="plus: the model was fitted with an offset"):
        bt.compare({"one": one, "plus": plus}, path)
    # Rows that are those of the fit but for their weights are not called new without a doubt.
    found = bt.compare({"one": one, "other": other}, path)
    assert {score.name: score.how for score in found.scores} == {"one": "left out", "other": "new"}
    assert any("other was fitted to as many rows" in note for note in found.notes)
    with pytest.raises(bt.InputError, match="mean of w rows to sums, and w equal rows to other"):
        bt.compare({"other": other, "sums": sums}, path, weight="w")


def test_few_draws_cannot_leave_rows_out(models: list[str]) -> None:
    few = bt.sample(bt.CART(), bt.datasets.load("kyphosis").design(), **RUN | {"draws": 20})
    found = bt.compare({"few": few, "many": bt.load("many.baytree")}, "k.csv")
    assert [(one.name, one.how) for one in found.scores] == [("many", "left out"), ("few", "unknown")]
    assert "few: too few draws" in found.notes[-1]
    assert "Nothing tells" in found.verdict and "few" in str(found)
