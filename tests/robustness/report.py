"""One table of what baytree came through: faults injected into runs, damaged model files, bad inputs.

    PYTHONPATH=tests python -m robustness.report            # the long form, which docs/reliability.md shows
    PYTHONPATH=tests python -m robustness.report --short    # some of each, for CI

Ends with exit code 1 where anything was lost, crashed, hung, or was taken without a word.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from robustness.fuzz_models import REFUSED, SAME, SENSIBLE, count


class Amounts(NamedTuple):
    """How often each fault is injected, how many files are damaged in each way, and whether slow inputs are given."""

    faults: int
    files: int
    slow: bool


SHORT, LONG = Amounts(3, 390, False), Amounts(100, 8000, True)


class Row(NamedTuple):
    """A line of the table: what was done how often, what came of it, and what should not have."""

    what: str
    times: int
    came: str
    wrong: list[str]

    def __str__(self) -> str:
        return f"| {self.what} | {self.times:,} | {self.came} | {len(self.wrong):,} |"


def faults(times: int) -> Iterator[Row]:
    """Runs that something is done to: whether they end well, or go on to the same bits."""
    from robustness.victims import FAULTS, folder_of_victims, inject

    for fault in FAULTS:
        wrong = []
        with folder_of_victims() as folder:
            for seed in range(times):
                try:
                    inject(fault, seed, folder)
                except Exception as error:
                    wrong.append(f"{fault}, seed {seed}: {type(error).__name__}: {error}")
        yield Row(f"run: {fault}", times, f"{times - len(wrong):,} survived", wrong)


def files(number: int) -> Iterator[Row]:
    """Model files of every family that are damaged."""
    ways = {"damage": "20 bytes changed", "mutate": "one thing changed, checksums right"}
    for way, what in ways.items():
        outcomes, wrong = count(number, way)
        told = {REFUSED: "named errors", SAME: "the same predictions", SENSIBLE: "others that make sense"}
        came = ", ".join(f"{outcomes[outcome]:,} {said}" for outcome, said in told.items())
        yield Row(f"model file: {what}", outcomes.total(), came, wrong)


def inputs(slow: bool) -> Iterator[Row]:
    """Bad inputs, in a process of their own: what crashes there does not take the table along."""
    command = [sys.executable, "-m", "robustness.report", "inputs", "slow" if slow else ""]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    subjects: dict[str, Counter[str]] = {}
    wrong: dict[str, list[str]] = {}
    for subject, given, came, good in told:
        subjects.setdefault(subject, Counter())[came if good else "wrong"] += 1
        wrong.setdefault(subject, []).extend([] if good else [f"{subject}: {given}: {came}"])
    for subject, counts in subjects.items():
        came = ", ".join(f"{counts[one]:,} {one}{'s' * (one == 'named error')}" for one in sorted(counts, reverse=True))
        yield Row(f"bad input: {subject}", counts.total(), came, wrong[subject])
    if done.returncode:
        yield Row("bad input: the process that gave them", 1, "", [f"exit code {done.returncode} after {told[-1:]}"])


def give_inputs(slow: bool) -> None:
    """Give every bad input, and tell what came of each."""
    from robustness.bad_inputs import SUBJECTS, run

    for subject, cases in SUBJECTS.items():
        for case in cases:
            if slow or not case.slow:
                outcome = run(case)
                print(json.dumps([subject, case.given, outcome.came, outcome.good]), flush=True)


def main(*arguments: str) -> int:
    if arguments[:1] == ("inputs",):
        give_inputs(arguments[1] == "slow")
        return 0
    amounts, began, wrong = (SHORT if "--short" in arguments else LONG), time.monotonic(), []
    print("| what was done | times | what came of it | lost, crashed, hung or silent |")
    print("| --- | --: | --- | --: |", flush=True)
    for row in chain(faults(amounts.faults), files(amounts.files), inputs(amounts.slow)):
        print(row, flush=True)
        wrong += row.wrong
    print(f"\n{time.monotonic() - began:,.0f} s on {os.cpu_count()} cores", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
