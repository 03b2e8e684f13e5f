"""Fingerprints of what seeds give, of every family and prior: taken before a change of form, compared after it.

    python tests/equality/fingerprints.py take FILE        write them
    python tests/equality/fingerprints.py compare FILE     name those that differ; exit 1 where one does
    python tests/equality/fingerprints.py keep             write the golden ones, golden.json, for all machines
    python tests/equality/fingerprints.py check            compare with the golden ones

Only public names are used, so that the script outlives moves of what is inside, and runs on an installed wheel.

The bits are those of one machine alone: exponentials and logarithms come from the C library, and linear algebra from
NumPy's, which other machines may round otherwise in the last digit. What a chain decides hardly ever hangs on that
digit, so a golden fingerprint is the same on all machines. It has whole numbers and words, such as decisions and
models, exactly, and of others four digits of the largest one; and of what is optimised rather than drawn only the first
steps, as what was rounded grows on the way.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

import baytree as bt

RUN: dict[str, Any] = {"warmup": 60, "draws": 25, "thin": 2, "chains": 2, "seed": 7, "progress": False}
SUMS: dict[str, Any] = RUN | {"warmup": 15, "draws": 10}
GROWTREE = "growtree.slp"
GOLDEN = Path(__file__).with_name("golden.json")
# The cases of golden fingerprints: some of each family, and all of its ways to compute.
EVERYWHERE = (
    *("prior samples", "program samples", "program draws", "program posterior auto", "program enumerated"),
    *("cart auto", "cart classes", "cart exact", "cart monotone", "cart adaptive", "cart program reject"),
    *("bart", "bart two classes", "bart three classes", "bart weights and offset", "bart sparse"),
    *("bart variance forest", "bart student", "bart soft", "bart grown start", "bart program", "bart long"),
    *("subset enumerated", "subset HyperGN", "subset Ridge", "subset tempered"),
    *("hme first steps", "hme gibbs", "hme gibbs three classes", "hmdt first steps"),
)
# What version 0.1 called otherwise: where the trees of BART begin, and what chains propose.
GROWN = "init" if hasattr(bt.BART(), "init") else "start"
PROPOSAL = "proposal" if hasattr(bt.BART(), "proposal") else "moves"
OF_PROGRAMS = "proposal" if "proposal" in signature(bt.slp.Program.posterior).parameters else "kernel"


def mixed() -> tuple[np.ndarray, np.ndarray]:
    """Numbers with missing values, labels, and a column that says nothing; and a response."""
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.normal(size=90), generator.integers(0, 4, 90), generator.random(90)])
    X[::7, 0] = np.nan
    y = np.where(np.isnan(X[:, 0]), 2.0, X[:, 0]) + (X[:, 1] == 2) + generator.normal(scale=0.2, size=90)
    return X, y


X, Y = mixed()
LABELS = np.array(["low", "mid", "top"])[np.digitize(Y, [0, 1])]
TWO = np.where(Y > 0.5, "yes", "no")
WEIGHT, OFFSET = np.linspace(0.5, 2, 90), np.linspace(-1, 1, 90)
WHOLE_WEIGHT = 1 + np.arange(90) % 3
Z = np.nan_to_num(X, nan=0.3)[:, [0, 2]]


def task_of(y: np.ndarray) -> Any:
    return "regression" if y.dtype.kind == "f" else "classification"


def design(y: np.ndarray = Y, **more: Any) -> bt.Design:
    return bt.make_design(X, y, task=task_of(y), categorical_features=[1], **more)


def matrix(y: np.ndarray = Y, **more: Any) -> bt.LinearDesign:
    return bt.make_linear_design(X, y, task=task_of(y), categorical_features=[1], **more)


def drawn(posterior: Any, rows: Any = X, **more: Any) -> list[np.ndarray]:
    """What chains drew, by what everybody can ask of a posterior."""
    return [
        posterior.log_likelihood,
        *(posterior.predict(rows, kind, **more) for kind in ("mean", "draws", "predictive")),
    ]


def trees() -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    def case(model: bt.CART, data: bt.Design, **more: Any) -> Callable[[], list[Any]]:
        def draw() -> list[Any]:
            posterior = bt.sample(model, data, **RUN | more)
            tempered = [posterior.rung_log_likelihood] if posterior.rung_log_likelihood is not None else []
            return [*drawn(posterior), posterior.log_prior, list(posterior.inclusion().values()), *tempered]

        return draw

    numbers, classes, weighted = design(), design(LABELS), design(sample_weight=WEIGHT)
    for proposal in ("auto", "uc", "q0", "cycle(4)", "birth_death", "change", "swap"):
        yield f"cart {proposal}", case(bt.CART(proposal=proposal if proposal != "swap" else "uc=1,swap=1"), numbers)
    informed = "gbirth=1,gchange=1,insert_delete=1"
    yield "cart rules by likelihood", case(bt.CART(proposal=informed), numbers)
    yield "cart classes", case(bt.CART(), classes)
    if hasattr(bt.CART(), "method"):  # which version 0.1 lacks
        yield "cart exact", case(bt.CART(bt.GrowTree(min_leaf=20) & bt.MaxDepth(2), method="exact"), classes)
    yield "cart weighted", case(bt.CART(), weighted)
    yield "cart weighted classes", case(bt.CART(), design(TWO, sample_weight=WEIGHT))
    yield "cart prior alone", case(bt.CART(power=0.0), classes)
    for rule in ("variable", "uniform"):
        yield f"cart rule {rule}", case(bt.CART(bt.GrowTree(0.9, 0.5, min_leaf=2, rule=rule)), numbers)
    for ladder in ("adaptive", "mrbayes"):
        yield f"cart {ladder}", case(bt.CART(), classes, temperatures=3, ladder=ladder, swap_every=7)
    known = {
        "box": bt.Box(x0="-0.5..0.5"),
        "monotone": bt.Monotone(x0=1, x2=-1),
        "groups": bt.Interact([["x0", "x1"], ["x2"]]),
        "forbid": bt.Forbid("x2"),
        "only": bt.Only(0, ["x0", "x1"]),
        "sizes": bt.MaxDepth(2) & bt.MaxLeaves(3),
        "weights": bt.Weights(x0=3, x2=0.5),
    }
    for name, knowledge in known.items():
        yield f"cart {name}", case(bt.CART(bt.GrowTree() & knowledge), numbers)
    yield "cart monotone classes", case(bt.CART(bt.GrowTree() & bt.Monotone(x0=1)), design(TWO))
    for semantics in ("backtrack", "reject"):
        program = bt.slp.load(GROWTREE, semantics=semantics)
        yield f"cart program {semantics}", case(bt.CART(program), classes)
        yield f"cart program {semantics} tempered", case(bt.CART(program), numbers, temperatures=2)
        yield f"cart program {semantics} monotone", case(bt.CART(program & bt.Monotone(x0=1)), numbers)
    for proposal in ("subtree", "sequence", "address", "independent", "cycle(3)"):
        program = bt.slp.load(GROWTREE, semantics="reject")
        yield f"cart program {proposal}", case(bt.CART(program, proposal=proposal), numbers)
    tree = "x0 <= 0.5?\n├─ yes: 0.0 (10 rows)\n└─ no:  1.0 (10 rows)"
    yield "cart edit tree", case(bt.CART(bt.EditTree(tree)), numbers)
    yield "prior samples", lambda: [bt.GrowTree().sample(numbers, 200, seed=3).to_dict()]
    yield "program samples", lambda: [bt.slp.load(GROWTREE).sample(numbers, 200, seed=3).to_dict()]


def sums() -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    def case(model: bt.BART, data: bt.Design, offset: Any = None, **more: Any) -> Callable[[], list[Any]]:
        def draw() -> list[Any]:
            posterior = bt.sample(model, data, **SUMS | more)
            use = posterior.variable_use()
            noise = [posterior.sigma] if posterior.sigma is not None else []
            return [*drawn(posterior, offset=offset), np.asarray(use.mean), *noise]

        return draw

    numbers = design()
    few: dict[str, Any] = {"trees": 8}
    grown: dict[str, Any] = {GROWN: "grow"}
    yield "bart", case(bt.BART(**few), numbers)
    yield "bart two classes", case(bt.BART(**few), design(TWO))
    yield "bart three classes", case(bt.BART(**few), design(LABELS))
    yield "bart weighted classes", case(bt.BART(**few), design(TWO, sample_weight=WHOLE_WEIGHT))
    yield "bart weights and offset", case(bt.BART(**few), design(sample_weight=WEIGHT, offset=OFFSET), OFFSET)
    yield "bart sparse", case(bt.BART(**few, prior=bt.GrowTree(beta=2.0) & bt.Weights("sparse")), numbers)
    yield "bart variance forest", case(bt.BART(**few, variance="forest", variance_trees=3), numbers)
    far = design(np.where(np.arange(len(Y)) == 7, 1e5, Y))
    yield "bart student", case(bt.BART(**few, noise="student"), far)
    yield "bart soft", case(bt.BART(**few, split="soft"), numbers)
    yield "bart soft classes", case(bt.BART(**few, split="soft"), design(LABELS))
    yield "bart k learned", case(bt.BART(**few, k="learned"), numbers)
    yield "bart grown start", case(bt.BART(**few, **grown), numbers)
    yield "bart monotone", case(bt.BART(**few, prior=bt.GrowTree(beta=2.0) & bt.Monotone(x0=1)), numbers)
    redrawn: dict[str, Any] = {PROPOSAL: {"subtree": 1.5}}
    yield "bart program", case(bt.BART(**few, prior=bt.slp.load(GROWTREE), **redrawn), numbers)
    long = bt.datasets.friedman(3000, seed=1)
    yield "bart long", lambda: drawn(bt.sample(bt.BART(**few), long.design(), **SUMS), long.X[:50])


def subsets() -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    def case(model: bt.Subset, data: bt.LinearDesign, **more: Any) -> Callable[[], list[Any]]:
        def draw() -> list[Any]:
            posterior = bt.sample(model, data, **RUN | more)
            return [*drawn(posterior), posterior.inclusion().to_dict(), posterior.coefficients().to_dict()]

        return draw

    table = matrix(interactions="all")
    yield "subset enumerated", case(bt.Subset(), table)
    for slab in (bt.GPrior(), bt.HyperG(), bt.HyperGN(), bt.Ridge()):
        yield f"subset {type(slab).__name__}", case(bt.Subset(coefficients=slab, method="sample"), table)
    for prior in (bt.Independent(0.3), bt.BetaBinomial(), bt.ExpectedSize(2)):
        yield f"subset {type(prior).__name__}", case(bt.Subset(prior, method="sample"), table)
    yield "subset heredity", case(bt.Subset(heredity="weak", method="sample"), table)
    yield "subset weighted", case(bt.Subset(method="sample"), matrix(sample_weight=WEIGHT))
    yield "subset tempered", case(bt.Subset(method="sample"), table, temperatures=3)
    for name in ("random", "metropolis", "informed"):
        asked: dict[str, Any] = {PROPOSAL: {name: 2}}
        yield f"subset {name}", case(bt.Subset(method="sample", **asked), table)


def experts() -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    def case(model: bt.HME, data: bt.LinearDesign, **more: Any) -> Callable[[], list[Any]]:
        def draw() -> list[Any]:
            posterior = bt.sample(model, data, **RUN | more)
            usual = posterior.predict(X), posterior.predict(X, "predictive")
            return [*usual, list(posterior.objective or ()), posterior.responsibilities(X)]

        return draw

    numbers, two, three = matrix(), matrix(TWO), matrix(LABELS)
    for method in ("em", "em2", "online", "gibbs", "variational"):
        yield f"hme {method}", case(bt.HME(method=method), numbers)
        yield f"hme {method} two classes", case(bt.HME(depth=1, method=method), two)
        yield f"hme {method} three classes", case(bt.HME(depth=1, method=method), three)
    yield "hme first steps", case(bt.HME(epochs=5, n_init=1), numbers)
    for init in ("cart", "grow", "random"):
        yield f"hme init {init}", case(bt.HME(init=init), numbers)
    yield "hme gibbs tempered", case(bt.HME(method="gibbs"), numbers, temperatures=3)
    yield "hme weighted", case(bt.HME(), matrix(sample_weight=WEIGHT))
    estimators = {
        "em": bt.HMERegressor(random_state=2),
        "online": bt.HMERegressor(method="online", epochs=3, random_state=2),
        "variational": bt.HMERegressor(method="variational", random_state=2),
        "gibbs": bt.HMERegressor(method="gibbs", warmup=30, draws=20, random_state=2),
    }

    def predicted(model: bt.HMERegressor) -> list[Any]:
        return [model.fit(X, Y).predict(X, kind="predictive_interval")]

    for name, model in estimators.items():
        yield f"hme estimator {name}", partial(predicted, model)
    yield (
        "hme estimator intervals",
        lambda: [bt.HMERegressor(depth=1, random_state=2).fit(Z, Y).predict(Z, kind="interval")],
    )
    classes = bt.HMEClassifier(random_state=2)
    yield "hme estimator classes", lambda: [classes.fit(X, LABELS).predict_proba(X)]
    yield (
        "hme rows in portions",
        lambda: [bt.HMERegressor(random_state=2).partial_fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:]).predict(X)],
    )


def sequences() -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    groups, gaps = np.repeat(np.arange(3), 30), np.where(np.arange(90) % 11 == 5, np.nan, Y)

    def numbers(method: str, depth: int = 2, epochs: int = 15, n_init: int = 2) -> list[Any]:
        model = bt.HMDTRegressor(depth=depth, method=method, epochs=epochs, n_init=n_init, random_state=3)
        model.fit(Z, gaps, groups)
        known = model.smooth(Z, gaps, groups), model.filter(Z, gaps, groups), model.viterbi(Z, gaps, groups)
        intervals = model.predict(Z, gaps, groups, kind="predictive_interval")
        return [
            model.predict(Z, gaps, groups),
            intervals,
            *(array for each in known for array in (each.leaf, each.decision)),
        ]

    def classes() -> list[Any]:
        model = bt.HMDTClassifier(epochs=15, n_init=2, random_state=3).fit(Z, LABELS, groups)
        return [model.predict_proba(Z, LABELS, groups), model.log_likelihood(Z, LABELS, groups)]

    for method in ("exact", "mean_field"):
        yield f"hmdt {method}", partial(numbers, method)
    yield "hmdt shallow", lambda: numbers("auto", 1)
    yield "hmdt first steps", lambda: numbers("exact", 1, 3, 1)
    yield "hmdt classes", classes


def programs() -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    coins = bt.slp.Program("0.3 : c(h).\n0.7 : c(t).\nrow([A, B, C]) :- c(A), c(B), c(C).\n")
    rows = str(coins.sample("row(X)", 30, seed=4))
    yield "program draws", lambda: [rows]
    yield "program enumerated", lambda: [str(coins.enumerate("row(X)"))]

    def counts(proposal: str) -> list[Any]:
        asked: dict[str, Any] = {"draws": 200, "seed": 5, OF_PROGRAMS: proposal}
        heads_of = coins.posterior("row(X)", lambda model: float(str(model).count("h")), **asked)
        return [str(heads_of.counts())]

    for proposal in ("auto", "subtree", "sequence", "address"):
        yield f"program posterior {proposal}", partial(counts, proposal)


def cases() -> dict[str, Callable[[], list[Any]]]:
    return dict(one for family in (trees, sums, subsets, experts, sequences, programs) for one in family())


def fingerprint(values: list[Any]) -> str:
    found = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            found.update(f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
        else:
            found.update(json.dumps(value, sort_keys=True, default=str).encode())
    return found.hexdigest()


def rounded(value: Any) -> Any:
    """What is the same on every machine, as JSON has it: see above."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)) and not all(isinstance(one, float) for one in value):
        return [rounded(one) for one in value]
    array = np.asarray(value)
    if array.dtype.kind != "f":
        return array.tolist()
    finite = np.where(np.isfinite(array), array, 0.0)
    unit = 1e-4 * max(float(np.abs(finite).max(initial=0.0)), 1e-300)
    # Shifted by an odd share of a unit, as simple fractions must not lie at the border of two whole numbers.
    return np.where(np.isfinite(array), np.floor(finite / unit + 0.271), np.nan).astype(str).tolist()


def golden_of(name: str) -> str:
    """The golden fingerprint of a case, with threads and registers as they are set."""
    return fingerprint([rounded(value) for value in cases()[name]()])


def main(what: str, file: str = "") -> int:
    kept = Path(file or GOLDEN)
    if what in ("keep", "check"):
        found = {name: golden_of(name) for name in EVERYWHERE}
    else:
        found = {name: fingerprint(draw()) for name, draw in cases().items()}
    if what in ("take", "keep"):
        kept.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{len(found)} fingerprints written to {kept}")
        return 0
    before = json.loads(kept.read_text())
    different = [name for name in before | found if before.get(name) != found.get(name)]
    print(
        f"{len(before)} fingerprints of {Path(bt.__file__).parent}, {len(different)} different", *different, sep="\n  "
    )
    return bool(different)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
