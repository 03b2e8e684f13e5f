"""Who may know whom: the includes of the core, held to its layers."""

import re
from pathlib import Path

CORE = Path(__file__).parents[2] / "core"

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


def test_no_new_edges() -> None:
    assert forbidden(core_edges(), CORE_LAYERS) == []


def test_a_wrong_edge_is_found() -> None:
    assert forbidden({"tree": {"chain"}}, CORE_LAYERS) == ["tree -> chain"]


def test_the_core_knows_nothing_of_python() -> None:
    for path in CORE.rglob("*.[ch]pp"):
        assert not re.search(r"nanobind|Python\.h", path.read_text()), path
