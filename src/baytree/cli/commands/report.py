"""``baytree report``."""
