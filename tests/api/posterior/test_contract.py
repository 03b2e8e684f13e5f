"""What posteriors of all families share: chains, tempering, files, pickles, and whether the chains agree."""

import copy
import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.posterior.base import BasePosterior
from baytree.posterior.registry import FAMILIES
from baytree.posterior.summary import BaseSummary
from families import EVERY, drawn

TEMPERED = [name for name in EVERY if "tempered" in name]


@pytest.mark.parametrize("name", EVERY)
def test_sizes(name: str) -> None:
    posterior = drawn(name)
    assert isinstance(posterior, BasePosterior)
    assert isinstance(posterior, FAMILIES[posterior.model.family].posterior)
    assert posterior.log_likelihood.shape == (posterior.chains, posterior.draws) == posterior.prediction.shape
    assert posterior.settings.chains == posterior.chains == len(posterior.states)
    for series in posterior.series.values():
        assert series.shape == posterior.log_likelihood.shape
    assert posterior.check() is posterior
    assert repr(posterior).startswith(f"<{type(posterior).__name__}")
    assert f"response {posterior.schema.response.name!r}" in repr(posterior)


@pytest.mark.parametrize("name", EVERY)
def test_summaries(name: str) -> None:
    posterior = drawn(name)
    summary = posterior.summary()
    assert isinstance(summary, BaseSummary)
    record = json.loads(json.dumps(summary.to_dict()))
    assert record["response"] == posterior.schema.response.name and record["rows"] == posterior.settings.rows
    assert record["verdict"] == summary.verdict and str(summary).endswith(summary.verdict)
    assert record["agree"] == summary.agree
    assert record["diagnostics"] == json.loads(json.dumps(posterior.diagnostics().to_dict()))
    assert "\n\n\n" not in str(summary)


@pytest.mark.parametrize("name", EVERY)
def test_files_and_pickles(name: str, tmp_path: Path) -> None:
    posterior, rows, options = drawn(name), EVERY[name].rows, EVERY[name].options
    posterior.save(tmp_path / "saved.baytree")
    saved, pickled = bt.load(tmp_path / "saved.baytree"), pickle.loads(pickle.dumps(posterior))
    for again in (saved, pickled, copy.deepcopy(posterior)):
        assert type(again) is type(posterior) and again.monitored is None
        np.testing.assert_array_equal(again.log_likelihood, posterior.log_likelihood)
        together = again.predict(rows, ("mean", "draws", "predictive"), **options)
        for kind, found in together.items():
            np.testing.assert_array_equal(found, posterior.predict(rows, kind, **options))
        assert str(again.summary()) == str(posterior.summary())


@pytest.mark.parametrize("name", EVERY)
def test_a_pickle_runs_no_diagnostics(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = dataclasses.replace(drawn(name), recorded=None)
    assert posterior.monitored is not None
    with monkeypatch.context() as patched:
        patched.setattr(type(posterior), "_diagnose", lambda *_: pytest.fail("the chains were compared"))
        again = pickle.loads(pickle.dumps(posterior))
    assert again.diagnostics() == posterior.diagnostics()
    known = pickle.loads(pickle.dumps(posterior))
    assert known.monitored is None and known.recorded == posterior.diagnostics()


@pytest.mark.parametrize("name", EVERY)
def test_acceptance_and_swaps(name: str) -> None:
    posterior = drawn(name)
    assert posterior.tempered == (name in TEMPERED)
    assert set(posterior.acceptance) == (set(posterior.model.shares) if posterior.has_chains else set())
    assert all(0 <= share <= 1 for share in posterior.acceptance.values())
    if posterior.tempered:
        assert posterior.swaps().ladders.shape == (2, 3)
        assert posterior.rung_log_likelihood.shape == (2, 15, 3)
        assert posterior.summary().tempered.temperatures == 3
        return
    assert posterior.summary().tempered is None
    remedy = "sample with temperatures=12" if posterior.model.tempers else "chains of this model cannot be"
    with pytest.raises(bt.InputError, match=f"these chains were not tempered: {remedy}"):
        posterior.swaps()


@pytest.mark.parametrize("name", EVERY)
def test_only_chains_go_on(name: str) -> None:
    posterior, design = drawn(name), EVERY[name].design
    if posterior.has_chains:
        longer = bt.extend(posterior, design, draws=5, progress=False)
        np.testing.assert_array_equal(longer.log_likelihood[:, :15], posterior.log_likelihood)
        return
    method = posterior.model.method
    with pytest.raises(bt.InputError, match=f"method='{method}' has no chains that could go on: sample anew"):
        bt.extend(posterior, design, draws=5, progress=False)
    assert bt.converge(posterior, design, progress=False) is posterior


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("power", [-1, np.inf, "all"])
def test_powers(name: str, power: Any) -> None:
    model = drawn(name).model
    if hasattr(model, "power"):
        with pytest.raises(bt.InputError, match="choose 0 or more; 1 is the posterior, 0 the prior"):
            dataclasses.replace(model, power=power)


DAMAGES: dict[str, Any] = {
    "a chain less": lambda posterior: {"states": posterior.states[:-1]},
    "a state that says nothing": lambda posterior: {"states": ({},) * posterior.chains},
    "a state that is none": lambda posterior: {"states": (7,) * posterior.chains},
    "fewer draws": lambda posterior: {"states": tuple({**state, "drawn": 3} for state in posterior.states)},
    "other settings": lambda posterior: {"settings": dataclasses.replace(posterior.settings, chains=7)},
    "other temperatures": lambda posterior: {"settings": dataclasses.replace(posterior.settings, temperatures=5)},
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", EVERY)
def test_parts_that_do_not_belong_together(name: str, damage: str) -> None:
    posterior = drawn(name)
    if not posterior.has_chains and "state" not in damage and damage != "other settings":
        return
    if name in ("subset: enumerated", "cart: every tree") and damage.startswith("a state that"):
        return  # its states say nothing
    with pytest.raises(bt.InputError):
        dataclasses.replace(posterior, **DAMAGES[damage](posterior)).check()
