"""Hierarchical mixtures of experts: soft trees by EM, on-line and by Bayes."""
