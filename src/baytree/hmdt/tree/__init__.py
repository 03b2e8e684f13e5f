"""Hidden Markov decision trees, and what they say of sequences."""
