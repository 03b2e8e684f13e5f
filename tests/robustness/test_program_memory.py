"""The memory that a program may take bounds all that it holds, and what it holds while something grows."""

import json
import subprocess
import sys

import pytest

import baytree as bt

LIMIT = 64  # MiB
SPARE = 8  # of the process itself: what is not a machine's
FILL = "fill([]). fill([1|T]) :- fill(T). "

# Each runs away in another part of the machine.
HUNGRY = {
    "terms": "go :- grow([]). grow(L) :- grow([1, 2, 3|L]).",
    "frames": "go :- f(1). f(N) :- M is N + 1, f(M), true.",
    "alternatives": "go :- f(0). f(N) :- M is N + 1, f(M). f(_).",
    "choices": "0.5 : c(h). 0.5 : c(t). go :- f(0). f(N) :- c(_), M is N + 1, f(M).",
    "findall": "go :- findall(X, n(0, X), _). n(N, f(N, N, N, N)). n(N, X) :- M is N + 1, n(M, X).",
    "copies": "go :- f([a]). f(L) :- findall(L-L, true, [M]), f(M).",
    "bindings": "go :- length(L, 2000000), f(L, L). f([], _). f([a|T], L) :- f(T, L). f([b|T], L) :- f(T, L).",
    "variables": "go :- length(L, 3000000), length(K, 3000000), L = K, go.",
    "sorting": f"{FILL}go :- length(L, 1500000), fill(L), msort(L, M), msort(M, _), go.",
    "choosing": f"{FILL}go :- length(L, 1500000), fill(L), uniform(L, X), X = 2.",
    "comparing": f"{FILL}go :- length(L, 1500000), fill(L), length(K, 1500000), fill(K), L == K, go.",
    "writing": "go :- write(something), go.",
}
# In a process of its own: the most it ever held above what it began with, after each of them.
ALONE = """
import json, resource, sys
import baytree as bt
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
def run(text):
    limits = bt.slp.Limits(steps=10**9, depth=10**9, memory=int(sys.argv[1]) << 20)
    try:
        bt.slp.Program(text, limits=limits).sample("go", 1, seed=1)
    except bt.InputError as error:
        return str(error)
run("go.")
before = peak()
print(json.dumps({name: [run(text), peak() - before] for name, text in json.load(sys.stdin).items()}))
"""


def test_programs_that_run_away() -> None:
    run = [sys.executable, "-c", ALONE, str(LIMIT)]
    ended = subprocess.run(run, input=json.dumps(HUNGRY), capture_output=True, text=True, timeout=300, check=True)
    for name, (said, peak) in json.loads(ended.stdout).items():
        assert f"needs more than the {LIMIT} MiB of memory it may use" in said, name
        assert peak < LIMIT + SPARE, name


# Two ways to need more than half of the limit.
TERMS, POINTS = "length(_, 1200000)", "f(200000)"
TURNS = "0.5 : turn(1). 0.5 : turn(2). f(0). f(N) :- N > 0, M is N - 1, f(M). f(_). "


@pytest.mark.parametrize("goal", [TERMS, POINTS])
def test_half_the_limit_is_too_little(goal: str) -> None:
    program = bt.slp.Program(f"{TURNS} go(1) :- {goal}.", limits=bt.slp.Limits(memory=LIMIT << 19))
    with pytest.raises(bt.InputError, match="32 MiB of memory"):
        program.sample("go(N)", 1, seed=1)


def test_one_proof_does_not_take_from_the_next() -> None:
    both = f"{TURNS} go(N) :- turn(N), work(N). work(1) :- {TERMS}. work(2) :- {POINTS}."
    program = bt.slp.Program(both, limits=bt.slp.Limits(memory=LIMIT << 20))
    assert set(map(str, program.sample("go(N)", 10, seed=1))) == {"1", "2"}
