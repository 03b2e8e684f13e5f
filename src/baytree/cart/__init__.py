"""Single trees: the Bayesian CART model."""
