"""Hidden Markov decision trees: mixtures of experts whose decisions last."""
