"""Who may know whom: the imports of the package, held to its layers."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "baytree"

# --8<-- [start:layers] docs/design/index.md shows these lines
LAYERS = """
_core text ←
notebook ←
errors ←
validation ←
data ←
datasets storage knowledge mcmc plots ←
trees diagnostics ←
report ←
slp ←
priors ←
posterior ←
sampling interpret ←
estimators ←
cart bart subset hme ←
hmdt ←
plot ←
studies ←
__init__ ←
cli ←
__main__
"""

# The same of the folders in a folder; * are the files that lie in the folder itself.
INSIDE = {
    "hme": "numeric ← data ← tree ← mean_field ← fitting ← interpret ← *",
    "hmdt": "data ← tree ← fitting ← *",
}
# --8<-- [end:layers]


def module_of(path: Path) -> str:
    """The dotted name of a file below the package; the package itself is the empty name."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def without_types(tree: ast.Module) -> ast.Module:
    """A module without what it imports for types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    return tree


def imports(deferred: bool = True) -> dict[str, set[str]]:
    """What each module imports of the package, type-checking imports left out, and those inside functions if asked."""
    modules = {module_of(path): path for path in PACKAGE.rglob("*.py")}
    edges: dict[str, set[str]] = {}
    for module, path in modules.items():
        tree = without_types(ast.parse(path.read_text()))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and not deferred:
                node.body = []
        used = edges.setdefault(module, set())
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom):
                continue
            if node.level:
                base = path.relative_to(PACKAGE).parts[: -node.level]
                source = ".".join((*base, *([node.module] if node.module else [])))
            elif (node.module or "").split(".")[0] == "baytree":
                source = (node.module or "").partition(".")[2]
            else:
                continue
            for alias in node.names:
                inner = f"{source}.{alias.name}".strip(".")
                used.add(inner if inner in modules or inner == "_core" else source)
        used.discard(module)
    return edges


def layer_of(module: str, layers: str = LAYERS) -> str:
    """The layer of the longest name that the module's begins with."""
    names = [name for name in layers.replace("←", " ").split() if f"{module}.".startswith(f"{name}.")]
    return max(names, key=len, default=module.split(".")[0]) or "__init__"


def forbidden(edges: dict[str, set[str]], layers: str = LAYERS) -> list[str]:
    """The imports of a layer that comes later, or that stands beside one's own."""
    places = {name: place for place, names in enumerate(layers.split("←")) for name in names.split()}
    found = {layer_of(module) for module in edges}
    assert found <= set(places), f"give these a layer: {sorted(found - set(places))}"
    return [
        f"{module} -> {used}"
        for module, uses in edges.items()
        for used in sorted(uses)
        if layer_of(used) != layer_of(module) and places[layer_of(used)] >= places[layer_of(module)]
    ]


def within(edges: dict[str, set[str]], folder: str) -> dict[str, set[str]]:
    """The imports inside a folder, by the names that modules have there."""
    layers = INSIDE[folder].replace("←", " ").split()

    def name(module: str) -> str:
        inner = module.removeprefix(f"{folder}.")
        return inner if "." in inner or inner in layers else f"*.{inner}"

    def inside(modules: Iterable[str]) -> list[str]:
        return [module for module in modules if module.startswith(f"{folder}.")]

    return {name(module): {name(used) for used in inside(edges[module])} for module in inside(edges)}


def cycles(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import each other by some way round."""

    def reached(begin: str) -> set[str]:
        seen: set[str] = set()
        ahead = list(edges.get(begin, ()))
        while ahead:
            if (module := ahead.pop()) not in seen:
                seen.add(module)
                ahead += edges.get(module, ())
        return seen

    return sorted(module for module in edges if module in reached(module))


def test_no_layer_knows_a_later_one() -> None:
    assert forbidden(imports()) == []


@pytest.mark.parametrize("folder", INSIDE)
def test_no_folder_knows_a_later_one_beside_it(folder: str) -> None:
    assert forbidden(within(imports(), folder), INSIDE[folder]) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert cycles(imports(deferred=False)) == []


def test_wrong_edges_are_found() -> None:
    assert forbidden({"data.design": {"cart.model"}, "cart.model": {"data.design"}}) == ["data.design -> cart.model"]
    assert forbidden({"cart.model": {"bart.model"}}) == ["cart.model -> bart.model"]
    inner = {"hme.tree.splits": {"hme.fitting.em", "hme.model"}, "hme.model": {"hme.tree", "data.matrix"}}
    assert forbidden(within(inner, "hme"), INSIDE["hme"]) == ["tree.splits -> *.model", "tree.splits -> fitting.em"]
    with pytest.raises(AssertionError, match="roots"):
        forbidden(within({"hme.roots.root": set()}, "hme"), INSIDE["hme"])
    assert cycles({"a.x": {"a.y"}, "a.y": {"a.z"}, "a.z": {"a.x"}, "a.w": {"a.x"}}) == ["a.x", "a.y", "a.z"]


def test_matplotlib_is_imported_in_plots_alone() -> None:
    """Types apart; so what is drawn, and what needs matplotlib to be installed, lies in one folder."""

    def names(path: Path) -> Iterator[str]:
        for node in ast.walk(without_types(ast.parse(path.read_text()))):
            if isinstance(node, ast.ImportFrom):
                yield node.module or ""
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)

    used = [path for path in PACKAGE.rglob("*.py") if any(name.split(".")[0] == "matplotlib" for name in names(path))]
    assert {layer_of(module_of(path)) for path in used} == {"plots"}


def test_importing_baytree_is_light() -> None:
    heavy = "sklearn pandas polars matplotlib arviz arviz_base arviz_stats xarray scipy rich typer"
    code = f"import sys, baytree; print([name for name in {heavy!r}.split() if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
