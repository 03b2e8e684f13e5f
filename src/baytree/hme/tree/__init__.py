"""Soft trees: their experts, their parameters as numbers, and their mixtures."""
