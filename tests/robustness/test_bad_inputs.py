"""Whatever is given, what comes is an error that says what to do, or what is documented."""

import pytest

from robustness.bad_inputs import CASES, SUBJECTS, Case, run

NAMED = [
    pytest.param(case, id=f"{subject}: {case.given}", marks=[pytest.mark.slow] if case.slow else [])
    for subject, cases in SUBJECTS.items()
    for case in cases
]


@pytest.mark.parametrize("case", NAMED)
def test_bad_input(case: Case) -> None:
    outcome = run(case)
    assert outcome.good, f"{outcome.came}: {outcome.said}"


def test_no_two_are_the_same() -> None:
    for cases in SUBJECTS.values():
        assert len({case.given for case in cases}) == len(cases)
    assert len(CASES) >= 400
