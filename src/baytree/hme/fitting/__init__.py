"""The methods by which soft trees are fitted, and where each begins."""
