"""Stochastic logic programs: the language, and what may be wrong with a text of it."""

from .problems import Problem, ProgramError, check, read_text, require_readable

__all__ = ["Problem", "ProgramError", "check", "read_text", "require_readable"]
