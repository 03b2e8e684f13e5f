"""Who may know whom in the core: its folders are layers or families, and this list is the only one of them."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"

# --8<-- [start:layers] docs/design/index.md shows these lines
# A folder may include what lies in those before it; folders of one line know nothing of each other.
LAYERS = [
    {"testing"},
    {"base"},
    {"data", "slp"},
    {"trees"},
    {"knowledge"},
    {"priors"},
    {"mcmc"},
    {"cart", "bart", "subset", "hme"},
    {"hmdt"},
]

# The same of the folders in a folder. Files that lie in the folder itself come after them.
INSIDE = {
    "slp": ["syntax", "program", "engine", "proofs"],
    "mcmc": ["proposals"],
    "cart": ["leaf", "exact"],
    "bart": ["ensemble", "hard", "soft", "program", "predict"],
}
# --8<-- [end:layers]

Edges = dict[str, set[str]]


def core_edges() -> Edges:
    """What each header and the source of its name include, itself left out."""
    edges: Edges = {}
    for folder in (CORE / "include" / "baytree", CORE / "src"):
        for path in folder.rglob("*.[ch]pp"):
            # The wide forms of a file belong to it.
            name = re.sub(r"_avx\d+$", "", path.relative_to(folder).with_suffix("").as_posix())
            included = re.findall(r'#include "baytree/([\w/]+)\.hpp"', path.read_text())
            edges.setdefault(name, set()).update(set(included) - {name})
    return edges


def place(file: str) -> tuple[int, str, int]:
    """The layer of a file, its folder, and where in the folder it comes."""
    folder, *rest = file.split("/")
    layer = next((number for number, folders in enumerate(LAYERS) if folder in folders), None)
    assert layer is not None, f"{file}: give the folder {folder} a layer"
    if len(rest) < 2:
        return layer, folder, len(INSIDE.get(folder, []))
    assert rest[0] in INSIDE.get(folder, []), f"{file}: say what the folder {folder}/{rest[0]} may know"
    return layer, folder, INSIDE[folder].index(rest[0])


def forbidden(edges: Edges) -> list[str]:
    wrong = []
    for file, included in edges.items():
        layer, folder, inside = place(file)
        for used in sorted(included):
            of_layer, of_folder, of_inside = place(used)
            if not (of_inside <= inside if of_folder == folder else of_layer < layer):
                wrong.append(f"{file} -> {used}")
    return wrong


def cycle(edges: Edges) -> list[str]:
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_wrong_edges() -> None:
    assert forbidden(core_edges()) == []


def test_no_cycles() -> None:
    assert cycle(core_edges()) == []


def test_every_folder_is_there() -> None:
    folders = {path.name for path in (CORE / "include" / "baytree").iterdir()}
    assert folders == set().union(*LAYERS)
    for folder, inside in INSIDE.items():
        assert {path.name for path in (CORE / "include" / "baytree" / folder).iterdir() if path.is_dir()} == set(inside)


@pytest.mark.parametrize(
    ("file", "used"),
    [
        ("trees/tree", "cart/chain"),  # a later layer
        ("hme/chain", "subset/factor"),  # another family
        ("data/design", "slp/engine/machine"),  # another of the same line
        ("bart/hard/pass", "bart/soft/pass"),  # a later folder of the same family
        ("bart/ensemble/leaf", "bart/chain"),  # the family's own files
    ],
)
def test_a_wrong_edge_is_found(file: str, used: str) -> None:
    assert forbidden({file: {used}}) == [f"{file} -> {used}"]


def test_a_cycle_is_found() -> None:
    edges = core_edges()
    edges["trees/tree"].add("trees/forest")
    assert {"trees/tree", "trees/forest"} <= set(cycle(edges))


def test_a_file_of_no_layer_is_found() -> None:
    for file in ("forests/tree", "trees/deep/tree"):
        with pytest.raises(AssertionError, match=file):
            forbidden({file: set()})


def test_the_core_knows_nothing_of_python() -> None:
    for path in CORE.rglob("*.[ch]pp"):
        assert not re.search(r"nanobind|Python\.h", path.read_text()), path
