"""Chains side by side on threads, in blocks, with progress, Ctrl-C and checkpoints."""
