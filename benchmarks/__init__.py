"""Measurements, each runnable as ``python -m benchmarks.NAME``; docs/benchmarks.md records what they gave."""
