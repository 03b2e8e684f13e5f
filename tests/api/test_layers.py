"""Who may know whom: the imports of the package and the includes of the core, held to the layers of docs/design.md."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "baytree"
CORE = ROOT / "core"

# A module may use those of the layers before its own.
PYTHON_LAYERS = [
    {"errors", "words", "_core", "robot_arm"},
    {"files", "cells", "storage", "diagnostics", "progress", "tempering"},
    {"tables", "columns", "response", "verdict", "evidence"},
    {"training"},
    {"data"},
    {"knowledge", "plan"},
    {"datasets", "native", "proposals", "leaves", "trees"},
    {"prior_draws", "sketch_text", "sums"},
    {"priors", "sketches", "discovery"},
    {"slp"},
    {"edit_tree", "program_sums"},
    {"models", "prediction", "summary", "edits", "bart_model", "bart_summary"},
    {"agreement", "datatree", "sum_prediction"},
    {"sampled"},
    {"explained"},
    {"posterior", "bart_posterior", "subset"},
    {"hme"},
    {"families"},
    {"sampling", "estimators"},
    {"cart", "bart", "linear", "soft", "markov", "nulls"},
    {"studies"},
    {"cli", "__init__"},
    {"__main__"},
]

CORE_LAYERS = [
    {"error", "numeric", "vocabulary", "rounds", "simd", "bart/gate"},
    {"rng", "bart/soft_pass"},
    {
        "design",
        "slice",
        "ladder",
        "bart/pass",
        "bart/class_probabilities",
        "bart/sum_leaf",
        "bart/soft_leaves",
        "slp/term",
        "bart/large_pages",
        "subset/evidence",
        "hme/normal_system",
        "hme/polya_gamma",
        "hme/problem",
        "hmm",
        "slp/characters",
        "slp/operators",
        "slp/builtins",
        "slp/number",
        "slp/data",
        "slp/spelling",
    },
    {"tree", "hmm_projection", "slp/problem", "slp/cell", "slp/chance", "subset/problem", "hme/logit"},
    {"partition", "forest", "slp/lexer", "bart/soft_gate", "subset/factor", "hme/experts"},
    {"admissible", "draws", "monotone", "leaf/categorical", "leaf/gaussian", "slp/parser"}
    | {"bart/sum_trees", "subset/coefficients", "hme/chain"}
    | {"bart/soft_shares"},
    {"subset/chain", "subset/enumeration"}
    | {"knowledge", "slp/program", "slp/arithmetic", "slp/writer", "slp/store", "bart/code_block"}
    | {"bart/team", "bart/column_weights", "bart/soft_basis", "bart/soft_forest"},
    {"prior/node_rules", "prior/path", "bart/sum_kernel", "bart/leaf_numbers", "bart/latent", "bart/soft_kernel"},
    {"prior/grow_tree", "prior/node_table", "slp/lint", "slp/library", "bart/sum_predictor"},
    {"bart/tree_sum", "bart/shap"},
    {"bart/backfit", "bart/sparse", "bart/leaf_spread", "bart/tree_record", "bart/target_leaf"},
    {"bart/grow_start", "bart/noise"},
    {"prior/program_knowledge", "leaf_values", "proposal/move", "slp/reading", "slp/prelude"},
    {"slp/code"},
    {"proposal/regrow", "proposal/birth_death", "proposal/change", "proposal/swap", "slp/analysis", "slp/machine"}
    | {"slp/compile"},
    {"proposal/mixture", "prior/derived_tree", "slp/prepare", "slp/proofs", "slp/kernel"}
    | {"slp/machine_choices", "slp/machine_goals", "bart/soft_backfit"},
    {"predictor", "slp/walk"},
    {"chain", "tempering", "derivation"},
    {"program_chain", "bart/program_sum"},
    {"bart/sum_chain"},
]


def python_edges() -> dict[str, set[str]]:
    """What each module imports of the package when it is run, type-checking imports left out."""
    edges: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
                node.body = []
        depth = len(path.relative_to(PACKAGE).parts)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == depth:
                named = [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]
                edges.setdefault(module, set()).update(named)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").startswith("baytree."):
                edges.setdefault(module, set()).add(node.module.split(".")[1])
        edges.setdefault(module, set()).discard(module)
    return edges


def core_edges() -> dict[str, set[str]]:
    """What each header and its source file include, its own header left out."""
    edges: dict[str, set[str]] = {}
    for folder in (CORE / "include" / "baytree", CORE / "src"):
        for path in folder.rglob("*.[ch]pp"):
            # The wide forms of a file belong to it.
            name = re.sub(r"_avx\d+$", "", path.relative_to(folder).with_suffix("").as_posix())
            included = re.findall(r'#include "baytree/([\w/]+)\.hpp"', path.read_text())
            edges.setdefault(name, set()).update(set(included) - {name})
    return edges


def forbidden(edges: dict[str, set[str]], layers: list[set[str]]) -> list[str]:
    may = {module: set().union(*layers[:place]) for place, layer in enumerate(layers) for module in layer}
    assert set(edges) <= set(may), f"give these a layer: {sorted(set(edges) - set(may))}"
    return [f"{module} -> {used}" for module, uses in edges.items() for used in sorted(uses - may[module])]


@pytest.mark.parametrize(
    ("edges", "layers"), [(python_edges, PYTHON_LAYERS), (core_edges, CORE_LAYERS)], ids=["python", "core"]
)
def test_no_new_edges(edges: Callable[[], dict[str, set[str]]], layers: list[set[str]]) -> None:
    assert forbidden(edges(), layers) == []


def test_a_wrong_edge_is_found() -> None:
    assert forbidden({"data": {"posterior"}}, PYTHON_LAYERS) == ["data -> posterior"]
    assert forbidden({"tree": {"chain"}}, CORE_LAYERS) == ["tree -> chain"]


def test_the_core_knows_nothing_of_python() -> None:
    for path in CORE.rglob("*.[ch]pp"):
        assert not re.search(r"nanobind|Python\.h", path.read_text()), path


def test_the_stub_names_what_the_core_offers() -> None:
    from baytree import _core

    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    offered = {name for name in dir(_core) if not name.startswith("_")}
    assert offered == {name for name in classes if not name.startswith("_")} | functions

    def members(node: ast.ClassDef) -> set[str]:
        own = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        values = {item.targets[0].id for item in node.body if isinstance(item, ast.Assign)}
        values |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
        bases = [getattr(base.value if isinstance(base, ast.Subscript) else base, "id", "") for base in node.bases]
        return (own | values).union(*(members(classes[base]) for base in bases if base in classes)) - {"__init__"}

    for name in offered - functions:
        assert {member for member in vars(getattr(_core, name)) if member[0] != "_"} == members(classes[name]), name


def test_importing_baytree_is_light() -> None:
    import subprocess
    import sys

    heavy = "sklearn pandas polars matplotlib arviz arviz_base arviz_stats xarray scipy rich typer"
    code = f"import sys, baytree; print([name for name in {heavy!r}.split() if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
