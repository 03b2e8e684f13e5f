"""Sums of many small trees: BART."""
