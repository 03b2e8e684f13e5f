"""Bad inputs, by subject: what is given, and what must come of it.

`CASES` are all of them, `SUBJECTS` the same by subject, and `run` gives what came of one.
"""

from __future__ import annotations

from .case import Case, Outcome, run
from .command_line import COMMAND_LINE
from .estimators import ESTIMATORS
from .files import FILES
from .knowledge_files import KNOWLEDGE_FILES
from .model_files import MODEL_FILES
from .models import MODELS
from .programs import PROGRAMS
from .responses import RESPONSES
from .runs import RUNS
from .tables import TABLES

__all__ = ["CASES", "SUBJECTS", "Case", "Outcome", "run"]

SUBJECTS: dict[str, list[Case]] = {
    "tables": TABLES,
    "responses": RESPONSES,
    "models": MODELS,
    "runs": RUNS,
    "programs": PROGRAMS,
    "estimators": ESTIMATORS,
    "model files": MODEL_FILES,
    "files": FILES,
    "knowledge files": KNOWLEDGE_FILES,
    "command line": COMMAND_LINE,
}
CASES = [case for cases in SUBJECTS.values() for case in cases]
