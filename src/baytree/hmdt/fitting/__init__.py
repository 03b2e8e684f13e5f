"""EM for hidden Markov decision trees, and where it begins."""
