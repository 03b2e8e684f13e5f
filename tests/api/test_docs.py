"""What the documentation tells people to type works, what it shows is what they will see, and its links lead somewhere.

A ``python`` block is run; the blocks of a page share one namespace and one empty folder. Of a ``console`` block the
lines behind ``$`` are run, and the lines it shows below them must be among what the program printed, whatever the
numbers; a line that is only ``…`` stands for what is left out. ``<!-- fails with 2 -->`` or ``<!-- fails with
InputError -->`` before a block says that it ends with this exit code or error. Blocks of another language are not run.
"""

from __future__ import annotations

import doctest
import os
import pydoc
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

import baytree as bt
from baytree.cli import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
LINKED = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "examples").glob("*.md")]

BLOCK = re.compile(
    r"^(?:<!-- fails with (?P<failure>\w+) -->\n+)?(?P<indent> *)```(?P<language>python|console)\n"
    r"(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
# They change the machine or the repository, or depend on what is installed.
SKIPPED = ("make", "pip", "git", "cd")
LEFT_OUT = "…"
FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
# A file that a page names; with a word in capitals, as in `cart/NAME.py`, it is one that somebody will add.
FILE = re.compile(r"`([a-z_]\w*(?:/[a-z_]\w*)+\.(?:py|hpp|cpp|slp))`")
FOLDERS = (ROOT, ROOT / "src" / "baytree", ROOT / "core" / "include" / "baytree")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]+)(?:#[^)\s]*)?\)")


@dataclass(frozen=True)
class Block:
    """A block of a page that is run.

    Attributes
    ----------
    page : Path
        Where it stands.
    line : int
        The number of its first line there.
    language : {"python", "console"}
        What it holds.
    body : str
        Its text.
    failure : str or None
        The exit code or the name of the error it must end with.
    """

    page: Path
    line: int
    language: str
    body: str
    failure: str | None

    def run(self, namespace: dict[str, Any]) -> None:
        if self.language == "console":
            self._run_console()
            return
        try:
            # Empty lines in front, so that a traceback shows the line of the page.
            exec(compile("\n" * (self.line - 1) + self.body, str(self.page), "exec"), namespace)
        except Exception as error:
            if type(error).__name__ != self.failure:
                raise
        else:
            assert self.failure is None, f"{self.page.name}:{self.line} does not fail with {self.failure}"

    def _run_console(self) -> None:
        for command, shown in commands(self.body):
            if command.split()[0] in SKIPPED:
                continue
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, encoding="utf-8")
            where = f"{self.page.name}:{self.line}: $ {command}"
            assert done.returncode == int(self.failure or 0), f"{where}\n{done.stderr}"
            printed = {shape(line) for line in (done.stdout + done.stderr).splitlines()}
            absent = [line for line in shown if line.strip() != LEFT_OUT and shape(line) not in printed]
            assert not absent, f"{where}\nno longer prints: {absent}\nbut:\n{done.stdout}{done.stderr}"


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page that are run, in order."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("body")) + 1
        yield Block(page, line, match["language"], textwrap.dedent(match["body"]), match["failure"])


def commands(body: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines shown below it."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, [line for line in shown if line.strip()]


def shape(line: str) -> str:
    """A line without what another seed changes: numbers, bars and spaces."""
    return " ".join(re.sub(r"[<>]?-?\d[\d.,]*|[▏▎▍▌▋▊▉█]+", " # ", line).split())


def test_blocks_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n1\n```\n\n<!-- fails with 2 -->\n\n```console\n$ a b\nc 1\n\n$ d\n```\n```sh\n$ no\n```\n"
    )
    first, second = blocks(page)
    assert (first.line, first.language, first.body, first.failure) == (2, "python", "1\n", None)
    assert (second.language, second.failure) == ("console", "2")
    assert list(commands(second.body)) == [("a b", ["c 1"]), ("d", [])]


def test_wrong_examples_are_found(tmp_path: Path) -> None:
    """The saboteurs: an example that fails, one that should fail and does not, and one that shows what is not so."""
    with pytest.raises(AssertionError):
        Block(tmp_path, 1, "console", "$ exit 3\n", None).run({})
    with pytest.raises(AssertionError):
        Block(tmp_path, 1, "console", "$ true\n", "2").run({})
    with pytest.raises(AssertionError, match="no longer prints"):
        Block(tmp_path, 1, "console", "$ echo 12 leaves\n12 trees\n", None).run({})
    with pytest.raises(ZeroDivisionError):
        Block(tmp_path, 1, "python", "1 / 0", None).run({})
    with pytest.raises(AssertionError):
        Block(tmp_path, 1, "python", "1 / 1", "InputError").run({})
    Block(tmp_path, 1, "console", "$ echo 12 leaves\n…\n7 leaves\n", None).run({})


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page))], ids=lambda page: page.stem)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    if page.stem in ("README", "tutorial"):  # their runs end in agreement, as long as that takes
        monkeypatch.delenv("BAYTREE_EFFORT")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        block.run(namespace)
    if "matplotlib.pyplot" in sys.modules:  # the pictures of a page are closed with it
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    assert [link for link in LINK.findall(prose) if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_are_named_exist(page: Path) -> None:
    named = FILE.findall(page.read_text(encoding="utf-8"))
    assert [file for file in named if not any((folder / file).is_file() for folder in FOLDERS)] == []


def test_every_public_name_is_documented() -> None:
    documented = set(re.findall(r"^::: baytree\.(?:[a-z_]+\.)*(\w+)$", (DOCS / "api.md").read_text(), re.MULTILINE))
    assert set(bt.__all__) <= documented


def test_every_documented_name_exists() -> None:
    names = re.findall(r"^::: baytree\.([\w.]+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    assert [name for name in names if pydoc.locate(f"baytree.{name}") is None] == []


def test_every_option_is_documented() -> None:
    text = (DOCS / "cli.md").read_text()
    for name, command in every_command(typer.main.get_command(app), "baytree"):
        assert f"## {name}" in text
        whole = command.with_options_of(command.families.values()) if hasattr(command, "families") else command
        options = [option for parameter in whole.params for option in parameter.opts if option.startswith("--")]
        assert [option for option in options if f"`{option}" not in text] == []


def every_command(group: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every command with its full name, those of groups included."""
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from every_command(command, f"{name} {word}")
        else:
            yield f"{name} {word}", command


def documented_examples() -> list[doctest.DocTest]:
    """The examples in the docstrings of the public names and their methods."""
    finder = doctest.DocTestFinder()
    found = (test for name in bt.__all__ for test in finder.find(getattr(bt, name), name, globs={}))
    return [test for test in found if test.examples]


@pytest.mark.parametrize("example", documented_examples(), ids=lambda example: example.name)
def test_docstring_examples(example: doctest.DocTest) -> None:
    assert doctest.DocTestRunner().run(example).failed == 0


def test_there_are_docstring_examples() -> None:
    assert {"CARTClassifier", "CARTRegressor"} <= {example.name for example in documented_examples()}
