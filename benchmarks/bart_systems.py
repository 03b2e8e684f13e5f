"""The BART programs that `benchmarks.bart` compares, each behind the same three words: load, compile and fit.

All get the prior of Chipman, George and McCulloch (2010): 200 trees, alpha 0.95, beta 2, k 2, nu 3, q 0.9 with the
residual standard deviation of a linear fit, about 100 cuts a column, one chain from root trees. What still differs:

- the leaf prior is centred at the mean of y, in dbarts at its mid-range;
- leaves hold 5 rows or more; dbarts has no such setting;
- a tree of bartz has at most 32 leaves (depth 5), one of stochtree depth 10;
- cuts lie at quantiles in baytree and bartz, evenly spaced in dbarts; stochtree makes at most 100 bins of the data;
- bartz and stochtree only grow and prune; dbarts also changes and swaps rules; baytree makes its default proposals;
- bartz computes in float32, stochtree and dbarts in float64.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

TREES, ALPHA, BETA, K, NU, QUANTILE = 200, 0.95, 2.0, 2.0, 3.0, 0.9
CUTS, MIN_LEAF = 100, 5


@dataclass(frozen=True)
class Fit:
    """Draws of one chain.

    Attributes
    ----------
    sigma : numpy.ndarray
        Of every draw the noise's standard deviation.
    f : callable
        From rows to the draws of f there, shape (draws, rows).
    """

    sigma: np.ndarray
    f: Callable[[np.ndarray], np.ndarray]


class System:
    """A program that fits BART.

    Parameters
    ----------
    threads, seed : int
        To fit with.
    """

    def __init__(self, threads: int, seed: int) -> None:
        self.threads, self.seed = threads, seed

    @property
    def pid(self) -> int:
        """The process whose time and memory count."""
        return os.getpid()

    def load(self, X: np.ndarray, y: np.ndarray) -> None:
        """Take the data of the fits to come."""
        self.X, self.y = X, y

    def compile(self, warmup: int, draws: int) -> None:
        """Do what a first fit of these lengths does and a second one need not."""

    def fit(self, warmup: int, draws: int) -> Fit:
        """Run a chain from the start."""
        raise NotImplementedError

    @property
    def leaf_sd(self) -> float:
        """The prior standard deviation of a leaf's value."""
        return float(np.ptp(self.y) / (2 * K * np.sqrt(TREES)))

    @property
    def scale(self) -> float:
        """Lambda of sigma² ~ nu · lambda / χ²(nu)."""
        from scipy.stats import chi2

        design = np.column_stack([np.ones(len(self.y)), self.X])
        solution = np.linalg.lstsq(design, self.y, rcond=None)[0]
        residual = self.y - design @ solution
        return float(residual @ residual / (len(self.y) - design.shape[1]) * chi2.ppf(1 - QUANTILE, NU) / NU)


class Baytree(System):
    """This package, with its default proposals."""

    proposal: Any = "auto"

    def fit(self, warmup: int, draws: int) -> Fit:
        import baytree as bt

        model = bt.BARTRegressor(
            trees=TREES,
            alpha=ALPHA,
            beta=BETA,
            k=K,
            nu=NU,
            q=QUANTILE,
            sigma="linear",
            min_leaf=MIN_LEAF,
            max_cuts=CUTS,
            proposal=self.proposal,
            chains=1,
            warmup=warmup,
            draws=draws,
            random_state=self.seed,
            n_jobs=self.threads,
        ).fit(self.X, self.y)
        posterior = model.posterior_
        assert posterior.sigma is not None
        return Fit(posterior.sigma[0], lambda rows: posterior.predict(rows, kind="draws")[0])


class BaytreeBirths(Baytree):
    """This package with births and deaths alone, one a visit: the proposals of bartz and stochtree."""

    proposal: Any = "birth_death"


class Stochtree(System):
    """The Python package stochtree, without its grow-from-root start."""

    def fit(self, warmup: int, draws: int) -> Fit:
        from stochtree import BARTModel

        centre, scale = self.y.mean(), self.scale
        model = BARTModel()
        model.sample(
            X_train=self.X,
            y_train=self.y - centre,
            num_gfr=0,
            num_burnin=warmup,
            num_mcmc=draws,
            general_params={
                "cutpoint_grid_size": CUTS,
                "standardize": False,
                "sigma2_init": scale,
                "sigma2_global_shape": NU / 2,
                "sigma2_global_scale": NU * scale / 2,
                "random_seed": self.seed,
                "num_threads": self.threads,
            },
            mean_forest_params={
                "num_trees": TREES,
                "alpha": ALPHA,
                "beta": BETA,
                "min_samples_leaf": MIN_LEAF,
                "sample_sigma2_leaf": False,
                "sigma2_leaf_init": self.leaf_sd**2,
            },
        )
        sigma = np.sqrt(model.global_var_samples)
        return Fit(sigma, lambda rows: centre + model.predict(rows, terms="y_hat").T)


