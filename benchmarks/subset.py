"""Subset selection: every move's time and effective draws a second, beside a plain Gibbs sampler in NumPy and R.

n = 500 rows and p = 50, 500 and 5,000 columns with correlations of a half, if nothing else is asked for; eight of them
matter, the weakest of which can be missed. g-prior with c = n, beta-binomial prior over models, one thread. All systems
have the same posterior.

- ns a flip: time for one look at one column, to flip it or not; an ``informed`` or ``replace`` turn looks at all.
- effective draws a second: the bulk effective size of the log posterior and, as the median, of the indicators of the
  columns whose probability lies between 0.05 and 0.95.

R's packages BAS and BMS sample and enumerate the same posterior; their chains are not kept, so that only their time is
known. ``python -m benchmarks.subset``; what R does not have is left out.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table
from scipy.special import betaln

import baytree as bt
from baytree import _core
from baytree.diagnostics.comparison import ess_of

ROWS = 500
SIZES = (50, 500, 5_000)
PROPOSALS = ("gibbs", "random", "metropolis", "informed", "replace")
PRIORS = (bt.GPrior(), bt.GPrior("eb"), bt.HyperG(), bt.HyperGN(), bt.Ridge())


def data(columns: int, correlation: float = 0.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring columns are correlated; eight matter."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(ROWS, columns))
    for j in range(1, columns):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    chosen = np.linspace(0, columns - 1, 8).astype(int)
    effect = np.array([1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15])
    return X, X[:, chosen] @ effect + generator.normal(size=ROWS)


def effective(target: np.ndarray, indicators: np.ndarray) -> tuple[float, float]:
    """Effective draws of the log posterior, and of the indicators that are open, of one chain."""
    share = indicators.mean(axis=0)
    open_ones = indicators[:, (share > 0.05) & (share < 0.95)].astype(float)
    of_target = float(ess_of(target[None, :, None])[0][0])
    return of_target, float(np.median(ess_of(open_ones[None])[0])) if open_ones.size else float("nan")


def baytree(X: np.ndarray, y: np.ndarray, proposal: dict[str, float], seconds: float) -> dict[str, float]:
    """One chain for about so many seconds."""
    design = bt.make_linear_design(X, y)
    model = bt.Subset(coefficients=bt.GPrior(), proposal=proposal, method="sample", nu=0.0).resolve(design)
    [chain] = model.chains(design, 0, 1)
    chain.warm_up(20, 1)
    began = time.perf_counter()
    chain.advance(20, 1)
    draws = int(np.clip(seconds / max((time.perf_counter() - began) / 20, 1e-7), 200, 20_000))
    chain.warm_up(max(200, draws // 10), 1)
    chain.end_warm_up()
    before = sum(chain.turns)
    began = time.perf_counter()
    chain.advance(draws, 1)
    per_iteration = (time.perf_counter() - began) / draws
    looks = (sum(chain.turns) - before) / draws
    chain.draw(draws, 1, 1)
    part = chain.take()
    included = np.zeros((len(part["begin"]) - 1, X.shape[1]), dtype=bool)
    included[np.repeat(np.arange(len(included)), np.diff(part["begin"])), part["unit"]] = True
    first = part["model"].min()
    of_target, of_indicator = effective(part["log_likelihood"] + part["log_prior"], included[part["model"] - first])
    return {
        "flip": per_iteration / looks * 1e9,
        "target": of_target / (draws * per_iteration),
        "indicator": of_indicator / (draws * per_iteration),
    }


def numpy_gibbs(X: np.ndarray, y: np.ndarray, seconds: float) -> dict[str, float]:
    """A plain Gibbs sampler: the model's marginal likelihood from its columns, anew for every look."""
    rows, columns = X.shape
    X, y = X - X.mean(axis=0), y - y.mean()
    gram, product, total = X.T @ X, X.T @ y, float(y @ y)
    generator = np.random.default_rng(0)
    included = np.zeros(columns, dtype=bool)
    log_size = betaln(1 + np.arange(columns + 1), 1 + columns - np.arange(columns + 1))

    def log_target() -> float:
        chosen = np.flatnonzero(included)
        explained = product[chosen] @ np.linalg.solve(gram[np.ix_(chosen, chosen)], product[chosen])
        rest = 1 - rows / (1 + rows) * explained / total
        return float(-len(chosen) / 2 * np.log1p(rows) - (rows - 1) / 2 * np.log(rest) + log_size[len(chosen)])

    def scan(current: float) -> float:
        for j in range(columns):
            included[j] ^= True
            other = log_target()
            if generator.random() < 1 / (1 + np.exp(min(current - other, 700))):
                current = other
            else:
                included[j] ^= True
        return current

    current = scan(log_target())
    began = time.perf_counter()
    targets: list[float] = []
    indicators: list[np.ndarray] = []
    while len(targets) < 4 or time.perf_counter() - began < seconds:
        current = scan(current)
        targets.append(current)
        indicators.append(included.copy())
    took = time.perf_counter() - began
    of_target, of_indicator = effective(np.array(targets), np.array(indicators))
    return {
        "flip": took / (len(targets) * columns) * 1e9,
        "target": of_target / took,
        "indicator": of_indicator / took,
    }


