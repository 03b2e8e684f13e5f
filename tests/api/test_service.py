"""The example of a prediction service, asked over loopback by several threads at once."""

from __future__ import annotations

import importlib
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("fastapi")

THREADS, REQUESTS = 8, 10
DATA = bt.datasets.load("kyphosis")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("service") / "kyphosis.baytree"
    bt.sample(bt.CART(), DATA.design(), warmup=200, draws=50, seed=1, progress=False).save(path)
    return path


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    """Where the service of the example listens."""
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as listening:
        patch.setenv("BAYTREE_MODEL", str(model))
        patch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
        server = uvicorn.Server(uvicorn.Config(importlib.import_module("service").app, log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        # Until it accepts, connections wait in the queue of the socket.
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/predict"
        server.should_exit = True
        thread.join()


def ask(address: str, rows: Any) -> Any:
    request = urllib.request.Request(address, json.dumps(rows).encode(), {"Content-Type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
        return json.load(answer)


def test_many_at_once_get_what_the_posterior_says(address: str, model: Path) -> None:
    rows = DATA.X.to_dicts()
    expected = bt.load(model).predict(DATA.X, ("mean", "interval"))
    firsts = (number % (len(rows) - 5) for number in range(THREADS * REQUESTS))
    places = [range(first, first + 5) for first in firsts]
    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(lambda at: ask(address, [rows[place] for place in at]), places))
    for answer, at in zip(answers, places, strict=True):
        assert answer["classes"] == ["absent", "present"]
        for kind, values in expected.items():
            np.testing.assert_array_equal(answer[kind], values[list(at)])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"age": 1, "number": 2}], "no column 'start'"),
        ([{"age": "old", "number": 2, "start": 3}], "'old' is text, but the column is numeric"),
        ([], "at least 1 item"),
        ([{"age": 1, "number": 2, "start": 3}] * 10_001, "at most 10000 items"),
    ],
    ids=["column", "text", "none", "too many"],
)
def test_what_is_wrong_is_said(address: str, rows: Any, said: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as failure:
        ask(address, rows)
    assert failure.value.code == 422
    assert said in failure.value.read().decode()