class Bartz(System):
    """The Python package bartz, on JAX, on the processor."""

    # One device hardly uses a second thread; several, with rows divided among them, pay off for many rows only.
    DIVIDED_ROWS = 100_000

    def __init__(self, threads: int, seed: int) -> None:
        super().__init__(threads, seed)
        import jax

        jax.config.update("jax_num_cpu_devices", threads)

    def compile(self, warmup: int, draws: int) -> None:
        # The loop's code depends on both lengths; a run of no sweep compiles it.
        self._run(warmup, draws, inner_loop_length=0)

    def fit(self, warmup: int, draws: int) -> Fit:
        model = self._run(warmup, draws)
        sigma = np.asarray(model.get_error_sdev(), dtype=float)
        return Fit(sigma, lambda rows: np.asarray(model.predict(rows.T, kind="mean_samples")))

    def _run(self, warmup: int, draws: int, **loop: Any) -> Any:
        import jax
        from bartz import Bart
        from bartz.prepcovars import UniqueQuantileBinner

        root = np.sqrt(self.scale)
        divided = self.threads > 1 and len(self.y) >= self.DIVIDED_ROWS and len(self.y) % self.threads == 0
        model = Bart(
            self.X.T,
            self.y.astype(np.float32),
            num_trees=TREES,
            base=ALPHA,
            power=BETA,
            k=K,
            sigma_df=NU,
            sigma_scale=root,
            sigma_init=root,
            binner=partial(UniqueQuantileBinner, max_bins=CUTS + 1),
            n_burn=warmup,
            n_save=draws,
            num_chains=None,
            num_data_devices=self.threads if divided else None,
            printevery=None,
            seed=self.seed,
            init_kw={"min_points_per_leaf": MIN_LEAF},
            run_mcmc_kw=loop,
        )
        return jax.block_until_ready(model)


class Dbarts(System):
    """The R package dbarts, in an R of its own that answers requests (``dbarts.R``)."""

    def __init__(self, threads: int, seed: int) -> None:
        super().__init__(threads, seed)
        self._folder = tempfile.TemporaryDirectory()
        command = ["Rscript", "--vanilla", str(Path(__file__).with_name("dbarts.R"))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._pid = int(self._answer())

    @property
    def pid(self) -> int:
        return self._pid

    def load(self, X: np.ndarray, y: np.ndarray) -> None:
        self._ask("load", self._file("X", X), self._file("y", y))

    def fit(self, warmup: int, draws: int) -> Fit:
        prior = (TREES, ALPHA, BETA, K, NU, QUANTILE, CUTS)
        self._ask("fit", *prior, warmup, draws, self.threads, self.seed, self._path("sigma"))
        return Fit(np.fromfile(self._path("sigma")), self._predict)

    def _predict(self, rows: np.ndarray) -> np.ndarray:
        self._ask("predict", self._file("rows", rows), self._path("f"))
        return np.fromfile(self._path("f")).reshape(-1, len(rows), order="F")

    def _path(self, name: str) -> str:
        return str(Path(self._folder.name, name))

    def _file(self, name: str, values: np.ndarray) -> str:
        np.asarray(values, dtype=float).ravel(order="F").tofile(self._path(name))
        return self._path(name)

    def _ask(self, *words: object) -> None:
        assert self._process.stdin is not None
        print(*words, file=self._process.stdin, flush=True)
        self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("R ended; its message is above")
        return answer


OWN: dict[str, type[System]] = {"baytree": Baytree, "baytree-births": BaytreeBirths}
PEERS: dict[str, type[System]] = {"stochtree": Stochtree, "bartz": Bartz, "dbarts": Dbarts}
SYSTEMS = OWN | PEERS


def missing(name: str) -> str | None:
    """How to get a system that is not installed; None for one that is."""
    if name == "dbarts":
        if shutil.which("Rscript") is None:
            return 'install R (Debian: apt install r-base-core) and in it install.packages("dbarts")'
        found = subprocess.run(["Rscript", "-e", 'quit(status = !requireNamespace("dbarts", quietly = TRUE))'])
        return 'in R, install.packages("dbarts")' if found.returncode else None
    return None if name in OWN or importlib.util.find_spec(name) else f"pip install {name}"
