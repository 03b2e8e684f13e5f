"""Priors over trees."""
