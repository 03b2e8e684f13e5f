"""Whether two posteriors are the same to the bit."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

# What a run keeps of the training table, and what it found by it; files hold the one not, and the other as a record.
BESIDES = {"monitored", "recorded"}


def assert_same(a: Any, b: Any, where: str = "") -> None:
    """Every field of the one is that of the other, all the way down; a tuple in a file becomes a list."""
    if isinstance(a, list | tuple):
        assert isinstance(b, list | tuple) and len(a) == len(b), where
        for place, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_same(one, other, f"{where}[{place}]")
        return
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b, err_msg=where, strict=True)
    elif is_dataclass(a):
        for field in fields(a):
            if field.name not in BESIDES:
                assert_same(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key!r}]")
    else:
        assert a == b or (a != a and b != b), where
