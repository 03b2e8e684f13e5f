"""A model file is data: reading one executes nothing, writes nothing and asks nobody, as Python's own audit sees it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.make import FIXTURES, FOLDER
from robustness.damage import header_of, rewrite_header

PAYLOAD = "__import__('os').system('touch executed')"
# What Python tells its auditors of while a file is read, shown and predicted from; anything else fails.
HARMLESS = ["sqlite3.connect", "sqlite3.connect/handle", "sys._getframe", "object.__getattr__", "builtins.id"]

READ = """
import sys, warnings
import baytree as bt
warnings.simplefilter("ignore")
before, path, harmless = sys.argv[1], sys.argv[2], sys.argv[3].split(",")

def use(path):
    posterior = bt.load(path)
    offset = {"offset": [0.0, 0.0]} if posterior.settings.offset else {}
    posterior.predict([[0.5, 2, 0.1], [-1.0, 1, 0.9]], ("mean", "predictive"), **offset)
    return str(posterior.summary())

use(before)  # what is imported on the way is imported now
seen = []
def audit(event, arguments):
    reads = event == "open" and (arguments[2] or 0) & 3 == 0
    if not (reads or event in harmless):
        seen.append((event, str(arguments)[:200]))
sys.addaudithook(audit)
said = use(path)
assert seen == [], seen
assert "touch executed" in said
eval("1")
assert [event for event, _ in seen] == ["compile", "exec"], seen  # the audit would have seen it
"""


@pytest.mark.parametrize("name", ["cart", "cart_program", "bart", "subset", "hme", "hmdt"])
def test_reading_executes_nothing(name: str, tmp_path: Path) -> None:
    """Of a file whose names, labels and words all want to be executed."""
    assert name in FIXTURES
    before, path = max(FOLDER.glob(f"{name}-*.baytree")), tmp_path / "model.baytree"
    shutil.copy(before, path)
    schema = header_of(path, "schema")
    schema["response"]["name"] = PAYLOAD
    for column in schema["columns"]:
        column["name"] = f"{PAYLOAD} # {column['name']}"
        column["levels"] = [f"{PAYLOAD} # {level}" if level not in "0123" else level for level in column["levels"]]
    rewrite_header(path, "schema", json.dumps(schema))
    command = [sys.executable, "-c", READ, str(before), str(path), ",".join(HARMLESS)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == [path]
