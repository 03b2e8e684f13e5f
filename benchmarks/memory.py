"""Peak memory of fitting a million rows by 20 columns, beyond the caller's own array."""

from __future__ import annotations

import resource
import time

import numpy as np

import baytree as bt

ROWS, COLUMNS = 1_000_000, 20


def peak_mib() -> float:
    """The largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    generator = np.random.default_rng(0)
    X = generator.random((ROWS, COLUMNS))
    y = (X[:, 0] > 0.5).astype(int) ^ (X[:, 1] > 0.3) ^ (generator.random(ROWS) < 0.1)
    bt.CARTClassifier(chains=1, draws=1, warmup=1).fit(X[:100], y[:100])  # imports are not the model's memory
    before = peak_mib()
    began = time.perf_counter()
    model = bt.CARTClassifier(chains=4, warmup=200, draws=100, random_state=0).fit(X, y)
    seconds = time.perf_counter() - began
    print(f"{ROWS:,} rows × {COLUMNS} columns, the caller's array {X.nbytes / 2**20:,.0f} MiB")
    print(f"fit: {peak_mib() - before:,.0f} MiB more at the peak, {seconds:.1f} s for 4 chains × 300 iterations")
    began = time.perf_counter()
    model.predict_proba(X)
    print(f"predict_proba: {peak_mib() - before:,.0f} MiB, {time.perf_counter() - began:.1f} s")
    log_likelihood = model.posterior_.log_likelihood
    print(f"log-likelihood at the end of each chain: {np.round(log_likelihood[:, -1], 1).tolist()}")


if __name__ == "__main__":
    main()