# Each prints the nanoseconds of a proposal, of as many as given, and the seconds of an enumeration where there is one.
PEERS = {
    "BAS": """
        m <- function(method, it) bas.lm(y ~ ., d, prior = "g-prior", alpha = nrow(d), modelprior = beta.binomial(1, 1),
                                         method = method, MCMC.iterations = it, force.heredity = FALSE)
        chain <- function(it) m("MCMC", it); all <- function() m("deterministic", 0)
    """,
    "BMS": """
        m <- function(...) bms(d[, c(ncol(d), 1:(ncol(d) - 1))], g = "UIP", mprior = "random", nmodel = 100,
                               user.int = FALSE, ...)
        chain <- function(it) m(mcmc = "bd", burn = 0, iter = it); all <- function() m(mcmc = "enumerate")
    """,
}
MEASURE = """
    given <- commandArgs(TRUE); d <- read.csv(given[1]); it <- as.integer(given[2])
    cat(if (it > 0) system.time(chain(it))["elapsed"] / it * 1e9 else system.time(all())["elapsed"])
"""


def peers(X: np.ndarray, y: np.ndarray, proposals: int) -> Iterator[tuple[str, float]]:
    """Of the packages that R has, the nanoseconds of a proposal, or with 0 proposals the seconds of an enumeration."""
    if shutil.which("Rscript") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.csv")
        names = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
        np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=names, comments="")
        for name, functions in PEERS.items():
            program = (
                f'if (!suppressMessages(require("{name}", quietly = TRUE))) quit(status = 9)\n{functions}\n{MEASURE}'
            )
            command = ["Rscript", "-e", program, str(path), str(proposals)]
            answer = subprocess.run(command, capture_output=True, text=True)
            if answer.returncode == 0:
                yield name, float(answer.stdout.split()[-1])


def enumeration(columns: int) -> Iterator[tuple[str, float]]:
    """Seconds to enumerate all subsets, by prior of the coefficients."""
    X, y = data(columns)
    design = bt.make_linear_design(X, y)
    for prior in PRIORS:
        problem = bt.Subset(coefficients=prior).resolve(design).native(design)
        began = time.perf_counter()
        _core.enumerate_subsets(problem, 1_000, np.empty(0))
        yield str(prior), time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="short runs, to see that all of it works")
    parser.add_argument("--columns", type=int, nargs="+", default=SIZES, help="numbers of columns")
    parser.add_argument("--correlation", type=float, default=0.5, help="of neighbouring columns")
    asked = parser.parse_args()
    seconds = 0.3 if asked.quick else 1.5
    console = Console(width=140)
    table = Table("p", "system", "ns a flip", "log posterior/s", "indicators/s", "times NumPy's", box=MARKDOWN)
    for columns in asked.columns:
        X, y = data(columns, asked.correlation)
        plain = numpy_gibbs(X, y, 10 * seconds)
        systems = {name: baytree(X, y, {name: 1.0}, seconds) for name in PROPOSALS[:-1]}
        systems["auto"] = baytree(X, y, {"gibbs": 1.0, "replace": 1.0}, seconds)
        for name, found in {**systems, "NumPy": plain}.items():
            ratio = found["target"] / plain["target"]
            figures = (f"{found[one]:.3g}" for one in ("flip", "target", "indicator"))
            table.add_row(f"{columns:,}", name, *figures, "" if name == "NumPy" else f"{ratio:,.0f}")
        if columns <= ROWS:
            for name, took in peers(X, y, int(seconds * 10_000)):
                table.add_row(f"{columns:,}", name, f"{took:.3g}", "", "", "")
    console.print(table)
    for prior, took in enumeration(20):
        console.print(f"2^20 models, {prior}: {took:.2f} s")
    for name, took in peers(*data(20), 0):
        console.print(f"2^20 models, {name}: {took:.2f} s")


if __name__ == "__main__":
    main()
