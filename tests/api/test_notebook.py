"""What notebooks show: HTML with nothing in it that a table could smuggle in, and reprs of one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import baytree as bt
from baytree import notebook
from families import CASES, drawn

EVIL = "<script>alert('1')</script>"
FIRST = [f"{family}: {next(iter(cases))}" for family, cases in CASES.items()]


@pytest.fixture(scope="module")
def evil() -> Any:
    """A posterior of a table whose every name is markup."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame({EVIL: generator.normal(size=60), "<b>": np.where(np.arange(60) % 2, EVIL, "<i>")})
    y = np.where(X[EVIL] > 0, f"yes{EVIL}", f"no{EVIL}")
    design = bt.make_design(X, pd.Series(y, name=f"y{EVIL}"), task="classification")
    return bt.sample(bt.CART(), design, warmup=100, draws=50, seed=0, progress=False), X


def test_markup_of_the_table_stays_text(evil: Any) -> None:
    posterior, X = evil
    shown = [
        posterior,
        posterior.summary(),
        posterior.diagnostics(),
        posterior.map_tree().tree,
        posterior.trees[0],
        posterior.posterior_map(),
        posterior.variable_use(),
        posterior.explain(X.iloc[3]),
    ]
    for one in shown:
        html = one._repr_html_()
        assert "<script" not in html and "<i>" not in html and "<b>" not in html
    assert "&lt;script&gt;" in posterior.map_tree().tree._repr_html_()
    # The saboteur: text that is not escaped would be seen.
    assert "<script" in notebook.boxed(EVIL)


@pytest.mark.parametrize("name", FIRST)
def test_reprs_are_short_and_html_says_the_verdict(name: str) -> None:
    posterior = drawn(name)
    summary = posterior.summary()
    for one in (posterior, summary, posterior.diagnostics(), posterior.trace()):
        assert len(repr(one)) < 160 and "\n" not in repr(one) and repr(one).startswith("<")
    for html in (posterior._repr_html_(), summary._repr_html_()):
        assert notebook.escaped(summary.verdict) in html
        assert html.count("<div") == html.count("</div>") and html.count("<details") == html.count("</details>")


@pytest.mark.parametrize("name", FIRST)
def test_completion_leaves_out_what_layers_use_among_themselves(name: str) -> None:
    offered = dir(drawn(name))
    assert not {"from_parts", "check", "part", "require_types", "states", "of_draws"} & set(offered)
    assert {"predict", "summary", "save", "trace"} <= set(offered)


def test_estimators_keep_the_diagram_of_scikit_learn() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = bt.CARTRegressor(draws=20, warmup=20, random_state=0)
    before = model._repr_html_()
    assert "sk-top-container" in before and 'class="baytree"' not in before
    model.fit(X, X[:, 0])
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-top-container" in html and 'class="baytree"' in html
        assert notebook.escaped(model.posterior_.summary().verdict) in html
    assert "CARTRegressor" in make_pipeline(FunctionTransformer(), model)._repr_html_()


def test_proofs_and_program_posteriors() -> None:
    program = bt.slp.Program("0.3 :: coin(heads).\n0.7 :: coin(tails).\n")
    proof = program.proof("coin(X)", seed=1)
    html = proof._repr_html_()
    assert html.startswith('<div class="baytree"') and "data:image/svg+xml;base64," in html
    posterior = program.posterior("coin(X)", lambda _: 0.0, draws=50, warmup=10, chains=2, seed=1, progress=False)
    assert "heads" in posterior._repr_html_() and "%" in posterior._repr_html_()
