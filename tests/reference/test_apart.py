"""The references share no code with what they check: they import neither baytree nor a test that does."""

import ast
from pathlib import Path

REFERENCE = Path(__file__).parent
APART = {"baytree", *(path.stem for path in REFERENCE.parent.iterdir())} - {REFERENCE.name}


def imported(path: Path) -> set[str]:
    """The packages that a file imports, anywhere in it."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.split(".")[0] for name in names}


def test_no_reference_imports_what_it_checks() -> None:
    files = {str(path.relative_to(REFERENCE)): imported(path) & APART for path in REFERENCE.rglob("*.py")}
    assert len(files) > 20
    assert {file: names for file, names in files.items() if names} == {}
