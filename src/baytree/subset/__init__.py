"""Subset selection in the linear model: every subset's probability."""
