"""Enumerated tree spaces, and the samplers held against them."""
