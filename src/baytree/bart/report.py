"""A report."""
