"""BART beside stochtree, bartz and dbarts on Friedman's function: time, mixing, accuracy and memory, and their ratios.

Each system, number of rows and number of threads is measured in a process of its own (`benchmarks.bart_trial`), one
after the other; `benchmarks.bart_systems` says what the systems share and in what they differ. No peer is a part of the
package: ``pip install stochtree bartz``, and in R ``install.packages("dbarts")``; one that is not there is left out.

- ms a sweep: all 200 trees once, from the difference between two lengths of run; on the clock, and processor time.
- f/s, σ/s: effective draws a second, the draws' bulk effective size (of f: the median over 100 fresh points) over the
  time of their sweeps. It is the processor's with one thread, which other work on the machine disturbs less, and the
  clock's with several.
- RMSE, coverage: of f at 5,000 fresh points, by the posterior mean and by 95% intervals of one chain's draws.
- MiB: the largest resident size while fitting beyond that with code and data loaded.
- predict: seconds for all draws of f at the 5,000 points.

More rows than `ACCURATE` are timed and weighed only, with one draw kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict

from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from baytree.text import counted

from .bart_systems import OWN, PEERS, SYSTEMS, missing
from .bart_trial import Trial

ACCURATE = 10_000
Figures = dict[str, float]


def trial(system: str, n: int, threads: int, seed: int, quick: bool) -> Trial:
    """Lengths that suit so many rows: trees are small at first, so that early sweeps would flatter the slow."""
    start = 200 if n <= 1_000 else 100 if n <= 10_000 else 40 if n <= 100_000 else 15
    length = 0 if n > ACCURATE else 200 if quick else 1_000
    seconds = 0.5 if quick else 3.0
    return Trial(system, n, threads, seed, start, seconds, warmup=length, draws=length)


def run(trial: Trial) -> Figures | None:
    """A trial's figures, from a child that has only as many processors as threads; None where it failed."""
    environment = dict(os.environ, JAX_PLATFORMS="cpu")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[name] = str(trial.threads)
    if trial.threads == 1:
        environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    processors = sorted(os.sched_getaffinity(0))[-trial.threads :]
    command = [sys.executable, "-m", "benchmarks.bart_trial", json.dumps(asdict(trial))]
    child = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
    )
    if child.returncode:
        print(f"{trial.system} ended with status {child.returncode}", file=sys.stderr)
        return None
    print(child.stdout.strip(), file=sys.stderr)
    return derived(json.loads(child.stdout.splitlines()[-1]), trial)


def derived(figures: Figures, trial: Trial) -> Figures:
    """With effective draws a second, and the time that counts: the processor's or the clock's."""
    clock = "cpu" if trial.threads == 1 else "wall"
    figures["sweep"] = figures[f"sweep_{clock}"]
    if trial.draws:
        figures["predict"] = figures[f"predict_{clock}"]
        for quantity in ("f", "sigma"):
            figures[f"rate_{quantity}"] = figures[f"ess_{quantity}"] / (trial.draws * figures["sweep"])
    return figures


def mean(repeats: list[Figures]) -> Figures:
    return {name: sum(figures[name] for figures in repeats) / len(repeats) for name in repeats[0]}


# A heading, the figure under it, the unit it is printed in, and its format.
COLUMNS = [
    ("compile s", "compile", 1, ".1f"),
    ("set-up s", "setup", 1, ".2f"),
    ("ms a sweep", "sweep_wall", 1e3, ".3g"),
    ("cpu ms", "sweep_cpu", 1e3, ".3g"),
    ("f/s", "rate_f", 1, ".3g"),
    ("σ/s", "rate_sigma", 1, ".3g"),
    ("RMSE", "rmse", 1, ".3f"),
    ("coverage", "coverage", 1, ".3f"),
    ("MiB", "peak", 1, ",.0f"),
    ("predict s", "predict", 1, ".2f"),
]

# A heading, the figure under it, and whether more of it is better.
RATIOS = [
    ("sweeps", "sweep", False),
    ("f/s", "rate_f", True),
    ("σ/s", "rate_sigma", True),
    ("RMSE", "rmse", False),
    ("memory", "peak", False),
    ("predict", "predict", False),
]


def table(title: str, headings: list[str]) -> Table:
    made = Table(title=title, box=MARKDOWN, title_justify="left")
    for heading in headings:
        made.add_column(heading, justify="left" if heading == "system" else "right", no_wrap=True)
    return made


def ratio(found: dict[str, Figures], system: str, figure: str, more: bool) -> str:
    """How many times better a system is than the best peer, and which that is."""
    peers = [name for name in found if name in PEERS and figure in found[name]]
    if figure not in found[system] or not peers:
        return "–"
    best = (max if more else min)(peers, key=lambda name: found[name][figure])
    own, other = found[system][figure], found[best][figure]
    return f"{own / other if more else other / own:.2f} × {best}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = len(os.sched_getaffinity(0))
    parser.add_argument("--n", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--systems", nargs="*", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--threads", type=int, nargs="*", default=sorted({1, everything}))
    parser.add_argument("--seeds", type=int, default=1, help="data sets to average over")
    parser.add_argument("--quick", action="store_true", help="short runs, to see that all of it works")
    options = parser.parse_args()
    lacking = {name: remedy for name in options.systems if (remedy := missing(name))}
    for name, remedy in lacking.items():
        print(f"{name} is not installed and left out: {remedy}", file=sys.stderr)
    results: dict[tuple[int, int], dict[str, Figures]] = {}
    for n in options.n:
        for threads in options.threads:
            for system in (name for name in options.systems if name not in lacking):
                print(f"{system}: {n:,} rows, {counted(threads, 'thread')}", file=sys.stderr)
                trials = [trial(system, n, threads, seed, options.quick) for seed in range(options.seeds)]
                repeats = [figures for one in trials if (figures := run(one)) is not None]
                if repeats:
                    results.setdefault((n, threads), {})[system] = mean(repeats)
    report(results)


def report(results: dict[tuple[int, int], dict[str, Figures]]) -> None:
    """Print all figures, and those of baytree over those of the best peer."""
    figures = table("Figures", ["n", "threads", "system", *(heading for heading, *_ in COLUMNS)])
    ratios = table("Times better than the best peer", ["n", "threads", "system", *(heading for heading, *_ in RATIOS)])
    for (n, threads), found in results.items():
        case = (f"{n:,}", str(threads))
        for system, values in found.items():
            cells = [f"{values[name] * unit:{form}}" if name in values else "–" for _, name, unit, form in COLUMNS]
            figures.add_row(*case, system, *cells)
        for system in (name for name in found if name in OWN):
            ratios.add_row(*case, system, *(ratio(found, system, figure, more) for _, figure, more in RATIOS))
    console = Console(width=160)
    console.print(figures)
    console.print(ratios)


if __name__ == "__main__":
    main()
