"""Sequences of rows: as they are given, as a design, and as they are computed with."""
