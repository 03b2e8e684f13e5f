"""Stochastic logic programs: knowledge as a prior over trees, or over anything a program derives."""

from ..data.files import read_text
from .estimates import Estimate
from .limits import Limits
from .posterior import ProgramPosterior
from .problems import Problem, ProgramError, check, require_readable
from .program import Program
from .proof import Call, Proof
from .proposals import parse_proposal
from .shipped import SHIPPED, find, load
from .terms import Term, term_text

__all__ = [
    "SHIPPED",
    "Call",
    "Estimate",
    "Limits",
    "Problem",
    "Program",
    "ProgramError",
    "ProgramPosterior",
    "Proof",
    "Term",
    "check",
    "find",
    "load",
    "parse_proposal",
    "read_text",
    "require_readable",
    "term_text",
]
